/* What the files of the proof writer share: proof.c (claims), proof_tree.c (the search) and proof_lines.c
 * (statements, each checked here with 113 bits and rounded outward before it is written). The format is that
 * of docs/proof.md; rules E, N and the lemmas h, l, m, c are named as there.
 *
 * Rows are the caller's, times powers of two: nothing is rounded. A line is only written when it is needed:
 * bounds and caps wait on the path as records until a line names them. */
#ifndef RF_OPTIMUM_PROOF_INTERNAL_H
#define RF_OPTIMUM_PROOF_INTERNAL_H

#include "optimum/optimum_internal.h"
#include "optimum/proof_text.h"
#include "optimum/wide.h"

/* ---- the tree --------------------------------------------------------------------------------- */

/* A node. Entries 0..own-1 are own samples, the rest opposite ones, as in search.c. */
typedef struct RfProofNode {
  double *coef, *low, *high; /* own + other */
  double *l, *h;             /* own: range of z, each proved by a record */
  int *lower, *upper;        /* own: those records, -1 = the lines at the root */
  signed char *side;         /* own */
} RfProofNode;

typedef struct RfProofTerm { /* multiplier c of the side of own sample j */
  rf_index j;
  double c;
} RfProofTerm;

/* A lemma h, l or c that is proved but perhaps not written. */
typedef struct RfProofRecord {
  char kind; /* 'h', 'l', 'c' */
  bool written;
  rf_index sample, number; /* of h and l; of a cap, when written */
  double bound, rho, mu;   /* of h and l; mu = 0 without a cap */
  int cap;                 /* record of the cap, -1 = none */
  bool own_terms;          /* the terms are all that is named, not mu times those of the cap */
  rf_index first, terms;   /* in tree->terms: sides used by h, l; sides that G of a cap counts */
  rf_index gammas;         /* of a cap, in tree->numbers: gamma (own + other), then e (own) */
  rf_index bounds;         /* of a cap, in tree->refs: lower and upper record of own samples */
  rf_index vector;         /* of a cap, in tree->wides: G = g + sum c sigma x (d), then b and its size */
} RfProofRecord;

typedef struct RfProofTree {
  RfContext *context;
  RfProofText *text;
  rf_index d, own, count;
  int sign;
  double leak, tau;
  rf_index *at;    /* count: sample in the caller's data */
  int *power;      /* count: x = 2^power V */
  double *V;       /* count rows of d: own x, opposite -x, scaled */
  double *lambda;  /* count, scaled */
  double *length;  /* count: |V|, rounded up */
  RfBox box, cone; /* of a node; of the sides alone */
  rf_index known;  /* sides of the present node */
  RfProofNode *levels;
  double *store;
  int *refs_store;
  signed char *sides;
  double *ray, *rho;      /* work: own, d */
  double *rows, *counted; /* rows of the cone and one more; work: own */
  RfWide *wide;           /* work: d */
  /* the path: records and what they hold, stacks */
  RfProofRecord *records;
  RfProofTerm *terms;
  double *numbers;
  int *refs, *log; /* log: records written, in order */
  RfWide *wides;
  rf_index n_records, n_terms, n_numbers, n_refs, n_log, n_wides, caps;
  rf_index room_records, room_terms, room_numbers, room_refs, room_log, room_wides;
  double nodes;
  RfStatus status;
} RfProofTree;

/* ---- statements (proof_lines.c) --------------------------------------------------------------- */

/* gamma and e of free own samples, gamma of opposite ones and multipliers of sides as the box has them,
 * rounded to `bits`: writes a closing line e when it holds (true). */
bool rf_line_close(RfProofTree *tree, const RfProofNode *node, int bits);
/* A cap from the box; its record, or -1 when it says nothing. */
int rf_line_cap(RfProofTree *tree, const RfProofNode *node);
/* z_i <= bound (toward = 1) or z_i >= -bound (toward = -1), in scaled rows, from a cap and the sides that it
 * counts. */
int rf_line_bound_by_cap(RfProofTree *tree, int cap, rf_index i, int toward, double mu, double *bound);
/* z_i <= 0 (toward = 1) or z_i >= 0 from a cap, mu a power of two, and multipliers c >= 0 of the sides beyond
 * those of mu times the cap; -1 when they do not show it. */
int rf_line_side(RfProofTree *tree, const RfProofNode *node, int cap, rf_index i, int toward, double mu,
                 const double *c);
/* G of a cap (d numbers), then b. */
const RfWide *rf_line_cap_vector(const RfProofTree *tree, int cap);
/* The same from the sides alone, multipliers c (own; 0 where none). */
int rf_line_bound_by_sides(RfProofTree *tree, const RfProofNode *node, rf_index i, int toward,
                           const double *c, double *bound);
/* Writes a record with all that it needs. */
void rf_line_write(RfProofTree *tree, int record);
/* Root: bounds |x| of an own sample; lemma m when it holds (true, with its side). */
void rf_line_root(RfProofTree *tree, RfProofNode *node, rf_index i);
bool rf_line_monotone(RfProofTree *tree, const RfProofNode *node, rf_index i, int *side);
void rf_line_split(RfProofTree *tree, rf_index i);

/* Marks of the stacks; back to a mark unwrites what was written since. */
typedef struct RfProofMark {
  rf_index records, terms, numbers, refs, log, wides, caps;
} RfProofMark;
RfProofMark rf_line_mark(const RfProofTree *tree);
void rf_line_back(RfProofTree *tree, RfProofMark mark);

/* The least e >= 0, rounded up, for which gamma z + e is above lambda phi(z) at both ends of the range of z.
 */
double rf_proof_chord(const RfProofTree *tree, const RfProofNode *node, rf_index i, double gamma);

/* Writes `tree s` and its nodes (proof_tree.c). RF_OK, RF_UNDECIDED when a node cannot be closed,
 * RF_INTERRUPTED, or a failure. */
RfStatus rf_proof_tree(RfContext *context, RfProofText *text, double *nodes, const double *X, const double *y,
                       const double *lambda, rf_index n, rf_index d, double leak, int sign, double tau);

#endif
