/* RODAS (rodas.h) with a matrix by differences, for the flow of layered networks. */
#include "flow/layered/stiff.h"

#include <math.h>
#include <string.h>

#include "core/core.h"
#include "la/la.h"
#include "flow/rodas.h"

enum { STAGES = RF_RODAS_STAGES };

struct RfStiff {
  rf_index size;
  double *J, *LU, *values; /* size^2 each ; size */
  double *u[STAGES], *y;   /* size each */
  int32_t *pivot;
};

void rf_stiff_free(RfStiff *stiff) {
  if (!stiff) return;
  for (int s = 0; s < STAGES; s++) rf_free(stiff->u[s]);
  rf_free(stiff->J), rf_free(stiff->LU), rf_free(stiff->values), rf_free(stiff->y), rf_free(stiff->pivot);
  rf_free(stiff);
}

RfStatus rf_stiff_new(RfContext *context, RfStiff **out, rf_index size) {
  RfStiff *stiff = *out = RF_NEW(RfStiff, 1);
  if (!stiff) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a stiff step");
  stiff->size = size;
  stiff->J = RF_NEW(double, size *size), stiff->LU = RF_NEW(double, size *size);
  stiff->values = RF_NEW(double, size), stiff->y = RF_NEW(double, size);
  stiff->pivot = RF_NEW(int32_t, size);
  bool complete = stiff->J && stiff->LU && stiff->values && stiff->y && stiff->pivot;
  for (int s = 0; s < STAGES; s++) complete = (stiff->u[s] = RF_NEW(double, size)) != NULL && complete;
  if (complete) return RF_OK;
  rf_stiff_free(stiff);
  *out = NULL;
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a stiff step");
}

/* The rows made orthonormal, dependent ones zero. */
static void orthonormal(double *rows, rf_index count, rf_index size) {
  for (rf_index r = 0; r < count; r++) {
    double *row = rows + r * size, before = rf_la_norm(row, size);
    for (rf_index b = 0; b < 2 * r; b++) /* twice is enough */
      rf_la_axpy(row, -rf_la_quick_dot(row, rows + b % r * size, size), rows + b % r * size, size);
    double length = rf_la_norm(row, size);
    rf_la_scale(row, length > 1e-10 * before ? 1 / length : 0, size);
  }
}

/* A = (1 - e e') A (1 - e e') for a symmetric A; w is scratch. */
static void remove_direction(double *A, const double *e, double *w, rf_index size) {
  rf_la_apply(w, A, e, size, size, size);
  double along = rf_la_quick_dot(w, e, size);
  for (rf_index r = 0; r < size; r++)
    for (rf_index c = 0; c < size; c++) A[r * size + c] += along * e[r] * e[c] - e[r] * w[c] - w[r] * e[c];
}

void rf_stiff_differences(RfStiff *stiff, RfStiffField field, void *user, const double *y, double step) {
  rf_index size = stiff->size;
  double *plus = stiff->u[0], *minus = stiff->u[1];
  memcpy(stiff->y, y, (size_t)size * sizeof(double));
  for (rf_index c = 0; c < size; c++) {
    stiff->y[c] = y[c] + step;
    field(user, plus, stiff->y);
    stiff->y[c] = y[c] - step;
    field(user, minus, stiff->y);
    stiff->y[c] = y[c];
    for (rf_index r = 0; r < size; r++) stiff->J[r * size + c] = (plus[r] - minus[r]) / (2 * step);
  }
}

double *rf_stiff_matrix(RfStiff *stiff) { return stiff->J; }

RfStatus rf_stiff_prepare(RfContext *context, RfStiff *stiff, double *normals, rf_index count,
                          double *rates) {
  rf_index size = stiff->size;
  if (!rates) return RF_OK;
  for (rf_index r = 0; r < size; r++)
    for (rf_index c = 0; c < size; c++)
      stiff->LU[r * size + c] = 0.5 * (stiff->J[r * size + c] + stiff->J[c * size + r]);
  rates[0] = INFINITY, rates[1] = 0;
  for (rf_index e = 0; e < size * size; e++)
    if (!isfinite(stiff->LU[e])) return RF_OK;
  orthonormal(normals, count, size);
  for (rf_index k = 0; k < count; k++) remove_direction(stiff->LU, normals + k * size, stiff->values, size);
  RfStatus status = rf_la_symmetric_eigen(context, stiff->values, stiff->LU, size);
  rates[0] = 0;
  for (rf_index r = 0; r < size && !status; r++)
    rates[0] = fmax(rates[0], stiff->values[r]), rates[1] = fmax(rates[1], -stiff->values[r]);
  return status;
}

double rf_stiff_step(RfStiff *stiff, RfStiffField field, void *user, const double *y, const double *f,
                     double h, double *out) {
  rf_index size = stiff->size;
  for (rf_index e = 0; e < size * size; e++) stiff->LU[e] = -stiff->J[e];
  for (rf_index r = 0; r < size; r++) stiff->LU[r * size + r] += 1 / (rf_rodas_gamma * h);
  if (!rf_la_lu(stiff->LU, stiff->pivot, size)) return INFINITY;
  for (int s = 0; s < STAGES; s++) {
    double *u = stiff->u[s];
    memcpy(out, y, (size_t)size * sizeof(double));
    for (int r = 0; r < s; r++) rf_la_axpy(out, rf_rodas_a[s][r], stiff->u[r], size);
    if (s == 0)
      memcpy(u, f, (size_t)size * sizeof(double));
    else
      field(user, u, out);
    for (int r = 0; r < s; r++) rf_la_axpy(u, rf_rodas_c[s][r] / h, stiff->u[r], size);
    rf_la_lu_solve(stiff->LU, stiff->pivot, u, size);
  }
  rf_la_axpy(out, 1, stiff->u[STAGES - 1], size);
  double error = rf_la_norm(stiff->u[STAGES - 1], size);
  return isfinite(error) && isfinite(rf_la_norm(out, size)) ? error : INFINITY;
}
