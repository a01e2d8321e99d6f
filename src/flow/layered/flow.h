/* Shared by the files of layered flows. */
#ifndef RF_FLOW_LAYERED_FLOW_H
#define RF_FLOW_LAYERED_FLOW_H

#include "flow/layered/sides.h"
#include "flow/flow.h"

/* The sides of the units of a flow; NULL when the network is too large to be followed by sides. */
RfSided *rf_layered_sides(const RfLayeredFlow *flow);
/* Large networks on their way to a limit, where only where it leads counts: units change sides many to a
 * step, at its end. About 1e-3 on the way. */
void rf_layered_late_sides(RfLayeredFlow *flow);
/* Samples that nobody sees hold the loss, and the others are at margins at which the scale can be frozen. */
bool rf_layered_others_reached(const RfLayeredFlow *flow, double smargin);

#endif
