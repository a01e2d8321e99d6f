/* Does the flow stay at a KKT point? */
#ifndef RF_FLOW_LAYERED_ESCAPE_H
#define RF_FLOW_LAYERED_ESCAPE_H

#include "flow/layered/sides.h"

/* theta (P): a KKT point at min margin 1 with multipliers lambda (n); state: where the flow is. repels:
 * weights that are zero at the point but not in the state grow faster than the network itself, so that the
 * point is not where the flow ends. */
RfStatus rf_layered_repels(RfContext *context, bool *repels, RfSided *sided, const double *theta,
                           const double *lambda, const double *state, const double *y, rf_index n,
                           rf_index P);

#endif
