/* Values on a grid as a picture: cells coloured by value, and the lines of a level. Row 0 is the top one. */
#ifndef RF_CLAIMS_GRID_H
#define RF_CLAIMS_GRID_H

#include "present/present.h"

/* rows x cols cells in a rectangle of the picture; blue below 0, vermilion above, full at +-limit. */
void rf_claim_heat(RfSvg *svg, double left, double top, double width, double height, const double *values,
                   rf_index rows, rf_index cols, double limit);
/* The lines where values taken at the points of a grid over the whole frame equal `level`. */
void rf_claim_level(const RfPlot *plot, const double *values, rf_index rows, rf_index cols, double level,
                    RfPen pen);

#endif
