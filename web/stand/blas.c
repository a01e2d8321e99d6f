/* Matrix products in plain C, row-major, for the build that runs in a browser. Loops go along rows, so that
 * the compiler makes vectors of them; the sizes there are small. */
#include <cblas.h>

double cblas_ddot(int n, const double *x, int step_x, const double *y, int step_y) {
  double even = 0, odd = 0;
  int i = 0;
  for (; i + 1 < n; i += 2) {
    even += x[i * step_x] * y[i * step_y];
    odd += x[(i + 1) * step_x] * y[(i + 1) * step_y];
  }
  return i < n ? even + odd + x[i * step_x] * y[i * step_y] : even + odd;
}

void cblas_dgemv(CBLAS_ORDER order, CBLAS_TRANSPOSE turn, int rows, int cols, double scale, const double *A,
                 int stride, const double *x, int step_x, double keep, double *y, int step_y) {
  (void)order; /* rows */
  if (turn == CblasNoTrans) {
    for (int i = 0; i < rows; i++) {
      double dot = scale * cblas_ddot(cols, A + (long)i * stride, 1, x, step_x);
      y[i * step_y] = keep == 0 ? dot : keep * y[i * step_y] + dot;
    }
    return;
  }
  for (int j = 0; j < cols; j++) y[j * step_y] = keep == 0 ? 0 : keep * y[j * step_y];
  for (int i = 0; i < rows; i++) {
    double factor = scale * x[i * step_x];
    const double *row = A + (long)i * stride;
    for (int j = 0; j < cols; j++) y[j * step_y] += factor * row[j];
  }
}

/* C = keep C + scale op(A) op(B), once for each type of number. */
#define PRODUCT(name, type)                                                                                  \
  void name(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, type scale,      \
            const type *A, int lda, const type *B, int ldb, type keep, type *C, int ldc) {                   \
    (void)order;                                                                                             \
    for (int i = 0; i < m; i++) {                                                                            \
      type *row = C + (long)i * ldc;                                                                         \
      for (int j = 0; j < n; j++) row[j] = keep == 0 ? 0 : keep * row[j];                                    \
      if (tb == CblasTrans) {                                                                                \
        for (int j = 0; j < n; j++) {                                                                        \
          type sum = 0;                                                                                      \
          for (int l = 0; l < k; l++)                                                                        \
            sum += (ta == CblasTrans ? A[(long)l * lda + i] : A[(long)i * lda + l]) * B[(long)j * ldb + l];  \
          row[j] += scale * sum;                                                                             \
        }                                                                                                    \
        continue;                                                                                            \
      }                                                                                                      \
      for (int l = 0; l < k; l++) {                                                                          \
        type factor = scale * (ta == CblasTrans ? A[(long)l * lda + i] : A[(long)i * lda + l]);              \
        const type *other = B + (long)l * ldb;                                                               \
        for (int j = 0; j < n; j++) row[j] += factor * other[j];                                             \
      }                                                                                                      \
    }                                                                                                        \
  }

PRODUCT(cblas_dgemm, double)
PRODUCT(cblas_sgemm, float)

void cblas_dsyrk(CBLAS_ORDER order, CBLAS_UPLO half, CBLAS_TRANSPOSE turn, int n, int k, double scale,
                 const double *A, int lda, double keep, double *C, int ldc) {
  (void)order, (void)half, (void)turn; /* rows, the upper half, A A^T */
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      double dot = scale * cblas_ddot(k, A + (long)i * lda, 1, A + (long)j * lda, 1);
      double *c = C + (long)i * ldc + j;
      *c = keep == 0 ? dot : keep * *c + dot;
    }
}
