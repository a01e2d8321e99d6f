/* Recipes across the papers: what several of them say about the same data or the same run. Each judges its
 * statement in the claim that draws it. */
#ifndef RF_CLAIMS_CROSS_H
#define RF_CLAIMS_CROSS_H

#include "kit/claims_internal.h"

/* E-X-1: DS-PL2/3, one run; sectors (PL), t1 and t2 (MMV), dual certificate (WP), uniqueness of the KKT
 * function (LLWA H.2), local optimality (VSS 4.3). */
RfStatus rf_cross_one_run(RfClaimRun *run);
/* E-X-2: DS-V1, the KKT point that is not local is the one whose multipliers are not dual feasible. */
RfStatus rf_cross_dual(RfClaimRun *run);
/* E-X-3: DS-SYM6, margins of limits and optima over the leak. */
RfStatus rf_cross_leak(RfClaimRun *run);
/* E-X-4: every set of the catalogue, classified. */
RfStatus rf_cross_catalogue(RfClaimRun *run);

#endif
