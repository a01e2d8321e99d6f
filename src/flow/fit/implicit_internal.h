/* Inside the implicit method: the linear systems of large networks. */
#ifndef RELUFLOW_IMPLICIT_INTERNAL_H
#define RELUFLOW_IMPLICIT_INTERNAL_H

#include "flow/flow_internal.h"

/* The samples that carry weight, ascending; returns how many. */
rf_index rf_carriers(const RfSystem *system, rf_index *carrier);

typedef struct RfBlocks RfBlocks;

RfStatus rf_blocks_new(RfContext *context, RfBlocks **blocks, rf_index units, rf_index n, rf_index d);
void rf_blocks_free(RfBlocks *blocks);
/* Linearises at system->y; the last evaluation was rf_system_rhs there. plain: of the balanced units
 * (plain.c); NULL: none. */
RfStatus rf_blocks_prepare(RfContext *context, RfBlocks *blocks, const RfSystem *system,
                           const uint8_t *plain);
/* Factors shift - J; false when it is singular. */
bool rf_blocks_factor(RfBlocks *blocks, const RfSystem *system, double shift);
/* x (per unit: w, a, rho) = (shift - J)^-1 x. */
void rf_blocks_solve(RfBlocks *blocks, const RfSystem *system, double *x);

/* events.c: what is left, at y, until a hit counts as one; negative behind it, NaN where no one number tells.
 * Leaves the fields of the system anywhere. slopes: room for n. */
double rf_events_left(RfRun *run, const RfHit *hit, const double *y, double *slopes);
/* Adds the slides that end at y_end, where the last fields are, to the hits. */
RfStatus rf_events_slides(RfRun *run);
/* Rounding of margin i (margins.c). */
double rf_system_margin_blur(const RfSystem *system, rf_index i);

/* Small dense systems, rows contiguous: factors in place (false: singular), and solution. */
bool rf_small_lu(double *A, int32_t *pivot, rf_index n);
void rf_small_lu_solve(const double *A, const int32_t *pivot, double *b, rf_index n);

/* ---- margins.c: systems solved in the margins of the carriers ---- */

typedef struct RfMarginSolver RfMarginSolver;

RfStatus rf_margin_solver_new(RfContext *context, RfMarginSolver **out, rf_index units, rf_index n,
                              rf_index d);
void rf_margin_solver_free(RfMarginSolver *solver);
/* At system->y, with its fields and planes; carrier stays the caller's. */
void rf_margin_solver_prepare(RfMarginSolver *solver, const RfSystem *system, const uint8_t *plain,
                              const rf_index *carrier, rf_index rank);
/* The blocks of B and the columns of U as implicit.c has them; work: d + 2. */
bool rf_margin_solver_factor(RfMarginSolver *solver, const RfSystem *system, const double *blocks,
                             const double *U, double shift, double *work);
/* x (block order) becomes (shift - J)^-1 x, z (rank) the change of the margins of the carriers along it. */
void rf_margin_solver_solve(RfMarginSolver *solver, const RfSystem *system, double *x, double *z);
/* What the plain units of a solution (flat, z) change of every margin (n); what the others have in them at y.
 */
void rf_margin_change(const RfMarginSolver *solver, const RfSystem *system, const uint8_t *plain,
                      const double *flat, const double *z, double *change);
/* Margins that a step has moved where the weights cannot follow (more samples than the units have freedom):
 * what the residues at y have beyond rounding of their terms is dropped. */
void rf_system_bound(RfSystem *system, double *y);
void rf_margin_others(const RfSystem *system, const uint8_t *plain, const double *y, double *q);

/* ---- plain.c: margins linear in the unknowns, for rows of very different lengths ---- */

/* The units (plain[k] != 0) that a margin of a carrier feels. */
void rf_plain_choose(uint8_t *plain, const RfSystem *system, const rf_index *carrier, rf_index count);
/* Between states in polar and in plain coordinates (flat: units*(d+2)), relative to system->y. */
void rf_plain_from_polar(const uint8_t *plain, const RfSystem *system, double *flat);
void rf_plain_to_polar(const uint8_t *plain, const RfSystem *system, double *flat);
/* Some v has turned or shrunk so much that the step may have gone past v = 0, where polar coordinates tell
 * whether w or a has changed its sign. */
bool rf_plain_turned(const uint8_t *plain, const RfSystem *system, const double *flat);
/* The part `fraction` of the way from one state to the other, into the other, along which margins are linear.
 */
void rf_plain_between(const RfSystem *system, const double *from, double *to, double fraction);
/* Puts the units that slide on their hyperplanes, and those of the hits on the ones they meet, and moves all
 * of them so that no margin that pushes changes: what the linear algebra leaves across is a margin of a long
 * row. */
RfStatus rf_plain_put_on(RfContext *context, RfSystem *system, double *y, const RfHit *met, rf_index n_met);
/* f = derivative at the polar state y becomes that of the plain coordinates. */
void rf_plain_rate(const uint8_t *plain, const RfSystem *system, const double *y, double *f);
/* Blocks of the Jacobian, as unit_block of implicit.c. */
void rf_plain_block(const RfSystem *system, rf_index k, double *B, double *E);

#endif
