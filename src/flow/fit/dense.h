/* Crossings of the polynomial of degree 7 that an input w.x is along an explicit step (rf_dense_value). */
#ifndef RF_FLOW_FIT_DENSE_H
#define RF_FLOW_FIT_DENSE_H

#include <stdbool.h>

/* The first place in (0,1] where it goes below `floor`, as a bracket: not below at low, below at high, and
 * one crossing between them; its value at 0 is not below. false: there is none. */
bool rf_dense_first_below(const double *terms, double floor, double *low, double *high);

#endif
