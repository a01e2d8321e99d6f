/* Hard margins from least-distance problems: the linear margin with and without intercept, and the
 * minimum-norm vector of one class. The solver's answer is turned into the caller's numbers, and every claim
 * about them is then recomputed here from those numbers alone; an answer that does not stand up is
 * RF_UNDECIDED. */
#include "margin_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

void rf_linear_margin_free(RfLinearMargin *margin) {
  rf_free(margin->w);
  rf_free(margin->support);
  rf_free(margin->multipliers);
  rf_free(margin->farkas);
  memset(margin, 0, sizeof *margin);
}

/* Residuals of a separator, and of a Farkas certificate, above which the answer is not given. */
static const double believed = 1e-7, farkas_believed = 1e-12;

static RfStatus out_of_memory(RfContext *context) {
  rf_fail(context, RF_ERR_MEMORY, "out of memory for a margin");
  return RF_ERR_MEMORY;
}

/* ---- checks, on the numbers handed out -------------------------------------------------------------- */

/* (factor (x.w + b)) of a row in extended precision. */
static long double fine_margin(const RfRows *rows, const RfLinearMargin *m, rf_index i) {
  const double *x = rf_row(rows, i);
  long double sum = (long double)m->b;
  for (rf_index j = 0; j < rows->d; j++) sum += (long double)x[j] * (long double)m->w[j];
  return sum * (long double)rf_row_factor(rows, i);
}

/* Margins of all rows; those near the smallest in extended precision. False when a row is not separated. */
static bool check_primal(RfLinearMargin *m, double *margins, const RfRows *rows, double tight) {
  double least = INFINITY;
  if (rows->rows)
    for (rf_index i = 0; i < rows->count; i++) margins[i] = rf_la_dot(rf_row(rows, i), m->w, rows->d);
  else
    rf_la_apply(margins, rows->X, m->w, rows->count, rows->d, rows->d);
  for (rf_index i = 0; i < rows->count; i++) margins[i] = rf_row_factor(rows, i) * (margins[i] + m->b);
  double near = m->margin * (1 + 1e-3);
  for (rf_index i = 0; i < rows->count; i++) {
    if (margins[i] < near) margins[i] = (double)fine_margin(rows, m, i);
    if (margins[i] < least) least = margins[i];
  }
  m->feasibility = fmax(0, 1 - least / m->margin);
  rf_index found = 0;
  for (rf_index i = 0; i < rows->count; i++)
    if (margins[i] <= least + tight * m->margin) m->support[found++] = rf_row_at(rows, i);
  m->n_support = found;
  return least > 0;
}

/* |w/margin - sum mu_i z_i| / |w/margin| = |w - margin sum mu_i z_i|, and how far rows with a multiplier are
 * from tight. */
static RfStatus check_dual(RfContext *context, RfLinearMargin *m, const double *margins, const RfRows *rows) {
  long double *rest = RF_NEW(long double, rows->d), square = 0;
  if (!rest) return out_of_memory(context);
  for (rf_index j = 0; j < rows->d; j++) rest[j] = (long double)m->w[j];
  m->complementarity = 0;
  for (rf_index i = 0; i < rows->count; i++) {
    double multiplier = m->multipliers[rf_row_at(rows, i)];
    if (multiplier == 0) continue;
    const double *x = rf_row(rows, i);
    long double weight =
        (long double)multiplier * (long double)m->margin * (long double)rf_row_factor(rows, i);
    for (rf_index j = 0; j < rows->d; j++) rest[j] -= weight * (long double)x[j];
    m->complementarity = fmax(m->complementarity, fabs(margins[i] / m->margin - 1));
  }
  for (rf_index j = 0; j < rows->d; j++) square += rest[j] * rest[j];
  m->stationarity = (double)sqrtl(square);
  rf_free(rest);
  return RF_OK;
}

/* |sum f_i z_i| / sum f_i |z_i|; with an intercept z_i gets one more entry, factor_i times the largest |x|,
 * because separability is then about differences of points. */
static RfStatus check_farkas(RfContext *context, RfLinearMargin *m, const RfRows *rows, bool intercept) {
  long double *sum = RF_NEW(long double, rows->d + 1), square = 0, total = 0, largest = 0;
  if (!sum) return out_of_memory(context);
  double size = 0;
  for (rf_index i = 0; i < rows->count && intercept; i++)
    size = fmax(size, rf_la_norm(rf_row(rows, i), rows->d));
  if (intercept && size == 0) size = 1;
  for (rf_index i = 0; i < rows->count; i++) {
    double weight = m->farkas[rf_row_at(rows, i)];
    if (weight == 0) continue;
    const double *x = rf_row(rows, i);
    long double factor = (long double)weight * (long double)rf_row_factor(rows, i);
    for (rf_index j = 0; j < rows->d; j++) sum[j] += factor * (long double)x[j];
    sum[rows->d] += factor * (long double)size;
    total += fabsl(factor) * (long double)hypot(rf_la_norm(x, rows->d), size);
  }
  for (rf_index j = 0; j <= rows->d; j++) largest = fabsl(sum[j]) > largest ? fabsl(sum[j]) : largest;
  for (rf_index j = 0; j <= rows->d && largest > 0; j++) square += (sum[j] / largest) * (sum[j] / largest);
  m->farkas_residual = total > 0 ? (double)(largest * sqrtl(square) / total) : 0;
  rf_free(sum);
  return RF_OK;
}

/* What rounding w, b and the multipliers to double costs at least: rows near the margin whose length is large
 * against it cannot be met better, and large multipliers do not cancel better. */
static double rounding_of_answer(const RfLinearMargin *m, const double *margins, const RfRows *rows) {
  double longest = 0, sum = 0;
  for (rf_index i = 0; i < rows->count; i++) {
    double multiplier = m->multipliers[rf_row_at(rows, i)];
    if (multiplier == 0 && margins[i] > m->margin * (1 + 1e-3)) continue;
    double norm = fabs(rf_row_factor(rows, i)) * (rf_la_norm(rf_row(rows, i), rows->d) + fabs(m->b));
    longest = fmax(longest, norm / m->margin);
    sum += multiplier * m->margin * norm;
  }
  return 8 * DBL_EPSILON * fmax(longest, sum);
}

/* ---- from the solver's answer to the caller's ------------------------------------------------------- */

static RfStatus fill_separable(RfContext *context, RfLinearMargin *m, const RfRows *rows,
                               const RfLeastDistance *v) {
  m->w = RF_NEW(double, m->d);
  m->multipliers = RF_NEW(double, m->n);
  m->support = RF_NEW(rf_index, rows->count);
  double *margins = RF_NEW(double, rows->count);
  RfStatus status = RF_OK;
  if (!m->w || !m->multipliers || !m->support || !margins) {
    status = out_of_memory(context);
    goto done;
  }
  long double square = 0, largest = 0, b = (long double)rows->offset;
  for (rf_index j = 0; j < m->d; j++) largest = fabsl(v->v[j]) > largest ? fabsl(v->v[j]) : largest;
  if (largest == 0) { /* v = 0 satisfies every row */
    m->margin = m->margin_upper = INFINITY;
    goto done;
  }
  for (rf_index j = 0; j < m->d; j++) square += (v->v[j] / largest) * (v->v[j] / largest);
  long double length = largest * sqrtl(square);
  for (rf_index j = 0; j < m->d; j++) m->w[j] = (double)(v->v[j] / length);
  if (rows->lift > 0) b += (long double)rows->lift * v->v[m->d];
  for (rf_index j = 0; j < m->d && rows->shift; j++) b -= (long double)rows->shift[j] * v->v[j];
  m->b = rows->lift > 0 ? (double)(b / length) : 0;
  m->margin = m->margin_upper = (double)(1 / length);
  for (rf_index a = 0; a < v->n_active; a++)
    m->multipliers[rf_row_at(rows, v->active[a])] = (double)v->weights[a];
  bool separated = check_primal(m, margins, rows, context->tol.tight);
  status = check_dual(context, m, margins, rows);
  double residual = fmax(m->stationarity, fmax(m->feasibility, m->complementarity));
  if (!status && (!separated || residual > fmax(believed, rounding_of_answer(m, margins, rows))))
    status = RF_UNDECIDED;
done:
  rf_free(margins);
  return status;
}

static RfStatus fill_infeasible(RfContext *context, RfLinearMargin *m, const RfRows *rows,
                                const double *farkas, bool intercept) {
  m->farkas = RF_NEW(double, m->n);
  if (!m->farkas) return out_of_memory(context);
  for (rf_index i = 0; i < rows->count; i++) m->farkas[rf_row_at(rows, i)] = farkas[i];
  m->margin_upper = 0;
  RfStatus status = check_farkas(context, m, rows, intercept);
  if (!status) status = rf_prove_farkas(context, &m->exact, rows, m->farkas, intercept);
  return status ? status : RF_NOT_SEPARABLE;
}

/* What an undecided or interrupted run leaves: the bound on the margin. */
static void clear_claims(RfLinearMargin *m) {
  rf_index n = m->n, d = m->d, iterations = m->iterations;
  double upper = m->margin_upper;
  rf_linear_margin_free(m);
  m->n = n;
  m->d = d;
  m->iterations = iterations;
  m->margin_upper = upper;
  m->margin = m->stationarity = m->feasibility = m->complementarity = m->farkas_residual = NAN;
}

/* An answer that rounding spoilt may still be a clear no. */
static RfStatus try_whitened(RfContext *context, RfLinearMargin *m, const RfRows *rows, bool intercept) {
  double *farkas, upper = m->margin_upper;
  RfStatus status = rf_whitened_farkas(context, &farkas, rows);
  if (status == RF_INFEASIBLE) {
    clear_claims(m);
    status = fill_infeasible(context, m, rows, farkas, intercept);
    if (status == RF_NOT_SEPARABLE && !(m->farkas_residual <= farkas_believed)) {
      m->margin_upper = upper;
      status = RF_UNDECIDED;
    }
  }
  rf_free(farkas);
  return status;
}

/* What doubles leave open, rational numbers decide where the rows are few. */
static RfStatus try_exactly(RfContext *context, RfLinearMargin *m, const RfRows *rows, bool intercept) {
  RfLeastDistance v = {0};
  RfStatus status = rf_exact_distance(context, &v, rows);
  if (status == RF_OK || status == RF_INFEASIBLE) clear_claims(m);
  if (status == RF_OK) {
    status = fill_separable(context, m, rows, &v);
  } else if (status == RF_INFEASIBLE) {
    status = fill_infeasible(context, m, rows, v.farkas, intercept);
    m->exact = true;
  }
  rf_least_distance_free(&v);
  return status;
}

static RfStatus finish(RfContext *context, RfLinearMargin *m, const RfRows *rows, const RfLeastDistance *v,
                       RfStatus status, bool intercept) {
  m->iterations += v->iterations;
  m->margin = m->stationarity = m->feasibility = m->complementarity = m->farkas_residual = NAN;
  m->margin_upper = v->length_lower > 0 ? 1 / v->length_lower : INFINITY;
  if (status == RF_OK) status = fill_separable(context, m, rows, v);
  if (status == RF_INFEASIBLE) status = fill_infeasible(context, m, rows, v->farkas, intercept);
  if (status == RF_UNDECIDED) status = try_whitened(context, m, rows, intercept);
  if (status == RF_UNDECIDED) status = try_exactly(context, m, rows, intercept);
  if (status == RF_UNDECIDED || status == RF_INTERRUPTED) clear_claims(m);
  if (status < 0) rf_linear_margin_free(m);
  m->status = status;
  m->separable = status == RF_OK;
  return status;
}

/* ---- linear ----------------------------------------------------------------------------------------- */

static RfStatus check_input(RfContext *context, const double *X, const double *factor, rf_index n,
                            rf_index d) {
  if (n < 0 || d < 0) return rf_fail(context, RF_ERR_USAGE, "margin: negative size");
  for (rf_index i = 0; i < n; i++)
    if (factor && !isfinite(factor[i]))
      return rf_fail(context, RF_ERR_USAGE, "margin: factor %lld is not finite", (long long)i);
  for (rf_index i = 0; i < n * d; i++)
    if (!isfinite(X[i]))
      return rf_fail(context, RF_ERR_USAGE, "margin: row %lld is not finite", (long long)(i / d));
  return RF_OK;
}

static bool is_zero_row(const RfRows *rows, rf_index i) {
  if (rf_row_factor(rows, i) == 0) return true;
  const double *x = rf_row(rows, i);
  for (rf_index j = 0; j < rows->d; j++)
    if (x[j] != 0) return false;
  return true;
}

/* Through the origin. A zero row is its own certificate. */
static RfStatus solve_rows(RfContext *context, RfLinearMargin *m, const RfRows *rows) {
  RfLeastDistance v = {0};
  RfStatus status = RF_OK;
  for (rf_index i = 0; i < rows->count; i++)
    if (is_zero_row(rows, i)) {
      double *farkas = v.farkas = RF_NEW(double, rows->count);
      if (!farkas) return out_of_memory(context);
      farkas[i] = 1;
      status = RF_INFEASIBLE;
      break;
    }
  if (!status) status = rf_least_distance(context, &v, rows);
  status = finish(context, m, rows, &v, status, false);
  rf_least_distance_free(&v);
  return status;
}

RfStatus rf_margin_weighted(RfContext *context, RfLinearMargin *margin, const double *X, const double *factor,
                            rf_index n, rf_index d) {
  *margin = (RfLinearMargin){.n = n, .d = d};
  RfStatus status = check_input(context, X, factor, n, d);
  if (status) return status;
  RfRows rows = {.X = X, .count = n, .d = d, .factor = factor};
  return solve_rows(context, margin, &rows);
}

RfStatus rf_margin_linear(RfContext *context, RfLinearMargin *margin, const double *X, const double *y,
                          rf_index n, rf_index d) {
  return rf_margin_weighted(context, margin, X, y, n, d);
}

/* ---- intercept -------------------------------------------------------------------------------------- */

/* The mean of the rows, and the largest distance from it. */
static double centre(double *mean, const double *X, rf_index n, rf_index d) {
  double radius = 0;
  for (rf_index i = 0; i < n; i++)
    for (rf_index j = 0; j < d; j++) mean[j] += X[i * d + j] / (double)n;
  for (rf_index i = 0; i < n; i++)
    for (rf_index j = 0; j < d; j++) radius = fmax(radius, fabs(X[i * d + j] - mean[j]));
  return radius;
}

/* The intercept is a lifted coordinate t with a weak pull towards `offset`; moving the offset to the
 * intercept found (a proximal step) removes the pull. Each step shrinks it by (radius/lift)^2, so three or
 * four reach the last bit. */
static RfStatus proximal(RfContext *context, RfLeastDistance *v, RfRows *rows, rf_index *iterations) {
  RfStatus status = RF_OK;
  double last = INFINITY;
  for (int step = 0; step < 60; step++) {
    rf_least_distance_free(v);
    status = rf_least_distance(context, v, rows);
    if (status) return status;
    *iterations += v->iterations;
    v->iterations = 0;
    double move = (double)((long double)rows->lift * v->v[rows->d]);
    double noise = DBL_EPSILON * fmax(1, fmax(fabs(rows->offset), rows->lift * (double)v->length));
    if (fabs(move) <= noise || (fabs(move) <= 1e4 * noise && !(fabs(move) < 0.5 * last))) return RF_OK;
    rows->offset += move;
    last = fabs(move);
  }
  return RF_UNDECIDED;
}

RfStatus rf_margin_linear_intercept(RfContext *context, RfLinearMargin *margin, const double *X,
                                    const double *y, rf_index n, rf_index d) {
  *margin = (RfLinearMargin){.n = n, .d = d};
  RfStatus status = check_input(context, X, y, n, d);
  if (status) return status;
  double *mean = RF_NEW(double, d);
  if (!mean) return out_of_memory(context);
  RfLeastDistance v = {0};
  RfRows rows = {.X = X, .count = n, .d = d, .factor = y, .shift = mean};
  double radius = centre(mean, X, n, d);
  rows.lift = radius > 0 ? 16 * radius : 1;
  bool mixed = false;
  for (rf_index i = 1; i < n; i++) mixed = mixed || y[i] != y[0];
  if (!mixed && n > 0) { /* one class: w = 0 and b = its sign */
    v.v = RF_NEW(long double, d + 1);
    status = v.v ? RF_OK : out_of_memory(context);
    rows.offset = y[0];
  } else {
    status = proximal(context, &v, &rows, &margin->iterations);
  }
  status = status < 0 ? status : finish(context, margin, &rows, &v, status, true);
  if (status == RF_OK && !mixed) margin->b = n > 0 ? y[0] : 0;
  rf_least_distance_free(&v);
  rf_free(mean);
  return status;
}

/* ---- one class -------------------------------------------------------------------------------------- */

void rf_class_margin_free(RfClassMargin *margin) {
  rf_free(margin->w);
  rf_free(margin->support);
  rf_free(margin->multipliers);
  rf_free(margin->farkas);
  memset(margin, 0, sizeof *margin);
}

/* Do the rows X[support] span R^d? By orthogonalising them one after the other. */
static RfStatus spans_all(RfContext *context, bool *spans, const double *X, const rf_index *support,
                          rf_index n_support, rf_index d) {
  *spans = d == 0;
  if (n_support < d || d == 0) return RF_OK;
  RfFactor factor;
  rf_la_factor_init(&factor, d);
  RfStatus status = rf_la_factor_reserve(&factor, d + 1) ? RF_OK : out_of_memory(context);
  for (rf_index k = 0; !status && k < n_support && factor.size < d; k++) {
    const double *x = X + support[k] * d;
    rf_la_factor_append(&factor, x, rf_la_norm(x, d), support[k], context->tol.rank);
  }
  *spans = factor.size == d;
  rf_la_factor_free(&factor);
  return status;
}

/* Unit separator and margin of the class rows become w = unit/margin; memory moves over. */
static void take_over(RfClassMargin *out, RfLinearMargin *m) {
  out->status = m->status;
  out->exists = m->separable;
  out->w = m->w;
  out->support = m->support;
  out->n_support = m->n_support;
  out->multipliers = m->multipliers;
  out->farkas = m->farkas;
  out->norm = m->separable ? 1 / m->margin : NAN;
  out->stationarity = m->stationarity;
  out->feasibility = m->feasibility;
  out->farkas_residual = m->farkas_residual, out->exact = m->exact;
  out->iterations = m->iterations;
  for (rf_index j = 0; m->separable && out->w && j < m->d; j++) out->w[j] /= m->margin;
}

RfStatus rf_margin_class(RfContext *context, RfClassMargin *margin, const double *X, const double *y,
                         rf_index n, rf_index d, int sign) {
  *margin = (RfClassMargin){.n = n, .d = d, .norm = NAN};
  RfStatus status = check_input(context, X, y, n, d);
  if (status) return status;
  rf_index *members = RF_NEW(rf_index, n), count = 0;
  if (!members) return out_of_memory(context);
  for (rf_index i = 0; i < n; i++)
    if ((y[i] > 0) == (sign > 0)) members[count++] = i;
  margin->empty = count == 0;
  if (count > 0) {
    RfLinearMargin m = {.n = n, .d = d};
    RfRows rows = {.X = X, .count = count, .d = d, .rows = members};
    status = solve_rows(context, &m, &rows);
    if (status >= 0) take_over(margin, &m);
    if (status == RF_OK) {
      RfStatus spanning = spans_all(context, &margin->spans, X, margin->support, margin->n_support, d);
      if (spanning) {
        rf_class_margin_free(margin);
        status = spanning;
      }
    }
  }
  rf_free(members);
  return status;
}
