/* The KKT projection of a layered network with hidden units on their kinks. */
#ifndef RF_CERTIFY_LAYERED_SLOPES_H
#define RF_CERTIFY_LAYERED_SLOPES_H

#include "layers/layers.h"

/* Continues min |target - sum of nonnegative multiples of columns|: `columns` holds n columns of
 * n_parameters + 1 entries, that of sample i with slope leak at every kink; further choices of slopes in
 * {leak, 1} at the kinks of a sample become columns as long as they help (their mixtures are the slopes in
 * between). net at min margin 1, q its margins. lambda (n) receives the sums over the columns of each sample,
 * rest (n_parameters + 1) what is left. */
RfStatus rf_certify_layered_slopes(RfContext *context, double *lambda, double *rest, const RfLayeredNet *net,
                                   const double *X, const double *y, const double *q, const double *columns,
                                   const double *target, rf_index n);

#endif
