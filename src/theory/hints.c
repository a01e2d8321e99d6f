/* Hinted data sets (LLWA definition 6.1): is there a triple of hints in the data? */
#include "theory/theory_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

bool rf_theory_parallel(const double *x, const double *w, rf_index d, double tolerance) {
  double product = rf_la_dot(x, w, d), square = 0;
  for (rf_index j = 0; j < d; j++) square += (x[j] - product * w[j]) * (x[j] - product * w[j]);
  return product > 0 && sqrt(square) <= tolerance * rf_la_norm(x, d);
}

/* Whether the data without three samples have the separator w, too. */
static RfStatus rest_agrees(RfContext *context, bool *agrees, const RfTheoryProblem *problem,
                            const rf_index hints[3]) {
  const RfDataset *data = problem->data;
  rf_index d = data->d, count = 0;
  double *X = RF_NEW(double, data->n *d), *y = RF_NEW(double, data->n);
  RfLinearMargin margin;
  memset(&margin, 0, sizeof margin);
  RfStatus status =
      X && y ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory for the base of a hinted set");
  for (rf_index i = 0; i < data->n && !status; i++) {
    if (i == hints[0] || i == hints[1] || i == hints[2]) continue;
    memcpy(X + count * d, data->X + i * d, (size_t)d * sizeof *X);
    y[count++] = data->y[i];
  }
  *agrees = false;
  if (!status && count > 0) {
    status = rf_margin_linear(context, &margin, X, y, count, d);
    if (!status) *agrees = rf_theory_parallel(margin.w, problem->linear->w, d, 1e-7);
    if (status > 0 && status != RF_INTERRUPTED) status = RF_OK;
  }
  rf_linear_margin_free(&margin);
  rf_free(X);
  rf_free(y);
  return status;
}

/* x_i and x_j are eps w +- K v with v orthogonal to w. */
static bool short_hints(const RfDataset *data, const double *w, rf_index i, rf_index j) {
  rf_index d = data->d;
  const double *a = data->X + i * d, *b = data->X + j * d;
  double along = rf_la_dot(a, w, d) + rf_la_dot(b, w, d), square = 0;
  for (rf_index k = 0; k < d; k++) square += (a[k] + b[k] - along * w[k]) * (a[k] + b[k] - along * w[k]);
  return data->y[i] > 0 && data->y[j] > 0 && sqrt(square) <= 1e-9 * rf_la_norm(a, d) &&
         !rf_theory_parallel(a, w, d, 1e-9);
}

/* LLWA definition 6.1: H w, eps w + K v, eps w - K v among the positive samples, w the separator of the
 * others. The short hints are support samples, so only pairs of those are tried. */
RfStatus rf_theory_hints(RfContext *context, RfAnswer *hinted, const RfTheoryProblem *problem) {
  const RfDataset *data = problem->data;
  const RfLinearMargin *linear = problem->linear;
  rf_index hints[3] = {-1, -1, -1}, tries = 0;
  RfStatus status = RF_OK;
  *hinted = RF_NO;
  if (!linear->separable || data->n < 4) return RF_OK;
  for (rf_index i = 0; i < data->n; i++) {
    const double *x = data->X + i * data->d;
    if (data->y[i] < 0 || !rf_theory_parallel(x, linear->w, data->d, 1e-9)) continue;
    if (hints[0] < 0 ||
        rf_la_dot(x, linear->w, data->d) > rf_la_dot(data->X + hints[0] * data->d, linear->w, data->d))
      hints[0] = i;
  }
  for (rf_index a = 0; hints[0] >= 0 && a < linear->n_support && !status; a++)
    for (rf_index b = 0; b < a && *hinted == RF_NO && tries < 20 && !status; b++) {
      hints[1] = linear->support[b], hints[2] = linear->support[a];
      if (!short_hints(data, linear->w, hints[1], hints[2])) continue;
      bool agrees;
      tries++;
      status = rest_agrees(context, &agrees, problem, hints);
      if (!status && agrees) *hinted = RF_YES;
    }
  return status;
}
