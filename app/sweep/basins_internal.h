/* Shared by the files of basins. */
#ifndef RF_SWEEP_BASINS_INTERNAL_H
#define RF_SWEEP_BASINS_INTERNAL_H

#include "core/core.h"
#include "sweep/sweep.h"

/* An RGB picture as a PNG file in memory. */
RfStatus sweep_png(RfContext *context, RfText *out, const unsigned char *rgb, rf_index width,
                   rf_index height);

#endif
