/* The few entries of CBLAS that src/la calls, for builds without a BLAS; see ../blas.c. */
#ifndef RF_STAND_CBLAS_H
#define RF_STAND_CBLAS_H

typedef enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 } CBLAS_ORDER;
typedef enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112 } CBLAS_TRANSPOSE;
typedef enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 } CBLAS_UPLO;

double cblas_ddot(int n, const double *x, int step_x, const double *y, int step_y);
void cblas_dgemv(CBLAS_ORDER order, CBLAS_TRANSPOSE turn, int rows, int cols, double scale, const double *A,
                 int stride, const double *x, int step_x, double keep, double *y, int step_y);
void cblas_dgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double scale,
                 const double *A, int lda, const double *B, int ldb, double keep, double *C, int ldc);
void cblas_sgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float scale,
                 const float *A, int lda, const float *B, int ldb, float keep, float *C, int ldc);
void cblas_dsyrk(CBLAS_ORDER order, CBLAS_UPLO half, CBLAS_TRANSPOSE turn, int n, int k, double scale,
                 const double *A, int lda, double keep, double *C, int ldc);

#endif
