/* Steps of the fit on thousands of samples, by walkers (walk_fit.c). */
#ifndef RF_FLOW_LARGE_WALK_FIT_H
#define RF_FLOW_LARGE_WALK_FIT_H

#include "flow/large/walk.h"

typedef struct RfWalkFit RfWalkFit;

void rf_walk_fit_free(RfWalkFit *fit);
bool rf_walk_fit_fits(const RfRun *run);
/* A few steps from system.y, events applied and logged. RF_UNDECIDED: no step was short enough. */
RfStatus rf_walk_fit_step(RfRun *run);

#endif
