/* Inside flow/far: the equations of a polish. */
#ifndef RELUFLOW_FLOW_POLISH_SOLVE_H
#define RELUFLOW_FLOW_POLISH_SOLVE_H

#include "flow/flow_internal.h"

/* One solve with the groups as they are, from polish->beta, which receives the solution; polish->ok tells
 * whether it worked. */
RfStatus rf_polish_solve(RfContext *context, RfPolish *polish, const RfSystem *system);
/* The same equations with the margins `aim` (n) on the samples that polish->lambda has, from polish->beta;
 * solved: they hold, with positive multipliers. For rows of very different lengths alone. */
RfStatus rf_polish_solve_aimed(RfContext *context, RfPolish *polish, const RfSystem *system,
                               const double *aim, bool *solved);

/* What putting the groups beta on their hyperplanes (rf_system_put_on), where their inputs are known to
 * rounding, moves row.beta by (polish.c). */
double rf_polish_moved(const RfPolish *polish, const RfSystem *system, const double *beta, const double *row);

#endif
