/* A layered network whose hidden units keep their sides: between events f is smooth in theta, and units may
 * be held on their kink, where the flow slides. */
#ifndef RF_FLOW_LAYERED_SIDES_H
#define RF_FLOW_LAYERED_SIDES_H

#include "layers/layers.h"

typedef struct RfSided RfSided;

/* Work per evaluation up to which this is used: samples times entries of all layer matrices. */
enum { RF_SIDED_MOST = 4000000 };
bool rf_sided_suits(const RfLayeredNet *net, rf_index n);

/* X, y and the shapes of net are borrowed. Sides are those at net->theta. */
RfStatus rf_sided_new(RfContext *context, RfSided **sided, const RfLayeredNet *net, const double *X,
                      const double *y, rf_index n, RfLoss loss);
void rf_sided_free(RfSided *sided);

/* v = sum_i p_i y_i df_i with p_i = -loss'(q_i)/S, S the sum over the samples that are seen, and slopes by
 * side; those of held units such that they stay on their kinks. Leaves q and the hidden inputs at theta.
 * Returns ln S, -infinity where nobody is seen. */
double rf_sided_velocity(RfSided *sided, double *v, double *q, const double *theta);
/* v as above, J (P x P) = dv/dtheta with the slopes of held units moving along, log_S (P) = d ln S/dtheta.
 * *known: false where no derivative of the slopes exists, J is then without them. */
RfStatus rf_sided_jacobian(RfSided *sided, double *J, double *log_S, double *v, const double *theta,
                           bool *known);
/* n: 1 where some way through the network is open, by the sides as they are; 0: a wall, whose output is 0 and
 * which pushes nobody but who is held on its kink. */
const int8_t *rf_sided_seen(RfSided *sided);
/* At theta: how far, of what their layers see, are the units that shut the ways of samples which nobody sees
 * below their kinks, at least? Held ones do not count. */
double rf_sided_unseen_by(RfSided *sided, const double *theta);
/* Weights of the samples at the last rf_sided_velocity; of walls, at most 1: slopes of units held there are
 * in the unit of that. */
const double *rf_sided_weights(const RfSided *sided);
/* Sum of |p_i df_i| at the last rf_sided_velocity. */
double rf_sided_push(const RfSided *sided);
/* At the last rf_sided_velocity: has a unit left its side, or does a held one need a slope outside [leak,1]?
 */
bool rf_sided_violated(const RfSided *sided);
/* Keeps the hidden inputs and slopes of the last rf_sided_velocity as the end before (0) or after (1) an
 * event. */
void rf_sided_mark(RfSided *sided, int end);
/* The share of the way from mark 0 to mark 1 at which, on straight lines, the first unit is just beyond its
 * kink or a slope just outside; *over: how far beyond they are at mark 1, in units of what counts as beyond.
 */
double rf_sided_event(const RfSided *sided, double *over);
/* From now on units may be beyond their kinks by any length when rf_sided_apply decides about them. */
void rf_sided_set_late(RfSided *sided);
/* Between the marks, on straight lines: the share of the step up to which the units that left their sides
 * move theta by at most `speed` times the step off where it would be, had they changed sides in time. 0:
 * unknown.
 */
double rf_sided_late(RfSided *sided, double speed);
/* Decides for every violated unit, at the event: cross, slide or let go. */
RfStatus rf_sided_apply(RfSided *sided, const double *theta);
/* Puts theta back on the kinks that hold it (rounding leads off), after a step of length h in the late clock:
 * margins that answer to their pushes in that time stay as they are, or the next step would begin off rest.
 */
RfStatus rf_sided_project(RfSided *sided, double *theta, double h);

/* At the last theta: are the weights of a layer zero, to what an event is located to, with hidden units above
 * that see nothing? Their sides are then those of any way that leads there. */
bool rf_sided_layer_at_zero(const RfSided *sided);

/* ---- for the polish: sides and slopes as they are ------------------------------------------ */

rf_index rf_sided_held(const RfSided *sided);
double *rf_sided_slopes(RfSided *sided); /* one per held unit */
/* q_i = y_i f(x_i), and the hidden inputs of the held units (may be NULL). */
void rf_sided_outputs(RfSided *sided, double *q, double *held_inputs, const double *theta);
/* sum_i weights_i df_i; only samples with weights_i != 0 are looked at. Needs rf_sided_outputs at theta. */
void rf_sided_gradient(RfSided *sided, double *gradient, const double *weights, const double *theta);
/* d/dtheta of the hidden input of held unit k. */
void rf_sided_plane(RfSided *sided, double *gradient, rf_index k, const double *theta);
/* H (P x P) = sum_i weights_i d2f_i, exact but for rounding. Leaves the hidden inputs at theta. */
RfStatus rf_sided_hessian(RfSided *sided, double *H, const double *weights, const double *theta);
/* The derivative of sum_i weights_i df_i by the slope of held unit k, at the last theta. */
void rf_sided_slope_change(RfSided *sided, double *change, rf_index k, const double *weights);
/* Every held unit has a slope in [leak,1]. */
bool rf_sided_slopes_hold(const RfSided *sided);
/* Every unit that is not held is on its side. */
bool rf_sided_sides_hold(const RfSided *sided);

#endif
