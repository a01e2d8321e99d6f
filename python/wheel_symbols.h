/* Included first in every file of the wheel (python/wheel.sh). Functions that got new versions in glibc 2.29
 * are bound to the ones before, which compute the same numbers, so that the wheel runs on glibc 2.28; SciPy's
 * OpenBLAS has names of its own. */
#ifndef RF_WHEEL_SYMBOLS_H
#define RF_WHEEL_SYMBOLS_H

#define RF_OLD(name, version) __asm__(".symver " #name "," #name "@" version)
RF_OLD(exp, "GLIBC_2.2.5");
RF_OLD(exp2, "GLIBC_2.2.5");
RF_OLD(log, "GLIBC_2.2.5");
RF_OLD(log2, "GLIBC_2.2.5");
RF_OLD(pow, "GLIBC_2.2.5");

#define cblas_ddot          scipy_cblas_ddot
#define cblas_dgemm         scipy_cblas_dgemm
#define cblas_dgemv         scipy_cblas_dgemv
#define cblas_dsyrk         scipy_cblas_dsyrk
#define cblas_sgemm         scipy_cblas_sgemm
#define LAPACKE_dgelsy      scipy_LAPACKE_dgelsy
#define LAPACKE_dgeqrf      scipy_LAPACKE_dgeqrf
#define LAPACKE_dgesdd      scipy_LAPACKE_dgesdd
#define LAPACKE_dgesv       scipy_LAPACKE_dgesv
#define LAPACKE_dgetrf_work scipy_LAPACKE_dgetrf_work
#define LAPACKE_dgetrs_work scipy_LAPACKE_dgetrs_work
#define LAPACKE_dpotrf_work scipy_LAPACKE_dpotrf_work
#define LAPACKE_dpotrs_work scipy_LAPACKE_dpotrs_work
#define LAPACKE_dsyevd      scipy_LAPACKE_dsyevd
/* SQLite 3.38 and later say where a mistake is; Debian 11's does not, and -1 is how SQLite itself says so */
#define sqlite3_error_offset(database) ((void)(database), -1)

#define openblas_set_num_threads scipy_openblas_set_num_threads

#endif
