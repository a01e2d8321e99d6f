/* The least-distance problem: the shortest v with g_i.v >= h_i for all rows, by the dual active set of
 * Goldfarb and Idnani (1983). The iterate is the shortest vector for the active rows, v = sum of u_a g_a with
 * u >= 0; a violated row is pulled in, active rows whose weight would turn negative are let go, and |v| grows
 * with every step, so no active set comes back. When the violated row lies in the span of the active ones and
 * none of them can go, their combination vanishes: that is the Farkas certificate. Nothing is squared, so a
 * margin of 1e-8 of the row norms is harmless.
 *
 * Rows are used as unit vectors: unit_i = sign_i g_i/|g_i| and targets h_i s/|g_i| with s the smallest |g_i|,
 * so v s is of order one and data of size 1e-150 or 1e150 are ordinary. All rows are priced only to refill a
 * short list of candidates and to prove that none is violated. */
#include "margin_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { price_every_row = 96 };

/* Sine of the angle to the active span below which a row counts as dependent (times the size of its
 * coefficients, whose rounding it carries), and the Farkas residual that is accepted. */
static const double dependent = 2e-15, farkas_accepted = 1e-14;

typedef struct Solver {
  const RfRows *rows;
  rf_index count, dimension;
  RfFactor factor;
  double scale;             /* s */
  double *norm;             /* count: |g_i| */
  double *target;           /* count: h_i s / |g_i| */
  double *slack;            /* count: unit_i.v - target_i when priced */
  long double *fine_v;      /* dimension, in units of 1/s */
  double *v;                /* the same, rounded */
  double *row, *step;       /* dimension */
  double *pull, *along;     /* capacity */
  long double *weights;     /* capacity: u of the active rows, v = sum u_k unit_k */
  unsigned char *is_active; /* count */
  rf_index *candidates, n_candidates, most_candidates;
  rf_index stride;             /* every stride-th row is looked at */
  long double *fine_row, *gap; /* dimension */
  rf_index capacity, iterations;
  rf_index stuck; /* the violated row that could not be satisfied */
} Solver;

static void solver_free(Solver *s) {
  rf_la_factor_free(&s->factor);
  void *blocks[] = {s->norm,  s->target,  s->slack,     s->v,          s->row,    s->step,     s->pull,
                    s->along, s->weights, s->is_active, s->candidates, s->fine_v, s->fine_row, s->gap};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) rf_free(blocks[i]);
}

void rf_least_distance_free(RfLeastDistance *result) {
  rf_free(result->v);
  rf_free(result->active);
  rf_free(result->weights);
  rf_free(result->farkas);
  memset(result, 0, sizeof *result);
}

static bool reserve(Solver *s, rf_index capacity) {
  if (capacity <= s->capacity) return true;
  if (!rf_la_factor_reserve(&s->factor, capacity) || !rf_grow((void **)&s->pull, capacity, sizeof(double)) ||
      !rf_grow((void **)&s->along, capacity, sizeof(double)) ||
      !rf_grow((void **)&s->weights, capacity, sizeof(long double)))
    return false;
  s->capacity = capacity;
  return true;
}

static RfStatus solver_new(RfContext *context, Solver *s, const RfRows *rows) {
  rf_index count = rows->count, dimension = rows->d + (rows->lift > 0), list = count / 64;
  *s = (Solver){.rows = rows, .count = count, .dimension = dimension, .stuck = -1, .stride = 1};
  if (count > 20000) s->stride = count / 5000;
  s->most_candidates = list < 32 ? 32 : list > 512 ? 512 : list;
  rf_la_factor_init(&s->factor, dimension);
  s->norm = RF_NEW(double, count);
  s->target = RF_NEW(double, count);
  s->slack = RF_NEW(double, count);
  s->is_active = RF_NEW(unsigned char, count);
  s->v = RF_NEW(double, dimension);
  s->row = RF_NEW(double, dimension);
  s->step = RF_NEW(double, dimension);
  s->candidates = RF_NEW(rf_index, s->most_candidates);
  s->fine_v = RF_NEW(long double, dimension);
  s->fine_row = RF_NEW(long double, dimension);
  s->gap = RF_NEW(long double, dimension);
  if (s->norm && s->target && s->slack && s->is_active && s->v && s->row && s->step && s->candidates &&
      s->fine_v && s->fine_row && s->gap && reserve(s, 16))
    return RF_OK;
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a margin over %lld rows", (long long)count);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* out = (x_i - shift, lift), not yet multiplied by the factor. */
static void raw_row(const RfRows *rows, double *out, rf_index i) {
  const double *x = rf_row(rows, i);
  for (rf_index j = 0; j < rows->d; j++) out[j] = rows->shift ? x[j] - rows->shift[j] : x[j];
  if (rows->lift > 0) out[rows->d] = rows->lift;
}

/* Unit row: factor/|g| first, so that neither 1e150 nor 1e-150 leaves the range. */
static void unit_row(const Solver *s, double *out, rf_index i) {
  raw_row(s->rows, out, i);
  double factor = rf_row_factor(s->rows, i), scale = fabs(factor) / s->norm[i];
  if (factor < 0) scale = -scale;
  for (rf_index j = 0; j < s->dimension; j++) out[j] *= scale;
}

static RfStatus measure_rows(RfContext *context, Solver *s) {
  s->scale = INFINITY;
  for (rf_index i = 0; i < s->count; i++) {
    raw_row(s->rows, s->row, i);
    s->norm[i] = fabs(rf_row_factor(s->rows, i)) * rf_la_norm(s->row, s->dimension);
    if (!(s->norm[i] < INFINITY) || s->norm[i] < DBL_MIN)
      return rf_fail(context, RF_ERR_NUMERIC, "row %lld is too large or too small for a margin",
                     (long long)rf_row_at(s->rows, i));
    if (s->norm[i] < s->scale) s->scale = s->norm[i];
  }
  for (rf_index i = 0; i < s->count; i++)
    s->target[i] = (1 - rf_row_factor(s->rows, i) * s->rows->offset) * (s->scale / s->norm[i]);
  return RF_OK;
}

/* fine_row = unit row i in extended precision. */
static void fine_unit_row(Solver *s, rf_index i) {
  const double *x = rf_row(s->rows, i);
  const RfRows *rows = s->rows;
  long double scale = (long double)rf_row_factor(rows, i) / (long double)s->norm[i];
  for (rf_index j = 0; j < rows->d; j++)
    s->fine_row[j] =
        scale * (rows->shift ? (long double)x[j] - (long double)rows->shift[j] : (long double)x[j]);
  if (rows->lift > 0) s->fine_row[rows->d] = scale * (long double)rows->lift;
}

/* target - unit.v of row i in extended precision. */
static long double fine_defect(Solver *s, rf_index i) {
  long double product = 0, factor = (long double)rf_row_factor(s->rows, i);
  fine_unit_row(s, i);
  for (rf_index j = 0; j < s->dimension; j++) product += s->fine_row[j] * s->fine_v[j];
  return (1 - factor * (long double)s->rows->offset) * (long double)s->scale / (long double)s->norm[i] -
         product;
}

static void round_v(Solver *s) {
  for (rf_index j = 0; j < s->dimension; j++) s->v[j] = (double)s->fine_v[j];
}

/* ---- pricing ---------------------------------------------------------------------------------------- */

/* What the shift and the lift add to every x_i.v. */
static double common_term(const Solver *s) {
  const RfRows *rows = s->rows;
  double sum = rows->lift > 0 ? rows->lift * s->v[rows->d] : 0;
  return rows->shift ? sum - rf_la_dot(rows->shift, s->v, rows->d) : sum;
}

static double slack_from(const Solver *s, rf_index i, double product) {
  double factor = rf_row_factor(s->rows, i);
  return copysign(fabs(factor) / s->norm[i], factor) * product - s->target[i];
}

/* Rows below -tolerance are violated: rounding of unit.v grows with |v|. */
static double tolerance(const RfContext *context, const Solver *s) {
  return 0.25 * context->tol.solver * fmax(1, rf_la_norm(s->v, s->dimension));
}

/* Slack of every stride-th row. */
static void price_all(Solver *s) {
  const RfRows *rows = s->rows;
  double common = common_term(s);
  rf_index seen = (s->count + s->stride - 1) / s->stride;
  if (!rows->rows)
    rf_la_apply(s->slack, rows->X, s->v, seen, rows->d, rows->d * s->stride);
  else
    for (rf_index i = 0; i < seen; i++) s->slack[i] = rf_la_dot(rf_row(rows, i * s->stride), s->v, rows->d);
  for (rf_index i = seen; i-- > 0;) /* from the end: spread out in place */
    s->slack[i * s->stride] = slack_from(s, i * s->stride, s->slack[i] + common);
}

static void sift_down(rf_index *heap, const double *slack, rf_index size, rf_index at) {
  for (rf_index child; (child = 2 * at + 1) < size; at = child) {
    if (child + 1 < size && slack[heap[child + 1]] > slack[heap[child]]) child++;
    if (slack[heap[at]] >= slack[heap[child]]) return;
    rf_index swap = heap[at];
    heap[at] = heap[child];
    heap[child] = swap;
  }
}

/* The most violated rows, in a heap whose root is the least violated of them. */
static void collect_candidates(Solver *s, double limit) {
  rf_index size = 0;
  for (rf_index i = 0; i < s->count; i += s->stride) {
    if (s->is_active[i] || !(s->slack[i] < -limit)) continue;
    if (size < s->most_candidates) {
      s->candidates[size++] = i;
      if (size == s->most_candidates)
        for (rf_index at = size / 2; at-- > 0;) sift_down(s->candidates, s->slack, size, at);
    } else if (s->slack[i] < s->slack[s->candidates[0]]) {
      s->candidates[0] = i;
      sift_down(s->candidates, s->slack, size, 0);
    }
  }
  s->n_candidates = size;
}

static rf_index worst_candidate(Solver *s, double limit) {
  double worst = -limit, common = common_term(s);
  rf_index found = -1;
  for (rf_index c = 0; c < s->n_candidates; c++) {
    rf_index i = s->candidates[c];
    if (s->is_active[i]) continue;
    double slack = slack_from(s, i, rf_la_dot(rf_row(s->rows, i), s->v, s->rows->d) + common);
    if (slack < worst) worst = slack, found = i;
  }
  return found;
}

/* After a pricing of all rows that found none: the rows within rounding of their targets, in extended
 * precision. */
static rf_index choose_finely(Solver *s, double limit) {
  long double worst = 0, size = 0;
  rf_index found = -1;
  for (rf_index j = 0; j < s->dimension; j++) size += s->fine_v[j] * s->fine_v[j];
  size = 1e-18L * sqrtl(size);
  for (rf_index i = 0; i < s->count; i++) {
    if (s->is_active[i] || s->slack[i] > limit) continue;
    long double defect = fine_defect(s, i) - 1e-13L * fabsl((long double)s->target[i]) - size;
    if (defect > worst) worst = defect, found = i;
  }
  return found;
}

static rf_index most_violated(Solver *s, double limit) {
  double worst = -limit;
  rf_index found = -1;
  for (rf_index i = 0; i < s->count; i++)
    if (!s->is_active[i] && s->slack[i] < worst) worst = s->slack[i], found = i;
  return found;
}

/* The most violated row, or -1 when none of all rows is violated. With very many rows, a thin sample of them
 * is satisfied first, then denser ones: most steps never look at all rows. */
static rf_index choose_row(const RfContext *context, Solver *s) {
  double limit = tolerance(context, s);
  bool many = s->count > price_every_row;
  rf_index found = many ? worst_candidate(s, limit) : -1;
  while (found < 0) {
    price_all(s);
    if (many) collect_candidates(s, limit);
    found = many ? worst_candidate(s, limit) : most_violated(s, limit);
    if (found >= 0 || s->stride == 1) break;
    s->stride = s->stride > 8 ? s->stride / 8 : 1;
  }
  return found >= 0 ? found : choose_finely(s, limit);
}

/* ---- steps ------------------------------------------------------------------------------------------ */

/* Splits the row into Q along + step, step orthogonal to the active rows; returns |step|. Repeated while the
 * length falls by more than half, as rounding then still leaves a part along Q. */
static double split_row(Solver *s) {
  rf_index size = s->factor.size;
  double before = 1, after = 1, *again = s->factor.rotation;
  memcpy(s->step, s->row, (size_t)s->dimension * sizeof *s->step);
  for (rf_index k = 0; k < size; k++) s->along[k] = 0;
  for (int pass = 0; pass < 4; pass++) {
    rf_la_factor_project(&s->factor, again, s->step);
    rf_la_factor_expand(&s->factor, s->step, -1, again);
    for (rf_index k = 0; k < size; k++) s->along[k] += again[k];
    after = rf_la_norm(s->step, s->dimension);
    if (after > 0.5 * before || after == 0) break;
    before = after;
  }
  return size >= s->dimension ? 0 : after;
}

static void let_go(Solver *s, rf_index k) {
  s->is_active[s->factor.columns[k]] = 0;
  rf_la_factor_remove(&s->factor, k);
  memmove(s->weights + k, s->weights + k + 1, (size_t)(s->factor.size - k) * sizeof *s->weights);
}

/* Largest step for which all weights u - t pull stay >= 0, and the row that stops it (-1: none). Entries of
 * pull that are rounding against its largest do not count when the row is dependent: they would take an
 * endless step. */
static double blocking_step(const Solver *s, double noise, rf_index *blocking) {
  double most = INFINITY;
  *blocking = -1;
  for (rf_index k = 0; k < s->factor.size; k++)
    if (s->pull[k] > noise && (double)s->weights[k] < most * s->pull[k]) {
      most = (double)s->weights[k] / s->pull[k];
      *blocking = k;
    }
  return most;
}

static double coefficient_sum(const Solver *s) {
  double sum = 4;
  for (rf_index k = 0; k < s->factor.size; k++) sum += fabs(s->pull[k]);
  return sum;
}

/* Satisfies row i, letting others go on the way. RF_INFEASIBLE when that cannot be. */
static RfStatus pull_in(RfContext *context, Solver *s, rf_index i) {
  if (s->factor.size + 1 >= s->capacity && !reserve(s, 2 * s->capacity))
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld active rows", (long long)s->factor.size);
  unit_row(s, s->row, i);
  long double weight = 0;
  double length;
  for (;;) {
    s->iterations++;
    length = split_row(s);
    memcpy(s->pull, s->along, (size_t)s->factor.size * sizeof *s->pull);
    rf_la_factor_solve(&s->factor, s->pull);
    double noise = dependent * coefficient_sum(s);
    bool row_is_dependent = length <= noise;
    double defect = fmax(0, (double)fine_defect(s, i));
    rf_index blocking;
    double dual = blocking_step(s, row_is_dependent ? 8 * noise : 0, &blocking);
    double primal = row_is_dependent ? INFINITY : defect / (length * length);
    double t = dual < primal ? dual : primal;
    if (t == INFINITY) {
      s->stuck = i;
      return RF_INFEASIBLE;
    }
    for (rf_index j = 0; j < s->dimension && !row_is_dependent; j++)
      s->fine_v[j] += (long double)(t * s->step[j]);
    for (rf_index k = 0; k < s->factor.size; k++)
      s->weights[k] = fmaxl(0, s->weights[k] - (long double)t * (long double)s->pull[k]);
    weight += (long double)t;
    if (primal <= dual) break;
    let_go(s, blocking);
  }
  rf_la_factor_append_split(&s->factor, s->along, s->step, length, i);
  s->weights[s->factor.size - 1] = weight;
  s->is_active[i] = 1;
  round_v(s);
  return RF_OK;
}

/* ---- refinement ------------------------------------------------------------------------------------- */

/* gap = v - sum u_k unit_k. */
static void combination_gap(Solver *s) {
  memcpy(s->gap, s->fine_v, (size_t)s->dimension * sizeof *s->gap);
  for (rf_index k = 0; k < s->factor.size; k++) {
    fine_unit_row(s, s->factor.columns[k]);
    for (rf_index j = 0; j < s->dimension; j++) s->gap[j] -= s->weights[k] * s->fine_row[j];
  }
}

/* One correction of v and u for v = Z^T u, Z v = target on the active rows (Bjorck 1967: the errors of both
 * equations together, so the condition number enters once). With Z^T = Q R, y = R^-T (target - Z v) and g = v
 * - Z^T u: dv = Q y - (I - Q Q^T) g,  R du = y + Q^T g. Returns the largest |du|. */
static double correction(Solver *s) {
  rf_index size = s->factor.size;
  double *y = s->pull, *along = s->factor.rotation, largest = 0;
  for (rf_index k = 0; k < size; k++) y[k] = (double)fine_defect(s, s->factor.columns[k]);
  combination_gap(s);
  rf_la_factor_solve_transposed(&s->factor, y);
  for (rf_index j = 0; j < s->dimension; j++) s->row[j] = (double)s->gap[j];
  rf_la_factor_project(&s->factor, along, s->row);
  for (rf_index j = 0; j < s->dimension; j++) s->step[j] = -s->row[j];
  for (rf_index k = 0; k < size; k++) y[k] += along[k];
  rf_la_factor_expand(&s->factor, s->step, 1, y);
  rf_la_factor_solve(&s->factor, y);
  for (rf_index k = 0; k < size; k++) largest = fmax(largest, fabs(y[k]));
  return largest;
}

static void refine_weights(Solver *s) {
  double last = INFINITY;
  for (int pass = 0; pass < 10; pass++) {
    double largest = correction(s), size = 0;
    if (!(largest < 0.5 * last)) break;
    for (rf_index j = 0; j < s->dimension; j++) s->fine_v[j] += (long double)s->step[j];
    for (rf_index k = 0; k < s->factor.size; k++) {
      s->weights[k] += (long double)s->pull[k];
      size = fmax(size, fabs((double)s->weights[k]));
    }
    last = largest;
    if (largest <= 1e-19 * size) break;
  }
}

/* Refined weights must stay >= 0: a row whose weight was rounding is let go, and the rest solved again. */
static void refine(Solver *s) {
  for (;;) {
    refine_weights(s);
    rf_index least = -1;
    for (rf_index k = 0; k < s->factor.size; k++)
      if (s->weights[k] < 0 && (least < 0 || s->weights[k] < s->weights[least])) least = k;
    if (least < 0) break;
    let_go(s, least);
  }
  round_v(s);
}

/* ---- results ---------------------------------------------------------------------------------------- */

static RfStatus hand_back(RfContext *context, RfLeastDistance *result, const Solver *s) {
  rf_index size = s->factor.size;
  result->dimension = s->dimension;
  result->v = RF_NEW(long double, s->dimension);
  result->active = RF_NEW(rf_index, size);
  result->weights = RF_NEW(long double, size);
  if (!result->v || !result->active || !result->weights)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a margin");
  long double square = 0, scale = (long double)s->scale;
  for (rf_index j = 0; j < s->dimension; j++) {
    square += s->fine_v[j] * s->fine_v[j];
    result->v[j] = s->fine_v[j] / scale;
  }
  result->length = sqrtl(square) / scale;
  for (rf_index k = 0; k < size; k++) {
    result->active[k] = s->factor.columns[k];
    result->weights[k] = s->weights[k] / scale / (long double)s->norm[s->factor.columns[k]];
  }
  result->n_active = size;
  return RF_OK;
}

/* The active rows and the stuck one carry a vanishing combination; least squares on (unit_i, 1) finds it to
 * the last bit. RF_UNDECIDED when it does not vanish to rounding. */
static RfStatus find_farkas(RfContext *context, RfLeastDistance *result, Solver *s) {
  rf_index size = s->factor.size + 1, height = s->dimension + 1, total;
  if (!rf_multiply_sizes(&total, size, height)) total = -1;
  double *columns = RF_NEW(double, total), *f = RF_NEW(double, height), *x = RF_NEW(double, size);
  result->farkas = RF_NEW(double, s->count);
  RfStatus status = RF_OK;
  if (!columns || !f || !x || !result->farkas) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a Farkas certificate");
    goto done;
  }
  for (rf_index k = 0; k < size; k++) {
    unit_row(s, columns + k * height, k + 1 < size ? s->factor.columns[k] : s->stuck);
    columns[k * height + s->dimension] = 1;
  }
  f[s->dimension] = 1;
  status = rf_la_nnls(context, x, NULL, NULL, columns, f, height, size, height, NULL);
  if (status) goto done;
  long double sum = 0, square = 0, unit_sum = 0;
  for (rf_index j = 0; j < s->dimension; j++) {
    long double entry = 0;
    for (rf_index k = 0; k < size; k++) entry += (long double)columns[k * height + j] * (long double)x[k];
    square += entry * entry;
  }
  for (rf_index k = 0; k < size; k++) {
    rf_index i = k + 1 < size ? s->factor.columns[k] : s->stuck;
    unit_sum += (long double)x[k];
    result->farkas[i] = x[k] * (s->scale / s->norm[i]);
    sum += (long double)result->farkas[i];
  }
  if (!(sum > 0) || sqrtl(square) > (long double)farkas_accepted * unit_sum) status = RF_UNDECIDED;
  for (rf_index i = 0; i < s->count && sum > 0; i++)
    result->farkas[i] = (double)((long double)result->farkas[i] / sum);
done:
  if (status) {
    rf_free(result->farkas);
    result->farkas = NULL;
  }
  rf_free(columns);
  rf_free(f);
  rf_free(x);
  return status;
}

static RfStatus iterate(RfContext *context, Solver *s) {
  rf_index limit = 10000 + 20 * (s->count < 1000000 ? s->count : 1000000) + 20 * s->dimension;
  int refinements = 0;
  for (rf_index round = 1;; round++) {
    if (round % 8 == 0 && rf_context_stop(context)) return RF_INTERRUPTED;
    if (s->iterations > limit) return RF_UNDECIDED;
    rf_index i = choose_row(context, s);
    if (i < 0) {
      refine(s);
      i = choose_row(context, s);
      if (i < 0 || ++refinements > 6) return RF_OK;
    }
    RfStatus status = pull_in(context, s, i);
    if (status) return status;
  }
}

RfStatus rf_least_distance(RfContext *context, RfLeastDistance *result, const RfRows *rows) {
  memset(result, 0, sizeof *result);
  Solver s;
  RfStatus status = solver_new(context, &s, rows);
  if (!status) status = measure_rows(context, &s);
  if (!status) status = iterate(context, &s);
  if (status >= 0) result->length_lower = rf_la_norm(s.v, s.dimension) / (s.count > 0 ? s.scale : 1);
  if (status == RF_OK) status = hand_back(context, result, &s);
  if (status == RF_INFEASIBLE) {
    RfStatus found = find_farkas(context, result, &s);
    if (found) status = found;
  }
  result->iterations = s.iterations;
  solver_free(&s);
  if (status < 0) rf_least_distance_free(result);
  return status;
}
