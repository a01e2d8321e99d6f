/* optimum's door to the other rooms. */
#ifndef RF_OPTIMUM_OPTIMUM_H
#define RF_OPTIMUM_OPTIMUM_H

#include "core/core.h"
#include "optimum/proof_text.h"
#include "reluflow/optimum.h"

/* A network found after the search, K neurons U (rows of d) with signs +-1: taken when its enclosed objective
 * is below that of the result, whose gap and status follow. Neurons of a sign that the settings do not allow
 * make it no candidate. */
RfStatus rf_optimum_offer(RfContext *context, RfOptimum *optimum, const double *U, const double *sign,
                          rf_index K, const double *X, const double *y, const RfOptimumSettings *settings);

/* Multipliers (n numbers >= 0) whose dual norm is proved to be at most `norm`: taken when their bound is
 * above that of the result, whose gap and status follow. */
RfStatus rf_optimum_offer_multipliers(RfContext *context, RfOptimum *optimum, const double *lambda,
                                      double norm);

#endif
