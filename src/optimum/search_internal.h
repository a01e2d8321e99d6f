/* What the files of the exact search share: search.c (the tree), search_bound.c (bounds of a node) and
 * search_rays.c (cones by their rays). */
#ifndef RF_OPTIMUM_SEARCH_INTERNAL_H
#define RF_OPTIMUM_SEARCH_INTERNAL_H

#include "optimum/optimum_internal.h"
#include "optimum/optimum_tolerances.h"
#include "optimum/wide.h"

typedef enum RfSide { side_free = 0, side_plus = 1, side_minus = -1 } RfSide;

/* What a node remembers; one per level of the tree. Entries 0..own-1 are own samples, the rest opposite ones.
 */
typedef struct RfSearchLevel {
  double *coef, *low, *high; /* own + other */
  double *l, *h;             /* own: range of z */
  signed char *side;         /* own */
  bool plain;                /* chords beat Cauchy-Schwarz here and below */
  rf_index first, end;       /* the rays of the node's cone, in the worker's list */
} RfSearchLevel;

/* The rays of the arrangement of own samples, in few dimensions: every cone of known sides is spanned by the
 * rays on their right sides. Sides that an error of `error` could turn are both. */
typedef struct RfRays {
  rf_index count, d, words; /* d: dimension without a padded coordinate */
  double *g;                /* count rows of d, units up to `error` */
  uint64_t *mask;           /* per ray: words of "may be >= 0", then words of "may be <= 0" */
  double error;             /* distance of a row of g from the true ray, at most */
} RfRays;

/* One worker. What stands above `levels` is shared by all of them. */
typedef struct RfSearchWork {
  RfContext *context;
  const RfReduced *p;
  const double *lambda_all;
  int sign;
  rf_index own, count, r;
  double leak;
  double total;       /* sum of lambda */
  double edge;        /* no row is longer */
  double *V, *lambda; /* count rows of r (own: x, opposite: -x), count weights */
  double *gram;       /* own x own, NULL where the samples are many more than the dimensions */
  int range_sweeps;   /* 0 = ranges from the cone do not pay */
  RfRays *rays;       /* NULL = none */
  RfSearchLevel *levels;
  double *store;
  signed char *sides;
  RfBox box;
  RfWide *wide;                      /* work, r */
  double *u, *matrix, *vector, *ray; /* work */
  double *scale;                     /* work, own */
  double *eigen;                     /* the last vector of a power iteration, of length eigen_order */
  rf_index eigen_order;              /* 0 = none in this subtree */
  rf_index *wide_at;                 /* work, own: free samples with wide ranges */
  double *bundle, *reach;            /* work of the rays */
  int *list;                         /* indices of rays, of all levels one after the other */
  rf_index room;                     /* of list */
  RfSearch *search;                  /* target, limits and results of this worker's present subtree */
  const rf_index *cut;               /* subtrees after this one do not count any more */
  rf_index at;                       /* number of the present subtree */
  bool stopped;
  RfStatus status;
} RfSearchWork;

/* ---- bounds of a node (search_bound.c) -------------------------------------------------------- */

/* The root: nothing known but what holds for every maximiser; true when that decides a sample. */
bool rf_node_root(RfSearchWork *w, RfSearchLevel *v);
void rf_node_set_side(RfSearchWork *w, RfSearchLevel *v, rf_index i, RfSide side);
/* Chord of phi on [l,h], l < 0 < h: lambda phi(z) <= slope z + constant. */
double rf_chord_slope(const RfSearchWork *w, const RfSearchLevel *v, rf_index i);
double rf_chord_constant(const RfSearchWork *w, const RfSearchLevel *v, rf_index i);
/* Constant of the free samples, which get their coefficients. */
double rf_node_constant(RfSearchWork *w, RfSearchLevel *v);
/* True when the coupled bound of wide and known samples prunes the node. */
bool rf_node_coupled(RfSearchWork *w, RfSearchLevel *v);
/* A bound of the node from the box as it stands; *size = |res|. */
double rf_node_bound(RfSearchWork *w, const RfSearchLevel *v, double constant, double *size);
/* Shrinks |res| while that promises to prune; true when pruned. */
bool rf_node_shrink(RfSearchWork *w, RfSearchLevel *v, double constant, double *size);
/* Narrows the ranges of free samples by the cap, or by the cone of the known sides; true when a sample was
 * decided or the constant fell noticeably. */
bool rf_node_narrow(RfSearchWork *w, RfSearchLevel *v, double constant, double size);
bool rf_node_narrow_by_cone(RfSearchWork *w, RfSearchLevel *v);
double rf_node_pad(const RfSearchWork *w, const RfSearchLevel *v, double constant);

/* ---- rays (search_rays.c) --------------------------------------------------------------------- */

/* *rays = NULL where they do not pay or are too near to degenerate. */
RfStatus rf_rays_new(RfContext *context, RfRays **rays, const RfSearchWork *w);
void rf_rays_free(RfRays *rays);
/* What a worker needs for them. */
RfStatus rf_rays_worker(RfSearchWork *w);
/* Keeps the rays of the node's cone, decides samples and narrows ranges by them. -1: the cone is empty, 1:
 * something was won, 0: nothing. */
int rf_rays_narrow(RfSearchWork *w, RfSearchLevel *v);

#endif
