/* Which way a neuron goes on that stands on hyperplanes: one answer for alignment and fit (continuations.c).
 */
#ifndef RF_FLOW_CONTINUATIONS_H
#define RF_FLOW_CONTINUATIONS_H

#include "flow/flow.h"

/* All consistent continuations of a neuron that lies on the hyperplanes of the samples on[0..n_on). */
typedef struct RfContinuations {
  rf_index count, room; /* found; allocated */
  rf_index n_on, d;
  int8_t *side;  /* count rows of n_on: the side each hyperplane is left to, 0 = the neuron stays on it */
  double *slope; /* count rows of n_on: s_i, in [leak,1] */
  double *g;     /* count rows of d: the field, the neuron moves with dw = a g dt */
  bool complete; /* every continuation was found */
} RfContinuations;

void rf_continuations_free(RfContinuations *found);

/* base (d): sum of c_i s_i x_i over the samples not in `on`. sign_a is +1 or -1. On RF_OK count >= 1; the
 * order is fixed: plus sides first. Samples on one line share their hyperplane.
 *
 * What is rounding differs: slack (n) given, under weights of one size (alignment), |g.x_i| up to slack[i]
 * is, and what moves no faster stays on its hyperplane. NULL, under weights that may be hundreds of orders of
 * magnitude apart (fit): a push is rounding relative to the terms it is summed from; the neuron stays where
 * its slope is inside (leak,1), and leaves where it is at an end. */
RfStatus rf_continuations(RfContext *context, RfContinuations *found, const RfAlignField *field,
                          const double *base, const double *slack, const rf_index *on, rf_index n_on,
                          int sign_a);
/* The same when no two of the samples are parallel. */
RfStatus rf_continuations_distinct(RfContext *context, RfContinuations *found, const RfAlignField *field,
                                   const double *base, const double *slack, const rf_index *on, rf_index n_on,
                                   int sign_a);

#endif
