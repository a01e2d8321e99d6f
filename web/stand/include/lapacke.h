/* The few entries of LAPACKE that src/la calls, in the layouts it calls them with, for builds without a
 * LAPACK; see ../lapack.c. */
#ifndef RF_STAND_LAPACKE_H
#define RF_STAND_LAPACKE_H

typedef int lapack_int;

#define LAPACK_ROW_MAJOR              101
#define LAPACK_COL_MAJOR              102
#define LAPACK_WORK_MEMORY_ERROR      (-1010)
#define LAPACK_TRANSPOSE_MEMORY_ERROR (-1011)

/* Row-major. */
lapack_int LAPACKE_dgeqrf(int layout, lapack_int n, lapack_int d, double *A, lapack_int lda, double *tau);
lapack_int LAPACKE_dgesdd(int layout, char job, lapack_int n, lapack_int d, double *A, lapack_int lda,
                          double *values, double *left, lapack_int ldu, double *right, lapack_int ldv);
lapack_int LAPACKE_dgesv(int layout, lapack_int n, lapack_int count, double *A, lapack_int lda,
                         lapack_int *pivot, double *b, lapack_int ldb);
lapack_int LAPACKE_dgelsy(int layout, lapack_int rows, lapack_int cols, lapack_int count, double *A,
                          lapack_int lda, double *b, lapack_int ldb, lapack_int *pivot, double relative,
                          lapack_int *rank);
/* Column-major. */
lapack_int LAPACKE_dgetrf_work(int layout, lapack_int m, lapack_int n, double *A, lapack_int lda,
                               lapack_int *pivot);
lapack_int LAPACKE_dgetrs_work(int layout, char turn, lapack_int n, lapack_int count, const double *A,
                               lapack_int lda, const lapack_int *pivot, double *b, lapack_int ldb);
lapack_int LAPACKE_dpotrf_work(int layout, char half, lapack_int n, double *A, lapack_int lda);
lapack_int LAPACKE_dpotrs_work(int layout, char half, lapack_int n, lapack_int count, const double *A,
                               lapack_int lda, double *b, lapack_int ldb);
lapack_int LAPACKE_dsyevd(int layout, char job, char half, lapack_int n, double *A, lapack_int lda,
                          double *values);

#endif
