/* What the files of optimum/ share. Everything inside works on the reduced problem: rows of unit length in
 * coordinates of their span, margins required b_i = 1/|x_i| (docs/math.md (G.2)). */
#ifndef RF_OPTIMUM_INTERNAL_H
#define RF_OPTIMUM_INTERNAL_H

#include "la/la.h"
#include "reluflow/optimum.h"

/* ---- the reduced problem ---------------------------------------------------------------------- */

typedef struct RfReduced {
  rf_index n, r; /* samples kept, rank */
  double leak;
  int signs;     /* as in the settings */
  double *X;     /* n rows of r, unit */
  double *y;     /* n, -1 or +1 */
  double *b;     /* n, margin that the unit row needs, largest 1 */
  double scale;  /* objective of the caller = scale * objective here */
  rf_index *row; /* n: index of the sample in the caller's data */
  double *basis; /* r rows of d, orthonormal; NULL = coordinates are the caller's */
  rf_index d;    /* dimension of the caller */
  double *norm;  /* n: |x_i| of the caller */
} RfReduced;

void rf_reduced_free(RfReduced *reduced);
/* RF_INFEASIBLE when a certificate was found before any iteration; farkas (n of the caller) then holds it. */
RfStatus rf_reduced_new(RfContext *context, RfReduced *reduced, double *farkas, const double *X,
                        const double *y, rf_index n, rf_index d, double leak, int signs);

/* The same coordinates with every non-zero row kept and nothing checked: for evaluating given multipliers. */
RfStatus rf_reduced_plain(RfContext *context, RfReduced *reduced, const double *X, const double *y,
                          rf_index n, rf_index d, double leak, int signs);

/* The given rows of a reduced problem, in the same coordinates; part->row are indices into it, part->basis is
 * not set. */
RfStatus rf_reduced_part(RfContext *context, RfReduced *part, const RfReduced *p, const rf_index *rows,
                         rf_index count);

/* +1: one ray, -1: opposite rays, 0: neither, decided exactly. */
int rf_rows_on_line(const double *x, const double *y, rf_index d);

/* A direction of the reduced problem in the caller's coordinates, times factor. */
void rf_reduced_direction(double *out, const RfReduced *reduced, const double *u, double factor);

static inline double rf_phi(double z, double leak) { return z > 0 ? z : leak * z; }

/* ---- nearest point of a box image (box.c) ----------------------------------------------------- */

/* minimise |res|, res = sum_i coef_i V_i, over low <= coef <= high (infinite bounds allowed), rows V_i unit.
 */
typedef struct RfBox {
  rf_index n, r;
  const double *V; /* n rows of r */
  double *coef, *low, *high;
  double *res; /* r, kept equal to the sum */
  double *qr;  /* work of the subspace step */
  double *step;
  rf_index *free_at;
  rf_index capacity;          /* rows that coef, low and high have room for */
  RfLeastSquaresWork *active; /* of the finite method, made when first needed, with the next two */
  double *zero, *old;
} RfBox;

RfStatus rf_box_new(RfContext *context, RfBox *box, rf_index n, rf_index r);
void rf_box_free(RfBox *box);
void rf_box_residual(RfBox *box); /* res from coef, afresh */
double rf_box_sweep(RfBox *box);  /* one pass of exact coordinate steps; returns |res|^2 */
/* To full accuracy; returns |res|. */
double rf_box_solve(RfBox *box);
/* Orthonormal basis of the span of the free rows in box->qr (rows of r); returns how many. */
rf_index rf_box_face(RfBox *box);

/* ---- the oracle (oracle.c, search.c) ---------------------------------------------------------- */

typedef struct RfDirections { /* a growing list of unit directions with values and signs */
  rf_index count, capacity, r;
  double *u, *value;
  int *sign;
} RfDirections;

void rf_directions_free(RfDirections *list);
RfStatus rf_directions_add(RfContext *context, RfDirections *list, const double *u, double value, int sign);

/* s sum_i lambda_i y_i phi(u . x_i). */
double rf_oracle_value(const RfReduced *p, const double *lambda, const double *u, int sign);

typedef struct RfOracle {
  const RfReduced *p;
  RfBox box; /* the opposite class, for ascents */
  rf_index *own, *other;
  double *slope, *z, *work, *V;
} RfOracle;

RfStatus rf_oracle_new(RfContext *context, RfOracle *oracle, const RfReduced *p);
void rf_oracle_free(RfOracle *oracle);
/* Moves the unit vector u uphill: own-class slopes from u, then the best direction for those slopes, until
 * nothing changes. Returns the value at u. */
double rf_oracle_climb(RfOracle *oracle, const double *lambda, double *u, int sign);

typedef struct RfSearch {
  double target;       /* in: prove that nothing exceeds this */
  rf_index node_limit; /* in: 0 = none */
  double room;         /* in: how far below the target one half of the sphere may be asked to stay */
  rf_index stop_after; /* in: stop after this many directions above target were found; 0 = never */
  /* in: called in the caller's thread with the share of subtrees done and the nodes so far; may be NULL */
  void (*beat)(void *user, double share, rf_index nodes);
  void *user;
  double best;        /* out: largest value attained */
  double upper;       /* out: proved upper bound (>= target when nothing exceeds it) */
  rf_index nodes;     /* out */
  RfDirections found; /* out: directions above target, best last; owned by the caller */
} RfSearch;

/* max over unit u of the value for one sign, by branch and bound on the signs of the own-class inner
 * products. */
RfStatus rf_search_run(RfContext *context, RfSearch *search, const RfReduced *p, const double *lambda,
                       int sign);
/* The same in the plane (r <= 2), exactly, by sorting angles. */
RfStatus rf_search_plane(RfContext *context, RfSearch *search, const RfReduced *p, const double *lambda,
                         int sign);

/* ---- the master (master.c) -------------------------------------------------------------------- */

typedef struct RfPattern {
  int sign;
  uint64_t *active; /* bit i: slope 1 on sample i (own class only) */
  double *m;    /* n: weights of the opposite class divided by lambda, in [leak, 1]; inside = on the kink */
  double *r, v; /* residual vector and its length */
  double c;     /* multiplier of v <= 1: the neuron is c r */
} RfPattern;

typedef struct RfMaster RfMaster;

RfStatus rf_master_new(RfContext *context, RfMaster **master, const RfReduced *p);
void rf_master_free(RfMaster *master);
rf_index rf_master_count(const RfMaster *master);
const RfPattern *rf_master_pattern(const RfMaster *master, rf_index j);
const double *rf_master_lambda(const RfMaster *master);
double rf_master_mu(const RfMaster *master);
/* Own-class pattern of direction u; *added tells whether it is new. */
RfStatus rf_master_add(RfContext *context, RfMaster *master, const double *u, int sign, bool *added);
/* After additions: shrinks lambda so that every pattern is strictly feasible, and returns to the central path
 * at (at least) this relative gap. */
void rf_master_restore(RfMaster *master, double gap);
/* Interior point steps until the gap, relative to the objective, is at most `goal`. */
RfStatus rf_master_run(RfContext *context, RfMaster *master, double goal, rf_index max_steps,
                       rf_index *steps);
double rf_master_gap(const RfMaster *master);

/* ---- networks and polish ---------------------------------------------------------------------- */

typedef struct RfAtoms { /* unit directions with sizes: a network of the reduced problem */
  rf_index count, capacity, r;
  double *u, *c;
  int *sign;
} RfAtoms;

void rf_atoms_free(RfAtoms *atoms);
RfStatus rf_atoms_add(RfContext *context, RfAtoms *atoms, const double *u, double c, int sign);
/* Margins y_i f(x_i)/b_i (n, may be NULL) and the objective at min margin 1; infinity when some margin is <=
 * 0. */
double rf_atoms_objective(const RfReduced *p, const RfAtoms *atoms, double *margins);
/* Merges equal directions and removes neurons along null vectors of the tight margins, objective unchanged.
 */
RfStatus rf_atoms_reduce(RfContext *context, RfAtoms *atoms, const RfReduced *p, const double *lambda);

/* Corrects the sizes by least squares so that the margins of the support are exact; kept when the objective
 * falls. */
RfStatus rf_atoms_refit(RfContext *context, RfAtoms *atoms, const RfReduced *p, const double *lambda);

/* Newton on the identified active set; atoms and lambda are replaced when the result is better. */
RfStatus rf_optimum_polish(RfContext *context, RfAtoms *atoms, double *lambda, bool *improved,
                           const RfReduced *p, const RfMaster *master);

#endif
