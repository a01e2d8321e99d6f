/* Bounds with every rounding accounted for, in the caller's coordinates (enclose.c). */
#ifndef RF_OPTIMUM_ENCLOSE_H
#define RF_OPTIMUM_ENCLOSE_H

#include "optimum/optimum_internal.h"

/* Lower bound of min_i y_i f(x_i) of the network sum_k sign_k phi(u_k . x); infinity without samples. */
double rf_enclose_margin(const double *U, const double *sign, rf_index K, const double *X, const double *y,
                         rf_index n, rf_index d, double leak);
/* Upper bound of |u|, and of sum_k |u_k|: of the sum of those bounds. */
double rf_enclose_length(const double *u, rf_index d);
double rf_enclose_size(const double *U, rf_index K, rf_index d);
/* Upper bound of sum_k |u_k| / min_i y_i f(x_i); infinity when that margin is not proved positive. */
double rf_enclose_objective(const double *U, const double *sign, rf_index K, const double *X, const double *y,
                            rf_index n, rf_index d, double leak);

/* Upper bound of M for the caller's rows X, given that of the reduced rows. lambda (p->n) are the caller's
 * multipliers of the rows kept: those of the reduced problem are lambda_i norm_i. */
RfStatus rf_enclose_norm(RfContext *context, double *norm, const RfReduced *p, const double *lambda,
                         const double *X, double reduced);
/* The same for leak 1, without a reduced problem: |sum_i lambda_i y_i x_i|. */
RfStatus rf_enclose_linear_norm(RfContext *context, double *norm, const double *lambda, const double *X,
                                const double *y, rf_index n, rf_index d);
/* Lower bound of the sum of n numbers >= 0. */
double rf_enclose_sum(const double *lambda, rf_index n);
/* Lower bound of that sum divided by norm > 0. */
double rf_enclose_quotient(const double *lambda, rf_index n, double norm);

#endif
