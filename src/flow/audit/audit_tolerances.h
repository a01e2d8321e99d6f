/* What an audited run may leave, each relative as said in reluflow/flow.h. */
#ifndef RF_FLOW_AUDIT_TOLERANCES_H
#define RF_FLOW_AUDIT_TOLERANCES_H

/* Slopes of slides may be 3e-6 beyond their range at the ends of implicit steps, on each of a unit's
 * hyperplanes; a slide that is none shows whole. */
#define RF_AUDIT_VELOCITY 2e-5
/* The dense output is of order 7 inside a step whose ends are right to 1e-11. */
#define RF_AUDIT_ENERGY 1e-6
/* Steps keep a^2 - |w|^2 to their own tolerance; ten thousand of them add up. */
#define RF_AUDIT_BALANCE 1e-6
/* Events are located to 1e-11 of a step; a missed crossing grows at once. */
#define RF_AUDIT_SIDES 1e-7
/* A field that pushes a unit back where it came from; at a release it vanishes to first order, and
 * the slope that ends a slide is located as above. */
#define RF_AUDIT_EVENTS 2e-5
/* A unit this near to a hyperplane, relative to |w||x|, is on it. */
#define RF_AUDIT_ON 1e-8
/* A sample with a smaller part of sum |c_i||x_i| pushes nobody, and has no side. */
#define RF_AUDIT_WEIGHTLESS 1e-14
/* w of a unit of norm one, after a step: some hundred units in the last place. */
#define RF_AUDIT_INPUT 1e-13
/* Of the terms of a margin: some tens of units in the last place. */
#define RF_AUDIT_ROUNDING 1e-14
/* The same for what a run says of margins beside its weights: roundings of ten thousand steps add up. */
#define RF_AUDIT_RESIDUE 1e-11
/* Energy: a fall of ln L below this over a step says nothing, its rounding is 1e-16 over it. */
#define RF_AUDIT_FALL 1e-3

#endif
