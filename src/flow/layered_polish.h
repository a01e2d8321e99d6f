/* The KKT point of a layered network beside a state of its flow. */
#ifndef RF_FLOW_LAYERED_POLISH_H
#define RF_FLOW_LAYERED_POLISH_H

#include "reluflow/layers.h"

/* Parameters up to which the dense Newton system is worth forming. */
enum { RF_LAYERED_POLISH_MOST = 1500 };

/* net: the state, any size, positive margins; on RF_OK with *ok its weights are those of the KKT point at min
 * margin 1. *distance: between the two directions. *ok = false (weights as they were) when Newton's method
 * finds no KKT point close by. p: weights of the samples at the state, sum 1: the guess of the multipliers.
 */
RfStatus rf_layered_polish(RfContext *context, RfLayeredNet *net, bool *ok, double *distance, const double *p,
                           const double *X, const double *y, rf_index n);

#endif
