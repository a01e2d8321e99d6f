/* Inside exact alignment: the closed forms along one segment, and the state of a neuron. */
#ifndef RELUFLOW_ALIGN_INTERNAL_H
#define RELUFLOW_ALIGN_INTERNAL_H

#include "flow/continuations.h"

/* ---- align_segment.c ----------------------------------------------------------------------- */

/* Motion inside one sector, dw = a g dt, da = g.w dt, with u = g/|g| and s = sign(a), which is constant along
 * a segment: phi = s u.w grows, alpha = |a| = sqrt(K + phi^2), K = a^2 - (u.w)^2 conserved. */
typedef struct RfAlignSegment {
  double G;     /* |g| */
  double phi;   /* at its start */
  double alpha; /* at its start */
  double K;
} RfAlignSegment;

/* |a| where phi has grown to phi1. */
double rf_align_segment_alpha(const RfAlignSegment *segment, double phi1);
/* Time until phi reaches phi1 >= phi; infinite when it never does. */
double rf_align_segment_time(const RfAlignSegment *segment, double phi1);
/* Time until a = 0, for K < 0 and phi < 0 (phi is -sqrt(-K) there). */
double rf_align_segment_turn_time(const RfAlignSegment *segment);
/* State after dt: phi and alpha are returned times exp(-log_factor), with log_factor chosen so that the
 * larger of them, and everything that stays constant, cannot overflow. */
void rf_align_segment_state(const RfAlignSegment *segment, double dt, double *phi1, double *alpha1,
                            double *log_factor);
/* Growth for t -> infinity without further events: phi, alpha ~ exp(log_amplitude + rate t), rate = G, or -G
 * on the stable manifold (K = 0, phi < 0). */
void rf_align_segment_growth(const RfAlignSegment *segment, double *rate, double *log_amplitude);

/* ---- align_state.c: data shared by neurons, and the state of one --------------------------- */

/* What all neurons of one field share. */
typedef struct RfAlignData {
  const RfAlignField *field;
  double *norms; /* n: |x_i| */
  double *slack; /* n: |g.x_i| up to this is rounding */
  double *gram;  /* n x n inner products, or NULL: computed when needed */
  double weight; /* sum |c_i| |x_i|, the largest |g| */
} RfAlignData;

void rf_align_data_free(RfAlignData *data);
/* uses: about how many neurons will be followed; many make the Gram matrix worth its cost. */
/* The field of a problem near zero; `c` of it is the caller's, NULL when there is no memory. */
double *rf_align_field_of(RfAlignField *field, const RfFlowProblem *problem);
RfStatus rf_align_data_new(RfContext *context, RfAlignData *data, const RfAlignField *field, rf_index uses);

/* The samples that can be reached from w0 while w - w0 = s tau g0 + e with tau <= reach and |e| <= drift. */
typedef struct RfAlignWindow {
  rf_index count;
  rf_index *index;             /* count samples, ascending */
  rf_index *place;             /* n: position of a sample in index, -1 outside */
  double *h, *b;               /* count: w.x_i, g.x_i; exactly 0 on hyperplanes */
  double *side, *slack, *zero; /* count: copies of side and slack; zero = tol |x_i| */
  double *w0, *g0, G0;         /* d; where it was opened, and |g0| */
  double reach, drift;
  rf_index events;         /* crossings since it was opened */
  double next_reach, bend; /* learned: reach (relative to |w|/G) and drift/(reach G) for the next one */
} RfAlignWindow;

/* One neuron on its way; also the memory of one worker, reusable for any number of neurons of the same field.
 */
typedef struct RfAlignPath {
  const RfAlignData *data;
  double *w, a, balance; /* d; a; a^2-|w|^2 */
  double log_norm, t;
  int sign;           /* of a, or of its growth where a = 0 */
  double *side;       /* n: -1, 0, +1 */
  rf_index n_active;  /* samples with side > 0 */
  rf_index *on, n_on; /* hyperplanes the neuron slides on, in the order of the frame */
  double *base;       /* d: sum of c_i s_i x_i over the samples off `on` */
  double *g, G;       /* d */
  double *unit;       /* d: g/G */
  RfAlignWindow window;
  double *full_h, *full_b; /* n: scratch */
  double *frame;           /* d x d: orthonormal basis of the rows slid on */
  double *corner;          /* d x d: the rows slid on in that basis, lower triangular */
  double *trial;           /* 2 d: scratch */
  rf_index rank;           /* its size */
  rf_index *hits, n_hits;  /* samples reached together, ascending */
  rf_index room_crossings, room_crossed, n_crossed;
  RfContinuations options;
} RfAlignPath;

void rf_align_path_free(RfAlignPath *path);
RfStatus rf_align_path_new(RfContext *context, RfAlignPath **path, const RfAlignData *data);

double rf_align_slope(const RfAlignPath *path, rf_index i);
void rf_align_set_side(RfAlignPath *path, rf_index i, double side);
/* Leak 0 and no sample is seen, nor are two of those it lies on mirrored, one of which is seen from either
 * side of their hyperplane: there is nowhere to turn. */
bool rf_align_blind(const RfAlignPath *path);
void rf_align_set_field(RfAlignPath *path, const double *g);
/* base afresh: samples on hyperplanes (side 0) have no fixed slope and do not count, except at leak 1. */
void rf_align_fresh_base(RfAlignPath *path);
/* Brings the joint norm back to about 1 by a power of two. */
void rf_align_rescale(RfAlignPath *path);

/* ---- align_window.c: the next hyperplane --------------------------------------------------- */

/* Opens a window here and returns the length tau of the way to the first hyperplane, -1 for none. */
double rf_align_window_open(RfContext *context, RfAlignPath *path);
/* The same from the open window; opens a new one when this one ends first. */
double rf_align_next_hit(RfContext *context, RfAlignPath *path, rf_index *first);
/* Moves w along the field by tau; collects `first` (unless negative) and all that reach their hyperplanes
 * with it. */
void rf_align_move(RfAlignPath *path, double tau, rf_index first);
/* g changed by jump times row i. */
void rf_align_window_kick(RfAlignPath *path, rf_index i, double jump);
/* g changed altogether, and w may have been put back on its face. */
void rf_align_window_refresh(RfAlignPath *path);

/* ---- align_turn.c: on hyperplanes ---------------------------------------------------------- */

/* Decides where the neuron goes from the hyperplanes in on[0..n_on) (sides 0, not in base). */
RfStatus rf_align_turn(RfContext *context, RfAlignPath *path, RfAlignNeuron *out);
/* Decides for hits[0..n_hits), together with what it slides on. */
RfStatus rf_align_pass_hits(RfContext *context, RfAlignPath *path, RfAlignNeuron *out);

/* ---- align_path.c -------------------------------------------------------------------------- */

/* As rf_flow_align_neuron. */
RfStatus rf_align_path_follow(RfContext *context, RfAlignPath *path, RfAlignNeuron *out,
                              const double *direction, double log_norm, const int8_t *sector, double t_end);

#endif
