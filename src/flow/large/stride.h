/* Long implicit steps of large networks with their kinks inside (stride.c, stride_solve.c). */
#ifndef RF_FLOW_LARGE_STRIDE_H
#define RF_FLOW_LARGE_STRIDE_H

#include "flow/flow_internal.h"

/* A unit of the step: its direction before and after, and ln of how much |a||w| grew. */
typedef struct RfStrideUnit {
  rf_index unit; /* of the system */
  int sign;
  double amplitude; /* |a||w| before the step */
  double growth;    /* ln of its factor over the step */
  double length;    /* of P(direction + Delta u), which the new direction has */
  double delta;     /* Delta: the step, or two thirds of it where the last step counts (BDF2) */
  double turn;      /* Delta over that length */
  double gained;    /* growth that the last step brings along, and the frozen scale takes */
  double gain;      /* ln of the growth over the last step, without that of the frozen scale */
  int known;        /* steps back that directions are known and no kink has changed */
  double along;     /* u . direction after */
  rf_index n_on, room;
  rf_index *on;   /* samples whose hyperplanes it is on at the end */
  double *frame;  /* n_on rows of d: orthonormal basis of them */
  double *corner; /* room x room, lower: the samples in it */
} RfStrideUnit;

/* A sample of the working set by what it adds to the matrix. */
typedef struct RfStrideRow {
  double weight;
  rf_index row;
} RfStrideRow;

struct RfStride {
  RfContext *context;
  rf_index units, n, d;
  RfStrideUnit *unit;
  int8_t *side;         /* units x n: sides off the hyperplanes, 0 on them */
  float *stay;          /* units x n: part of the step on that side; less than 1 where a ridge is crossed */
  double *before;       /* units x d: directions at the start, of length 1, */
  double *base;         /* and carried on as the last step tells */
  double *after;        /* units x d */
  double *earlier;      /* units x d: a step earlier, and */
  double *earliest;     /* two steps */
  double *raw, *pushed; /* units x d: u, and u on the hyperplanes held */
  double *change;       /* units x d */
  double h_earlier;     /* lengths of the last step and of the one before; 0: not known */
  double h_earliest;
  double *q_earlier; /* n */
  /* the working set: samples that carry weight */
  rf_index rows, room;
  rf_index *row;    /* rows samples, ascending */
  rf_index *place;  /* n: its row, -1 for none */
  double *X, *gram; /* rows x d; rows x rows */
  bool gram_known;
  double *mask;          /* units x rows: y s slope, 0 on hyperplanes */
  double *image, *speed; /* units x rows: X direction; X u */
  /* Margins are level + q: weights depend on q alone where margins are large, and a step answers to the
   * weights by its length times the network's size, so that the last digit of a margin of 1e6 would count. */
  double level;
  double *q, *p, *bend; /* rows: margins less level, weights, p times curvature */
  double *off, *step, *weigh;
  double *core, *left, *right;
  double *picked; /* samples of the matrix */
  rf_index core_room, wide_room, picked_room, gram_room;
  RfStrideRow *order; /* n: by weight, heaviest first */
  rf_index factored;  /* order of the matrix in core, 0: none */
  double factored_h;  /* step it belongs to */
  int32_t *pivot;
  double *full, *q_full; /* units x n; n */
  double h, mu;
  rf_index newton; /* iterations so far */
};

typedef struct RfStride RfStride;

RfStatus rf_stride_new(RfContext *context, RfStride **stride, const RfSystem *system);
void rf_stride_free(RfStride *stride);
/* Whether a run can be taken further by these steps: every unit balanced, nothing to be watched or to stop
 * at inside a step. */
bool rf_stride_fits(const RfRun *run);
/* One step of at most run->h from system.y. RF_UNDECIDED: none was found, nothing has changed. */
RfStatus rf_stride_step(RfRun *run);

/* stride_solve.c: directions and growth at the end of a step of length delta with the kinks that side and
 * on describe; roughly: as well as it takes to see which kinks are wrong. solved = false: Newton's method did
 * not get there. */
RfStatus rf_stride_solve(RfStride *stride, const RfSystem *system, bool roughly, bool *solved);
/* The working set becomes the samples marked in wanted (n); margins q_full are the first guess, but those
 * marked as new begin with little weight. */
enum { RF_STRIDE_NEW = 2 };
RfStatus rf_stride_rows(RfStride *stride, const RfSystem *system, const uint8_t *wanted);
/* Puts sample i among those that unit u is held on; false: it depends on the others. */
bool rf_stride_hold(RfStride *stride, const RfSystem *system, rf_index u, rf_index i, RfStatus *status);
/* Frame of unit u afresh from its list. */
void rf_stride_frame(RfStride *stride, const RfSystem *system, rf_index u);
/* v (d) less its part in the frame of u. */
void rf_stride_project(const RfStride *stride, rf_index u, double *v);

#endif
