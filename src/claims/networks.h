/* Networks and data that several claims share. */
#ifndef RF_CLAIMS_NETWORKS_H
#define RF_CLAIMS_NETWORKS_H

#include "reluflow/layers.h"

/* Fully connected: widths[0] inputs, then depth layers. */
RfStatus rf_claim_dense(RfContext *context, RfLayeredNet *net, const rf_index *widths, rf_index depth,
                        double leak);
/* x -> w_1 x -> ... -> <w_depth, .>, coordinate by coordinate. */
RfStatus rf_claim_diagonal(RfContext *context, RfLayeredNet *net, rf_index d, rf_index depth, double leak);
/* Two disjoint patches of two coordinates, one shared filter w, then v (VSS Theorem 4.4). */
RfStatus rf_claim_two_patches(RfContext *context, RfLayeredNet *net, double leak);
void rf_claim_gaussian_weights(RfRandom *random, RfLayeredNet *net, double spread);

#endif
