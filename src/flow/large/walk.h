/* Many balanced neurons under given sample weights, exactly, on thousands of samples (walk.c). */
#ifndef RF_FLOW_LARGE_WALK_H
#define RF_FLOW_LARGE_WALK_H

#include "flow/flow_internal.h"
#include "flow/large/gram.h"

typedef enum RfWalkState { RF_WALK_RUNS = 0, RF_WALK_ARRIVED, RF_WALK_ENDS, RF_WALK_DEAD } RfWalkState;

/* A hyperplane met. */
typedef struct RfWalkEvent {
  double t;
  rf_index sample;
  RfEventKind kind;
  rf_index sliding; /* hyperplanes slid on just before */
} RfWalkEvent;

typedef struct RfWalker {
  RfWalkState state;
  int sign;
  double *w, log_norm; /* d: the first layer, e^log_norm times this */
  double *base, *g, G; /* d: sum of c s x off the hyperplanes it slides on; with them; |g| */
  double *h, *b;       /* n: w.x and g.x, to single precision between two refreshes */
  double *side;        /* n: -1, 0 on a hyperplane, +1 */
  rf_index active;     /* samples with side > 0 */
  rf_index n_on, room_on;
  rf_index *on;
  double *coef; /* n_on: c s of the slides */
  double t;
  RfWalkEvent *events;
  rf_index n_events, room_events;
  rf_index n_slides;
} RfWalker;

typedef struct RfWalk {
  RfContext *context;
  const double *X, *c;
  const RfGram *gram;
  rf_index n, d, m;
  double leak, weight; /* sum |c| |x| */
  double *slack, *norm;
  float *nothing; /* n zeros */
  RfWalker *walker;
  double *weighed, *planes, *rows; /* m x n; m x n; m x d */
  double *small, *slopes;          /* scratch of slides */
  rf_index room_small;
  rf_index *leader;      /* m: first neuron with the pattern of this one, -1 for those that do not run */
  uint64_t *hash;        /* m: of the patterns */
  bool logging, telling; /* events are kept; progress is told */
} RfWalk;

RfStatus rf_walk_new(RfContext *context, RfWalk *walk, const double *X, const RfGram *gram, rf_index n,
                     rf_index d, rf_index m, double leak);
void rf_walk_free(RfWalk *walk);
/* Neuron k at direction (d entries of w) and sides (n, or NULL: by the signs of w.x). */
RfStatus rf_walk_put(RfWalk *walk, rf_index k, const double *w, double log_norm, int sign,
                     const int8_t *sides);
/* Fields of all neurons under the weights c afresh, and w.x, when it is asked for. */
RfStatus rf_walk_refresh(RfWalk *walk, const double *c, bool planes);
/* On to the time t_end (infinite: to their ends). */
RfStatus rf_walk_to(RfWalk *walk, double t_end);
/* Whether a problem is one for walkers: thousands of samples, every neuron balanced. */
bool rf_walk_fits(const RfFlowProblem *problem);
/* m neurons at once, each as rf_align_path_follow does it. Interrupted ones are left running. */
RfStatus rf_walk_align(RfContext *context, RfAlignNeuron *out, const RfAlignField *field, const RfGram *gram,
                       const double *directions, const double *log_norms, rf_index m, double t_end);

#endif
