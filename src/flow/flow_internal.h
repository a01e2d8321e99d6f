/* Inside the flow room: what its files share. */
#ifndef RELUFLOW_FLOW_INTERNAL_H
#define RELUFLOW_FLOW_INTERNAL_H

#include "reluflow/flow.h"
#include "reluflow/la.h"

/* ---- sides.c: which way a neuron leaves a point on hyperplanes
 * --------------------------------------------- */

/* The consistent continuations of a neuron that lies on the hyperplanes of n_on samples. */
typedef struct RfSides {
  int count;     /* how many were found; >1 is a branching point, 0 does not happen for finite input */
  int8_t *sign;  /* n_on: the side it goes to in the first continuation, 0 = it slides */
  double *slope; /* n_on: s_i of the first continuation */
  double *g;     /* d: its field; the neuron moves with dw = a g */
  int8_t *other; /* n_on: the second continuation, meaningful for count > 1 */
} RfSides;

/* Finds them. base (d) = sum over the other samples of c_i s_i x_i; on lists the samples of the hyperplanes;
 * sign_a = +1 or -1. Samples with c_i = 0 have no kink and go where the field takes them. All arrays of
 * `sides` are the caller's. Prefers, among several continuations, the one with the faster field. */
RfStatus rf_flow_sides(RfContext *context, RfSides *sides, const RfAlignField *field, const double *base,
                       const rf_index *on, rf_index n_on, int sign_a);

#endif
