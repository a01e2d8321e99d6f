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
  double *coef;           /* n_on: c s of the slides */
  double *small, *slopes; /* scratch of slides */
  rf_index room_small;
  double t;
  RfWalkEvent *events;
  rf_index n_events, room_events;
  rf_index n_slides;
} RfWalker;

/* Samples on one line share their hyperplane (align/parallel.c): one of them, with the weight of all, stands
 * for the line, and the others are for a walker as if they were zero. */
typedef struct RfWalkLines {
  rf_index *line;   /* n: the sample that stands for its line; NULL: no two lie on one */
  rf_index *next;   /* n: another sample of the line, the one standing for it being the first; -1: none */
  double *ratio;    /* n: its length by that of line[i], negative where it points the other way */
  double *c, *size; /* n: merged weights and sum |c|, 0 for those that do not stand for a line */
  double *constant; /* d: what mirrored samples push on either side */
  uint8_t *both;    /* n: the line has mirrored samples, one of which is seen from either side */
  bool mirrored;    /* any line has: no neuron is ever dead */
} RfWalkLines;

RfStatus rf_walk_lines_new(RfContext *context, RfWalkLines *lines, const RfAlignField *field);
void rf_walk_lines_free(RfWalkLines *lines);

typedef struct RfWalk {
  RfContext *context;
  const RfWalkLines *lines; /* NULL: no two samples lie on one */
  const double *X, *c;
  const RfGram *gram;
  rf_index n, d, m;
  double leak, weight; /* sum |c| |x| over the samples seen */
  uint8_t *seen;       /* n: on the active side of some neuron; the others push nobody */
  double *slack, *norm;
  float *nothing; /* n zeros */
  RfWalker *walker;
  double *weighed, *planes, *rows; /* m x n; m x n; m x d */
  rf_index *leader;      /* m: first neuron with the pattern of this one, -1 for those that do not run */
  uint64_t *hash;        /* m: of the patterns */
  bool logging, telling; /* events are kept; progress is told: it is a long walk */
} RfWalk;

/* Its field is more than rounding. */
static inline bool rf_walk_moves(const RfWalk *walk, const RfWalker *w) {
  return w->G > 10 * walk->context->tol.solver * walk->weight;
}

RfStatus rf_walk_new(RfContext *context, RfWalk *walk, const double *X, const RfGram *gram, rf_index n,
                     rf_index d, rf_index m, double leak);
void rf_walk_free(RfWalk *walk);
/* Of which the samples of `lines` are those; before neurons are put. */
void rf_walk_take_lines(RfWalk *walk, const RfWalkLines *lines);
/* Neuron k at direction (d entries of w) and sides (n, or NULL: by the signs of w.x). */
RfStatus rf_walk_put(RfWalk *walk, rf_index k, const double *w, double log_norm, int sign,
                     const int8_t *sides);
/* Sample i joins those that w slides on, with the force coef. */
RfStatus rf_walk_hold(RfWalk *walk, RfWalker *w, rf_index i, double coef);
/* Fields of all neurons under the weights c afresh, and w.x, when it is asked for. */
RfStatus rf_walk_refresh(RfWalk *walk, const double *c, bool planes);
/* On to the time t_end (infinite: to their ends). */
RfStatus rf_walk_to(RfWalk *walk, double t_end);
/* Whether a problem is one for walkers: thousands of samples, every neuron balanced. */
bool rf_walk_fits(const RfFlowProblem *problem);
/* All neurons at one moment of their alignment, from where they may be followed again. */
typedef struct RfWalkHalfway {
  rf_index m, n, d;
  double t;          /* in the clock of the field they were followed in */
  double *w;         /* m x d */
  double *log_norms; /* m */
  int8_t *sides;     /* m x n */
  uint8_t *dead;     /* m */
} RfWalkHalfway;

void rf_walk_halfway_free(RfWalkHalfway *halfway);
/* m neurons at once, each as rf_align_path_follow does it. Interrupted ones are left running. halfway (not
 * NULL) receives them at a moment shortly before the largest has the log-norm log_size. */
RfStatus rf_walk_align(RfContext *context, RfAlignNeuron *out, const RfAlignField *field, const RfGram *gram,
                       const double *directions, const double *log_norms, rf_index m, double t_end,
                       RfWalkHalfway *halfway, double log_size);
/* The same from halfway on, in the field of weights c = scale times those then, t_end and the times of
 * crossings in its clock; log_scale is added to the log-norms. Crossings before are not told again. */
RfStatus rf_walk_align_on(RfContext *context, RfAlignNeuron *out, const RfAlignField *field,
                          const RfGram *gram, const RfWalkHalfway *halfway, const double *directions,
                          double scale, double log_scale, double t_end);

#endif
