/* Gradient descent of many two-layer networks: what all shapes share. */
#ifndef RF_CUDA_DESCENT_H
#define RF_CUDA_DESCENT_H

#include "lanes.h"

/* Why a network stopped, as RfTrainStop. */
enum { DESCENT_RUNS = -1, DESCENT_STEPS = 0, DESCENT_LOSS = 1, DESCENT_MIN_Q = 2 };
/* What is measured of a network, and recorded along the way. */
enum { MEASURE_STEP, MEASURE_LOG_LOSS, MEASURE_MIN_Q, MEASURE_NORM, MEASURE_WRONG, MEASURE_COUNT };

/* A population on the card: all pointers are to its memory (or to the processor's, emulated). Rows of data
 * and neurons are padded, see descent_body.h; T is float or double. */
typedef struct Descent {
  int n, m, lanes, loss, mean, freeze_second;
  int groups, words; /* of LANES_ABREAST neurons; of bits per sample */
  double leak;
  const void *X, *y;      /* data sets of n rows, n labels */
  const int32_t *data_of; /* per network; NULL = all use the first */
  void *weights;          /* per network m rows (w, a) */
  const double *rate, *raise_rate;
  int64_t *step; /* updates so far, per network */
  int32_t *stop; /* per network */
  const int32_t *active;
  int64_t n_active;         /* networks of this launch */
  int64_t until, max_steps; /* step at which this launch ends; at which the run does */
  double stop_loss, stop_min_q;
  int64_t record_every, record_room; /* 0 = no records */
  double *records;                   /* per network record_room rows */
  int32_t *record_count;
  double *measure; /* not NULL: no updates, measure */
  char *arena;     /* memory of networks that do not fit into a multiprocessor; NULL = they do */
  int x_shared;    /* the networks of a block share one copy of the data */
  size_t x_bytes;
} Descent;

/* Where the parts of one network lie in its memory: rows of weights, f and then c per sample, words of
 * activity, sums across teams; its data, unless shared. Strides of 32 more than a multiple of 128 bytes, so
 * that four small networks of one warp read four different banks. */
typedef struct DescentPlan {
  size_t w, c, bits, slots, x, bytes;
} DescentPlan;

BOTH size_t descent_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/* Wide rows stay in the large memory, where the first cache serves them: multiprocessors then hold more
 * networks. */
BOTH int descent_far(int dim, size_t real) { return (size_t)dim * real >= 128; }

/* MATRIX of descent_shapes.h: such networks take whole warps. */
BOTH int descent_matrix(int dim, size_t real) { return real == sizeof(double) && dim >= 16; }

BOTH void descent_plan(DescentPlan *plan, const Descent *task, size_t real, size_t row_w, int own_data) {
  plan->w = 0;
  plan->c = descent_up((size_t)task->groups * LANES_ABREAST * row_w * real, 16);
  plan->bits = plan->c + descent_up((size_t)task->n * real, 16);
  plan->slots = plan->bits + descent_up((size_t)task->n * (size_t)task->words * 4, 16);
  plan->x = plan->slots + descent_up(sizeof(double) * (LANES_MOST / LANES_TEAM), 16);
  plan->bytes = descent_up(plan->x + (own_data ? descent_up(task->x_bytes, 16) : 0), 128) + 32;
}

#endif
