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

/* The hard margin through the origin in rational numbers, for small data: v of least length with y_i v.x_i >=
 * 1, and its multipliers v = sum mu_i y_i x_i, as fractions. */
typedef struct RfExactMargin {
  RfBalance v, multipliers; /* d and n: weight[k] is NULL for 0 */
  double length;            /* rounded up */
  double lower, upper;      /* 1/length rounded down, and length / sum of the multipliers rounded up */
} RfExactMargin;

void rf_exact_margin_free(RfExactMargin *margin);
/* RF_OK, RF_NOT_SEPARABLE, RF_UNDECIDED where it is not tried, RF_INTERRUPTED or a failure. */
RfStatus rf_margin_exact(RfContext *context, RfExactMargin *margin, const double *X, const double *y,
                         rf_index n, rf_index d);

#endif
