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

static void NAME(loss_gradient)(const RfContext *context, RfLossWork *work, REAL *gradient, REAL *q,
                                const REAL *theta, const REAL *X, const REAL *y, RfLoss loss, double shift,
                                rf_index n) {
  rf_index P = work->net->n_parameters;
  NAME(RfPass) *passes = work->passes;
  for (int t = 0; t < work->n_passes; t++) passes[t].theta = theta;
  rf_index blocks = (n + passes[0].block - 1) / passes[0].block, groups = loss_groups(blocks);
  int threads = context->threads < work->n_passes ? context->threads : work->n_passes;
  if (threads > groups) threads = (int)groups;
  if ((double)n * (double)P < loss_parallel_work) threads = 1;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (rf_index group = 0; group < groups; group++)
    NAME(loss_group)(work, &passes[omp_get_thread_num()], group, q, X, y, loss, shift, n);
  const REAL *partial = work->partial;
  memset(gradient, 0, (size_t)P * sizeof *gradient);
  for (rf_index group = 0; group < groups; group++)
    for (rf_index p = 0; p < P; p++) gradient[p] += partial[group * P + p];
}
