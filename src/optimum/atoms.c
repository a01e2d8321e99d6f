/* Networks of the reduced problem as lists of unit directions with sizes; their objective, and the
 * Caratheodory reduction to linearly independent margins (docs/math.md (G.13)). */
#include "optimum/optimum_internal.h"
#include "optimum/kernels.h"
#include "optimum/optimum_tolerances.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

void rf_atoms_free(RfAtoms *atoms) {
  rf_free(atoms->u), rf_free(atoms->c), rf_free(atoms->sign);
  memset(atoms, 0, sizeof *atoms);
}

RfStatus rf_atoms_add(RfContext *context, RfAtoms *atoms, const double *u, double c, int sign) {
  if (atoms->count == atoms->capacity) {
    rf_index capacity = atoms->capacity ? 2 * atoms->capacity : 16;
    double *us = rf_resize(atoms->u, capacity * atoms->r, sizeof *us);
    if (us) atoms->u = us;
    double *cs = rf_resize(atoms->c, capacity, sizeof *cs);
    if (cs) atoms->c = cs;
    int *signs = rf_resize(atoms->sign, capacity, sizeof *signs);
    if (signs) atoms->sign = signs;
    if (!us || !cs || !signs) return rf_fail(context, RF_ERR_MEMORY, "out of memory for neurons");
    atoms->capacity = capacity;
  }
  memcpy(atoms->u + atoms->count * atoms->r, u, (size_t)atoms->r * sizeof *u);
  atoms->c[atoms->count] = c;
  atoms->sign[atoms->count++] = sign;
  return RF_OK;
}

static double contribution(const RfReduced *p, const RfAtoms *atoms, rf_index i, rf_index k) {
  double z = rf_short_dot(p->X + i * p->r, atoms->u + k * p->r, p->r);
  return p->y[i] * atoms->sign[k] * rf_phi(z, p->leak);
}

double rf_atoms_objective(const RfReduced *p, const RfAtoms *atoms, double *margins) {
  double least = INFINITY, sum = 0;
  for (rf_index k = 0; k < atoms->count; k++) sum += atoms->c[k];
  for (rf_index i = 0; i < p->n; i++) {
    double margin = 0;
    for (rf_index k = 0; k < atoms->count; k++) margin += atoms->c[k] * contribution(p, atoms, i, k);
    margin /= p->b[i];
    if (margins) margins[i] = margin;
    least = fmin(least, margin);
  }
  return least > 0 ? sum / least : INFINITY;
}

static void remove_atom(RfAtoms *atoms, rf_index k) {
  rf_index last = --atoms->count;
  memmove(atoms->u + k * atoms->r, atoms->u + last * atoms->r, (size_t)atoms->r * sizeof(double));
  atoms->c[k] = atoms->c[last], atoms->sign[k] = atoms->sign[last];
}

static void merge_equal(RfAtoms *atoms) {
  for (rf_index a = 0; a < atoms->count; a++)
    for (rf_index b = atoms->count - 1; b > a; b--) {
      double apart = 0;
      for (rf_index k = 0; k < atoms->r; k++)
        apart = fmax(apart, fabs(atoms->u[a * atoms->r + k] - atoms->u[b * atoms->r + k]));
      if (atoms->sign[a] != atoms->sign[b] || apart > rf_same_neuron) continue;
      atoms->c[a] += atoms->c[b];
      remove_atom(atoms, b);
    }
}

/* A null vector of the rows x cols matrix A (overwritten) by elimination with complete pivoting; false when
 * the columns are independent. order is work (cols). */
static bool null_vector(double *null, double *A, rf_index *order, rf_index rows, rf_index cols) {
  double first = 0;
  rf_index rank = 0;
  for (rf_index k = 0; k < cols; k++) order[k] = k, null[k] = 0;
  for (; rank < rows && rank < cols; rank++) {
    rf_index pr = rank, pc = rank;
    for (rf_index i = rank; i < rows; i++)
      for (rf_index k = rank; k < cols; k++)
        if (fabs(A[i * cols + k]) > fabs(A[pr * cols + pc])) pr = i, pc = k;
    double pivot = A[pr * cols + pc];
    if (rank == 0) first = fabs(pivot);
    if (fabs(pivot) <= rf_null_pivot * first) break;
    for (rf_index k = 0; k < cols && pr != rank; k++) {
      double t = A[pr * cols + k];
      A[pr * cols + k] = A[rank * cols + k], A[rank * cols + k] = t;
    }
    for (rf_index i = 0; i < rows && pc != rank; i++) {
      double t = A[i * cols + pc];
      A[i * cols + pc] = A[i * cols + rank], A[i * cols + rank] = t;
    }
    rf_index swap = order[pc];
    order[pc] = order[rank], order[rank] = swap;
    for (rf_index i = rank + 1; i < rows; i++) {
      double factor = A[i * cols + rank] / A[rank * cols + rank];
      if (factor != 0)
        for (rf_index k = rank; k < cols; k++) A[i * cols + k] -= factor * A[rank * cols + k];
    }
  }
  if (rank == cols) return false;
  null[order[rank]] = 1;
  for (rf_index i = rank; i-- > 0;) {
    double sum = A[i * cols + rank];
    for (rf_index k = i + 1; k < rank; k++) sum += A[i * cols + k] * null[order[k]];
    null[order[i]] = -sum / A[i * cols + i];
  }
  return true;
}

/* Moves c along the null vector until a size reaches zero or another margin becomes tight. */
static void slide(RfAtoms *atoms, const RfReduced *p, double *null, const double *margins, bool *tight) {
  double sum = 0, step = INFINITY;
  rf_index hit = -1, sample = -1;
  for (rf_index k = 0; k < atoms->count; k++) sum += null[k];
  if (sum > 0)
    for (rf_index k = 0; k < atoms->count; k++) null[k] = -null[k];
  for (int attempt = 0; attempt < 2 && hit < 0; attempt++) {
    for (rf_index k = 0; k < atoms->count; k++)
      if (null[k] < 0 && -atoms->c[k] / null[k] < step) step = -atoms->c[k] / null[k], hit = k;
    for (rf_index k = 0; k < atoms->count && hit < 0; k++) null[k] = -null[k];
  }
  for (rf_index i = 0; i < p->n && hit >= 0; i++) {
    double change = 0;
    for (rf_index k = 0; k < atoms->count; k++) change += null[k] * contribution(p, atoms, i, k);
    if (!tight[i] && change < 0 && (1 - margins[i]) * p->b[i] / change < step)
      step = fmax(0, (1 - margins[i]) * p->b[i] / change), sample = i;
  }
  for (rf_index k = 0; k < atoms->count && hit >= 0; k++) atoms->c[k] += step * null[k];
  if (sample >= 0)
    tight[sample] = true;
  else if (hit >= 0)
    remove_atom(atoms, hit);
}

static void remove_zeros(RfAtoms *atoms) {
  double sum = 0;
  for (rf_index k = 0; k < atoms->count; k++) sum += atoms->c[k];
  for (rf_index k = atoms->count; k-- > 0;)
    if (atoms->c[k] <= rf_zero_size * sum) remove_atom(atoms, k);
}

RfStatus rf_atoms_reduce(RfContext *context, RfAtoms *atoms, const RfReduced *p, const double *lambda) {
  merge_equal(atoms);
  rf_index n = p->n, K = atoms->count;
  double *margins = RF_NEW(double, n), *null = RF_NEW(double, K), *A = RF_NEW(double, n *K);
  rf_index *order = RF_NEW(rf_index, K);
  bool *tight = RF_NEW(bool, n);
  RfStatus status = RF_OK;
  if (!margins || !null || !A || !order || !tight) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory to reduce %lld neurons", (long long)K);
    goto done;
  }
  double objective = rf_atoms_objective(p, atoms, margins), sum = 0;
  for (rf_index k = 0; k < K; k++) sum += atoms->c[k];
  for (rf_index k = 0; k < K && isfinite(objective); k++) atoms->c[k] *= objective / sum;
  for (rf_index turn = 0; turn < K + n && isfinite(objective) && atoms->count > 1; turn++) {
    if (rf_context_stop(context)) break; /* any of these networks is an answer */
    rf_index rows = 0;
    rf_atoms_objective(p, atoms, margins);
    for (rf_index i = 0; i < n; i++) {
      if (lambda[i] > 0 || margins[i] <= 1 + rf_tight_margin) tight[i] = true;
      for (rf_index k = 0; k < atoms->count && tight[i]; k++)
        A[rows * atoms->count + k] = contribution(p, atoms, i, k);
      rows += tight[i];
    }
    if (!null_vector(null, A, order, rows, atoms->count)) break;
    slide(atoms, p, null, margins, tight);
    remove_zeros(atoms);
  }
  remove_zeros(atoms);
done:
  rf_free(margins), rf_free(null), rf_free(A), rf_free(order), rf_free(tight);
  return status;
}

RfStatus rf_atoms_refit(RfContext *context, RfAtoms *atoms, const RfReduced *p, const double *lambda) {
  rf_index n = p->n, K = atoms->count, rows = 0, longest = n > K ? n : K;
  double *A = RF_NEW(double, n *K), *rhs = RF_NEW(double, longest), *old = rf_copy_doubles(atoms->c, K);
  RfStatus status = RF_OK;
  if (!A || !rhs || !old) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory to refit %lld neurons", (long long)K);
    goto done;
  }
  double before = rf_atoms_objective(p, atoms, NULL);
  for (rf_index i = 0; i < n; i++) {
    if (!(lambda[i] > 0)) continue;
    rhs[rows] = p->b[i];
    for (rf_index k = 0; k < K; k++) {
      A[rows * K + k] = contribution(p, atoms, i, k);
      rhs[rows] -= atoms->c[k] * A[rows * K + k];
    }
    rows++;
  }
  if (rows == 0 || K == 0) goto done;
  status = rf_la_least_squares(context, A, rhs, rows, K, rf_refit_rank, NULL);
  if (status == RF_ERR_NUMERIC) status = RF_OK;
  for (rf_index k = 0; k < K; k++) atoms->c[k] = fmax(0, atoms->c[k] + rhs[k]);
  if (!(rf_atoms_objective(p, atoms, NULL) < before)) memcpy(atoms->c, old, (size_t)K * sizeof *old);
done:
  rf_free(A), rf_free(rhs), rf_free(old);
  return status;
}
