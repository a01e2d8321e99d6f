/* Inside flow/far: the equations of a polish. */
#ifndef RELUFLOW_FLOW_POLISH_SOLVE_H
#define RELUFLOW_FLOW_POLISH_SOLVE_H

#include "flow/flow_internal.h"

/* One solve with the groups as they are, from polish->beta, which receives the solution; polish->ok tells
 * whether it worked. */
RfStatus rf_polish_solve(RfContext *context, RfPolish *polish, const RfSystem *system);

#endif
