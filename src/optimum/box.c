/* Nearest point to the origin of the image of a box, min |sum_i coef_i V_i| over low <= coef <= high: the
 * distance from a point to a zonotope (docs/math.md (G.6)). Exact coordinate steps find the face, a
 * least-squares step on the free coefficients lands on its nearest point; both only ever decrease |res|, so
 * that any iterate is a valid upper bound of the distance, which the search uses to stop early. */
#include "optimum/optimum_internal.h"
#include "optimum/kernels.h"
#include "optimum/optimum_tolerances.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

RfStatus rf_box_new(RfContext *context, RfBox *box, rf_index n, rf_index r) {
  memset(box, 0, sizeof *box);
  rf_index k = r + 1;
  box->n = box->capacity = n, box->r = r;
  box->coef = RF_NEW(double, n), box->low = RF_NEW(double, n), box->high = RF_NEW(double, n);
  box->res = RF_NEW(double, r), box->qr = RF_NEW(double, k *(r + k)), box->step = RF_NEW(double, k);
  box->free_at = RF_NEW(rf_index, k);
  if (box->coef && box->low && box->high && box->res && box->qr && box->step && box->free_at) return RF_OK;
  rf_box_free(box);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a bounded least-squares problem");
}

void rf_box_free(RfBox *box) {
  rf_free(box->coef), rf_free(box->low), rf_free(box->high), rf_free(box->res), rf_free(box->qr);
  rf_free(box->step), rf_free(box->free_at), rf_free(box->zero), rf_free(box->old);
  rf_la_least_squares_work_free(box->active);
  memset(box, 0, sizeof *box);
}

/* For a number of pairs that the compiler knows, res stays in registers. */
static inline void residual_pairs(RfBox *box, int pairs) {
  const RfPair *v = (const RfPair *)box->V;
  RfPair res[8] = {{0, 0}};
  for (rf_index i = 0; i < box->n; i++, v += pairs) rf_pairs_axpy(res, box->coef[i], v, pairs);
  for (int k = 0; k < pairs; k++) ((RfPair *)box->res)[k] = res[k];
}

static void residual(RfBox *box) {
  memset(box->res, 0, (size_t)box->r * sizeof(double));
  for (rf_index i = 0; i < box->n; i++)
    if (box->coef[i] != 0) rf_short_axpy(box->res, box->coef[i], box->V + i * box->r, box->r);
}

/* One pass of coordinate steps. */
static inline double sweep_pairs(RfBox *box, int pairs) {
  const double *low = box->low, *high = box->high;
  const RfPair *v = (const RfPair *)box->V;
  double *coef = box->coef;
  RfPair res[8];
  for (int k = 0; k < pairs; k++) res[k] = ((const RfPair *)box->res)[k];
  for (rf_index i = 0; i < box->n; i++, v += pairs) {
    if (low[i] == high[i]) continue;
    double old = coef[i], now = old - rf_pairs_dot(v, res, pairs);
    now = now < low[i] ? low[i] : now > high[i] ? high[i] : now;
    if (now == old) continue;
    coef[i] = now;
    rf_pairs_axpy(res, now - old, v, pairs);
  }
  for (int k = 0; k < pairs; k++) ((RfPair *)box->res)[k] = res[k];
  return rf_pairs_dot(res, res, pairs);
}

static double sweep(RfBox *box) {
  rf_index r = box->r;
  double *res = box->res;
  for (rf_index i = 0; i < box->n; i++) {
    if (box->low[i] == box->high[i]) continue;
    const double *v = box->V + i * r;
    double old = box->coef[i], now = old - rf_short_dot(v, res, r);
    now = now < box->low[i] ? box->low[i] : now > box->high[i] ? box->high[i] : now;
    if (now == old) continue;
    box->coef[i] = now;
    rf_short_axpy(res, now - old, v, r);
  }
  return rf_short_dot(res, res, r);
}

/* Both, for the dimensions that searches live in. */
#define BY_PAIRS(pairs_of, any)                                                                              \
  switch (box->r) {                                                                                          \
  case 2: return pairs_of(box, 1);                                                                           \
  case 4: return pairs_of(box, 2);                                                                           \
  case 6: return pairs_of(box, 3);                                                                           \
  case 8: return pairs_of(box, 4);                                                                           \
  case 10: return pairs_of(box, 5);                                                                          \
  case 12: return pairs_of(box, 6);                                                                          \
  default: return any(box);                                                                                  \
  }

void rf_box_residual(RfBox *box) { BY_PAIRS(residual_pairs, residual) }
double rf_box_sweep(RfBox *box){BY_PAIRS(sweep_pairs, sweep)}

/* Independent rows among the free ones: orthonormal q (rows of r), triangle T (row stride r+1) with V_f = sum
 * T q. At most r are kept; dependent ones stay where they are. */
rf_index rf_box_face(RfBox *box) {
  rf_index r = box->r, k = 0;
  double *q = box->qr, *T = q + (r + 1) * r;
  for (rf_index i = 0; i < box->n && k < r; i++) {
    if (!(box->coef[i] > box->low[i] && box->coef[i] < box->high[i])) continue;
    double *row = q + k * r;
    memcpy(row, box->V + i * r, (size_t)r * sizeof *row);
    for (rf_index j = 0; j < k; j++) T[j * (r + 1) + k] = 0;
    for (int pass = 0; pass < 2; pass++)
      for (rf_index j = 0; j < k; j++) {
        double part = rf_short_dot(q + j * r, row, r);
        rf_short_axpy(row, -part, q + j * r, r);
        T[j * (r + 1) + k] += part;
      }
    double length = sqrt(rf_short_dot(row, row, r));
    if (length < rf_dependent_row) continue;
    T[k * (r + 1) + k] = length;
    for (rf_index c = 0; c < r; c++) row[c] /= length;
    box->free_at[k++] = i;
  }
  return k;
}

/* step = -T^{-1} q res: to the nearest point on the affine face of the k free coefficients. */
static void subspace_step(RfBox *box, rf_index k) {
  rf_index r = box->r;
  const double *q = box->qr, *T = q + (r + 1) * r;
  for (rf_index j = k; j-- > 0;) {
    double sum = -rf_short_dot(q + j * r, box->res, r);
    for (rf_index l = j + 1; l < k; l++) sum -= T[j * (r + 1) + l] * box->step[l];
    box->step[j] = sum / T[j * (r + 1) + j];
  }
}

/* Walks along the step to the first bound; true when the whole step was possible. */
static bool walk(RfBox *box, rf_index k) {
  double length = 1;
  rf_index hit = -1;
  for (rf_index j = 0; j < k; j++) {
    rf_index i = box->free_at[j];
    double room = box->step[j] > 0 ? box->high[i] - box->coef[i] : box->low[i] - box->coef[i];
    if (box->step[j] != 0 && room / box->step[j] < length) length = room / box->step[j], hit = j;
  }
  for (rf_index j = 0; j < k; j++) {
    rf_index i = box->free_at[j];
    double move = length * box->step[j];
    box->coef[i] += move;
    if (j == hit) box->coef[i] = box->step[j] > 0 ? box->high[i] : box->low[i];
    if (box->coef[i] < box->low[i]) box->coef[i] = box->low[i];
    if (box->coef[i] > box->high[i]) box->coef[i] = box->high[i];
  }
  rf_box_residual(box);
  return hit < 0;
}

/* Largest gradient entry that points into the box: 0 at the minimum. */
static double violation(const RfBox *box) {
  double worst = 0;
  for (rf_index i = 0; i < box->n; i++) {
    double g = rf_short_dot(box->V + i * box->r, box->res, box->r);
    if (g < 0 && box->coef[i] < box->high[i]) worst = fmax(worst, -g);
    if (g > 0 && box->coef[i] > box->low[i]) worst = fmax(worst, g);
  }
  return worst;
}

/* Rounding of res: a few units in the last place of the terms that are added. */
static double rounding(const RfBox *box) {
  double sum = 0;
  for (rf_index i = 0; i < box->n; i++) {
    const double *v = box->V + i * box->r;
    bool fixed = box->low[i] == box->high[i]; /* such rows need not be units */
    sum += fabs(box->coef[i]) * (fixed ? sqrt(rf_short_dot(v, v, box->r)) : 1);
  }
  return rf_box_noise * sum;
}

/* The finite method: an active set that ends at the minimum, from where the sweeps stopped. They creep where
 * rows are nearly parallel. Keeps the better of both. */
static void finish(RfBox *box, double size) {
  RfContext calm;
  rf_context_init(&calm);
  if (!box->active) {
    if (rf_la_least_squares_work_new(&calm, &box->active, box->r, box->capacity)) return;
    box->zero = RF_NEW(double, box->r), box->old = RF_NEW(double, box->capacity);
  }
  if (!box->zero || !box->old) return;
  memcpy(box->old, box->coef, (size_t)box->n * sizeof *box->old);
  RfStatus status = rf_la_box_least_squares_from(&calm, box->coef, NULL, NULL, box->V, box->zero, box->low,
                                                 box->high, box->r, box->n, box->r, box->active);
  bool inside = status == RF_OK || status == RF_ERR_NUMERIC;
  for (rf_index i = 0; i < box->n && inside; i++)
    inside = box->coef[i] >= box->low[i] && box->coef[i] <= box->high[i];
  rf_box_residual(box);
  if (inside && sqrt(rf_short_dot(box->res, box->res, box->r)) < size) return;
  memcpy(box->coef, box->old, (size_t)box->n * sizeof *box->old);
  rf_box_residual(box);
}

double rf_box_solve(RfBox *box) {
  rf_box_residual(box);
  double before = INFINITY, size = 0, noise = rounding(box);
  int stalled = 0;
  for (int iteration = 0; iteration < 12 && stalled < 2; iteration++) {
    rf_box_sweep(box);
    for (rf_index tries = 0; tries <= box->r && tries < 12; tries++) {
      rf_index k = rf_box_face(box);
      if (k == 0) break;
      subspace_step(box, k);
      if (walk(box, k)) break;
    }
    rf_box_residual(box);
    size = sqrt(rf_short_dot(box->res, box->res, box->r));
    if (violation(box) <= rf_box_gradient * size + noise) return size;
    if (size >= before * (1 - rf_box_stall)) stalled++;
    before = size;
  }
  finish(box, size);
  return sqrt(rf_short_dot(box->res, box->res, box->r));
}
