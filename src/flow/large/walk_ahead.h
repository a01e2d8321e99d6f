/* Weights of the samples over a step of the fit that is long against how fast they push back
 * (walk_ahead.c). */
#ifndef RF_FLOW_LARGE_WALK_AHEAD_H
#define RF_FLOW_LARGE_WALK_AHEAD_H

#include "flow/large/walk.h"

typedef struct RfWalkAhead {
  rf_index n, d;
  rf_index vectors; /* of the basis */
  double *basis;    /* vectors x d, orthonormal: where the samples that push are long */
  rf_index units;   /* those that matter to the margins */
  rf_index *unit;   /* who they are; may be NULL where there is none */
  rf_index columns; /* units x (vectors + 1) */
  double *image;    /* columns x n: x.v, v of the basis on the hyperplanes held, and x.w/|w| */
  double *column;   /* columns x n: y slope |w| image */
  double *weighed;  /* columns x n */
  double *core;     /* columns x columns */
  double *alpha, *right;
  double *v, *push, *move, *rate; /* n each */
  double stiffness;               /* trace of how margins answer to margins, in the clock */
} RfWalkAhead;

/* What a step knows of the one before. */
typedef struct RfWalkPast {
  const double *q, *q_old; /* margins now and a step ago, which was h_old long */
  double h_old;
  const double *push; /* weights of that step, |c| over S at its start: a run that falls by the same in every
                         step goes on as they did */
  double fall;        /* S has fallen to this part since, */
  double age;         /* and they are those of so long ago, in the clock of now */
  double log_S;
  const double *y; /* labels of the rows */
  RfLoss loss;
} RfWalkPast;

void rf_walk_ahead_free(RfWalkAhead *ahead);
/* For walkers at the state of the system and steps of about h. bend (n): -d|c|/dq. The basis of before is
 * taken over where it has one. */
RfStatus rf_walk_ahead_new(RfContext *context, RfWalkAhead *ahead, const RfWalk *walk, const RfSystem *system,
                           const double *bend, double h, const RfWalkAhead *before);
/* |c| over e^log_S for a step of length h. false: as they are continued, for a step that is short. */
bool rf_walk_ahead_weights(RfContext *context, RfWalkAhead *ahead, const RfWalk *walk, const RfWalkPast *past,
                           double h, double *c);
/* |loss'| over e^log_S; that of a sample nobody sees is large. */
double rf_walk_push(RfLoss loss, double q, double log_S);

#endif
