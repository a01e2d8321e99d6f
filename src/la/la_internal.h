/* la, inside the room: an orthogonal factor of a changing set of columns. */
#ifndef RF_LA_INTERNAL_H
#define RF_LA_INTERNAL_H

#include "reluflow/la.h"

/* A_P N^-1 = Q R for the columns P of a matrix, divided by their norms N. Q has orthonormal columns, stored
 * one after the other (`rows` doubles each); R is upper triangular, packed by columns: R_ij at j(j+1)/2 + i.
 */
typedef struct RfFactor {
  rf_index rows, size, capacity, max_rows;
  double *Q, *R;
  double *rotation;  /* 2 * capacity: cosines and sines of a deletion */
  rf_index *columns; /* capacity: which column of the matrix stands at each position */
} RfFactor;

void rf_factor_free(RfFactor *factor);
/* Room for `capacity` columns of up to max_rows; keeps the factor. */
bool rf_factor_reserve(RfFactor *factor, rf_index capacity);
/* Appends column/norm by repeated Gram-Schmidt. Returns its distance from the span of the others, or 0,
 * without changing the factor, when that is below `independent`. Needs size < capacity. */
double rf_factor_append(RfFactor *factor, const double *column, double norm, rf_index index,
                        double independent);
/* Removes position `at` by Givens rotations: O(rows (size - at)). */
void rf_factor_remove(RfFactor *factor, rf_index at);
/* coefficients (size) = Q^T v. */
void rf_factor_project(const RfFactor *factor, double *coefficients, const double *v);
/* v += factor Q coefficients. */
void rf_factor_expand(const RfFactor *factor, double *v, double scale, const double *coefficients);
/* R p = c and R^T p = c, in place. */
void rf_factor_solve(const RfFactor *factor, double *c);
void rf_factor_solve_transposed(const RfFactor *factor, double *c);

static inline double rf_small_dot(const double *x, const double *y, rf_index n) {
  if (n >= 64) return rf_la_dot(x, y, n);
  double a = 0, b = 0, c = 0, e = 0;
  rf_index i = 0;
  for (; i + 4 <= n; i += 4) {
    a += x[i] * y[i];
    b += x[i + 1] * y[i + 1];
    c += x[i + 2] * y[i + 2];
    e += x[i + 3] * y[i + 3];
  }
  for (; i < n; i++) a += x[i] * y[i];
  return (a + b) + (c + e);
}

#endif
