/* Orthogonal factor of a changing set of columns: append by Gram-Schmidt with reorthogonalisation, remove by
 * Givens rotations (Daniel, Gragg, Kaufman and Stewart 1976). Each change costs O(rows * size). Q is kept
 * explicitly, so the rest of the matrix is never touched. */
#include "la_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Below this many entries plain loops beat a BLAS call. */
enum { plain_loops = 256 };

void rf_la_factor_free(RfFactor *factor) {
  rf_free(factor->Q);
  rf_free(factor->R);
  rf_free(factor->rotation);
  rf_free(factor->columns);
  memset(factor, 0, sizeof *factor);
}

void rf_la_factor_init(RfFactor *factor, rf_index max_rows) {
  memset(factor, 0, sizeof *factor);
  factor->rows = factor->max_rows = max_rows;
}

bool rf_la_factor_reserve(RfFactor *factor, rf_index capacity) {
  rf_index entries, packed;
  if (capacity <= factor->capacity) return true;
  if (!rf_multiply_sizes(&entries, capacity, factor->max_rows) ||
      !rf_multiply_sizes(&packed, capacity, capacity + 1))
    return false;
  if (!rf_grow((void **)&factor->Q, entries, sizeof(double)) ||
      !rf_grow((void **)&factor->R, packed / 2, sizeof(double)) ||
      !rf_grow((void **)&factor->rotation, 2 * capacity, sizeof(double)) ||
      !rf_grow((void **)&factor->columns, capacity, sizeof(rf_index)))
    return false;
  factor->capacity = capacity;
  return true;
}

void rf_la_factor_project(const RfFactor *factor, double *coefficients, const double *v) {
  rf_index rows = factor->rows, size = factor->size;
  if (rows * size > plain_loops) {
    rf_la_apply(coefficients, factor->Q, v, size, rows, rows);
    return;
  }
  for (rf_index k = 0; k < size; k++) coefficients[k] = rf_small_dot(factor->Q + k * rows, v, rows);
}

void rf_la_factor_expand(const RfFactor *factor, double *v, double scale, const double *coefficients) {
  rf_index rows = factor->rows, size = factor->size;
  if (rows * size > plain_loops) {
    rf_la_combine_add(v, scale, factor->Q, coefficients, size, rows, rows);
    return;
  }
  for (rf_index k = 0; k < size; k++) {
    const double *q = factor->Q + k * rows;
    double weight = scale * coefficients[k];
    for (rf_index i = 0; i < rows; i++) v[i] += weight * q[i];
  }
}

double rf_la_factor_append(RfFactor *factor, const double *column, double norm, rf_index index,
                           double independent) {
  rf_index rows = factor->rows, size = factor->size;
  double *q = factor->Q + size * rows, *r = factor->R + size * (size + 1) / 2, *again = factor->rotation;
  double inverse = 1 / norm;
  for (rf_index i = 0; i < rows; i++) q[i] = column[i] * inverse;
  for (rf_index k = 0; k < size; k++) r[k] = 0;
  double before = 1, after = 1;
  /* Twice is enough unless the column nearly lies in the span: repeat while the norm drops by more than half.
   */
  for (int pass = 0; size > 0 && pass < 4; pass++) {
    rf_la_factor_project(factor, again, q);
    rf_la_factor_expand(factor, q, -1, again);
    for (rf_index k = 0; k < size; k++) r[k] += again[k];
    after = sqrt(rf_small_dot(q, q, rows));
    if (after <= independent) return 0;
    if (after > 0.5 * before) break;
    before = after;
  }
  if (size == 0) after = sqrt(rf_small_dot(q, q, rows));
  for (rf_index i = 0; i < rows; i++) q[i] /= after;
  r[size] = after;
  factor->columns[size] = index;
  factor->size++;
  return after;
}

void rf_la_factor_append_split(RfFactor *factor, const double *along, const double *step, double length,
                               rf_index index) {
  rf_index rows = factor->rows, size = factor->size;
  double *q = factor->Q + size * rows, *r = factor->R + size * (size + 1) / 2;
  for (rf_index i = 0; i < rows; i++) q[i] = step[i] / length;
  memcpy(r, along, (size_t)size * sizeof *r);
  r[size] = length;
  factor->columns[size] = index;
  factor->size++;
}

/* Column `at` of R disappears; the columns right of it become upper Hessenberg, and the rotation of rows i,
 * i+1 clears the entry below the diagonal of new column i. */
static void triangularise(RfFactor *factor, rf_index at) {
  double *cosine = factor->rotation, *sine = factor->rotation + factor->capacity;
  for (rf_index i = at; i + 1 < factor->size; i++) {
    double *old = factor->R + (i + 1) * (i + 2) / 2, *new = factor->R + i *(i + 1) / 2;
    for (rf_index l = at; l < i; l++) {
      double upper = old[l], lower = old[l + 1];
      old[l] = cosine[l] * upper + sine[l] * lower;
      old[l + 1] = cosine[l] * lower - sine[l] * upper;
    }
    double length = hypot(old[i], old[i + 1]);
    cosine[i] = length > 0 ? old[i] / length : 1;
    sine[i] = length > 0 ? old[i + 1] / length : 0;
    old[i] = length;
    memmove(new, old, (size_t)(i + 1) * sizeof *new);
  }
}

void rf_la_factor_remove(RfFactor *factor, rf_index at) {
  rf_index rows = factor->rows;
  triangularise(factor, at);
  const double *cosine = factor->rotation, *sine = factor->rotation + factor->capacity;
  for (rf_index k = at; k + 1 < factor->size; k++) {
    double *p = factor->Q + k * rows, *q = p + rows;
    for (rf_index i = 0; i < rows; i++) {
      double upper = p[i], lower = q[i];
      p[i] = cosine[k] * upper + sine[k] * lower;
      q[i] = cosine[k] * lower - sine[k] * upper;
    }
  }
  factor->size--;
  memmove(factor->columns + at, factor->columns + at + 1,
          (size_t)(factor->size - at) * sizeof *factor->columns);
}

void rf_la_factor_solve(const RfFactor *factor, double *c) {
  for (rf_index j = factor->size - 1; j >= 0; j--) {
    const double *r = factor->R + j * (j + 1) / 2;
    c[j] /= r[j];
    for (rf_index i = 0; i < j; i++) c[i] -= r[i] * c[j];
  }
}

void rf_la_factor_solve_transposed(const RfFactor *factor, double *c) {
  for (rf_index j = 0; j < factor->size; j++) {
    const double *r = factor->R + j * (j + 1) / 2;
    c[j] = (c[j] - rf_small_dot(r, c, j)) / r[j];
  }
}
