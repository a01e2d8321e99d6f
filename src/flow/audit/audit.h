/* An independent reading of a run while it goes on: from the weights of its units and the data alone. */
#ifndef RF_FLOW_AUDIT_H
#define RF_FLOW_AUDIT_H

#include "flow/flow_internal.h"

typedef struct RfAudit RfAudit;

RfStatus rf_audit_new(RfContext *context, RfAudit **audit, const RfRun *run);
void rf_audit_free(RfAudit *audit);
/* After an accepted step and its events: velocity, sides, balance and events at system.y. Looks at some of
 * the states only, so that its work stays a small part of the run's; reads the run and leaves it as it was,
 * but for the fields of the system, which are those at system.y. */
RfStatus rf_audit_look(RfAudit *audit, RfRun *run);
/* Before system.y moves: the energy identity on the part `fraction` of the explicit step of length h. Leaves
 * the fields of the system anywhere. */
RfStatus rf_audit_step(RfAudit *audit, RfRun *run, double h, double fraction);
/* What was found. */
RfFlowAudit rf_audit_result(const RfAudit *audit);
/* A line that names the worst of what did not pass. */
void rf_audit_why(const RfFlowAudit *audit, char *why, size_t size);

#endif
