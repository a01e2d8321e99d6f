/* The reduced problem (docs/math.md (G.2)): rows of unit length in coordinates of their span, dominated
 * samples on a common ray removed, and the two ways in which no network of any width can fit, found without
 * iterating: a zero row (f(0) = 0), or opposite labels on one ray (f is positively homogeneous); antipodal
 * pairs with opposite labels whose signed samples no linear map separates, because the odd part of every such
 * network is linear (G.4). */
#include "optimum/optimum_internal.h"
#include "optimum/wide.h"
#include "la/la.h"
#include "margin/margin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rf_reduced_free(RfReduced *reduced) {
  rf_free(reduced->X), rf_free(reduced->y), rf_free(reduced->b), rf_free(reduced->row);
  rf_free(reduced->basis), rf_free(reduced->norm);
  memset(reduced, 0, sizeof *reduced);
}

/* ---- rows on one line ------------------------------------------------------------------------- */

typedef struct Keyed {
  double key; /* |x . probe|: equal for rows on one line */
  rf_index at;
} Keyed;

static int by_key(const void *a, const void *b) {
  double x = ((const Keyed *)a)->key, y = ((const Keyed *)b)->key;
  rf_index i = ((const Keyed *)a)->at, j = ((const Keyed *)b)->at;
  return x < y ? -1 : x > y ? 1 : (i > j) - (i < j);
}

/* Position of the largest entry. */
static rf_index largest_entry(const double *x, rf_index d) {
  rf_index at = 0;
  for (rf_index k = 1; k < d; k++)
    if (fabs(x[k]) > fabs(x[at])) at = k;
  return at;
}

/* +1: one ray, -1: opposite rays, 0: neither, decided exactly: products of doubles are exact in 113 bits. */
int rf_rows_on_line(const double *x, const double *y, rf_index d) {
  rf_index at = largest_entry(x, d);
  for (rf_index k = 0; k < d; k++)
    if ((RfWide)x[at] * (RfWide)y[k] != (RfWide)x[k] * (RfWide)y[at]) return 0;
  return (x[at] > 0) == (y[at] > 0) ? 1 : -1;
}

/* |x|/(|x|+|y|) for rows on one line. */
static double share_on_line(const double *x, const double *y, rf_index d) {
  rf_index at = largest_entry(x, d);
  return fabs(x[at]) / (fabs(x[at]) + fabs(y[at]));
}

static RfStatus sort_lines(RfContext *context, Keyed *keyed, const double *X, rf_index n, rf_index d) {
  double *probe = RF_NEW(double, d);
  if (!probe) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  RfRandom random;
  rf_random_init(&random, 1, 0);
  rf_random_direction(&random, probe, d);
  for (rf_index i = 0; i < n; i++) keyed[i] = (Keyed){fabs(rf_la_dot(X + i * d, probe, d)), i};
  qsort(keyed, (size_t)n, sizeof *keyed, by_key);
  rf_free(probe);
  return RF_OK;
}

/* Marks dominated rows (drop), pairs antipodal rows of opposite labels (mate), and finds opposite labels on
 * one ray. Dominated: same ray, same label, and a longer row, whose margin is larger by homogeneity. */
static RfStatus scan_lines(RfContext *context, bool *drop, rf_index *mate, double *farkas, const double *X,
                           const double *units, const double *y, rf_index n, rf_index d) {
  Keyed *keyed = RF_NEW(Keyed, n);
  if (!keyed) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)n);
  RfStatus status = sort_lines(context, keyed, units, n, d);
  for (rf_index a = 0; !status && a < n; a++)
    for (rf_index b = a + 1; !status && b < n && keyed[b].key <= keyed[a].key + rf_line_key * (double)(d + 1);
         b++) {
      rf_index i = keyed[a].at, j = keyed[b].at;
      int side = drop[i] || drop[j] ? 0 : rf_rows_on_line(X + i * d, X + j * d, d);
      double part = side ? share_on_line(X + i * d, X + j * d, d) : 0;
      if (side > 0 && y[i] * y[j] > 0) drop[part > 0.5 ? i : j] = true;
      if (side > 0 && y[i] * y[j] < 0) farkas[i] = 1 - part, farkas[j] = part, status = RF_INFEASIBLE;
      if (side < 0 && y[i] * y[j] < 0) mate[i] = j, mate[j] = i;
    }
  rf_free(keyed);
  return status;
}

/* ---- antipodal pairs, and everything for leak 1 ----------------------------------------------- */

/* Is there mu >= 0, sum 1, with sum mu_k z_k = 0 exactly? Then RF_INFEASIBLE. rows z (count x d). */
static RfStatus gordan(RfContext *context, double *mu, const double *Z, rf_index count, rf_index d) {
  RfLinearMargin margin = {0};
  double *ones = RF_NEW(double, count);
  if (!ones) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)count);
  for (rf_index k = 0; k < count; k++) ones[k] = 1;
  RfStatus status = rf_margin_linear(context, &margin, Z, ones, count, d);
  RfBalance balance = {0};
  if (status == RF_NOT_SEPARABLE) {
    status = rf_margin_balance(context, &balance, Z, NULL, count, d, margin.farkas);
    if (status == RF_OK) {
      memcpy(mu, balance.value, (size_t)count * sizeof *mu);
      status = RF_INFEASIBLE;
    }
  }
  rf_balance_free(&balance);
  rf_linear_margin_free(&margin);
  rf_free(ones);
  return status == RF_UNDECIDED ? RF_OK : status;
}

static RfStatus check_odd_part(RfContext *context, double *farkas, const bool *drop, const rf_index *mate,
                               const double *X, const double *y, rf_index n, rf_index d, double leak) {
  double *Z = RF_NEW(double, n *d), *mu = RF_NEW(double, n);
  rf_index *who = RF_NEW(rf_index, n), count = 0;
  RfStatus status = RF_OK;
  if (!Z || !mu || !who)
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)n);
  for (rf_index i = 0; !status && i < n; i++) {
    bool paired = mate[i] >= 0 && !drop[mate[i]];
    if (drop[i] || (leak < 1 && !(paired && mate[i] > i))) continue;
    for (rf_index k = 0; k < d; k++) Z[count * d + k] = y[i] * X[i * d + k];
    who[count++] = i;
  }
  if (!status && count > 0) status = gordan(context, mu, Z, count, d);
  if (status == RF_INFEASIBLE) { /* the other row of a pair gets what its length asks for; sum 1 */
    double sum = 0;
    for (rf_index k = 0; k < count; k++) {
      rf_index i = who[k], j = mate[i], at = largest_entry(X + i * d, d);
      farkas[i] = mu[k], sum += farkas[i];
      if (leak < 1) farkas[j] = mu[k] * fabs(X[i * d + at] / X[j * d + at]), sum += farkas[j];
    }
    for (rf_index i = 0; i < n; i++) farkas[i] /= sum;
  }
  rf_free(Z), rf_free(mu), rf_free(who);
  return status;
}

/* ---- coordinates of the span ------------------------------------------------------------------ */

/* Orthonormal basis of the row space in *basis when it is smaller than R^d (else NULL and *rank = d). */
static RfStatus span_basis(RfContext *context, double **basis, rf_index *rank, const double *X, rf_index n,
                           rf_index d) {
  rf_index least = n < d ? n : d;
  double *values = RF_NEW(double, least), *right = RF_NEW(double, least *d);
  RfStatus status = RF_OK;
  if (!values || !right) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a basis");
  if (!status) status = rf_la_singular(context, values, right, X, n, d);
  *rank = 0;
  double noise = rf_rank_roundoff * (double)(n > d ? n : d);
  while (!status && *rank < least && values[*rank] > noise * values[0]) ++*rank;
  *basis = NULL;
  if (!status && *rank < d) *basis = right, right = NULL;
  rf_free(values), rf_free(right);
  return status;
}

/* Fills reduced->X from the kept unit rows (n x d). r is the rank rounded up to even, with zero columns. */
static RfStatus set_coordinates(RfContext *context, RfReduced *p, const double *rows) {
  rf_index rank = p->d;
  RfStatus status = span_basis(context, &p->basis, &rank, rows, p->n, p->d);
  if (status) return status;
  p->r = rank + (rank & 1);
  p->X = RF_NEW_TABLE(double, p->n, p->r);
  if (!p->X) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)p->n);
  for (rf_index i = 0; i < p->n; i++) {
    double *x = p->X + i * p->r;
    if (p->basis)
      rf_la_apply(x, p->basis, rows + i * p->d, rank, p->d, p->d);
    else
      memcpy(x, rows + i * p->d, (size_t)p->d * sizeof *x);
    rf_la_scale(x, 1 / rf_la_norm(x, rank), rank);
  }
  if (p->basis && rank < p->r) { /* the padded coordinate maps back to nothing */
    double *wider = rf_resize(p->basis, p->r * p->d, sizeof *wider);
    if (!wider) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a basis");
    p->basis = wider;
    memset(wider + rank * p->d, 0, (size_t)p->d * sizeof *wider);
  }
  return RF_OK;
}

static RfStatus keep_rows(RfContext *context, RfReduced *p, const bool *drop, double *units,
                          const double *norm, const double *y, rf_index n, rf_index d) {
  rf_index count = 0;
  for (rf_index i = 0; i < n; i++) count += !drop[i];
  p->n = count, p->d = d;
  p->y = RF_NEW(double, count), p->b = RF_NEW(double, count), p->norm = RF_NEW(double, count);
  p->row = RF_NEW(rf_index, count);
  if (!p->y || !p->b || !p->norm || !p->row)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)n);
  rf_index k = 0;
  double shortest = INFINITY;
  for (rf_index i = 0; i < n; i++) {
    if (drop[i]) continue;
    p->row[k] = i, p->y[k] = y[i], p->norm[k] = norm[i];
    shortest = fmin(shortest, norm[i]);
    if (k < i) memmove(units + k * d, units + i * d, (size_t)d * sizeof *units);
    k++;
  }
  for (k = 0; k < count; k++) p->b[k] = shortest / p->norm[k];
  p->scale = 1 / shortest;
  if (count == 0) return RF_OK;
  return set_coordinates(context, p, units);
}

/* Length of a row and the row divided by it, in two steps so that subnormal rows come out as units. */
static RfStatus unit_row(RfContext *context, double *unit, double *norm, const double *x, rf_index i,
                         rf_index d) {
  *norm = rf_la_norm(x, d);
  if (!isfinite(*norm)) return rf_fail(context, RF_ERR_USAGE, "row %lld is not finite", (long long)i);
  if (*norm == 0) return RF_OK;
  double largest = rf_la_max_abs(x, d);
  for (rf_index k = 0; k < d; k++) unit[k] = x[k] / largest;
  rf_la_scale(unit, 1 / rf_la_norm(unit, d), d);
  return RF_OK;
}

static RfStatus check_rows(RfContext *context, double *units, double *norm, double *farkas, const double *X,
                           rf_index n, rf_index d) {
  for (rf_index i = 0; i < n; i++) {
    RfStatus status = unit_row(context, units + i * d, &norm[i], X + i * d, i, d);
    if (status) return status;
    if (norm[i] == 0) {
      farkas[i] = 1;
      return RF_INFEASIBLE;
    }
  }
  return RF_OK;
}

/* Only a >= 0 with leak 0 gives f >= 0: any negative sample is then a certificate (and mirrored). */
static RfStatus check_signs(double *farkas, const double *y, rf_index n, double leak, int signs) {
  for (rf_index i = 0; i < n && leak == 0 && signs != 0; i++)
    if (y[i] * signs < 0) {
      farkas[i] = 1;
      return RF_INFEASIBLE;
    }
  return RF_OK;
}

RfStatus rf_reduced_new(RfContext *context, RfReduced *reduced, double *farkas, const double *X,
                        const double *y, rf_index n, rf_index d, double leak, int signs) {
  memset(reduced, 0, sizeof *reduced);
  reduced->leak = leak, reduced->signs = signs;
  rf_index total;
  if (!rf_multiply_sizes(&total, n, d)) return rf_fail(context, RF_ERR_MEMORY, "data too large");
  double *units = RF_NEW(double, total), *norm = RF_NEW(double, n);
  bool *drop = RF_NEW(bool, n);
  rf_index *mate = RF_NEW(rf_index, n);
  RfStatus status = RF_OK;
  if (!units || !norm || !drop || !mate) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)n);
    goto done;
  }
  for (rf_index i = 0; i < n; i++) mate[i] = -1, farkas[i] = 0;
  status = check_rows(context, units, norm, farkas, X, n, d);
  if (!status) status = check_signs(farkas, y, n, leak, signs);
  if (!status) status = scan_lines(context, drop, mate, farkas, X, units, y, n, d);
  if (!status) status = check_odd_part(context, farkas, drop, mate, X, y, n, d, leak);
  if (!status) status = keep_rows(context, reduced, drop, units, norm, y, n, d);
done:
  rf_free(units), rf_free(norm), rf_free(drop), rf_free(mate);
  if (status) rf_reduced_free(reduced);
  return status;
}

RfStatus rf_reduced_plain(RfContext *context, RfReduced *reduced, const double *X, const double *y,
                          rf_index n, rf_index d, double leak, int signs) {
  memset(reduced, 0, sizeof *reduced);
  reduced->leak = leak, reduced->signs = signs;
  rf_index total;
  if (!rf_multiply_sizes(&total, n, d)) return rf_fail(context, RF_ERR_MEMORY, "data too large");
  double *units = RF_NEW(double, total), *norm = RF_NEW(double, n);
  bool *drop = RF_NEW(bool, n);
  RfStatus status = RF_OK;
  if (!units || !norm || !drop)
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)n);
  for (rf_index i = 0; i < n && !status; i++) {
    status = unit_row(context, units + i * d, &norm[i], X + i * d, i, d);
    drop[i] = norm[i] == 0;
  }
  if (!status) status = keep_rows(context, reduced, drop, units, norm, y, n, d);
  rf_free(units), rf_free(norm), rf_free(drop);
  if (status) rf_reduced_free(reduced);
  return status;
}

void rf_reduced_direction(double *out, const RfReduced *p, const double *u, double factor) {
  memset(out, 0, (size_t)p->d * sizeof *out);
  if (!p->basis)
    memcpy(out, u, (size_t)p->d * sizeof *out);
  else
    for (rf_index k = 0; k < p->r; k++) rf_la_axpy(out, u[k], p->basis + k * p->d, p->d);
  rf_la_scale(out, factor, p->d);
}

RfStatus rf_reduced_part(RfContext *context, RfReduced *part, const RfReduced *p, const rf_index *rows,
                         rf_index count) {
  *part = *p;
  part->n = count;
  part->X = RF_NEW_TABLE(double, count, p->r), part->y = RF_NEW(double, count),
  part->b = RF_NEW(double, count);
  part->row = RF_NEW(rf_index, count), part->norm = RF_NEW(double, count);
  part->basis = NULL;
  if (!part->X || !part->y || !part->b || !part->row || !part->norm) {
    rf_reduced_free(part);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)count);
  }
  for (rf_index k = 0; k < count; k++) {
    rf_index i = rows[k];
    memcpy(part->X + k * p->r, p->X + i * p->r, (size_t)p->r * sizeof(double));
    part->y[k] = p->y[i], part->b[k] = p->b[i], part->row[k] = i, part->norm[k] = p->norm[i];
  }
  return RF_OK;
}
