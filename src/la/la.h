/* la: dense linear algebra, for the rooms of the library only. Thin wrappers over BLAS and LAPACK (the only
 * place that knows their integers), and the least-squares solvers with bounds that everything else is built
 * on. Matrices are rows of contiguous doubles; `stride` is the distance between rows (>= their length).
 * Vectors must not overlap unless said so.
 */
#ifndef RF_LA_LA_H
#define RF_LA_LA_H

#include "core/core.h"

/* ---- kernels ------------------------------------------------------------------------------------------ */

double rf_la_dot(const double *x, const double *y, rf_index n);
/* The same where vectors are short and a call would cost more than they do. */
static inline double rf_la_quick_dot(const double *x, const double *y, rf_index n) {
  double sum = 0;
  if (n >= 16) return rf_la_dot(x, y, n);
  for (rf_index i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}
double rf_la_norm(const double *x, rf_index n); /* no overflow or underflow on the way */
double rf_la_max_abs(const double *x, rf_index n);
void rf_la_axpy(double *y, double factor, const double *x, rf_index n); /* y += factor x */
void rf_la_scale(double *x, double factor, rf_index n);
/* out = A x, A is rows x cols. */
void rf_la_apply(double *out, const double *A, const double *x, rf_index rows, rf_index cols,
                 rf_index stride);
/* out = A^T x: the combination of the rows of A with weights x. */
void rf_la_combine(double *out, const double *A, const double *x, rf_index rows, rf_index cols,
                   rf_index stride);
/* out += scale A^T x. */
void rf_la_combine_add(double *out, double scale, const double *A, const double *x, rf_index rows,
                       rf_index cols, rf_index stride);
/* C = A B^T: A is m x k, B is n x k, C is m x n with row stride n. */
void rf_la_product_nt(double *C, const double *A, const double *B, rf_index m, rf_index n, rf_index k);
/* C = A B: A is m x k, B is k x n, C is m x n. */
void rf_la_product_nn(double *C, const double *A, const double *B, rf_index m, rf_index n, rf_index k);
/* C = A^T B: A is k x m, B is k x n, C is m x n. */
void rf_la_product_tn(double *C, const double *A, const double *B, rf_index m, rf_index n, rf_index k);
/* The same, added: C += A B^T and C += A^T B. */
void rf_la_add_product_nt(double *C, const double *A, const double *B, rf_index m, rf_index n, rf_index k);
void rf_la_add_product_tn(double *C, const double *A, const double *B, rf_index m, rf_index n, rf_index k);
/* G = A A^T, both triangles. */
void rf_la_gram(double *G, const double *A, rf_index n, rf_index d);

/* Single-precision twins, for training in float. */
void rf_la_product_nt_float(float *C, const float *A, const float *B, rf_index m, rf_index n, rf_index k);
void rf_la_product_nn_float(float *C, const float *A, const float *B, rf_index m, rf_index n, rf_index k);
void rf_la_product_tn_float(float *C, const float *A, const float *B, rf_index m, rf_index n, rf_index k);
void rf_la_add_product_nt_float(float *C, const float *A, const float *B, rf_index m, rf_index n, rf_index k);
void rf_la_add_product_tn_float(float *C, const float *A, const float *B, rf_index m, rf_index n, rf_index k);

/* ---- rows.c: products of a few vectors with the many rows of a data matrix ----------------- */

typedef struct RfManyRows {
  rf_index n, d;
  const double *X; /* n x d, the caller's */
  rf_index *start; /* n + 1: where the nonzeros of a row begin; NULL: rows are kept with their zeros */
  int32_t *column;
  double *value;
  double *work; /* one caller at a time */
} RfManyRows;

RfStatus rf_rows_new(RfContext *context, RfManyRows *rows, const double *X, rf_index n, rf_index d);
void rf_rows_free(RfManyRows *rows);
/* C (m x n) = A X^T, A is m x d. The bits do not depend on threads. */
void rf_rows_images(double *C, const double *A, const RfManyRows *rows, rf_index m, int threads);
/* C (m x d) = A X, A is m x n. */
void rf_rows_combine(double *C, const double *A, const RfManyRows *rows, rf_index m, int threads);

/* ---- factorisations ------------------------------------------------------------------------ */

/* Numerical rank: singular values above relative * largest. singular (min(n,d), descending) may be NULL. */
RfStatus rf_la_rank(RfContext *context, rf_index *rank, double *singular, const double *A, rf_index n,
                    rf_index d, double relative);
/* Solves A x = b, A square n x n, row-major, overwritten; b (n) overwritten by x. RF_ERR_NUMERIC when
 * singular. */
RfStatus rf_la_solve(RfContext *context, double *A, double *b, rf_index n);
/* LU factors of the square row-major A in place, pivot (n); false when it is singular. Then A x = b, b
 * overwritten. */
bool rf_la_lu(double *A, int32_t *pivot, rf_index n);
void rf_la_lu_solve(const double *A, const int32_t *pivot, double *b, rf_index n);
/* Rows first, first + 1, ... of the inverse, `count` of them, each of n. */
void rf_la_lu_inverse_rows(const double *A, const int32_t *pivot, double *rows, rf_index first,
                           rf_index count, rf_index n);
/* Minimum-norm least-squares solution of |A x - b| by complete orthogonal factorisation; A is overwritten;
 * b has max(rows, cols) entries, on return the first cols are x. */
RfStatus rf_la_least_squares(RfContext *context, double *A, double *b, rf_index rows, rf_index cols,
                             double relative, rf_index *rank);
/* Cholesky A = L L^T, lower triangle of the row-major A overwritten. RF_ERR_NUMERIC when not positive
 * definite. */
RfStatus rf_la_cholesky(RfContext *context, double *A, rf_index n);
/* Solves L L^T x = b with the factor of rf_la_cholesky; b overwritten. */
void rf_la_cholesky_solve(const double *L, double *b, rf_index n);
/* Symmetric eigenvalues (ascending) and, row k of A on return, eigenvector k. */
RfStatus rf_la_symmetric_eigen(RfContext *context, double *values, double *A, rf_index n);
/* Singular values (descending) of A (n x d, not changed); right (min(n,d) rows of d) may be NULL. */
RfStatus rf_la_singular(RfContext *context, double *values, double *right, const double *A, rf_index n,
                        rf_index d);

/* ---- an orthogonal factor of a changing set of columns ----------------------------------------------- */

/* A_P N^-1 = Q R for the columns P of a matrix, divided by their norms N. Q has orthonormal columns, stored
 * one after the other (`rows` doubles each); R is upper triangular, packed by columns: R_ij at j(j+1)/2 + i.
 */
typedef struct RfFactor {
  rf_index rows, size, capacity, max_rows;
  double *Q, *R;
  double *rotation;  /* 2 * capacity: cosines and sines of a deletion */
  rf_index *columns; /* capacity: which column of the matrix stands at each position */
} RfFactor;

/* An empty factor for columns of up to max_rows entries; set `rows` to the length in use. */
void rf_la_factor_init(RfFactor *factor, rf_index max_rows);
void rf_la_factor_free(RfFactor *factor);
/* Room for `capacity` columns of up to max_rows; keeps the factor. */
bool rf_la_factor_reserve(RfFactor *factor, rf_index capacity);
/* Appends column/norm by repeated Gram-Schmidt. Returns its distance from the span of the others, or 0,
 * without changing the factor, when that is below `independent`. Needs size < capacity. */
double rf_la_factor_append(RfFactor *factor, const double *column, double norm, rf_index index,
                           double independent);
/* The same when the caller has split the unit column already: Q along + step, |step| = length > 0. */
void rf_la_factor_append_split(RfFactor *factor, const double *along, const double *step, double length,
                               rf_index index);
/* Removes position `at` by Givens rotations: O(rows (size - at)). */
void rf_la_factor_remove(RfFactor *factor, rf_index at);
/* coefficients (size) = Q^T v. */
void rf_la_factor_project(const RfFactor *factor, double *coefficients, const double *v);
/* v += factor Q coefficients. */
void rf_la_factor_expand(const RfFactor *factor, double *v, double scale, const double *coefficients);
/* R p = c and R^T p = c, in place. */
void rf_la_factor_solve(const RfFactor *factor, double *c);
void rf_la_factor_solve_transposed(const RfFactor *factor, double *c);

/* ---- least squares with bounds ------------------------------------------------------------- */

/* The unknown x has one entry per *column* of the system. A column is stored contiguously, so that a data
 * matrix whose rows are samples is a system whose columns are samples: column j starts at columns + j*stride.
 */
typedef struct RfLeastSquaresInfo {
  rf_index iterations;
  rf_index active;  /* entries strictly inside their bounds */
  double residual;  /* |A x - f|, recomputed from x at the end */
  double violation; /* largest wrong-sign gradient entry, divided by |column| and by the scale of the problem,
                       which is the larger of |f| and the columns at their starting bounds: 0 is optimal */
} RfLeastSquaresInfo;

/* Reusable memory, so that a loop over many small problems allocates once. */
typedef struct RfLeastSquaresWork RfLeastSquaresWork;
RfStatus rf_la_least_squares_work_new(RfContext *context, RfLeastSquaresWork **work, rf_index max_rows,
                                      rf_index max_cols);
void rf_la_least_squares_work_free(RfLeastSquaresWork *work);

/* minimise |A x - f| over x >= 0 (Lawson and Hanson 1974, active set with an updated QR factor, refined at
 * the end). x (cols) on entry is ignored, on return the solution; residual (rows, may be NULL) = f - A x.
 * work may be NULL. Returns RF_OK, or RF_ERR_NUMERIC / RF_INTERRUPTED with the best x so far. */
RfStatus rf_la_nnls(RfContext *context, double *x, double *residual, RfLeastSquaresInfo *info,
                    const double *columns, const double *f, rf_index rows, rf_index cols, rf_index stride,
                    RfLeastSquaresWork *work);

/* minimise |A x - f| over low <= x <= high (Stark and Parker 1995, same factor updates). low may be -infinity
 * and high +infinity; low == high fixes an entry. With several minimisers, the one the active set reaches. */
RfStatus rf_la_box_least_squares(RfContext *context, double *x, double *residual, RfLeastSquaresInfo *info,
                                 const double *columns, const double *f, const double *low,
                                 const double *high, rf_index rows, rf_index cols, rf_index stride,
                                 RfLeastSquaresWork *work);

/* The same problems from a starting point: x on entry is clipped to the bounds, and its entries strictly
 * inside them are the first guess of the active set. Any x is allowed; a good one saves most of the
 * iterations. */
RfStatus rf_la_nnls_from(RfContext *context, double *x, double *residual, RfLeastSquaresInfo *info,
                         const double *columns, const double *f, rf_index rows, rf_index cols,
                         rf_index stride, RfLeastSquaresWork *work);
RfStatus rf_la_box_least_squares_from(RfContext *context, double *x, double *residual,
                                      RfLeastSquaresInfo *info, const double *columns, const double *f,
                                      const double *low, const double *high, rf_index rows, rf_index cols,
                                      rf_index stride, RfLeastSquaresWork *work);

#endif
