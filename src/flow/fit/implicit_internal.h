/* Inside the implicit method: the linear systems of large networks. */
#ifndef RELUFLOW_IMPLICIT_INTERNAL_H
#define RELUFLOW_IMPLICIT_INTERNAL_H

#include "flow/flow_internal.h"

/* The samples that carry weight, ascending; returns how many. */
rf_index rf_carriers(const RfSystem *system, rf_index *carrier);

typedef struct RfBlocks RfBlocks;

RfStatus rf_blocks_new(RfContext *context, RfBlocks **blocks, rf_index units, rf_index n, rf_index d);
void rf_blocks_free(RfBlocks *blocks);
/* Linearises at system->y; the last evaluation was rf_system_rhs there. */
RfStatus rf_blocks_prepare(RfContext *context, RfBlocks *blocks, const RfSystem *system);
/* Factors shift - J; false when it is singular. */
bool rf_blocks_factor(RfBlocks *blocks, const RfSystem *system, double shift);
/* x (per unit: w, a, rho) = (shift - J)^-1 x. */
void rf_blocks_solve(RfBlocks *blocks, const RfSystem *system, double *x);

#endif
