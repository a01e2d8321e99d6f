/* margin's door to the other rooms. */
#ifndef RF_MARGIN_MARGIN_H
#define RF_MARGIN_MARGIN_H

#include "core/core.h"
#include "reluflow/margin.h"

/* The same for z_i = factor_i x_i with any finite factors: the one-sided leaky copies are factors y_i and
 * leak y_i. `multipliers` then satisfy w/margin = sum_i multipliers_i factor_i x_i, `farkas` likewise. */
RfStatus rf_margin_weighted(RfContext *context, RfLinearMargin *margin, const double *X, const double *factor,
                            rf_index n, rf_index d);

/* Weights that balance exactly: a proof, where `farkas` is one up to rounding. */
typedef struct RfBalance {
  rf_index n;
  char **weight; /* n: decimal integers > 0, NULL = 0, without a common factor; sum_i weight_i factor_i x_i =
                    0 */
  double *value; /* n: the same divided by their sum, rounded */
} RfBalance;

void rf_balance_free(RfBalance *balance);
/* Integers >= 0, not all 0, that balance the rows factor_i x_i (factors -1 or +1; NULL = 1), on the support
 * of `guess` (n, >= 0, for example farkas). RF_OK, RF_UNDECIDED when there are none near the guess or more
 * than 160 rows would be needed, RF_INTERRUPTED, or a failure; only RF_OK leaves something to free. */
RfStatus rf_margin_balance(RfContext *context, RfBalance *balance, const double *X, const double *factor,
                           rf_index n, rf_index d, const double *guess);

/* value * numerator / denominator as text p or p/q in lowest terms, for a decimal integer and doubles > 0. */
RfStatus rf_balance_times(RfContext *context, char **text, const char *value, double numerator,
                          double denominator);

#endif
