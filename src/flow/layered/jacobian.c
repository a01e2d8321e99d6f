/* The matrix of derivatives of the velocity of a layered network, exact but for rounding. With the slopes s
 * of the held units, v = sum p_i y_i g_i(theta, s), g_i = df_i and F_k = <dz_k, v> = 0: dv/dtheta at fixed s
 * = sum p_i y_i d2f_i + sum y_i g_i dp_i',   dp_i = p_i (c_i dq_i - sum_j p_j c_j dq_j) with c = d
 * ln(-loss')/dq, and the slopes move such that dF_k = 0. By sides f and z are polynomials: their derivatives
 * are differences of any size, extrapolated where weights are shared. */
#include "flow/layered/sides_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

typedef struct Derivatives {
  RfSided *sided;
  const double *theta;
  double *J;                      /* P x P */
  double *log_S, *v, *q;          /* P: of ln S ; P ; n */
  double *at, *one, *weights;     /* P ; P ; n */
  double *planes, *bends, *moves; /* held x P each: dz_k ; d2z_k v ; dv/ds_k */
  double *speeds, *column;        /* held x held: dF_k/ds_j ; held */
  int32_t *pivot;                 /* held */
} Derivatives;

static void weighted(Derivatives *d, double *out, rf_index which) {
  (void)which;
  rf_sided_gradient(d->sided, out, d->weights, d->at);
}

static void plane(Derivatives *d, double *out, rf_index k) { rf_sided_plane(d->sided, out, k, d->at); }

/* Adds factor times value(which) at theta moved by h along `way`, or, without one, along parameter p. */
static void add_value(Derivatives *d, double *out, double factor,
                      void (*value)(Derivatives *, double *, rf_index), rf_index which, const double *way,
                      rf_index p, double h) {
  rf_index P = d->sided->P;
  memcpy(d->at, d->theta, (size_t)P * sizeof(double));
  if (way) rf_la_axpy(d->at, h, way, P);
  if (!way) d->at[p] += h;
  value(d, d->one, which);
  rf_la_axpy(out, factor, d->one, P);
}

/* Its derivative there: (4 D(h) - D(2h))/3 of central differences, exact up to degree 4; where all weights
 * are their own, one of them appears to the first power only, and D(h) is. */
static void derivative(Derivatives *d, double *out, void (*value)(Derivatives *, double *, rf_index),
                       rf_index which, const double *way, rf_index p, double h) {
  bool straight = !way && !d->sided->shared;
  memset(out, 0, (size_t)d->sided->P * sizeof(double));
  for (int side = -1; side <= 1; side += 2) {
    add_value(d, out, side * (straight ? 0.5 : 2.0 / 3) / h, value, which, way, p, side * h);
    if (!straight) add_value(d, out, -side / (12 * h), value, which, way, p, 2 * side * h);
  }
}

/* d ln(-loss')/dq. */
static double rate(RfLoss loss, double q) { return loss == RF_LOSS_EXP ? -1 : -1 / (1 + exp(-q)); }

/* At fixed slopes. The second derivatives are symmetric: a column is a row. */
static void fixed_slopes(Derivatives *d) {
  RfSided *sided = d->sided;
  rf_index P = sided->P, n = sided->n;
  double h = rf_la_norm(d->theta, P) / sqrt((double)P);
  for (rf_index i = 0; i < n; i++)
    d->weights[i] = sided->p[i] > RF_LAYERED_UNFELT_WEIGHT ? sided->p[i] * sided->y[i] : 0;
  for (rf_index p = 0; p < P; p++) derivative(d, d->J + p * P, weighted, 0, NULL, p, h);
  memset(d->log_S, 0, (size_t)P * sizeof(double));
  memset(d->weights, 0, (size_t)n * sizeof(double));
  for (rf_index i = 0; i < n; i++) {
    if (!(sided->p[i] > RF_LAYERED_UNFELT_WEIGHT)) continue;
    d->weights[i] = sided->y[i];
    rf_sided_gradient(sided, d->one, d->weights, d->theta);
    d->weights[i] = 0;
    double factor = sided->p[i] * rate(sided->loss, d->q[i]);
    rf_la_axpy(d->log_S, factor, d->one, P);
    for (rf_index r = 0; r < P; r++)
      if (d->one[r] != 0) rf_la_axpy(d->J + r * P, factor * d->one[r], d->one, P);
  }
  for (rf_index r = 0; r < P; r++) rf_la_axpy(d->J + r * P, -d->v[r], d->log_S, P);
}

/* J += sum_k dv/ds_k ds_k, where the slopes follow from dF = 0; false when they do not. */
static bool moving_slopes(Derivatives *d) {
  RfSided *sided = d->sided;
  rf_index P = sided->P, K = sided->held;
  double speed = rf_la_norm(d->v, P), h = rf_la_norm(d->theta, P);
  rf_sided_slope_derivatives(sided, d->planes, d->moves, d->speeds, d->v);
  for (rf_index e = 0; e < K * K; e++)
    if (!isfinite(d->speeds[e])) return false;
  for (rf_index k = 0; k < K && speed > 0; k++) derivative(d, d->bends + k * P, plane, k, d->v, 0, h / speed);
  for (rf_index k = 0; k < K; k++) /* dF_k/dtheta at fixed slopes */
    rf_la_combine_add(d->bends + k * P, 1, d->J, d->planes + k * P, P, P, P);
  if (!rf_la_lu(d->speeds, d->pivot, K)) return false;
  for (rf_index p = 0; p < P; p++) {
    for (rf_index k = 0; k < K; k++) d->column[k] = d->bends[k * P + p];
    rf_la_lu_solve(d->speeds, d->pivot, d->column, K);
    for (rf_index k = 0; k < K; k++) d->bends[k * P + p] = -d->column[k];
  }
  rf_la_add_product_tn(d->J, d->moves, d->bends, P, P, K);
  return true;
}

RfStatus rf_sided_jacobian(RfSided *sided, double *J, double *log_S, double *v, const double *theta,
                           bool *known) {
  rf_index P = sided->P, n = sided->n, K = sided->held;
  double *memory = RF_NEW(double, 2 * P + 2 * n + 3 * K * P + K * K + K);
  int32_t *pivot = RF_NEW(int32_t, K + 1);
  RfStatus status =
      memory && pivot ? RF_OK : rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for a stiff step");
  if (!status) {
    Derivatives d = {.sided = sided, .theta = theta, .J = J, .log_S = log_S, .v = v, .pivot = pivot};
    d.at = memory, d.one = d.at + P, d.q = d.one + P, d.weights = d.q + n, d.planes = d.weights + n;
    d.bends = d.planes + K * P, d.moves = d.bends + K * P, d.speeds = d.moves + K * P;
    d.column = d.speeds + K * K;
    rf_sided_velocity(sided, v, d.q, theta);
    fixed_slopes(&d);
    *known = K == 0 || (!sided->lost && moving_slopes(&d));
  }
  rf_free(memory), rf_free(pivot);
  return status;
}
