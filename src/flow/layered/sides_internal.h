/* What the files about sides share. */
#ifndef RF_FLOW_LAYERED_SIDES_INTERNAL_H
#define RF_FLOW_LAYERED_SIDES_INTERNAL_H

#include <float.h>

#include "flow/layered/layered_tolerances.h"
#include "flow/layered/sides.h"

struct RfSided {
  RfContext *context;
  const RfLayeredNet *net;
  const double *X, *y;
  rf_index n, hidden, P, width; /* width: largest layer */
  RfLoss loss;
  rf_index *first;       /* per layer: where its hidden inputs begin; the last layer has none */
  int32_t **index;       /* per layer: outputs x inputs, index into theta or -1 */
  double **matrix;       /* per layer: outputs x inputs at the last theta */
  double **inputs;       /* per layer: n x its inputs at the last rf_sided_outputs; the first is X */
  double *rows, *deltas; /* n x width each: scratch of passes over all samples */
  double *square;        /* n: the same */
  double *gradient;      /* of one layer: the same */
  rf_index *felt;        /* n: the same */
  int8_t *side;          /* n x hidden: 1, -1, 0 = held */
  double *slope;         /* n x hidden */
  double *z;             /* n x hidden: inputs at the last theta */
  double *scale;         /* hidden: largest |z| of the unit at the last theta, what counts as zero */
  double norm;           /* |theta| there */
  rf_index held, room;   /* units held */
  rf_index *held_at;     /* held: i*hidden + h */
  double *held_slope;    /* held */
  double *start_slope;   /* held: where they are looked for from; those of the last mark 0 */
  double *slack;         /* held: outside [leak,1] by more is not rounding, at the last rf_sided_velocity */
  double *firm;          /* held: how fast its slope turns it back to its kink, there; negative: away */
  rf_index followers;    /* units that are on their kinks wherever a held one is: groups.c */
  rf_index *follower;    /* followers: i*hidden + h */
  rf_index *leader;      /* n x hidden: whom it follows, itself mostly */
  int8_t *turned;        /* n x hidden: 1, or -1 where it is above when its leader is below */
  rf_index *touched;     /* n: scratch, samples of one held unit and those that follow it */
  bool late;             /* units are decided about however far beyond their kinks they are */
  bool lost_marked;      /* the same at mark 1 */
  bool lost;             /* no slopes hold these units, at the last rf_sided_velocity */
  double push;           /* sum of the sizes of what the samples push with, there */
  double *p, *own;       /* n ; n */
  int8_t *seen;          /* n: some way through the network is open on it; the others are walls */
  double *top;           /* n x hidden: largest slope of a held unit; 1 but for walls, where p is at most 1 */
  int8_t *open;          /* 3 x width: scratch */
  double *delta, *below; /* width each */
  double *activation;    /* (layers+1) x width: of one sample */
  double *v, *plane;     /* P each */
  double *lower, *mean;  /* P ; hidden: scratch */
  double *lower_inputs;  /* width: scratch */
  int8_t *busy;          /* n: a unit is held on this sample */
  double *marked_z[2];   /* n x hidden: at the two ends between which an event lies */
  double *marked_slope[2]; /* held: the same */
  double *marked_firm[2];  /* held: the same */
};

static inline double rf_sided_slope_of(const RfSided *sided, int8_t side) {
  return side > 0 ? 1 : sided->net->leak;
}

/* What counts as beyond the kink for unit `at`. */
static inline double rf_sided_beyond(const RfSided *sided, rf_index at) {
  return RF_LAYERED_BEYOND * sided->scale[at % sided->hidden];
}

/* A linear network has no kinks. */
static inline bool rf_sided_off_side(const RfSided *sided, rf_index at) {
  return sided->net->leak != 1 && sided->side[at] * sided->z[at] < -rf_sided_beyond(sided, at);
}

/* Largest slope of held unit k, in the unit of the heaviest sample of its group. */
double rf_sided_top(const RfSided *sided, rf_index k);

static inline bool rf_sided_slope_out(const RfSided *sided, rf_index k) {
  return sided->held_slope[k] > rf_sided_top(sided, k) + sided->slack[k] ||
         sided->held_slope[k] < sided->net->leak - sided->slack[k];
}

/* Rounding of a speed <dz, v>, over |dz| times all pushes: n pushes are added, and P products, of numbers
 * that went up and down through the layers. */
static inline double rf_sided_rounding(const RfSided *sided) {
  return RF_LAYERED_ROUNDINGS * DBL_EPSILON *
         (double)(sided->n + sided->P + 2 * sided->net->n_layers * sided->width);
}

/* A held unit that its slope turns away from its kink, by more than rounding: a ridge, which nothing holds.
 */
static inline double rf_sided_ridge(const RfSided *sided, double firm) {
  double rounding = rf_sided_rounding(sided) * sided->push;
  return !sided->late && firm < -rounding ? -firm / rounding : 0;
}

/* p of the samples, relative to S of those that are seen; ln S. A wall does not count in S: nothing of it
 * moves while it is one. */
double rf_sided_weigh(RfSided *sided, const double *q);
/* f(x_i) at the matrices and slopes as they are; hidden inputs into z, activations into sided->activation
 * (row l = input of layer l). */
double rf_sided_forward(RfSided *sided, rf_index i);
/* v of the samples on which nothing is held; adds to sided->push. */
void rf_sided_free_velocity(RfSided *sided, double *v);
/* Adds what sample i contributes to v at the slopes as they are; the size of it. */
double rf_sided_add_sample(RfSided *sided, double *v, rf_index i);
/* Adds factor times df_i. */
void rf_sided_add_output(RfSided *sided, double *out, rf_index i, double factor);
/* Row l of deltas (layers x width) = factor times the derivative of f_i by z of layer l; activations of the
 * sample are left in sided->activation. */
void rf_sided_deltas(RfSided *sided, double *deltas, rf_index i, double factor);
/* d/dtheta of the hidden input `at`, at the matrices and slopes as they are. */
void rf_sided_plane_of(RfSided *sided, double *plane, rf_index at);
rf_index rf_sided_layer_of(const RfSided *sided, rf_index at);
/* df_i/d(output of unit at) of its sample, at the matrices and slopes as they are. */
double rf_sided_reach(RfSided *sided, rf_index at);
/* v with slopes of the held units such that they stay on their kinks; sided->lost when there are none. */
void rf_sided_hold(RfSided *sided, double *v);
/* The slope of held unit k, and with it those of the units that follow it. */
void rf_sided_put_slope(RfSided *sided, rf_index k, double slope);
/* The same of all held units, as in held_slope. */
void rf_sided_put_slopes(RfSided *sided);
/* Ways past the kinks of sample i among which units held together choose, each with its weight; one way with
 * the slopes as they are where there are none such. Begin, every cell in turn, end. */
enum { MOST_DOUBLED = 4 };
typedef struct RfSidedCells {
  rf_index held, count, k[MOST_DOUBLED];
  double slope[MOST_DOUBLED], own[MOST_DOUBLED]; /* of the groups ; of their units on this sample */
} RfSidedCells;
void rf_sided_cells(RfSided *sided, RfSidedCells *cells, rf_index i);
double rf_sided_cell(RfSided *sided, const RfSidedCells *cells, rf_index cell);
void rf_sided_cells_end(RfSided *sided, const RfSidedCells *cells);
/* Samples on which held unit k or a unit that follows it is, into sided->touched; how many. */
rf_index rf_sided_touched(RfSided *sided, rf_index k);
/* Of the units listed, at the last theta: leaders first, their number; the others follow one of them. Those
 * from `felt` on may follow, and are left out where they do not. The last `aside` have planes that vanish. */
RfStatus rf_sided_group(RfSided *sided, rf_index *units, rf_index count, rf_index felt, rf_index *leaders,
                        rf_index *aside);
/* The same for those whose planes vanish, once all sides are told: whom they are about to follow. */
void rf_sided_join(RfSided *sided, const rf_index *units, rf_index count);
/* At the last velocity v: planes (held x P) = dz_k, moves (held x P) = dv/ds_k, speeds (held x held) =
 * d<dz_r, v>/ds_k in row r. */
void rf_sided_slope_derivatives(RfSided *sided, double *planes, double *moves, double *speeds,
                                const double *v);

#endif
