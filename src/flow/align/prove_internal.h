/* Inside `flow --prove-alignment`: one neuron under constant sample weights, followed with every comparison
 * decided. All numbers are balls (Arb). Only +, - and x are used, and w and g are kept up to a positive
 * factor, so the same code at precision ARF_PREC_EXACT is exact rational arithmetic: what no precision
 * decides, a tie, is decided there. */
#ifndef RF_ALIGN_PROVE_INTERNAL_H
#define RF_ALIGN_PROVE_INTERNAL_H

#include "flow/align/align_internal.h"

#include <arb.h>

/* w is `plain + surd sqrt(root)`: rational until a = 0 is passed, which happens once at most. */
typedef struct RfProvedPath {
  const RfAlignField *field;
  rf_index n, d;
  slong bits;     /* or ARF_PREC_EXACT */
  bool undecided; /* a comparison failed: the attempt is void */
  const char *failure;
  arb_ptr X, c; /* n x d rows, n weights, exact */
  arb_t leak;
  arb_ptr plain, surd; /* d each */
  arb_t root;
  bool turned, balanced;
  arb_t balance; /* (a^2 - |w|^2) in the scale of w */
  int sign;      /* of a */
  int8_t *side;  /* n */
  rf_index n_active;
  rf_index *on, n_on; /* hyperplanes that it lies on */
  rf_index rank;      /* of the rows slid on */
  arb_ptr g;          /* d: the field, up to a positive factor */
  arb_ptr basis;      /* rank orthogonal rows that span the rows slid on */
  arb_ptr drive;      /* d: the field before projection, in true scale */
  arb_ptr h, k, b;    /* n each: w.x_i = h + k sqrt(root), g.x_i */
  rf_index *hits, n_hits;
  rf_index *plane, n_plane; /* a sample of each hyperplane that it lies on */
  rf_index *member;         /* n_on: the plane of on[z] */
  int8_t *orient;           /* n_on: +1 or -1, its direction against that sample */
  int8_t *tilt;             /* n_plane: valley -1, ridge +1, no kink 0; then the side taken */
  rf_index *valley, *ridge, n_valley, n_ridge; /* planes */
  int8_t *state;                               /* n: low, high or free valleys */
  int8_t *kept;                                /* 2 n: sides of ridges */
  arb_ptr work;                                /* d x d: scratch */
  RfAlignProof *out;
} RfProvedPath;

/* ---- prove_numbers.c ----------------------------------------------------------------------- */

/* -1, 0, +1; marks the attempt undecided when the ball holds 0 and more. */
int rf_prove_sign(RfProvedPath *path, const arb_t value);
/* Of plain + surd sqrt(root), a value linear in w. */
int rf_prove_sign_surd(RfProvedPath *path, const arb_t plain, const arb_t surd);
void rf_prove_dot(arb_t out, const RfProvedPath *path, arb_srcptr a, arb_srcptr b);
/* Takes common factors out of `count` vectors that share their scale: powers of two, and in exact arithmetic
 * everything. Returns the power of two that was taken out. */
slong rf_prove_shrink(const RfProvedPath *path, arb_ptr *vectors, rf_index count, bool all_factors);
/* v = v (e.e) - (v.e) e for every row e of the basis: the part orthogonal to them, times a positive factor.
 */
void rf_prove_project(const RfProvedPath *path, arb_ptr v, arb_srcptr basis, rf_index rank);
/* Appends the part of v orthogonal to the basis. False when v depends on it (or that is not decided). */
bool rf_prove_extend(RfProvedPath *path, arb_ptr basis, rf_index *rank, arb_srcptr v);

/* ---- prove_turn.c -------------------------------------------------------------------------- */

/* Where the neuron goes from the hyperplanes in on[0..n_on), sides 0: sets sides, on, g, basis, rank. */
void rf_prove_turn(RfContext *context, RfProvedPath *path);
/* x_i = t x_k with t > 0 (+1), t < 0 (-1), or neither (0). */
int rf_prove_parallel(const RfProvedPath *path, rf_index i, rf_index k);
/* g for the sides at hand where it lies on no hyperplane. */
void rf_prove_field(RfProvedPath *path);

/* ---- prove.c ------------------------------------------------------------------------------- */

/* One neuron. */
RfStatus rf_align_prove_neuron(RfContext *context, RfAlignProof *out, const RfAlignField *field,
                               const double *direction, double log_norm);

#endif
