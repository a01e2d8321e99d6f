/* margin's door to the other rooms. */
#ifndef RF_MARGIN_MARGIN_H
#define RF_MARGIN_MARGIN_H

#include "core/core.h"
#include "reluflow/margin.h"

/* The same for z_i = factor_i x_i with any finite factors: the one-sided leaky copies are factors y_i and
 * leak y_i. `multipliers` then satisfy w/margin = sum_i multipliers_i factor_i x_i, `farkas` likewise. */
RfStatus rf_margin_weighted(RfContext *context, RfLinearMargin *margin, const double *X, const double *factor,
                            rf_index n, rf_index d);

#endif
