/* One neuron near zero, followed exactly by one lane, in padded input dimension DIM: src/flow/align in small.
 * Inside a sector the path is the straight line w + tau g; the next hyperplane is a ratio test. At most
 * ALIGN_SLIDES hyperplanes are slid on at once, by a least squares written out; whatever is not ordinary (two
 * hyperplanes at once, a start on one, a branching point, dependent rows) is left to the processor. */
#define NAME(x)     GLUE_(x, DIM)
#define GLUE_(a, b) GLUE(a, b)
#define GLUE(a, b)  a##_##b

typedef struct NAME(Neuron) {
  double w[DIM], base[DIM], g[DIM], a, balance, G;
  double frame[ALIGN_SLIDES][DIM], corner[ALIGN_SLIDES][ALIGN_SLIDES];
  int sign, n_on, rank, n_active;
  int on[ALIGN_SLIDES];
  uint32_t plus[ALIGN_WORDS], still[ALIGN_WORDS];
} NAME(Neuron);

FN double NAME(dot)(const double *u, const double *v) {
  double sum = 0;
  UNROLL for (int j = 0; j < DIM; j++) sum = fma(u[j], v[j], sum);
  return sum;
}

FN void NAME(axpy)(double *u, double t, const double *v) {
  UNROLL for (int j = 0; j < DIM; j++) u[j] = fma(t, v[j], u[j]);
}

FN const double *NAME(row)(const AlignTask *task, int i) { return task->X + (size_t)i * DIM; }

FN int NAME(side)(const NAME(Neuron) * p, int i) {
  uint32_t bit = 1u << (i % 32);
  return p->still[i / 32] & bit ? 0 : p->plus[i / 32] & bit ? 1 : -1;
}

FN void NAME(set_side)(NAME(Neuron) * p, int i, int side) {
  uint32_t bit = 1u << (i % 32);
  p->n_active += (side > 0) - (NAME(side)(p, i) > 0);
  p->plus[i / 32] = side > 0 ? p->plus[i / 32] | bit : p->plus[i / 32] & ~bit;
  p->still[i / 32] = side == 0 ? p->still[i / 32] | bit : p->still[i / 32] & ~bit;
}

FN double NAME(slope)(const AlignTask *task, const NAME(Neuron) * p, int i) {
  return NAME(side)(p, i) > 0 ? 1 : task->leak;
}

FN void NAME(set_field)(NAME(Neuron) * p, const double *g) {
  UNROLL for (int j = 0; j < DIM; j++) p->g[j] = g[j];
  p->G = sqrt(NAME(dot)(g, g));
}

/* ---- the next hyperplane ---------------------------------------------------------------------- */

/* tau to the first and to the second hyperplane ahead, -1 and infinity for none; b: g.x of the first. */
FN double NAME(next_hit)(const AlignTask *task, const NAME(Neuron) * p, int *first, double *second,
                         double *b) {
  double best = -1;
  *second = INFINITY;
  for (int word = 0; word < task->words; word++) {
    uint32_t plus = p->plus[word], still = p->still[word];
    int end = task->n - 32 * word < 32 ? task->n - 32 * word : 32;
    for (int k = 0; k < end; k++) {
      int i = 32 * word + k;
      const double *x = NAME(row)(task, i);
      double side = (plus >> k) & 1 ? 1 : -1, push = NAME(dot)(x, p->g), speed = -p->sign * side * push;
      if (speed <= task->slack[i] || ((still >> k) & 1)) continue;
      double tau = fmax(0.0, side * NAME(dot)(x, p->w) / speed);
      if (best < 0 || tau < best) {
        if (best >= 0) *second = best;
        best = tau, *first = i, *b = push;
      } else if (tau < *second) {
        *second = tau;
      }
    }
  }
  return best;
}

/* ---- on hyperplanes --------------------------------------------------------------------------- */

/* Appends row i to the frame; false when it depends on the others. */
FN bool NAME(extend_frame)(const AlignTask *task, NAME(Neuron) * p, int i) {
  if (p->rank >= ALIGN_SLIDES || p->rank >= task->d) return false;
  double *e = p->frame[p->rank], *corner = p->corner[p->rank];
  UNROLL for (int j = 0; j < DIM; j++) e[j] = NAME(row)(task, i)[j];
  for (int r = 0; r < p->rank; r++) corner[r] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int r = 0; r < p->rank; r++) {
      double part = NAME(dot)(e, p->frame[r]);
      NAME(axpy)(e, -part, p->frame[r]);
      corner[r] += part;
    }
  double left = sqrt(NAME(dot)(e, e));
  if (left <= RF_TOL_INDEPENDENT * task->norms[i]) return false;
  UNROLL for (int j = 0; j < DIM; j++) e[j] /= left;
  corner[p->rank++] = left;
  return true;
}

/* Projects g on the face of the frame, whose rows are the samples rows[0..rank), and writes the slopes that
 * do it. */
FN void NAME(project)(const AlignTask *task, const NAME(Neuron) * p, double *g, const int *rows,
                      double *slopes) {
  double share[ALIGN_SLIDES];
  for (int r = 0; r < p->rank; r++) share[r] = NAME(dot)(p->frame[r], g);
  for (int r = 0; r < p->rank; r++) NAME(axpy)(g, -share[r], p->frame[r]);
  for (int r = p->rank - 1; r >= 0; r--) {
    double sum = -share[r];
    for (int k = r + 1; k < p->rank; k++) sum -= share[k] * p->corner[k][r];
    share[r] = sum / p->corner[r][r];
    slopes[r] = share[r] / task->c[rows[r]];
  }
}

/* On a face of one dimension w is put exactly on the ray. */
FN void NAME(settle_on_ray)(const AlignTask *task, NAME(Neuron) * p) {
  if (p->rank != task->d - 1 || p->rank == 0 || !(p->G > 0)) return;
  double along = NAME(dot)(p->w, p->g) / p->G;
  UNROLL for (int j = 0; j < DIM; j++) p->w[j] = along * p->g[j] / p->G;
}

/* All slopes strictly between the leak and 1: then the projection is the minimum-norm element. */
FN bool NAME(slides_hold)(const AlignTask *task, const double *slopes, int count) {
  const double width = RF_TOL_SLOPE_END * (1 - task->leak);
  for (int r = 0; r < count; r++)
    if (!(slopes[r] > task->leak + width && slopes[r] < 1 - width)) return false;
  return true;
}

FN bool NAME(cross)(const AlignTask *task, NAME(Neuron) * p, int i, double b) {
  const double *x = NAME(row)(task, i);
  int from = NAME(side)(p, i);
  double jump = -from * task->c[i] * (1 - task->leak), trial[DIM], slopes[ALIGN_SLIDES], after;
  if (p->n_on == 0) {
    after = b + jump * task->norms[i] * task->norms[i];
  } else {
    UNROLL for (int j = 0; j < DIM; j++) trial[j] = fma(jump, x[j], p->base[j]);
    NAME(project)(task, p, trial, p->on, slopes);
    if (!NAME(slides_hold)(task, slopes, p->n_on)) return false;
    after = NAME(dot)(trial, x);
  }
  if (!(-from * p->sign * after > task->slack[i])) return false;
  NAME(set_side)(p, i, -from);
  NAME(axpy)(p->base, jump, x);
  NAME(set_field)(p, p->n_on == 0 ? p->base : trial);
  if (p->n_on > 0) NAME(settle_on_ray)(task, p);
  return true;
}

FN bool NAME(begin_slide)(const AlignTask *task, NAME(Neuron) * p, int i) {
  const double *x = NAME(row)(task, i);
  int old = p->rank, rows[ALIGN_SLIDES];
  double leave = -task->c[i] * NAME(slope)(task, p, i), trial[DIM], slopes[ALIGN_SLIDES];
  if (!(p->sign * task->c[i] < 0) || !NAME(extend_frame)(task, p, i)) return false;
  for (int k = 0; k < p->n_on; k++) rows[k] = p->on[k];
  rows[p->n_on] = i;
  UNROLL for (int j = 0; j < DIM; j++) trial[j] = fma(leave, x[j], p->base[j]);
  NAME(project)(task, p, trial, rows, slopes);
  if (!NAME(slides_hold)(task, slopes, p->rank)) {
    p->rank = old;
    return false;
  }
  NAME(axpy)(p->base, leave, x);
  NAME(set_side)(p, i, 0);
  p->on[p->n_on++] = i;
  NAME(axpy)(p->w, -NAME(dot)(p->w, p->frame[old]), p->frame[old]);
  NAME(set_field)(p, trial);
  NAME(settle_on_ray)(task, p);
  return true;
}

/* The minimum-norm field over the slopes of the valleys rows[0..count) in [leak, 1]: every valley is free or
 * at an end; the one combination whose slopes and pushes agree is it. state: 0 free, 1 at the leak, 2 at 1.
 * False when none agrees clearly, or rows depend on each other. p's frame is left to the free ones. */
FN bool NAME(least_field)(const AlignTask *task, NAME(Neuron) * p, const double *base, const int *rows,
                          int count, double *g, int *state) {
  int combinations = 1;
  for (int k = 0; k < count; k++) combinations *= 3;
  for (int code = 0; code < combinations; code++) {
    int free_rows[ALIGN_SLIDES], n_free = 0;
    double slopes[ALIGN_SLIDES];
    bool fine = true;
    UNROLL for (int j = 0; j < DIM; j++) g[j] = base[j];
    p->rank = 0;
    for (int k = 0, rest = code; k < count; k++, rest /= 3) {
      state[k] = rest % 3;
      if (state[k])
        NAME(axpy)(g, task->c[rows[k]] * (state[k] == 2 ? 1 : task->leak), NAME(row)(task, rows[k]));
      else
        fine = fine && NAME(extend_frame)(task, p, rows[k]), free_rows[n_free++] = rows[k];
    }
    if (!fine) continue;
    NAME(project)(task, p, g, free_rows, slopes);
    fine = NAME(slides_hold)(task, slopes, n_free);
    for (int k = 0; k < count && fine; k++) {
      double push = p->sign * NAME(dot)(g, NAME(row)(task, rows[k]));
      if (state[k]) fine = (state[k] == 2 ? push : -push) > task->slack[rows[k]];
    }
    if (fine) return true;
  }
  return false;
}

/* Reaching hyperplane i ends or changes slides: all of them are decided anew. */
FN bool NAME(turn)(const AlignTask *task, NAME(Neuron) * p, int i) {
  const double *x = NAME(row)(task, i);
  int rows[ALIGN_SLIDES], count = 0, state[ALIGN_SLIDES], ridge_side = 0, agreeing = 0;
  double base[DIM], g[DIM], slack = task->slack[i];
  bool ridge = p->sign * task->c[i] > 0;
  if (p->n_on + !ridge > ALIGN_SLIDES || p->n_on == 0) return false;
  for (int k = 0; k < p->n_on; k++) rows[count++] = p->on[k];
  NAME(axpy)(p->base, -task->c[i] * NAME(slope)(task, p, i), x);
  if (!ridge) rows[count++] = i;
  for (int side = 1; ridge && side >= -1;
       side -= 2) { /* a side is consistent when its field points into it */
    UNROLL for (int j = 0; j < DIM; j++) base[j] =
        fma(task->c[i] * (side > 0 ? 1 : task->leak), x[j], p->base[j]);
    if (!NAME(least_field)(task, p, base, rows, count, g, state)) return false;
    double push = side * p->sign * NAME(dot)(g, x);
    if (fabs(push) <= slack) return false;
    if (push > 0) agreeing++, ridge_side = side;
  }
  if (ridge && agreeing != 1) return false;
  UNROLL for (int j = 0; j < DIM; j++) base[j] =
      ridge ? fma(task->c[i] * (ridge_side > 0 ? 1 : task->leak), x[j], p->base[j]) : p->base[j];
  if (!NAME(least_field)(task, p, base, rows, count, g, state)) return false;
  if (ridge) NAME(set_side)(p, i, ridge_side);
  UNROLL for (int j = 0; j < DIM; j++) p->base[j] = base[j];
  p->n_on = 0;
  for (int k = 0; k < count; k++) {
    NAME(set_side)(p, rows[k], state[k] == 0 ? 0 : state[k] == 2 ? 1 : -1);
    if (state[k] == 0)
      p->on[p->n_on++] = rows[k];
    else
      NAME(axpy)(p->base, task->c[rows[k]] * (state[k] == 2 ? 1 : task->leak), NAME(row)(task, rows[k]));
  }
  for (int r = 0; r < p->rank; r++) NAME(axpy)(p->w, -NAME(dot)(p->w, p->frame[r]), p->frame[r]);
  NAME(set_field)(p, g);
  NAME(settle_on_ray)(task, p);
  return true;
}

/* ---- the walk --------------------------------------------------------------------------------- */

/* False: not an ordinary start. */
FN bool NAME(begin)(const AlignTask *task, NAME(Neuron) * p, const double *start) {
  UNROLL for (int j = 0; j < DIM; j++) p->w[j] = j < task->d ? start[j] : 0, p->base[j] = 0;
  p->a = start[task->d], p->n_on = p->rank = p->n_active = 0;
  if (!(p->a != 0)) return false;
  double size = sqrt(NAME(dot)(p->w, p->w)), imbalance = fabs(p->a) - size;
  p->balance = imbalance * (fabs(p->a) + size);
  if (fabs(imbalance) <= task->balanced * size) p->balance = 0, p->a = copysign(size, p->a);
  p->sign = p->a > 0 ? 1 : -1;
  for (int word = 0; word < task->words; word++) {
    int end = task->n - 32 * word < 32 ? task->n - 32 * word : 32;
    uint32_t plus = 0;
    for (int k = 0; k < end; k++) {
      int i = 32 * word + k;
      double h = NAME(dot)(NAME(row)(task, i), p->w);
      if (fabs(h) <= task->zero * size * task->norms[i]) return false;
      if (h > 0) plus |= 1u << k, p->n_active++;
      NAME(axpy)(p->base, task->c[i] * (h > 0 ? 1 : task->leak), NAME(row)(task, i));
    }
    p->plus[word] = plus, p->still[word] = 0;
  }
  NAME(set_field)(p, p->base);
  return true;
}

FN int NAME(in_class_cone)(const AlignTask *task, const NAME(Neuron) * p, double sign) {
  for (int i = 0; i < task->n; i++) {
    double c = sign * task->c[i];
    int plus = NAME(side)(p, i) > 0;
    if (c > 0 ? !plus : c < 0 && plus) return 0;
  }
  return 1;
}

/* Nothing ahead: what it has become. p_plus: the part that grows. */
FN int NAME(finish)(const AlignTask *task, const NAME(Neuron) * p, double p_plus) {
  if (!(p_plus > 0) && p->rank != task->d - 1) return ALIGN_STUCK;
  if (NAME(in_class_cone)(task, p, 1)) return ALIGN_S_PLUS;
  if (NAME(in_class_cone)(task, p, -1)) return ALIGN_S_MINUS;
  return ALIGN_EXTREMAL;
}

FN void NAME(rescale)(NAME(Neuron) * p) {
  double norm = sqrt(NAME(dot)(p->w, p->w) + p->a * p->a);
  if ((norm >= 0.25 && norm <= 4) || !(norm > 0)) return;
  int64_t exponent = (int64_t)(bits_of_double(norm) >> 52) - 1022; /* as frexp */
  double factor = double_of_bits((uint64_t)(1023 - exponent) << 52);
  UNROLL for (int j = 0; j < DIM; j++) p->w[j] *= factor;
  p->a *= factor, p->balance *= factor * factor;
}

/* One segment. ALIGN_GOES_ON, a destiny, or ALIGN_ASKS. */
FN int NAME(step)(const AlignTask *task, NAME(Neuron) * p) {
  int first = -1;
  double second = INFINITY, b = 0, along = 0, perp2 = 0, w2 = 0;
  double tau = task->leak < 1 ? NAME(next_hit)(task, p, &first, &second, &b) : -1;
  UNROLL for (int j = 0; j < DIM; j++) along = fma(p->w[j], p->g[j] / p->G, along);
  UNROLL for (int j = 0; j < DIM; j++) {
    double part = p->w[j] - along * (p->g[j] / p->G);
    perp2 = fma(part, part, perp2), w2 = fma(p->w[j], p->w[j], w2);
  }
  bool on_ray = perp2 <= ALIGN_ON_RAY * w2;
  if (on_ray) perp2 = 0;
  double phi = p->sign * along, alpha = fabs(p->a), K = p->balance + perp2;
  if (alpha < 0.5 * fabs(phi)) K = (alpha - phi) * (alpha + phi);
  double tau_turn = INFINITY, tau_stop = INFINITY;
  bool origin = on_ray && tau >= 0; /* every hyperplane at once */
  if (origin) tau = phi < 0 ? -phi / p->G : -1;
  if (phi < 0) {
    if (K < 0) tau_turn = fmax(0.0, -sqrt(-K) - phi) / p->G;
    if (K == 0) tau_stop = -phi / p->G;
  }
  bool turns = tau_turn < INFINITY && (tau < 0 || tau > tau_turn);
  if (!turns && (tau < 0 || tau >= tau_stop * (1 - task->zero)))
    return NAME(finish)(task, p, phi >= 0 ? alpha + phi : K / (alpha - phi));
  if (origin && !turns) return ALIGN_ASKS;
  double length = turns ? tau_turn : tau;
  NAME(axpy)(p->w, p->sign * length, p->g);
  double size = sqrt(fmax(w2, NAME(dot)(p->w, p->w))), phi1 = phi + length * p->G;
  if (turns) {
    if (p->n_on > 0) return ALIGN_ASKS; /* valleys become ridges */
    p->a = 0, p->balance = -NAME(dot)(p->w, p->w), p->sign = -p->sign;
    NAME(rescale)(p);
    return ALIGN_GOES_ON;
  }
  if (second - tau <= RF_TOL_LATER * size / p->G) return ALIGN_ASKS; /* perhaps both at once */
  double square = K == 0 ? phi1 * phi1 : K + phi1 * phi1;
  p->a = p->sign * (p->balance == 0 ? sqrt(NAME(dot)(p->w, p->w)) : square > 0 ? sqrt(square) : 0);
  bool last = task->leak == 0 && p->n_active == (NAME(side)(p, first) > 0);
  if (!NAME(cross)(task, p, first, b)) {
    if (last) return ALIGN_DEAD;
    if (!NAME(begin_slide)(task, p, first) && !NAME(turn)(task, p, first)) return ALIGN_ASKS;
  }
  NAME(rescale)(p);
  return ALIGN_GOES_ON;
}

FN int NAME(follow)(const AlignTask *task, const double *start, uint32_t *plus, uint32_t *zero) {
  NAME(Neuron) p;
  int answer = NAME(begin)(task, &p, start) ? ALIGN_GOES_ON : ALIGN_ASKS;
  int64_t limit = 1000 + 100 * (int64_t)task->n;
  for (int64_t events = 0; answer == ALIGN_GOES_ON; events++) {
    if (task->leak == 0 && p.n_active == 0)
      answer = ALIGN_DEAD;
    else if (p.G <= task->rounding * task->weight)
      answer = ALIGN_STUCK;
    else
      answer = events >= limit ? ALIGN_ASKS : NAME(step)(task, &p);
  }
  for (int word = 0; plus && answer != ALIGN_ASKS && word < task->words; word++)
    plus[word] = p.plus[word], zero[word] = p.still[word];
  return answer;
}

#ifdef __CUDACC__
static __global__ void __launch_bounds__(128) NAME(align_kernel)(AlignTask task) {
  extern __shared__ double align_data[];
  double *part = align_data;
  const int n = task.n;
  if (task.shared) {
    for (int k = (int)threadIdx.x; k < n * DIM; k += (int)blockDim.x) part[k] = task.X[k];
    task.X = part, part += n * DIM;
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
      part[i] = task.c[i], part[n + i] = task.norms[i], part[2 * n + i] = task.slack[i];
    task.c = part, task.norms = part + n, task.slack = part + 2 * n;
    __syncthreads();
  }
  int64_t id = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= task.count) return;
  task.destiny[id] = (int8_t)NAME(follow)(&task, task.starts + id * (task.d + 1),
                                          task.plus ? task.plus + id * task.words : NULL,
                                          task.plus ? task.still + id * task.words : NULL);
}
#endif

#undef NAME
#undef GLUE
#undef GLUE_
#undef DIM
