/* Networks to begin with, so that data which some network fits never end without one: those the caller knows
 * (limits of the flow, witnesses), the linear separator, the shortest vectors of the two classes, and, when
 * all of these fail, an interpolation by random neurons: on rows of which no two lie on one ray the outputs
 * of enough random neurons are independent for leak < 1, so least squares fits every label. */
#include "optimum/solve_internal.h"
#include "optimum/kernels.h"
#include "optimum/optimum_tolerances.h"
#include "la/la.h"
#include "margin/margin.h"

#include <math.h>
#include <string.h>

/* Adds the neuron u, given in the caller's coordinates, with the sign of its output weight. */
static RfStatus add_neuron(RfSolve *s, RfAtoms *atoms, const double *u, int sign) {
  const RfReduced *p = s->p;
  if (p->basis)
    rf_la_apply(s->u, p->basis, u, p->r, p->d, p->d);
  else {
    memset(s->u, 0, (size_t)p->r * sizeof *s->u);
    memcpy(s->u, u, (size_t)p->d * sizeof *u);
  }
  double size = rf_la_norm(s->u, p->r);
  if (!(size > 0 && isfinite(size)) || s->settings->signs * sign < 0) return RF_OK;
  rf_la_scale(s->u, 1 / size, p->r);
  return rf_atoms_add(s->context, atoms, s->u, size, sign);
}

/* The neurons |a| w of a network; none that the settings do not allow. */
static RfStatus offer_net(RfSolve *s, const RfNet *net) {
  const RfReduced *p = s->p;
  if (!net || net->d != p->d || net->leak != p->leak) return RF_OK;
  RfAtoms atoms = {.r = p->r};
  RfStatus status = RF_OK;
  double *u = RF_NEW(double, p->d);
  if (!u) return rf_fail(s->context, RF_ERR_MEMORY, "out of memory for a neuron");
  for (rf_index k = 0; k < net->m && !status; k++) {
    for (rf_index j = 0; j < p->d; j++) u[j] = fabs(net->a[k]) * net->W[k * p->d + j];
    if (net->a[k] != 0) status = add_neuron(s, &atoms, u, net->a[k] > 0 ? 1 : -1);
  }
  if (!status) rf_solve_offer_network(s, &atoms);
  rf_free(u);
  rf_atoms_free(&atoms);
  return status;
}

/* phi(w_+ . x) - phi(w_- . x) with the shortest vectors of the classes, each grown for what the other one
 * takes away: margins of sizes (c_+, c_-) are linear in them, and three mixtures are tried. */
static RfStatus offer_classes(RfSolve *s, const double *X, const double *y, rf_index n) {
  static const double mixtures[][2] = {{1, 1}, {1, 0.25}, {0.25, 1}};
  const RfReduced *p = s->p;
  RfClassMargin part[2] = {{0}, {0}};
  RfStatus status = RF_OK;
  for (int k = 0; k < 2 && status >= 0; k++)
    status = rf_margin_class(s->context, &part[k], X, y, n, p->d, k == 0 ? 1 : -1);
  for (int mix = 0; mix < 3 && status >= 0; mix++) {
    RfAtoms atoms = {.r = p->r};
    for (int k = 0; k < 2 && status >= 0; k++) {
      if (!part[k].exists) continue;
      RfStatus added = add_neuron(s, &atoms, part[k].w, k == 0 ? 1 : -1);
      if (added) status = added;
      if (!added && atoms.count > 0) atoms.c[atoms.count - 1] *= mixtures[mix][k];
    }
    if (status >= 0) rf_solve_offer_network(s, &atoms);
    rf_atoms_free(&atoms);
  }
  for (int k = 0; k < 2; k++) rf_class_margin_free(&part[k]);
  bool failed = status < 0 && status != RF_ERR_NUMERIC;
  return failed ? status : RF_OK; /* undecided or interrupted: nothing to offer */
}

RfStatus rf_solve_known(RfSolve *s, const double *X, const double *y, rf_index n) {
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < s->settings->n_incumbents && !status; k++)
    status = offer_net(s, s->settings->incumbents[k]);
  if (!status) status = offer_classes(s, X, y, n);
  return status;
}

/* At an optimum sum(lambda) is the objective and M(lambda) = 1: that fixes the factor. Rows that were dropped
 * for others on their ray lose their multiplier, which only costs the proof. */
RfStatus rf_solve_known_multipliers(RfSolve *s, double aim) {
  enum { nodes = 100000 }; /* seconds at most; a limit's supports are few */
  const RfReduced *p = s->p;
  const double *lambda = s->settings->multipliers;
  double sum = 0;
  if (!lambda || !isfinite(s->upper)) return RF_OK;
  for (rf_index i = 0; i < p->n; i++) {
    s->trial[i] = fmax(0, lambda[p->row[i]]) * p->norm[i];
    sum += p->b[i] * s->trial[i];
  }
  if (!(sum > 0 && isfinite(sum))) return RF_OK;
  rf_la_scale(s->trial, s->upper / sum, p->n);
  RfStatus status = rf_solve_try(s, s->trial, fmax(rf_norm_slack, aim / 4), nodes);
  s->steep.count = 0;
  return status;
}

/* ---- interpolation ---------------------------------------------------------------------------- */

/* Directions: samples, then random ones, in few dimensions with kinks on samples: turned orthogonal to r - 1
 * of them, the first being sample k, so that even crowded rows can be told apart. */
static void feature(double *u, RfRandom *random, const RfReduced *p, rf_index k) {
  const double *x = p->X + (k % p->n) * p->r;
  enum { few = 8 };
  double Q[few * few];
  rf_random_direction(random, u, p->r);
  if (k < p->n) memcpy(u, x, (size_t)p->r * sizeof *u);
  if (k < p->n || p->r > few) return;
  rf_index rows = 0, rank = p->d < p->r ? p->d : p->r; /* a padded coordinate is no direction */
  if (rank < p->r) u[p->r - 1] = 0;
  for (rf_index kink = 0; kink + 1 < rank; kink++) {
    double *q = Q + rows * p->r;
    rf_index at = kink == 0 ? k % p->n : rf_random_below(random, p->n);
    memcpy(q, p->X + at * p->r, (size_t)p->r * sizeof *q);
    for (rf_index l = 0; l < rows; l++)
      rf_short_axpy(q, -rf_short_dot(Q + l * p->r, q, p->r), Q + l * p->r, p->r);
    double size = sqrt(rf_short_dot(q, q, p->r));
    if (size < rf_dependent_row) continue;
    for (rf_index c = 0; c < p->r; c++) q[c] /= size;
    rows++;
  }
  for (int pass = 0; pass < 2; pass++)
    for (rf_index l = 0; l < rows; l++)
      rf_short_axpy(u, -rf_short_dot(Q + l * p->r, u, p->r), Q + l * p->r, p->r);
  double size = sqrt(rf_short_dot(u, u, p->r));
  for (rf_index c = 0; c < p->r && size > 0; c++) u[c] /= size;
}

/* Least-norm sizes with margins exactly b; a negative size is a neuron of the other sign. */
static RfStatus interpolate(RfSolve *s, RfAtoms *atoms, double *A, double *sizes, double *U, rf_index m) {
  const RfReduced *p = s->p;
  RfRandom random;
  rf_random_init(&random, s->settings->seed, 13);
  for (rf_index k = 0; k < m; k++) feature(U + k * p->r, &random, p, k);
  for (rf_index i = 0; i < p->n; i++) {
    sizes[i] = p->b[i];
    for (rf_index k = 0; k < m; k++)
      A[i * m + k] = p->y[i] * rf_phi(rf_short_dot(p->X + i * p->r, U + k * p->r, p->r), p->leak);
  }
  RfStatus status = rf_la_least_squares(s->context, A, sizes, p->n, m, rf_fit_rank, NULL);
  if (status) return status == RF_ERR_NUMERIC ? RF_OK : status;
  for (rf_index k = 0; k < m && !status; k++)
    if (sizes[k] != 0)
      status = rf_atoms_add(s->context, atoms, U + k * p->r, fabs(sizes[k]), sizes[k] > 0 ? 1 : -1);
  return status;
}

RfStatus rf_solve_fit(RfSolve *s) {
  enum { most_samples = 1500 };
  const RfReduced *p = s->p;
  if (isfinite(s->upper) || s->settings->signs != 0 || p->leak == 1 || p->n > most_samples) return RF_OK;
  rf_index m = p->n <= 400 ? 4 * p->n : 3 * p->n;
  RfAtoms atoms = {.r = p->r};
  double *A = RF_NEW(double, p->n *m), *sizes = RF_NEW(double, m), *U = RF_NEW_TABLE(double, m, p->r);
  RfStatus status = RF_OK;
  if (!A || !sizes || !U)
    status = rf_fail(s->context, RF_ERR_MEMORY, "out of memory for %lld random neurons", (long long)m);
  if (!status) status = interpolate(s, &atoms, A, sizes, U, m);
  if (!status) rf_solve_offer_network(s, &atoms);
  rf_free(A), rf_free(sizes), rf_free(U);
  rf_atoms_free(&atoms);
  return status;
}
