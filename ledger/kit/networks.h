/* Networks and data that several claims share. */
#ifndef RF_CLAIMS_NETWORKS_H
#define RF_CLAIMS_NETWORKS_H

#include "kit/claims_internal.h"
#include "flow/flow.h"
#include "layers/layers.h"

/* Fully connected: widths[0] inputs, then depth layers. */
RfStatus rf_claim_dense(RfContext *context, RfLayeredNet *net, const rf_index *widths, rf_index depth,
                        double leak);
/* x -> w_1 x -> ... -> <w_depth, .>, coordinate by coordinate. */
RfStatus rf_claim_diagonal(RfContext *context, RfLayeredNet *net, rf_index d, rf_index depth, double leak);
/* Two disjoint patches of two coordinates, one shared filter w, then v (VSS Theorem 4.4). */
RfStatus rf_claim_two_patches(RfContext *context, RfLayeredNet *net, double leak);
/* DS-SEP: x ~ N(0,I), y = sign <x,v>, |<x,v>| >= 0.3. */
void rf_claim_separable(RfRandom *random, double *X, double *y, rf_index n, rf_index d);
/* The flow of a two-layer network to t = infinity, without a second run. Free the result after RF_OK. */
RfStatus rf_claim_limit(RfClaimRun *run, RfFlowResult *flow, const RfNet *start, const double *X,
                        const double *y, rf_index n, RfLoss loss);
/* The flow of a layered network to t = infinity, without a second run. RF_OK whatever the outcome, unless
 * interrupted; free the limit after it. */
RfStatus rf_claim_layered_limit(RfClaimRun *run, RfLayeredLimit *limit, const RfLayeredNet *start,
                                const double *X, const double *y, rf_index n, RfLoss loss);
void rf_claim_gaussian_weights(RfRandom *random, RfLayeredNet *net, double spread);

#endif
