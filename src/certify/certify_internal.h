/* certify, inside the room: a network at min margin 1 with its data, and the projection on the cone of
 * subgradients. */
#ifndef RF_CERTIFY_INTERNAL_H
#define RF_CERTIFY_INTERNAL_H

#include "certify_tolerances.h"

#include "reluflow/certify.h"
#include "la/la.h"

/* A network scaled to min margin 1, with what every test of it needs. */
typedef struct RfPoint {
  rf_index n, m, d;
  const double *X, *y;
  double leak;
  bool first_layer;    /* only W moves: |theta| is |W|, and a is divided by its largest entry */
  double *W, *a;       /* scaled copies */
  double *z;           /* n rows of m: w_k.x_i */
  double *q;           /* n: margins, smallest 1 */
  double *row_norm;    /* n: |x_i| */
  double *neuron_norm; /* m: |w_k| */
  bool *zero;          /* m: zero neuron */
  double norm2;        /* |theta|^2 */
  double margin;       /* normalised margin; <= 0 when not separated, and then nothing is scaled */
  double log_scale;
} RfPoint;

void rf_point_free(RfPoint *point);
/* RF_OK, RF_NOT_SEPARABLE or a failure. */
RfStatus rf_point_new(RfContext *context, RfPoint *point, const RfNet *net, const double *X, const double *y,
                      rf_index n);
/* The same with the second layer fixed. a_size: largest |a_k|. */
RfStatus rf_point_new_first_layer(RfContext *context, RfPoint *point, double *a_size, const RfNet *net,
                                  const double *X, const double *y, rf_index n);
/* The point with neurons on one ray merged; place (p->m): which neuron of it each one became. */
RfStatus rf_point_merge(RfContext *context, RfPoint *merged, rf_index *place, const RfPoint *p);
bool rf_point_is_kink(const RfContext *context, const RfPoint *point, rf_index i, rf_index k);

/* An extra atom: a new neuron in direction u (unit) with sign s enters every column as s y_i phi(u.x_i)
 * against a coefficient c >= 0, whose target is 1: the growth of a zero neuron. */
typedef struct RfAtom {
  const double *direction;
  double sign;
} RfAtom;

/* What the projection is taken over. */
typedef struct RfProjectionSettings {
  bool tight_only;      /* multipliers only on samples with margin <= 1 + tight; otherwise on all, with the
                           complementarity as one more row */
  double tight;         /* where it is larger than the tolerance of tight samples */
  const double *slopes; /* n rows of m: a slope >= 0 fixes h_ik at a kink, a negative one leaves it in [leak,
                           1]; NULL leaves all free */
  const RfAtom *atoms;
  rf_index n_atoms;
} RfProjectionSettings;

typedef struct RfProjection {
  double *lambda;    /* n */
  double *residual;  /* m blocks of d+1: (w, a) parts of theta - sum lambda h */
  double *atom_rest; /* n_atoms: 1 - sum lambda_i s y_i phi(u.x_i) - (slack >= 0): negative where growing the
                        atom helps */
  double *slopes; /* n rows of m: slopes at the free kinks (averaged over the vertices used); NULL when there
                     is none */
  double stationarity, complementarity;
  double distance; /* norm of the whole residual, atoms included, divided by |theta| */
  rf_index iterations;
} RfProjection;

void rf_projection_free(RfProjection *projection);
RfStatus rf_project(RfContext *context, RfProjection *projection, const RfPoint *point,
                    const RfProjectionSettings *settings);

/* ---- witnesses -------------------------------------------------------------------------------------- */

/* A move: theta - t residual, and zero neuron neurons[j] grows to size sqrt(t growth[j]) in the direction of
 * atom j. */
typedef struct RfMove {
  const double *residual; /* m blocks of d+1 */
  const RfAtom *atoms;
  const rf_index *neurons;
  const double *growth;
  rf_index n_atoms;
} RfMove;

/* The best point of the move over t = 1, 1/2, 1/4, ..., scaled to min margin 1 and evaluated again. Replaces
 * *witness and *drop when it is better than *drop (start with NaN: none) and the norm really falls. */
RfStatus rf_witness_try(RfContext *context, RfNet *witness, double *drop, const RfPoint *point,
                        const RfMove *move);

/* ---- the nearest KKT point ---------------------------------------------------------------------------- */

/* The KKT equations on a pattern of tight samples and kinks (nearest.c), and where Newton's method ended. */
typedef struct RfKktSystem {
  const RfPoint *p;
  rf_index size, n_tight, n_kinks;
  rf_index *tight;  /* samples with a multiplier */
  rf_index *kinks;  /* positions i*m + k */
  double *slopes;   /* n rows of m: off the kinks; 0 on them */
  double *unknowns; /* W, a, lambda, nu */
  double *F, *J;    /* size; size x size */
} RfKktSystem;

void rf_kkt_system_free(RfKktSystem *system);
/* The KKT point next to the network, when one is found; then *found is its system, unless found is NULL. */
RfStatus rf_certify_nearest(RfContext *context, RfNearest *nearest, RfKktSystem *found, const RfPoint *point);
/* Encloses an exact KKT point at the end of Newton's method, or says why not (prove.c). place: the neuron of
 * the system's point that each neuron of net became; NULL where they are the same. */
RfStatus rf_certify_prove(RfContext *context, RfProvedPoint *proved, const RfKktSystem *system,
                          const RfNet *net, const rf_index *place);
/* More unknowns than these are not solved for. */
enum { RF_KKT_MOST_UNKNOWNS = 300 };

/* Fills local, local_why, witness, own_kinks, choices. is_global: the network attains the certified optimum.
 */
RfStatus rf_certify_local(RfContext *context, RfCertificate *certificate, const RfPoint *point,
                          bool is_global, const RfCertifySettings *settings);

#endif
