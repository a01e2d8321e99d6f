/* Factorisations over LAPACK: rank, solve, least squares, Cholesky, symmetric eigenvalues, singular values.
 * LAPACKE's high-level calls transpose row-major input; its allocation failures come back as RF_ERR_MEMORY.
 */
#include "la/la.h"

#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static RfStatus lapack_status(RfContext *context, lapack_int info, const char *what) {
  if (info == 0) return RF_OK;
  if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory in %s", what);
  if (info < 0)
    return rf_fail(context, RF_ERR_USAGE, "%s: argument %d is not a finite number", what, (int)-info);
  return rf_fail(context, RF_ERR_NUMERIC, "%s failed (code %d)", what, (int)info);
}

static RfStatus check_sizes(RfContext *context, rf_index a, rf_index b) {
  if (a < 0 || b < 0 || a > INT_MAX || b > INT_MAX)
    return rf_fail(context, RF_ERR_USAGE, "matrix of %lld x %lld is too large for LAPACK", (long long)a,
                   (long long)b);
  return RF_OK;
}

/* The triangular factor of a tall A has the same singular values and right vectors: A (n x d) is overwritten.
 */
static RfStatus keep_triangle(RfContext *context, double *A, rf_index n, rf_index d) {
  double *tau = RF_NEW(double, d);
  if (!tau) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a factor");
  lapack_int info = LAPACKE_dgeqrf(LAPACK_ROW_MAJOR, (lapack_int)n, (lapack_int)d, A, (lapack_int)d, tau);
  for (rf_index i = 1; i < d; i++) memset(A + i * d, 0, (size_t)i * sizeof *A);
  rf_free(tau);
  return lapack_status(context, info, "triangular factor");
}

RfStatus rf_la_singular(RfContext *context, double *values, double *right, const double *A, rf_index n,
                        rf_index d) {
  rf_index least = n < d ? n : d, total;
  RfStatus status = check_sizes(context, n, d);
  if (status || least == 0) return status;
  if (!rf_multiply_sizes(&total, n, d)) return rf_fail(context, RF_ERR_MEMORY, "matrix too large");
  bool tall = n > d + d / 2;
  rf_index rows = tall ? d : n;
  double *copy = rf_copy_doubles(A, total);
  double *left = right ? RF_NEW(double, rows *least) : NULL;
  if (!copy || (right && !left)) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for singular values of %lld x %lld", (long long)n,
                     (long long)d);
    goto done;
  }
  if (tall) status = keep_triangle(context, copy, n, d);
  if (status) goto done;
  status =
      lapack_status(context,
                    LAPACKE_dgesdd(LAPACK_ROW_MAJOR, right ? 'S' : 'N', (lapack_int)rows, (lapack_int)d, copy,
                                   (lapack_int)d, values, left, (lapack_int)least, right, (lapack_int)d),
                    "singular values");
done:
  rf_free(copy);
  rf_free(left);
  return status;
}

RfStatus rf_la_rank(RfContext *context, rf_index *rank, double *singular, const double *A, rf_index n,
                    rf_index d, double relative) {
  rf_index least = n < d ? n : d;
  double *values = singular ? singular : RF_NEW(double, least);
  if (!values) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a rank");
  RfStatus status = rf_la_singular(context, values, NULL, A, n, d);
  *rank = 0;
  if (!status)
    while (*rank < least && values[*rank] > relative * values[0]) ++*rank;
  if (!singular) rf_free(values);
  return status;
}

RfStatus rf_la_solve(RfContext *context, double *A, double *b, rf_index n) {
  RfStatus status = check_sizes(context, n, n);
  if (status || n == 0) return status;
  lapack_int *pivots = RF_NEW(lapack_int, n);
  if (!pivots) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a linear system");
  lapack_int info = LAPACKE_dgesv(LAPACK_ROW_MAJOR, (lapack_int)n, 1, A, (lapack_int)n, pivots, b, 1);
  rf_free(pivots);
  return lapack_status(context, info, "linear system");
}

/* LAPACK sees the transpose of a row-major matrix. */
bool rf_la_lu(double *A, int32_t *pivot, rf_index n) {
  if (n == 0) return true;
  return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)n, A, (lapack_int)n, pivot) == 0;
}

void rf_la_lu_solve(const double *A, const int32_t *pivot, double *b, rf_index n) {
  if (n == 0) return;
  LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', (lapack_int)n, 1, A, (lapack_int)n, pivot, b, (lapack_int)n);
}

/* The factors are those of the transpose by columns, whose inverse has these rows as columns. */
void rf_la_lu_inverse_rows(const double *A, const int32_t *pivot, double *rows, rf_index first,
                           rf_index count, rf_index n) {
  if (count == 0) return;
  memset(rows, 0, (size_t)(count * n) * sizeof *rows);
  for (rf_index k = 0; k < count; k++) rows[k * n + first + k] = 1;
  LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', (lapack_int)n, (lapack_int)count, A, (lapack_int)n, pivot, rows,
                      (lapack_int)n);
}

RfStatus rf_la_least_squares(RfContext *context, double *A, double *b, rf_index rows, rf_index cols,
                             double relative, rf_index *rank) {
  RfStatus status = check_sizes(context, rows, cols);
  if (status) return status;
  if (rank) *rank = 0;
  if (rows == 0 || cols == 0) {
    for (rf_index j = 0; j < cols; j++) b[j] = 0;
    return RF_OK;
  }
  lapack_int *pivots = RF_NEW(lapack_int, cols), found = 0;
  if (!pivots) return rf_fail(context, RF_ERR_MEMORY, "out of memory for least squares");
  lapack_int info = LAPACKE_dgelsy(LAPACK_ROW_MAJOR, (lapack_int)rows, (lapack_int)cols, 1, A,
                                   (lapack_int)cols, b, 1, pivots, relative, &found);
  rf_free(pivots);
  if (rank) *rank = found;
  return lapack_status(context, info, "least squares");
}

RfStatus rf_la_cholesky(RfContext *context, double *A, rf_index n) {
  RfStatus status = check_sizes(context, n, n);
  if (status || n == 0) return status;
  return lapack_status(context, LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, A, (lapack_int)n),
                       "Cholesky factorisation");
}

void rf_la_cholesky_solve(const double *L, double *b, rf_index n) {
  if (n > 0) LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, 1, L, (lapack_int)n, b, (lapack_int)n);
}

RfStatus rf_la_symmetric_eigen(RfContext *context, double *values, double *A, rf_index n) {
  RfStatus status = check_sizes(context, n, n);
  if (status || n == 0) return status;
  return lapack_status(context,
                       LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, A, (lapack_int)n, values),
                       "eigenvalues");
}
