/* Margins as part of the state, for rows of very different lengths. A margin q_i is a small difference of
 * huge terms, and the weights of the network know it to rounding of these; the weights of the samples, e^-q,
 * would know nothing. But the flow sees margins only, and in plain coordinates (plain.c) they are linear in
 * the unknowns: a step changes them by what its linear equations say. So the state carries residues, margins
 * beside those of the weights as they are rounded, and a step is solved in the margins. With the Jacobian
 * J = B + U C Q, B block diagonal, U = df/dc, C = dc/dq, Q = dq/dy, and A = 1/(h gamma) - B,
 *   z = Q u,   (1 - G C) z = Q A^-1 rhs,   G = Q A^-1 U,   u = A^-1 (rhs + U C z).
 * The right side is known to rounding of huge terms, but where margins are stiff 1 - G C is as large as the
 * margins, and the solution is known to as much less. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "flow/fit/implicit_internal.h"
#include "flow/flow_tolerances.h"

double rf_system_terms(const RfSystem *system, rf_index i) {
  rf_index n = system->n, d = system->d, units = system->units;
  double terms = 0;
  for (rf_index u = 0; u < units; u++) {
    double sum = 0, size = system->slope[u * n + i] * fabs(system->y[units * d + u]) *
                           rf_system_amplitude(system, system->y[units * (d + 1) + u]);
    for (rf_index j = 0; j < d && size > 0; j++)
      sum += fabs(system->y[u * d + j] * system->problem->X[i * d + j]);
    terms += size * sum;
  }
  return terms;
}

double rf_system_margin_blur(const RfSystem *system, rf_index i) {
  double blur = rf_system_terms(system, i) * DBL_EPSILON;
  return system->by_margins ? blur / fmax(1, system->q_least) : blur;
}

double rf_system_blur(const RfSystem *system) {
  double least = RF_TOL_RATE * rf_system_reach(system), blur = 0;
  for (rf_index i = 0; i < system->n && system->grade; i++)
    if (system->seen[i] && system->p[i] * system->x_norm[i] > least)
      blur = fmax(blur, rf_system_margin_blur(system, i));
  return blur;
}

const double *rf_system_hold(RfSystem *system, const double *y) {
  if (!system->by_margins || system->residues == 0) return NULL;
  rf_system_fields(system, y);
  memcpy(system->kept, system->q, (size_t)system->n * sizeof(double));
  return system->kept;
}

void rf_system_keep(RfSystem *system, double *y, const double *q) {
  double *residue = y + rf_system_clock(system) + 1;
  if (!q || system->residues == 0) return;
  memset(residue, 0, (size_t)system->residues * sizeof(double));
  rf_system_fields(system, y);
  for (rf_index i = 0; i < system->n; i++) {
    double off = q[i] - system->q[i];
    if (isfinite(off)) residue[i] = off;
  }
  rf_system_fields(system, y);
}

void rf_system_note(RfSystem *system) {
  rf_index n = system->n;
  double *q = system->kept + n, *terms = q + n;
  if (!system->by_margins || system->residues == 0) return;
  memcpy(q, system->q, (size_t)n * sizeof(double));
  for (rf_index i = 0; i < n; i++) terms[i] = rf_system_terms(system, i);
}

void rf_system_keep_rounding(RfSystem *system, double *y) {
  rf_index n = system->n;
  double *residue = y + rf_system_clock(system) + 1, *q = system->kept + n, *terms = q + n;
  if (!system->by_margins || system->residues == 0) return;
  rf_system_fields(system, y);
  for (rf_index i = 0; i < n; i++) { /* a unit that slides since then no longer has a part in them */
    double off = q[i] - system->q[i];
    if (fabs(off) <= RF_TOL_PLANE * fmax(terms[i], rf_system_terms(system, i))) residue[i] += off;
  }
  rf_system_fields(system, y);
}

void rf_system_bound(RfSystem *system, double *y) {
  double *residue = y + rf_system_clock(system) + 1;
  for (rf_index i = 0; i < system->residues; i++) {
    double most = RF_TOL_CANCELLED * rf_system_terms(system, i);
    residue[i] = fmax(-most, fmin(most, residue[i]));
  }
  rf_system_fields(system, y);
}

void rf_system_forget(RfSystem *system) {
  double *residue = system->y + rf_system_clock(system) + 1;
  if (!system->by_margins || system->residues == 0) return;
  rf_system_fields(system, system->y);
  for (rf_index i = 0; i < system->n; i++) {
    double rounding = RF_TOL_ROUNDING * rf_system_terms(system, i);
    if (!(system->q[i] - system->q_least < RF_TOL_MARGIN_FAR * (1 + rounding))) residue[i] = 0;
  }
}

/* ---- linear systems ---- */

struct RfMarginSolver {
  rf_index rank, b, n;
  const rf_index *carrier;
  double *Q;     /* rank x N: dq/dy, in block order */
  double *lu;    /* units x b x b: factors of A */
  double *Y;     /* units x b x rank: A^-1 U */
  double *G;     /* rank x rank: factors of 1 - G C, rows divided by `row` */
  double *row;   /* rank */
  double *bend;  /* rank: curvature of the loss, */
  double *p, *c; /* and weights, at the start of the step */
  double *z;
  int32_t *pivot, *pivots; /* rank; units x b */
};

void rf_margin_solver_free(RfMarginSolver *solver) {
  if (!solver) return;
  rf_free(solver->Q);
  rf_free(solver->pivot);
  rf_free(solver);
}

RfStatus rf_margin_solver_new(RfContext *context, RfMarginSolver **out, rf_index units, rf_index n,
                              rf_index d) {
  rf_index b = d + 2, N = units * b;
  RfMarginSolver *solver = *out = RF_NEW(RfMarginSolver, 1);
  if (solver) solver->Q = RF_NEW(double, 2 * n * N + N * b + n * n + 5 * n);
  if (solver) solver->pivot = RF_NEW(int32_t, n + N);
  if (!solver || !solver->Q || !solver->pivot) {
    rf_margin_solver_free(solver);
    *out = NULL;
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the implicit method");
  }
  solver->b = b, solver->n = n;
  solver->Y = solver->Q + n * N;
  solver->lu = solver->Y + n * N;
  solver->G = solver->lu + N * b;
  solver->row = solver->G + n * n;
  solver->bend = solver->row + n;
  solver->z = solver->bend + n;
  solver->c = solver->z + n;
  solver->p = solver->c + n;
  solver->pivots = solver->pivot + n;
  return RF_OK;
}

/* dq_i/dy of unit k (b entries) at the start of the step. */
static void margin_row(double *row, const uint8_t *plain, const RfSystem *system, rf_index k, rf_index i) {
  rf_index d = system->d, n = system->n, units = system->units;
  double a = system->y[units * d + k], h = system->H[k * n + i];
  double factor = system->problem->y[i] * system->slope[k * n + i] *
                  rf_system_amplitude(system, system->y[units * (d + 1) + k]);
  double along = plain[k] ? (a > 0 ? factor : -factor) : factor * a;
  if (system->dead[k]) factor = along = 0;
  for (rf_index j = 0; j < d; j++) row[j] = along * system->problem->X[i * d + j];
  row[d] = plain[k] ? 0 : factor * h;
  row[d + 1] = plain[k] ? 0 : 2 * factor * a * h;
}

void rf_margin_solver_prepare(RfMarginSolver *solver, const RfSystem *system, const uint8_t *plain,
                              const rf_index *carrier, rf_index rank) {
  rf_index b = solver->b, N = system->units * b;
  solver->rank = rank, solver->carrier = carrier;
  for (rf_index r = 0; r < rank; r++) {
    solver->p[r] = system->p[carrier[r]], solver->c[r] = system->c[carrier[r]];
    solver->bend[r] = rf_loss_curvature(system->problem->loss, system->q[carrier[r]]);
    for (rf_index k = 0; k < system->units; k++)
      margin_row(solver->Q + r * N + k * b, plain, system, k, carrier[r]);
  }
}

/* c = C z. */
static void weights_of(const RfMarginSolver *solver, const double *z, double *c) {
  double mean = 0;
  for (rf_index r = 0; r < solver->rank; r++) mean += solver->p[r] * solver->bend[r] * z[r];
  for (rf_index r = 0; r < solver->rank; r++) c[r] = solver->c[r] * (solver->bend[r] * z[r] - mean);
}

static bool factor_core(RfMarginSolver *solver) {
  rf_index rank = solver->rank;
  double *G = solver->G, *work = solver->z;
  for (rf_index i = 0; i < rank; i++) {
    double sum = 0, largest = 0;
    for (rf_index r = 0; r < rank; r++) sum += G[i * rank + r] * solver->c[r];
    for (rf_index j = 0; j < rank; j++) {
      work[j] = (i == j) - (G[i * rank + j] * solver->c[j] - sum * solver->p[j]) * solver->bend[j];
      largest = fmax(largest, fabs(work[j]));
    }
    if (!(largest > 0) || !isfinite(largest)) return false;
    solver->row[i] = largest;
    for (rf_index j = 0; j < rank; j++) G[i * rank + j] = work[j] / largest;
  }
  return rf_small_lu(G, solver->pivot, rank);
}

bool rf_margin_solver_factor(RfMarginSolver *solver, const RfSystem *system, const double *blocks,
                             const double *U, double shift, double *work) {
  rf_index b = solver->b, rank = solver->rank, units = system->units, N = units * b;
  memset(solver->G, 0, (size_t)(rank * rank) * sizeof(double));
  for (rf_index k = 0; k < units; k++) {
    double *A = solver->lu + k * b * b, *Y = solver->Y + k * b * rank;
    for (rf_index i = 0; i < b * b; i++) A[i] = -blocks[k * b * b + i];
    for (rf_index i = 0; i < b; i++) A[i * b + i] += shift;
    if (!rf_small_lu(A, solver->pivots + k * b, b)) return false;
    for (rf_index r = 0; r < rank; r++) {
      for (rf_index i = 0; i < b; i++) work[i] = U[(k * b + i) * rank + r];
      rf_small_lu_solve(A, solver->pivots + k * b, work, b);
      for (rf_index i = 0; i < b; i++) Y[i * rank + r] = work[i];
      for (rf_index i = 0; i < rank; i++)
        solver->G[i * rank + r] += rf_la_quick_dot(solver->Q + i * N + k * b, work, b);
    }
  }
  return factor_core(solver);
}

void rf_margin_solver_solve(RfMarginSolver *solver, const RfSystem *system, double *x, double *z) {
  rf_index b = solver->b, rank = solver->rank, units = system->units, N = units * b;
  for (rf_index k = 0; k < units; k++)
    rf_small_lu_solve(solver->lu + k * b * b, solver->pivots + k * b, x + k * b, b);
  for (rf_index r = 0; r < rank; r++)
    solver->z[r] = rf_la_quick_dot(solver->Q + r * N, x, N) / solver->row[r];
  rf_small_lu_solve(solver->G, solver->pivot, solver->z, rank);
  memcpy(z, solver->z, (size_t)rank * sizeof(double));
  weights_of(solver, z, solver->z);
  for (rf_index k = 0; k < N; k++) x[k] += rf_la_quick_dot(solver->Y + k * rank, solver->z, rank);
}

/* ---- what a step does to the margins ---- */

void rf_margin_change(const RfMarginSolver *solver, const RfSystem *system, const uint8_t *plain,
                      const double *flat, const double *z, double *change) {
  rf_index n = system->n, d = system->d, units = system->units, b = solver->b, N = units * b;
  for (rf_index i = 0; i < n; i++) {
    change[i] = 0;
    for (rf_index k = 0; k < units; k++) {
      double a = system->y[units * d + k], factor = system->problem->y[i] * system->slope[k * n + i];
      if (!plain[k] || system->dead[k] || factor == 0) continue;
      factor *= (a > 0 ? 1 : -1) * rf_system_amplitude(system, system->y[units * (d + 1) + k]);
      change[i] += factor * rf_la_quick_dot(flat + k * d, system->problem->X + i * d, d);
    }
  }
  for (rf_index r = 0; r < solver->rank; r++) { /* known better than by the units, whose terms are huge */
    double others = 0;
    for (rf_index k = 0; k < units; k++) {
      const double *row = solver->Q + r * N + k * b;
      if (plain[k] || system->dead[k]) continue;
      others += rf_la_quick_dot(row, flat + k * d, d) + row[d] * flat[units * d + k] +
                row[d + 1] * flat[units * (d + 1) + k];
    }
    change[solver->carrier[r]] = z[r] - others;
  }
}

void rf_margin_others(const RfSystem *system, const uint8_t *plain, const double *y, double *q) {
  rf_index n = system->n, d = system->d, units = system->units;
  memset(q, 0, (size_t)n * sizeof(double));
  for (rf_index k = 0; k < units; k++) {
    double factor = y[units * d + k] * rf_system_amplitude(system, y[units * (d + 1) + k]);
    if (plain[k] || system->dead[k]) continue;
    for (rf_index i = 0; i < n; i++)
      q[i] += system->problem->y[i] * factor * system->slope[k * n + i] *
              rf_la_quick_dot(y + k * d, system->problem->X + i * d, d);
  }
}
