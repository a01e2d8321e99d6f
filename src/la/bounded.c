/* Least squares with bounds: minimise |A x - f| over low <= x <= high, by an active set (Lawson and Hanson
 * 1974 for x >= 0, Stark and Parker 1995 for boxes) with the updated orthogonal factor of qr_update.c.
 *
 * Everything runs in the scale-free unknowns z_j = x_j |A_j| / scale, so columns of norm 1e-150 or 1e150 are
 * ordinary. A column enters when its gradient improves, the free columns move towards their least-squares
 * solution until one of them meets a bound and leaves. The objective falls with every move, so no active set
 * comes back; rounding is kept from breaking this by three rules: a column that is dependent on the free ones
 * is refused, one whose own coefficient would move the wrong way is refused, and the refused stay out until
 * the residual has really shrunk. With many columns the gradient is taken over all of them only to collect a
 * short list of candidates, and to prove that none is left. The end is refined with the residual in extended
 * precision. */
#include "la_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef enum Place { at_low, at_high, inside, in_factor, fixed } Place;

/* A column closer than this to the span of the free ones counts as dependent. */
static const double independent = 1e-13;
/* The scale is at least this share of a given start, whatever f: squares of z, up to 1e200, are numbers. */
static const double far_start = 1e-100;

struct RfLeastSquaresWork {
  rf_index max_rows, max_cols;
  RfFactor factor;
  double *residual, *norm, *inverse, *z, *low, *high, *gradient, *step, *saved;
  rf_index step_capacity;
  long double *fine; /* max_rows: residual in extended precision */
  rf_index *candidates;
  unsigned char *place, *refused;
};

typedef struct Problem {
  const double *columns, *f;
  rf_index rows, cols, stride;
  double scale;     /* x_j = z_j scale / norm_j */
  double tolerance; /* gradients below this are rounding */
  rf_index n_candidates, next_candidate, n_refused;
  rf_index iterations, limit;
  double violation;
  bool all_priced; /* gradient[] belongs to the current residual, for all columns */
  RfLeastSquaresWork *work;
} Problem;

enum { candidate_threshold = 96, first_capacity = 16 };

static rf_index candidate_count(rf_index cols) {
  rf_index count = cols / 64;
  return count < 32 ? 32 : count > 512 ? 512 : count;
}

/* ---- work ------------------------------------------------------------------------------------------- */

void rf_la_least_squares_work_free(RfLeastSquaresWork *work) {
  if (!work) return;
  rf_la_factor_free(&work->factor);
  void *blocks[] = {work->residual,   work->norm,     work->inverse, work->z,     work->low,
                    work->high,       work->gradient, work->step,    work->saved, work->fine,
                    work->candidates, work->place,    work->refused};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) rf_free(blocks[i]);
  rf_free(work);
}

static bool reserve(RfLeastSquaresWork *work, rf_index capacity) {
  if (!rf_la_factor_reserve(&work->factor, capacity)) return false;
  if (capacity <= work->step_capacity) return true;
  double *step = rf_resize(work->step, capacity, sizeof *step);
  if (step) work->step = step;
  double *saved = rf_resize(work->saved, capacity, sizeof *saved);
  if (saved) work->saved = saved;
  if (step && saved) work->step_capacity = capacity;
  return step && saved;
}

RfStatus rf_la_least_squares_work_new(RfContext *context, RfLeastSquaresWork **out, rf_index max_rows,
                                      rf_index max_cols) {
  *out = NULL;
  if (max_rows < 0 || max_cols < 0) return rf_fail(context, RF_ERR_USAGE, "least squares: negative size");
  RfLeastSquaresWork *work = RF_NEW(RfLeastSquaresWork, 1);
  if (!work) return rf_fail(context, RF_ERR_MEMORY, "out of memory for least squares");
  work->max_rows = work->factor.max_rows = max_rows;
  work->max_cols = max_cols;
  work->residual = RF_NEW(double, max_rows);
  work->fine = RF_NEW(long double, max_rows);
  work->norm = RF_NEW(double, max_cols);
  work->inverse = RF_NEW(double, max_cols);
  work->z = RF_NEW(double, max_cols);
  work->low = RF_NEW(double, max_cols);
  work->high = RF_NEW(double, max_cols);
  work->gradient = RF_NEW(double, max_cols);
  work->candidates = RF_NEW(rf_index, candidate_count(max_cols));
  work->place = RF_NEW(unsigned char, max_cols);
  work->refused = RF_NEW(unsigned char, max_cols);
  rf_index most = max_rows < max_cols ? max_rows : max_cols;
  bool ok = work->residual && work->fine && work->norm && work->inverse && work->z && work->low &&
            work->high && work->gradient && work->candidates && work->place && work->refused &&
            reserve(work, 1 + (most < first_capacity ? most : first_capacity));
  if (!ok) {
    rf_la_least_squares_work_free(work);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for least squares with %lld rows and %lld columns",
                   (long long)max_rows, (long long)max_cols);
  }
  *out = work;
  return RF_OK;
}

static inline const double *column(const Problem *p, rf_index j) { return p->columns + j * p->stride; }

/* ---- set-up ----------------------------------------------------------------------------------------- */

static inline double column_norm(const double *a, rf_index rows) {
  double square = rf_small_dot(a, a, rows);
  return square > 1e-280 && square < 1e280 ? sqrt(square) : rf_la_norm(a, rows);
}

/* Starting value in the caller's units: the point of [low, high] nearest to `wish`. */
static inline double clip(double wish, double low, double high) {
  return wish < low ? low : wish > high ? high : wish;
}

static Place starting_place(double value, double low, double high) {
  if (low == high) return fixed;
  if (value == low) return at_low;
  return value == high ? at_high : inside;
}

/* Norms, scale, scaled bounds and start. x holds the starting point when `warm`. */
static RfStatus set_up(RfContext *context, Problem *p, const double *x, const double *low, const double *high,
                       bool warm) {
  RfLeastSquaresWork *w = p->work;
  p->scale = column_norm(p->f, p->rows);
  double start_scale = 0, longest = 1;
  for (rf_index j = 0; j < p->cols; j++) {
    double l = low ? low[j] : 0, h = high ? high[j] : INFINITY, norm = column_norm(column(p, j), p->rows);
    if (!(norm < INFINITY) || !(l <= h) || l == INFINITY || h == -INFINITY || (warm && isnan(x[j])))
      return rf_fail(context, RF_ERR_USAGE, "least squares: column %lld or its bounds make no sense",
                     (long long)j);
    w->norm[j] = norm;
    w->inverse[j] = norm < DBL_MIN ? 0 : 1 / norm;
    w->z[j] = clip(warm ? x[j] : 0, l, h);
    w->place[j] = (unsigned char)(norm < DBL_MIN ? fixed : starting_place(w->z[j], l, h));
    w->refused[j] = 0;
    start_scale = fmax(start_scale, norm * fabs(w->z[j])), longest = fmax(longest, norm);
  }
  if (!(p->scale < INFINITY))
    return rf_fail(context, RF_ERR_USAGE, "least squares: right-hand side is not finite");
  if (warm) start_scale *= far_start;
  if (p->scale < start_scale) p->scale = start_scale;
  if (p->scale == 0) p->scale = 1;
  if (p->scale < DBL_MIN * longest) p->scale = DBL_MIN * longest; /* norm / scale is finite */
  for (rf_index j = 0; j < p->cols; j++) {
    double unit = w->norm[j] / p->scale;
    w->low[j] = low ? low[j] * unit : 0;
    w->high[j] = high ? high[j] * unit : INFINITY;
    if (w->place[j] == fixed && w->norm[j] < DBL_MIN) w->low[j] = w->high[j] = 0;
    w->z[j] *= unit;
  }
  return RF_OK;
}

/* residual = f - A x in extended precision, also rounded to double. Returns |change|. */
static double fresh_residual(Problem *p) {
  RfLeastSquaresWork *w = p->work;
  for (rf_index i = 0; i < p->rows; i++) w->fine[i] = (long double)p->f[i] / (long double)p->scale;
  for (rf_index j = 0; j < p->cols; j++) {
    if (w->z[j] == 0) continue;
    const double *a = column(p, j);
    long double weight = (long double)w->z[j] / (long double)w->norm[j];
    for (rf_index i = 0; i < p->rows; i++) w->fine[i] -= weight * (long double)a[i];
  }
  double change = 0;
  for (rf_index i = 0; i < p->rows; i++) {
    double value = (double)w->fine[i];
    change += (value - w->residual[i]) * (value - w->residual[i]);
    w->residual[i] = value;
  }
  return sqrt(change);
}

/* The same in plain double, for the start. */
static void first_residual(Problem *p) {
  RfLeastSquaresWork *w = p->work;
  for (rf_index i = 0; i < p->rows; i++) w->residual[i] = p->f[i] / p->scale;
  for (rf_index j = 0; j < p->cols; j++)
    if (w->z[j] != 0) rf_la_axpy(w->residual, -w->z[j] * w->inverse[j], column(p, j), p->rows);
}

/* ---- pricing ---------------------------------------------------------------------------------------- */

/* How much column j would improve the objective per unit of z_j; <= 0 when it may not move that way. */
static inline double score(const RfLeastSquaresWork *w, rf_index j) {
  double g = w->gradient[j];
  switch ((Place)w->place[j]) {
  case at_low: return g;
  case at_high: return -g;
  case inside: return fabs(g);
  default: return 0;
  }
}

/* Gradients are divided by the norms once; the noise of the residual grows with the sum of |z|. */
static void price_all(Problem *p) {
  RfLeastSquaresWork *w = p->work;
  if (p->rows * p->cols > 2048)
    rf_la_apply(w->gradient, p->columns, w->residual, p->cols, p->rows, p->stride);
  else
    for (rf_index j = 0; j < p->cols; j++) w->gradient[j] = rf_small_dot(column(p, j), w->residual, p->rows);
  p->violation = 0;
  for (rf_index j = 0; j < p->cols; j++) {
    w->gradient[j] *= w->inverse[j];
    double s = score(w, j);
    if (s > p->violation) p->violation = s;
  }
  p->all_priced = true;
}

static rf_index best_of_all(const Problem *p) {
  const RfLeastSquaresWork *w = p->work;
  double best = p->tolerance;
  rf_index found = -1;
  for (rf_index j = 0; j < p->cols; j++) {
    if (w->refused[j]) continue;
    double s = score(w, j);
    if (s > best) best = s, found = j;
  }
  return found;
}

static void sift_down(rf_index *heap, const RfLeastSquaresWork *w, rf_index size, rf_index at) {
  for (rf_index child; (child = 2 * at + 1) < size; at = child) {
    if (child + 1 < size && score(w, heap[child + 1]) < score(w, heap[child])) child++;
    if (score(w, heap[at]) <= score(w, heap[child])) return;
    rf_index swap = heap[at];
    heap[at] = heap[child];
    heap[child] = swap;
  }
}

/* The columns with the largest scores, in a heap whose root is the smallest of them. */
static void collect_candidates(Problem *p) {
  RfLeastSquaresWork *w = p->work;
  rf_index size = 0, most = candidate_count(p->cols);
  for (rf_index j = 0; j < p->cols; j++) {
    if (w->refused[j] || score(w, j) <= p->tolerance) continue;
    if (size < most) {
      w->candidates[size++] = j;
      if (size == most)
        for (rf_index at = size / 2; at-- > 0;) sift_down(w->candidates, w, size, at);
    } else if (score(w, j) > score(w, w->candidates[0])) {
      w->candidates[0] = j;
      sift_down(w->candidates, w, size, 0);
    }
  }
  p->n_candidates = size;
}

static rf_index best_candidate(Problem *p) {
  RfLeastSquaresWork *w = p->work;
  double best = p->tolerance;
  rf_index found = -1;
  for (rf_index c = 0; c < p->n_candidates; c++) {
    rf_index j = w->candidates[c];
    if (w->refused[j] || w->place[j] == in_factor) continue;
    if (!p->all_priced) w->gradient[j] = rf_small_dot(column(p, j), w->residual, p->rows) * w->inverse[j];
    double s = score(w, j);
    if (s > best) best = s, found = j;
  }
  return found;
}

/* The column to enter next, or -1 when no column improves: decided on all columns, always. */
static rf_index choose_column(Problem *p) {
  bool many = p->cols > candidate_threshold;
  if (many && p->n_candidates > 0) {
    rf_index found = best_candidate(p);
    if (found >= 0) return found;
  }
  if (!p->all_priced) price_all(p);
  if (!many) return best_of_all(p);
  collect_candidates(p);
  return best_candidate(p);
}

/* ---- moves ------------------------------------------------------------------------------------------ */

static void set_tolerance(RfContext *context, Problem *p) {
  const RfLeastSquaresWork *w = p->work;
  double sum = 1;
  for (rf_index k = 0; k < w->factor.size; k++) sum += fabs(w->z[w->factor.columns[k]]);
  p->tolerance = 0.25 * context->tol.solver * sum;
}

/* Largest part of the step that stays inside the bounds, at most 1. */
static double blocking_fraction(const RfLeastSquaresWork *w) {
  double fraction = 1;
  for (rf_index k = 0; k < w->factor.size; k++) {
    rf_index j = w->factor.columns[k];
    double step = w->step[k], room = step < 0 ? w->low[j] - w->z[j] : w->high[j] - w->z[j];
    if (fabs(room) < fraction * fabs(step)) fraction = room / step;
  }
  return fraction;
}

static void drop(RfLeastSquaresWork *w, rf_index k, Place place) {
  rf_index j = w->factor.columns[k];
  w->place[j] = (unsigned char)place;
  w->z[j] = place == at_low ? w->low[j] : w->high[j];
  rf_la_factor_remove(&w->factor, k);
}

/* z += fraction step; those that end on a bound, or would cross it by rounding, leave the factor. */
static void take_step(Problem *p, double fraction) {
  RfLeastSquaresWork *w = p->work;
  bool blocked = fraction < 1;
  for (rf_index k = w->factor.size - 1; k >= 0; k--) {
    rf_index j = w->factor.columns[k];
    double step = w->step[k], bound = step < 0 ? w->low[j] : w->high[j], room = bound - w->z[j];
    /* relative to the step: the one that gave the fraction meets its bound whatever rounding says */
    bool meets = blocked && fabs(room) <= fraction * fabs(step) * (1 + 4 * DBL_EPSILON);
    w->z[j] += fraction * step;
    if (meets || w->z[j] < w->low[j] || w->z[j] > w->high[j]) drop(w, k, step < 0 ? at_low : at_high);
  }
}

/* The free columns go to their least-squares solution, dropping those that meet a bound on the way. `saved`
 * holds Q^T residual, so that residual -= fraction Q Q^T residual without touching A. */
static void settle(Problem *p) {
  RfLeastSquaresWork *w = p->work;
  p->all_priced = false;
  for (;;) {
    rf_index size = w->factor.size;
    if (size == 0) return;
    rf_la_factor_project(&w->factor, w->saved, w->residual);
    memcpy(w->step, w->saved, (size_t)size * sizeof *w->step);
    rf_la_factor_solve(&w->factor, w->step);
    double fraction = blocking_fraction(w);
    rf_la_factor_expand(&w->factor, w->residual, -fraction, w->saved);
    take_step(p, fraction);
    p->iterations++;
    if (w->factor.size == size) return;
  }
}

/* Appends column j when it is independent and would move the right way. */
static RfStatus enter(RfContext *context, Problem *p, rf_index j, bool *entered) {
  RfLeastSquaresWork *w = p->work;
  RfFactor *factor = &w->factor;
  *entered = false;
  if (factor->size >= p->rows) return RF_OK;
  if (factor->size + 1 >= factor->capacity && !reserve(w, 2 * factor->capacity + 1))
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for least squares with %lld free columns",
                   (long long)factor->size);
  double expected = w->gradient[j];
  if (rf_la_factor_append(factor, column(p, j), w->norm[j], j, independent) == 0) return RF_OK;
  /* The residual is orthogonal to the other columns, so the new coefficient is q.residual / R_kk. */
  double own = rf_small_dot(factor->Q + (factor->size - 1) * p->rows, w->residual, p->rows);
  if (!(own * expected > 0)) {
    factor->size--;
    return RF_OK;
  }
  w->place[j] = in_factor;
  *entered = true;
  return RF_OK;
}

static void forgive(Problem *p) {
  if (p->n_refused == 0) return;
  memset(p->work->refused, 0, (size_t)p->cols);
  p->n_refused = 0;
}

/* ---- refinement ------------------------------------------------------------------------------------- */

/* One correction from the extended residual: R^T R p = (A_P^T residual). False when a bound is in the way. */
static bool correct(Problem *p, double *size_of_step, double *size_of_z) {
  RfLeastSquaresWork *w = p->work;
  const RfFactor *factor = &w->factor;
  for (rf_index k = 0; k < factor->size; k++) {
    const double *a = column(p, factor->columns[k]);
    long double sum = 0;
    for (rf_index i = 0; i < p->rows; i++) sum += (long double)a[i] * w->fine[i];
    w->step[k] = (double)(sum / (long double)w->norm[factor->columns[k]]);
  }
  rf_la_factor_solve_transposed(factor, w->step);
  rf_la_factor_solve(factor, w->step);
  *size_of_step = *size_of_z = 0;
  for (rf_index k = 0; k < factor->size; k++) {
    rf_index j = factor->columns[k];
    double moved = w->z[j] + w->step[k];
    if (!(moved > w->low[j] && moved < w->high[j])) return false;
    *size_of_step = fmax(*size_of_step, fabs(w->step[k]));
    *size_of_z = fmax(*size_of_z, fabs(moved));
  }
  return true;
}

/* Refines z on its active set. Returns how far the residual used for pricing had drifted from the true one.
 */
static double refine(Problem *p) {
  RfLeastSquaresWork *w = p->work;
  double drift = fresh_residual(p), last = INFINITY, step, size;
  p->all_priced = false;
  for (int pass = 0; pass < 4 && w->factor.size > 0; pass++) {
    if (!correct(p, &step, &size) || !(step < 0.5 * last)) break;
    for (rf_index k = 0; k < w->factor.size; k++) w->z[w->factor.columns[k]] += w->step[k];
    drift += fresh_residual(p);
    if (step <= DBL_EPSILON * size) break;
    last = step;
  }
  return drift;
}

/* ---- driver ----------------------------------------------------------------------------------------- */

/* Puts the columns that start inside their bounds into the factor; dependent ones keep their value. */
static RfStatus enter_start(RfContext *context, Problem *p) {
  RfLeastSquaresWork *w = p->work;
  for (rf_index j = 0; j < p->cols && w->factor.size < p->rows; j++) {
    if (w->place[j] != inside || w->z[j] == 0) continue;
    if (w->factor.size + 1 >= w->factor.capacity && !reserve(w, 2 * w->factor.capacity + 1))
      return rf_fail(context, RF_ERR_MEMORY, "out of memory for least squares");
    if (rf_la_factor_append(&w->factor, column(p, j), w->norm[j], j, independent) > 0)
      w->place[j] = in_factor;
  }
  settle(p);
  return RF_OK;
}

static RfStatus iterate(RfContext *context, Problem *p) {
  RfLeastSquaresWork *w = p->work;
  double norm = column_norm(w->residual, p->rows);
  int refinements = 0;
  for (rf_index round = 1;; round++) {
    if (round % 16 == 0 && rf_context_stop(context)) return RF_INTERRUPTED;
    if (p->iterations > p->limit)
      return rf_fail(context, RF_ERR_NUMERIC, "least squares: no end after %lld iterations",
                     (long long)p->iterations);
    set_tolerance(context, p);
    rf_index j = choose_column(p);
    if (j < 0) {
      if (refine(p) <= p->tolerance || ++refinements > 8) return RF_OK;
      settle(p);
      norm = column_norm(w->residual, p->rows);
      continue;
    }
    bool entered;
    RfStatus status = enter(context, p, j, &entered);
    if (status) return status;
    if (entered) settle(p);
    double now = entered ? column_norm(w->residual, p->rows) : norm;
    if (now < norm * (1 - 2 * DBL_EPSILON))
      forgive(p);
    else
      w->refused[j] = 1, p->n_refused++;
    norm = now;
  }
}

/* Back to the caller's units; entries on a bound get exactly that bound. */
static void hand_back(const Problem *p, double *x, double *residual, RfLeastSquaresInfo *info,
                      const double *low, const double *high) {
  const RfLeastSquaresWork *w = p->work;
  for (rf_index j = 0; j < p->cols; j++) {
    double l = low ? low[j] : 0, h = high ? high[j] : INFINITY;
    switch ((Place)w->place[j]) {
    case at_low: x[j] = l; break;
    case at_high: x[j] = h; break;
    case fixed: x[j] = clip(0, l, h); break;
    default: x[j] = clip(w->z[j] / w->norm[j] * p->scale, l, h);
    }
  }
  if (residual)
    for (rf_index i = 0; i < p->rows; i++) residual[i] = w->residual[i] * p->scale;
  if (info)
    *info = (RfLeastSquaresInfo){.iterations = p->iterations,
                                 .active = w->factor.size,
                                 .residual = column_norm(w->residual, p->rows) * p->scale,
                                 .violation = p->violation};
}

static RfStatus solve(RfContext *context, double *x, double *residual, RfLeastSquaresInfo *info,
                      const double *columns, const double *f, const double *low, const double *high,
                      rf_index rows, rf_index cols, rf_index stride, RfLeastSquaresWork *work, bool warm) {
  if (rows < 0 || cols < 0 || (cols > 1 && stride < rows))
    return rf_fail(context, RF_ERR_USAGE, "least squares: sizes make no sense");
  RfLeastSquaresWork *own = NULL;
  RfStatus status = RF_OK;
  if (!work || rows > work->max_rows || cols > work->max_cols) {
    status = rf_la_least_squares_work_new(context, &own, rows, cols);
    if (status || !own) return status;
    work = own;
  }
  Problem p = {.columns = columns, .f = f, .rows = rows, .cols = cols, .stride = stride, .work = work};
  p.limit = 1000 + 20 * (rows + cols);
  work->factor.rows = rows;
  work->factor.size = 0;
  status = set_up(context, &p, x, low, high, warm);
  if (!status) {
    first_residual(&p);
    if (warm) status = enter_start(context, &p);
    if (!status) status = iterate(context, &p);
    if (status != RF_ERR_MEMORY) {
      if (status) fresh_residual(&p);
      if (info && !p.all_priced) price_all(&p);
      hand_back(&p, x, residual, info, low, high);
    }
  }
  rf_la_least_squares_work_free(own);
  return status;
}

RfStatus rf_la_nnls(RfContext *context, double *x, double *residual, RfLeastSquaresInfo *info,
                    const double *columns, const double *f, rf_index rows, rf_index cols, rf_index stride,
                    RfLeastSquaresWork *work) {
  return solve(context, x, residual, info, columns, f, NULL, NULL, rows, cols, stride, work, false);
}

RfStatus rf_la_nnls_from(RfContext *context, double *x, double *residual, RfLeastSquaresInfo *info,
                         const double *columns, const double *f, rf_index rows, rf_index cols,
                         rf_index stride, RfLeastSquaresWork *work) {
  return solve(context, x, residual, info, columns, f, NULL, NULL, rows, cols, stride, work, true);
}

RfStatus rf_la_box_least_squares(RfContext *context, double *x, double *residual, RfLeastSquaresInfo *info,
                                 const double *columns, const double *f, const double *low,
                                 const double *high, rf_index rows, rf_index cols, rf_index stride,
                                 RfLeastSquaresWork *work) {
  return solve(context, x, residual, info, columns, f, low, high, rows, cols, stride, work, false);
}

RfStatus rf_la_box_least_squares_from(RfContext *context, double *x, double *residual,
                                      RfLeastSquaresInfo *info, const double *columns, const double *f,
                                      const double *low, const double *high, rf_index rows, rf_index cols,
                                      rf_index stride, RfLeastSquaresWork *work) {
  return solve(context, x, residual, info, columns, f, low, high, rows, cols, stride, work, true);
}
