/* Newton's method for the polish of networks with many weights (polish_dual.c). */
#ifndef RF_FLOW_FAR_POLISH_DUAL_H
#define RF_FLOW_FAR_POLISH_DUAL_H

#include "flow/flow_internal.h"

/* Solves  rows z = 1,  z_g/|z_g| = (rows^T lambda)_g  for z (groups rows of d) and lambda (r) from where they
 * stand. Where it does not converge z and lambda are no solution: the caller looks at the residuals. */
RfStatus rf_polish_dual(RfContext *context, double *z, double *lambda, const double *rows, rf_index r,
                        rf_index groups, rf_index d);

#endif
