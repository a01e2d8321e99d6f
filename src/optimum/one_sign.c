/* When networks with one sign of the output weights cannot fit (docs/math.md, "When nothing fits"). phi is
 * sublinear, so if a sample of the own class is x = sum_j c_j x_j with c >= 0 over samples of the other
 * class, then phi(u.x) <= sum_j c_j phi(u.x_j) for every u: no such network is positive at x and negative at
 * all x_j. The combination must be exact; where it only nearly is, a large lower bound is all that can be
 * said. */
#include "optimum/optimum_tolerances.h"
#include "optimum/solve_internal.h"
#include "la/la.h"
#include "margin/margin.h"

#include <math.h>
#include <string.h>

/* Weights near the least-squares solution that are exact; the rows are x, then the opposite ones. */
static RfStatus exact_weights(RfContext *context, double *farkas, const double *X, const double *y,
                              const double *guess, rf_index own, rf_index n, rf_index d) {
  RfBalance balance;
  RfStatus status = rf_margin_balance(context, &balance, X, y, n, d, guess);
  bool uses = status == RF_OK && (own < 0 || balance.weight[own]);
  if (uses) memcpy(farkas, balance.value, (size_t)n * sizeof *farkas);
  if (status == RF_OK) rf_balance_free(&balance);
  if (status == RF_OK) return uses ? RF_INFEASIBLE : RF_OK;
  return status == RF_UNDECIDED ? RF_OK : status;
}

/* The opposite samples alone balance: then sum_j c_j phi(u.x_j) >= phi(0) = 0, and no network of this sign is
 * of their sign at all of them. */
static RfStatus opposite_alone(RfSolve *s, double *farkas, const double *X, const double *y) {
  rf_index n = s->result->n, d = s->p->d;
  RfClassMargin margin;
  RfStatus status = rf_margin_class(s->context, &margin, X, y, n, d, -s->settings->signs);
  if (status == RF_NOT_SEPARABLE)
    status = exact_weights(s->context, farkas, X, y, margin.farkas, -1, n, d);
  else if (status >= 0 || status == RF_ERR_NUMERIC)
    status = RF_OK;
  rf_class_margin_free(&margin);
  return status;
}

RfStatus rf_solve_one_sign(RfSolve *s, double *farkas, const double *X, const double *y) {
  rf_index n = s->result->n, d = s->p->d, others = 0;
  double *rows = RF_NEW(double, n *d), *c = RF_NEW(double, n), *guess = RF_NEW(double, n);
  rf_index *at = RF_NEW(rf_index, n);
  RfStatus status = RF_OK;
  if (!rows || !c || !guess || !at)
    status = rf_fail(s->context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)n);
  if (!status) status = opposite_alone(s, farkas, X, y);
  for (rf_index i = 0; i < n && !status; i++) {
    if (y[i] * s->settings->signs > 0) continue;
    memcpy(rows + others * d, X + i * d, (size_t)d * sizeof *rows);
    at[others++] = i;
  }
  for (rf_index i = 0; i < n && !status; i++) {
    if (y[i] * s->settings->signs < 0) continue;
    RfLeastSquaresInfo info = {0};
    status = rf_la_nnls(s->context, c, NULL, &info, rows, X + i * d, d, others, d, NULL);
    if (status == RF_ERR_NUMERIC) status = RF_OK;
    if (status || info.residual > rf_cone_residual * rf_la_norm(X + i * d, d)) continue;
    memset(guess, 0, (size_t)n * sizeof *guess);
    for (rf_index k = 0; k < others; k++) guess[at[k]] = c[k];
    guess[i] = 1;
    status = exact_weights(s->context, farkas, X, y, guess, i, n, d);
  }
  rf_free(rows), rf_free(c), rf_free(guess), rf_free(at);
  return status;
}
