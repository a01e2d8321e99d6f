/* flow's door to the other rooms: alignment at chosen times, layered flows piece by piece. */
#ifndef RF_FLOW_FLOW_H
#define RF_FLOW_FLOW_H

#include "layers/layers.h"
#include "reluflow/flow.h"

/* What a run may choose, and the limit should not depend on: settings->variant. The second run differs in all
 * of it; NULL is rf_flow_usual. */
typedef struct RfFlowVariant {
  double tolerance;        /* relative to that of the context */
  double q_frozen, q_slow; /* smallest margin at which the scale is frozen: at first, and where it is slow */
  double together;         /* difference of directions below which neurons merge, relative to the problem's */
  bool by_steps;           /* events by steps that end there, not by dense output */
  double stride;           /* tolerance of long steps, relative to their own */
} RfFlowVariant;
extern const RfFlowVariant rf_flow_usual;

RfStatus rf_flow_start_new(RfContext *context, RfFlowStart *start, rf_index m, rf_index d);
/* Unit directions (w,a) of chosen neurons at chosen times on those paths: count x n_times rows of d+1. */
RfStatus rf_flow_align_sample(RfContext *context, double *directions, const RfFlowProblem *problem,
                              const rf_index *neurons, rf_index count, const double *times, rf_index n_times);
/* Fills the proof of every neuron of an alignment (align/prove.c), and whether it agrees. */
RfStatus rf_align_prove(RfContext *context, RfAlignment *alignment, const RfFlowProblem *problem);
/* Gradient flow of a layered network with one output, advanced piece by piece: in time t, in the late clock
 * dtau = S dt until the smoothed margin reaches a value, or with the scale frozen. An embedded Runge-Kutta
 * method of order 5(4) with every hidden unit on its side; steps end where a unit reaches its kink, which it
 * crosses or slides on. Networks too large for that are carried across kinks by error control alone, with
 * phi'(0) = leak; sliding exhausts their step limit and ends as RF_UNDECIDED. */
typedef struct RfLayeredFlow RfLayeredFlow;
struct RfLayeredFlow {
  RfLayeredNet net; /* current weights; the direction only, at norm 1, once the scale is frozen */
  rf_index n;
  RfLoss loss;
  double log_t; /* ln t, -infinity at t = 0 (to about 1e-6 in the late clock); NaN once the scale is frozen */
  double log_loss; /* ln of the summed loss */
  double smargin;  /* loss^{-1}(L): smoothed margin */
  double min_q;    /* smallest y_i f(x_i) */
  rf_index unseen; /* samples that nobody sees: all ways through the network are shut, and their outputs 0 */
  double seen_loss, seen_smargin, seen_q; /* as above, of the others */
  double norm;                            /* |theta| (of the state, also when frozen) */
  double kappa;                           /* growth of ln |theta| since the scale was frozen; 0 before */
  bool woken; /* a sample that nobody saw has come into sight with the scale frozen */
  double
      drift; /* largest change of |u^(l)|^2 - |u^(l+1)|^2 over neighbouring layers, relative to |theta|^2 */
  rf_index steps, rejected;
  rf_index
      max_steps; /* per call                                                                      2000000 */
  double tolerance;                                       /* relative, per step context->tol.ode */
  void (*on_step)(void *user, const RfLayeredFlow *flow); /* after each accepted step, when set */
  void *user;
  bool again;        /* a second run, for its progress to say so */
  const char *stuck; /* why RF_UNDECIDED was returned; NULL: the step limit */
  struct RfLayeredFlowWork *work;
};

/* X and y are borrowed and must outlive the flow; net is copied. */
RfStatus rf_layered_flow_new(RfContext *context, RfLayeredFlow *flow, const RfLayeredNet *net,
                             const double *X, const double *y, rf_index n, RfLoss loss);
void rf_layered_flow_free(RfLayeredFlow *flow);
/* Each returns RF_OK when the mark is reached, RF_UNDECIDED at the step limit, RF_INTERRUPTED, or a failure.
 * to_time: t (summed loss). to_loss: L <= loss. to_smargin: smoothed margin >= value
 * (RF_NOT_SEPARABLE when the loss has stopped falling before, or samples are left that nobody sees while that
 * of the others is there, and large enough to freeze the scale). */
RfStatus rf_layered_flow_to_time(RfContext *context, RfLayeredFlow *flow, double t);
RfStatus rf_layered_flow_to_smargin(RfContext *context, RfLayeredFlow *flow, double smargin);
/* Freezes the scale where it stands (call it after to_smargin; the sharper the margin, the closer) and lets
 * ln |theta| grow by kappa more: dphi/dkappa = v/mu - phi with v = sum_i p_i y_i df_i, p the softmax weights
 * at the frozen scale. Reads limits to about ln(n)/smargin. Samples that nobody sees are no part of that; it
 * ends where one of them comes into sight, and the flow goes on with to_smargin. Needs a homogeneous network.
 */
RfStatus rf_layered_flow_far(RfContext *context, RfLayeredFlow *flow, double kappa);
/* Freezes it where margins are `factor` times as large. */
void rf_layered_flow_raise(RfLayeredFlow *flow, double factor);

#endif
