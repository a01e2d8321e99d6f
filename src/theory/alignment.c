/* MMV: assumption 1 and the constants of Theorem 1 (claims in the corrected form: zeta = min(zeta1, zeta2),
 * the scale rule (28) with denominator 8, the loss 2 ln(1+e^-q) behind the constants). xi = sep^2 is the
 * sharp value: the largest cosine between the hull of the z_i and a direction outside S+ and S- is sqrt(1 -
 * sep^2). */
#include "theory/theory_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

/* sums: row 0 the positive class, row 1 the negative one; empty classes stay zero. */
static void class_sums(double *sums, const double *X, const double *y, rf_index n, rf_index d) {
  memset(sums, 0, (size_t)(2 * d) * sizeof *sums);
  for (rf_index i = 0; i < n; i++) rf_la_axpy(sums + (y[i] > 0 ? 0 : d), 1, X + i * d, d);
}

static double cosine(const double *a, const double *b, rf_index d) {
  double norms = rf_la_norm(a, d) * rf_la_norm(b, d);
  return norms > 0 ? rf_la_dot(a, b, d) / norms : 0;
}

/* zeta1: the cone cos^2(w,x+-) > 1 - zeta1 lies inside S+-. */
static double cone_constant(const double *sums, const RfDataset *data) {
  double least = 1;
  for (int side = 0; side < 2; side++) {
    if (rf_la_norm(sums + side * data->d, data->d) == 0) continue;
    for (rf_index i = 0; i < data->n; i++) {
      double c = cosine(sums + side * data->d, data->X + i * data->d, data->d);
      least = fmin(least, c * c);
    }
  }
  return least;
}

void rf_theory_alignment(RfContext *context, RfAlignmentBounds *bounds, const RfTheoryProblem *problem) {
  const RfDataset *data = problem->data;
  const RfPairFacts *pairs = problem->pairs;
  bounds->separated = rf_assumption(pairs->sep, context->tol.zero);
  if (pairs->zeros > 0) bounds->separated.holds = RF_NO;
  bounds->zeta1 = bounds->xi = bounds->t1 = bounds->loss_rate = NAN;
  if (bounds->separated.holds != RF_YES) return;
  double *sums = RF_NEW(double, 2 * data->d), sep = pairs->sep;
  if (!sums) return; /* the constants stay unknown */
  class_sums(sums, data->X, data->y, data->n, data->d);
  bounds->zeta1 = cone_constant(sums, data);
  bounds->xi = sep * sep;
  bounds->t1 = 16 * log((double)data->n) / (fmin(bounds->zeta1, bounds->xi) * sqrt(sep) * pairs->norm_min) /
               rf_loss_slope_at_zero(problem->loss);
  bounds->loss_rate = sep * pairs->norm_min * sep * pairs->norm_min / (32 * pairs->norm_max);
  rf_free(sums);
}

double rf_theory_alignment_end(const RfAlignmentBounds *bounds, double zeta2) {
  double data = fmin(bounds->zeta1, bounds->xi);
  return bounds->separated.holds == RF_YES && zeta2 > 0 ? bounds->t1 * data / fmin(data, zeta2) : NAN;
}

/* Neuron k with a_k > 0 must keep off x-, with a_k < 0 off x+: zeta2 = min over k of 1 - cos^2 where the
 * cosine is positive (a negative one is no obstacle). */
RfStatus rf_theory_start_angle(RfContext *context, double *zeta2, const RfNet *net, const double *X,
                               const double *y, rf_index n) {
  rf_index d = net->d;
  double *sums = RF_NEW(double, 2 * d), least = 1;
  if (!sums) return rf_fail(context, RF_ERR_MEMORY, "out of memory for class sums");
  class_sums(sums, X, y, n, d);
  for (rf_index k = 0; k < net->m; k++) {
    const double *other = net->a[k] > 0 ? sums + d : sums, *w = net->W + k * d;
    double c = cosine(w, other, d);
    if (net->a[k] == 0 || c <= 0) continue;
    /* 1 - c^2 from the part of w across the sum: no cancellation for nearly parallel neurons */
    double square = 0, scale = c * rf_la_norm(w, d) / rf_la_norm(other, d);
    for (rf_index j = 0; j < d; j++) square += (w[j] - scale * other[j]) * (w[j] - scale * other[j]);
    double across = sqrt(square) / rf_la_norm(w, d);
    least = fmin(least, across <= 4e-16 ? 0 : across * across);
  }
  *zeta2 = least;
  rf_free(sums);
  return RF_OK;
}

double rf_theory_log_scale(const RfAlignmentBounds *bounds, double zeta2, rf_index n, double norm_min,
                           double norm_max, rf_index width, double w_max) {
  if (bounds->separated.holds != RF_YES || n < 2 || width < 1) return NAN;
  double sep = bounds->separated.slack, zeta = fmin(bounds->zeta1, zeta2), size = (double)n;
  double narrow = fmin(zeta, bounds->xi), speed = sqrt(sep) * norm_min, half = 0.5 * log((double)width);
  double first = log(fmin(sep, narrow) * speed / (8 * size * norm_max * norm_max * w_max * w_max)) - half;
  double second = -half - 64 * size * norm_max * log(size) / (narrow * speed);
  return fmin(first, second);
}
