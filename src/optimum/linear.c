/* The linear hard margin in the reduced problem. For leak 1 every network is linear and this is the optimum,
 * since sum |u| >= |w| by the triangle inequality; for any leak, phi(w.x) - phi(-w.x) = (1+leak) w.x makes it
 * a feasible network of two neurons to begin with. */
#include "optimum/solve_internal.h"
#include "optimum/kernels.h"
#include "optimum/optimum_tolerances.h"
#include "la/la.h"
#include "margin/margin.h"

#include <string.h>

/* The shortest w with y_i x_i.w >= b_i, and mu: w = sum mu_i y_i x_i. RF_NOT_SEPARABLE when there is none. */
static RfStatus shortest(RfContext *context, double *w, double *mu, const RfReduced *p) {
  rf_index n = p->n, r = p->r;
  RfLinearMargin margin = {0};
  double *rows = rf_copy_doubles(p->X, n * r); /* rows x_i/b_i need margin 1 */
  if (!rows) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the linear margin");
  for (rf_index i = 0; i < n; i++) rf_la_scale(rows + i * r, 1 / p->b[i], r);
  RfStatus status = rf_margin_linear(context, &margin, rows, p->y, n, r);
  if (!status) {
    for (rf_index k = 0; k < r; k++) w[k] = margin.w[k] / margin.margin;
    for (rf_index i = 0; i < n; i++) mu[i] = margin.multipliers[i] / p->b[i];
  }
  rf_linear_margin_free(&margin);
  rf_free(rows);
  return status;
}

RfStatus rf_solve_linear_network(RfSolve *s) {
  const RfReduced *p = s->p;
  double *w = RF_NEW(double, p->r);
  if (!w) return rf_fail(s->context, RF_ERR_MEMORY, "out of memory for the linear margin");
  RfStatus status = shortest(s->context, w, s->trial, p);
  double size = status ? 0 : rf_la_norm(w, p->r);
  int only = s->settings->signs, sign = only < 0 ? -1 : 1;
  if (size > 0 && (only == 0 || p->leak == 1)) {
    RfAtoms atoms = {.r = p->r};
    rf_la_scale(w, sign / size, p->r);
    status = rf_atoms_add(s->context, &atoms, w, p->leak == 1 ? size : size / (1 + p->leak), sign);
    rf_la_scale(w, -1, p->r);
    if (!status && p->leak < 1) status = rf_atoms_add(s->context, &atoms, w, size / (1 + p->leak), -sign);
    if (!status) rf_solve_offer_network(s, &atoms);
    rf_atoms_free(&atoms);
  }
  rf_free(w);
  bool failed = status < 0 && status != RF_ERR_NUMERIC;
  return failed || status == RF_INTERRUPTED ? status : RF_OK;
}

RfStatus rf_solve_linear(RfSolve *s) {
  const RfReduced *p = s->p;
  RfStatus status = rf_solve_linear_network(s);
  if (status || s->best.count == 0) return status;
  /* lambda = mu/|w| has |sum lambda z| = 1 up to rounding: divide by what it is */
  double *sum = RF_NEW(double, p->r);
  if (!sum) return rf_fail(s->context, RF_ERR_MEMORY, "out of memory for the linear margin");
  for (rf_index i = 0; i < p->n; i++) rf_short_axpy(sum, s->trial[i] * p->y[i], p->X + i * p->r, p->r);
  double total = 0; /* of the terms of the sum: unit rows */
  for (rf_index i = 0; i < p->n; i++) total += s->trial[i];
  double error = (double)(p->n + p->r + 16) * rf_unit_roundoff * rf_length_slack * total;
  rf_solve_offer_multipliers(s, s->trial, rf_la_norm(sum, p->r) + error);
  rf_free(sum);
  return RF_OK;
}
