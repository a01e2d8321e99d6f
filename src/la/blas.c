/* BLAS kernels behind rf_index: the one file that converts sizes to BLAS integers. Dimensions above INT_MAX
 * are handled by splitting along rows where that can happen (apply, combine) and are refused by the
 * allocators before they can reach the others. */
#include "la/la.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>

static int blas_int(rf_index n) { return n > INT_MAX ? INT_MAX : (int)n; }

double rf_la_dot(const double *x, const double *y, rf_index n) {
  double sum = 0;
  if (n < 16) return rf_la_quick_dot(x, y, n);
  for (rf_index done = 0; done < n; done += blas_int(n - done))
    sum += cblas_ddot(blas_int(n - done), x + done, 1, y + done, 1);
  return sum;
}

double rf_la_max_abs(const double *x, rf_index n) {
  double largest = 0;
  for (rf_index i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  return largest;
}

double rf_la_norm(const double *x, rf_index n) {
  double square = rf_la_dot(x, x, n);
  if (square > 1e-280 && square < 1e280) return sqrt(square);
  if (isnan(square)) return square;
  double largest = rf_la_max_abs(x, n);
  if (largest == 0 || !isfinite(largest)) return largest;
  square = 0;
  for (rf_index i = 0; i < n; i++) square += (x[i] / largest) * (x[i] / largest);
  return largest * sqrt(square);
}

void rf_la_axpy(double *y, double factor, const double *x, rf_index n) {
  for (rf_index i = 0; i < n; i++) y[i] += factor * x[i];
}

void rf_la_scale(double *x, double factor, rf_index n) {
  for (rf_index i = 0; i < n; i++) x[i] *= factor;
}

/* Below this many entries the call overhead of BLAS costs more than the loop. */
enum { small_matrix = 64 };

void rf_la_apply(double *out, const double *A, const double *x, rf_index rows, rf_index cols,
                 rf_index stride) {
  if (rows <= 0) return;
  if (cols == 0 || rows * cols <= small_matrix) {
    for (rf_index i = 0; i < rows; i++) out[i] = rf_la_dot(A + i * stride, x, cols);
    return;
  }
  for (rf_index done = 0; done < rows; done += INT_MAX)
    cblas_dgemv(CblasRowMajor, CblasNoTrans, blas_int(rows - done), blas_int(cols), 1, A + done * stride,
                blas_int(stride), x, 1, 0, out + done, 1);
}

void rf_la_combine_add(double *out, double scale, const double *A, const double *x, rf_index rows,
                       rf_index cols, rf_index stride) {
  if (rows <= 0 || cols <= 0) return;
  if (rows * cols <= small_matrix) {
    for (rf_index i = 0; i < rows; i++) rf_la_axpy(out, scale * x[i], A + i * stride, cols);
    return;
  }
  for (rf_index done = 0; done < rows; done += INT_MAX)
    cblas_dgemv(CblasRowMajor, CblasTrans, blas_int(rows - done), blas_int(cols), scale, A + done * stride,
                blas_int(stride), x + done, 1, 1, out, 1);
}

void rf_la_combine(double *out, const double *A, const double *x, rf_index rows, rf_index cols,
                   rf_index stride) {
  for (rf_index j = 0; j < cols; j++) out[j] = 0;
  rf_la_combine_add(out, 1, A, x, rows, cols, stride);
}

static void product(double *C, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, const double *A, rf_index lda,
                    const double *B, rf_index ldb, rf_index m, rf_index n, rf_index k, double keep) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) {
    for (rf_index i = 0; i < m * n; i++) C[i] *= keep;
    return;
  }
  cblas_dgemm(CblasRowMajor, ta, tb, blas_int(m), blas_int(n), blas_int(k), 1, A, blas_int(lda), B,
              blas_int(ldb), keep, C, blas_int(n));
}

void rf_la_product_nt(double *C, const double *A, const double *B, rf_index m, rf_index n, rf_index k) {
  product(C, CblasNoTrans, CblasTrans, A, k, B, k, m, n, k, 0);
}

void rf_la_product_nn(double *C, const double *A, const double *B, rf_index m, rf_index n, rf_index k) {
  product(C, CblasNoTrans, CblasNoTrans, A, k, B, n, m, n, k, 0);
}

void rf_la_product_tn(double *C, const double *A, const double *B, rf_index m, rf_index n, rf_index k) {
  product(C, CblasTrans, CblasNoTrans, A, m, B, n, m, n, k, 0);
}

void rf_la_add_product_nt(double *C, const double *A, const double *B, rf_index m, rf_index n, rf_index k) {
  product(C, CblasNoTrans, CblasTrans, A, k, B, k, m, n, k, 1);
}

void rf_la_add_product_tn(double *C, const double *A, const double *B, rf_index m, rf_index n, rf_index k) {
  product(C, CblasTrans, CblasNoTrans, A, m, B, n, m, n, k, 1);
}

void rf_la_gram(double *G, const double *A, rf_index n, rf_index d) {
  if (n <= 0) return;
  if (d <= 0) {
    for (rf_index i = 0; i < n * n; i++) G[i] = 0;
    return;
  }
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, blas_int(n), blas_int(d), 1, A, blas_int(d), 0, G,
              blas_int(n));
  for (rf_index i = 0; i < n; i++)
    for (rf_index j = 0; j < i; j++) G[i * n + j] = G[j * n + i];
}

static void product_float(float *C, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, const float *A, rf_index lda,
                          const float *B, rf_index ldb, rf_index m, rf_index n, rf_index k, float keep) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) {
    for (rf_index i = 0; i < m * n; i++) C[i] *= keep;
    return;
  }
  cblas_sgemm(CblasRowMajor, ta, tb, blas_int(m), blas_int(n), blas_int(k), 1, A, blas_int(lda), B,
              blas_int(ldb), keep, C, blas_int(n));
}

void rf_la_product_nt_float(float *C, const float *A, const float *B, rf_index m, rf_index n, rf_index k) {
  product_float(C, CblasNoTrans, CblasTrans, A, k, B, k, m, n, k, 0);
}

void rf_la_product_nn_float(float *C, const float *A, const float *B, rf_index m, rf_index n, rf_index k) {
  product_float(C, CblasNoTrans, CblasNoTrans, A, k, B, n, m, n, k, 0);
}

void rf_la_product_tn_float(float *C, const float *A, const float *B, rf_index m, rf_index n, rf_index k) {
  product_float(C, CblasTrans, CblasNoTrans, A, m, B, n, m, n, k, 0);
}

void rf_la_add_product_nt_float(float *C, const float *A, const float *B, rf_index m, rf_index n,
                                rf_index k) {
  product_float(C, CblasNoTrans, CblasTrans, A, k, B, k, m, n, k, 1);
}

void rf_la_add_product_tn_float(float *C, const float *A, const float *B, rf_index m, rf_index n,
                                rf_index k) {
  product_float(C, CblasTrans, CblasNoTrans, A, m, B, n, m, n, k, 1);
}
