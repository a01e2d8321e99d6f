/* The gradient of the loss, for one number type: include with REAL and NAME(x) defined, inside loss.c. */

/* r_i = y_i loss'(q_i) e^{-shift}: the weight of sample i in the gradient. */
static void NAME(sample_weights)(REAL *r, REAL *q, const REAL *f, const REAL *y, RfLoss loss, double shift,
                                 rf_index rows) {
  for (rf_index i = 0; i < rows; i++) {
    q[i] = y[i] * f[i];
    if (shift != 0 || loss == RF_LOSS_EXP)
      r[i] = -y[i] * (REAL)exp(rf_loss_log_slope(loss, (double)q[i]) - shift);
    else
      r[i] = -y[i] * (loss == RF_LOSS_LOGISTIC2 ? 2 : 1) / (1 + NAME(exponential)(q[i]));
  }
}

static void NAME(loss_group)(RfLossWork *work, NAME(RfPass) * pass, rf_index group, REAL *q, const REAL *X,
                             const REAL *y, RfLoss loss, double shift, rf_index n) {
  rf_index P = work->net->n_parameters, in = rf_layers_inputs(work->net);
  rf_index blocks = (n + pass->block - 1) / pass->block, groups = loss_groups(blocks);
  REAL *sum = (REAL *)work->partial + group * P, *r = (REAL *)work->weights;
  memset(sum, 0, (size_t)P * sizeof *sum);
  for (rf_index b = group * blocks / groups; b < (group + 1) * blocks / groups; b++) {
    rf_index start = b * pass->block, rows = n - start < pass->block ? n - start : pass->block;
    const REAL *f = NAME(rf_pass_forward)(pass, X + start * in, rows);
    NAME(sample_weights)(r + start, q + start, f, y + start, loss, shift, rows);
    NAME(rf_pass_backward)(pass, sum, X + start * in, r + start, rows, true);
  }
}

/* The scratch memory of one thread for the fused kernel, every part on a cache line. */
typedef struct NAME(Scratch) {
  REAL *WT, *GT, *a, *H, *F, *r, *X;
} NAME(Scratch);

static NAME(Scratch) NAME(scratch)(REAL *memory, RfFusedShape s) {
  rf_index lanes = 64 / (rf_index)sizeof(REAL), block = RF_FUSED_ROWS, weights = s.inputs * s.padded;
  REAL *at = memory + (lanes - (rf_index)((uintptr_t)memory / sizeof(REAL)) % lanes) % lanes;
  NAME(Scratch) out = {.WT = at, .GT = at + weights, .a = at + 2 * weights};
  out.H = out.a + s.padded, out.F = out.H + block * s.padded, out.r = out.F + block, out.X = out.r + block;
  return out;
}

/* One group of samples with the fused kernel. The head's gradient needs no sweep of its own:
 * da_k = sum_i r_i phi'(z_ik) <w_k, x_i> = <w_k, g_k>, where a_k g_k is the gradient of w_k. */
static void NAME(fused_group)(RfLossWork *work, REAL *memory, REAL *sum, REAL *q, const REAL *theta,
                              const REAL *X, const REAL *y, RfLoss loss, double shift, rf_index n) {
  const NAME(RfFusedKernel) *kernel = NAME(rf_fused_kernel)();
  const RfLayer *first = &work->net->layers[0], *head = &work->net->layers[1];
  RfFusedShape shape = rf_fused_shape(work->net, sizeof(REAL));
  NAME(Scratch) s = NAME(scratch)(memory, shape);
  rf_index d = shape.inputs, padded = shape.padded, m = first->outputs, block = RF_FUSED_ROWS;
  const REAL *w = theta + first->offset, *a = theta + head->offset;
  REAL leak = (REAL)work->net->leak;
  memset(s.WT, 0, (size_t)((2 * d + 1) * padded) * sizeof(REAL));
  for (rf_index k = 0; k < m; k++) {
    s.a[k] = a[k];
    for (rf_index j = 0; j < d; j++) s.WT[j * padded + k] = w[k * d + j];
  }
  for (rf_index start = 0; start < n; start += block) {
    rf_index rows = n - start < block ? n - start : block;
    const REAL *x = X + start * d;
    if (rows < block) { /* the kernel reads whole blocks */
      memset(s.X, 0, (size_t)(block * d) * sizeof(REAL)), memset(s.r, 0, (size_t)block * sizeof(REAL));
      memcpy(s.X, x, (size_t)(rows * d) * sizeof(REAL));
      x = s.X;
    }
    kernel->forward(s.F, s.H, x, s.WT, s.a, leak, shape);
    NAME(sample_weights)(s.r, q + start, s.F, y + start, loss, shift, rows);
    kernel->backward(s.GT, s.H, x, s.r, leak, shape);
  }
  memset(sum, 0, (size_t)work->net->n_parameters * sizeof(REAL));
  for (rf_index k = 0; k < m; k++) {
    REAL slope = 0;
    for (rf_index j = 0; j < d; j++) {
      REAL g = s.GT[j * padded + k];
      slope += w[k * d + j] * g;
      if (!first->fixed) sum[first->offset + k * d + j] = a[k] * g;
    }
    if (!head->fixed) sum[head->offset + k] = slope;
  }
}

static void NAME(loss_gradient)(const RfContext *context, RfLossWork *work, REAL *gradient, REAL *q,
                                const REAL *theta, const REAL *X, const REAL *y, RfLoss loss, double shift,
                                rf_index n) {
  rf_index P = work->net->n_parameters, in = rf_layers_inputs(work->net);
  NAME(RfPass) *passes = work->passes;
  for (int t = 0; t < work->n_passes; t++) passes[t].theta = theta;
  rf_index block = work->fused ? fused_rows : passes[0].block, blocks = (n + block - 1) / block,
           groups = loss_groups(blocks);
  int threads = context->threads < work->n_passes ? context->threads : work->n_passes;
  if (threads > groups) threads = (int)groups;
  if ((double)n * (double)P < loss_parallel_work) threads = 1;
  REAL *partial = work->partial;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (rf_index group = 0; group < groups; group++) {
    int thread = omp_get_thread_num();
    if (!work->fused) {
      NAME(loss_group)(work, &passes[thread], group, q, X, y, loss, shift, n);
      continue;
    }
    rf_index from = group * blocks / groups * block, end = (group + 1) * blocks / groups * block;
    if (end > n) end = n;
    NAME(fused_group)
    (work, (REAL *)work->fused + thread * work->fused_room, partial + group * P, q + from, theta,
     X + from * in, y + from, loss, shift, end - from);
  }
  memset(gradient, 0, (size_t)P * sizeof *gradient);
  for (rf_index group = 0; group < groups; group++)
    for (rf_index p = 0; p < P; p++) gradient[p] += partial[group * P + p];
}
