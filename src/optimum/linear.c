/* Leak 1: every network is linear, and the optimum is the hard margin: sum |u| = |w| by the triangle
 * inequality. */
#include "optimum/solve_internal.h"
#include "optimum/kernels.h"
#include "reluflow/la.h"

#include <string.h>

/* min |w|, y_i x_i.w >= b_i, as least squares (Lawson and Hanson): E = [Z^T; b^T], f = last unit vector. */
RfStatus rf_solve_linear(RfSolve *s) {
  const RfReduced *p = s->p;
  rf_index n = p->n, r = p->r;
  double *columns = RF_NEW(double, n *(r + 1)), *f = RF_NEW(double, 2 * (r + 1)), *w = RF_NEW(double, n + r);
  double *A = RF_NEW(double, n *r);
  RfStatus status = RF_OK;
  if (!columns || !f || !w || !A) {
    status = rf_fail(s->context, RF_ERR_MEMORY, "out of memory for the linear margin");
    goto done;
  }
  for (rf_index i = 0; i < n; i++) {
    for (rf_index k = 0; k < r; k++) columns[i * (r + 1) + k] = p->y[i] * p->X[i * r + k];
    columns[i * (r + 1) + r] = p->b[i];
  }
  f[r] = 1;
  status = rf_la_nnls(s->context, s->trial, f + r + 1, NULL, columns, f, r + 1, n, r + 1, NULL);
  if (status) goto done;
  rf_index count = 0, rank = 0;
  for (rf_index i = 0; i < n; i++) /* refine on the support: the shortest w with z_i.w = b_i */
    if (s->trial[i] > 0) {
      memcpy(A + count * r, columns + i * (r + 1), (size_t)r * sizeof *A);
      w[count++] = p->b[i];
    }
  status = rf_la_least_squares(s->context, A, w, count, r, 1e-13, &rank);
  if (status) goto done;
  double size = rf_la_norm(w, r), scale = f[2 * r + 1];
  int sign = s->settings->signs < 0 ? -1 : 1;
  for (rf_index k = 0; k < r; k++) s->u[k] = sign * w[k] / size;
  RfAtoms atoms = {.r = r};
  status = rf_atoms_add(s->context, &atoms, s->u, size, sign);
  if (!status) rf_solve_offer_network(s, &atoms);
  rf_atoms_free(&atoms);
  /* w = sum mu z with mu = nnls / residual; lambda = mu/|w| has |sum lambda z| = 1 */
  double norm = 0;
  memset(f, 0, (size_t)r * sizeof *f);
  for (rf_index i = 0; i < n; i++) {
    s->trial[i] /= scale * size;
    rf_short_axpy(f, s->trial[i], columns + i * (r + 1), r);
  }
  norm = rf_la_norm(f, r) * (1 + 1e-15);
  rf_solve_offer_multipliers(s, s->trial, norm);
done:
  rf_free(columns), rf_free(f), rf_free(w), rf_free(A);
  return status;
}
