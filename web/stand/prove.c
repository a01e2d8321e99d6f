/* Proofs in ball arithmetic need Arb, which browsers do not have: nothing is proved by it here, and that is
 * said.
 */
#include "certify/certify_internal.h"
#include "flow/flow.h"

static const char why[] = "this build has no ball arithmetic";

RfStatus rf_certify_prove(RfContext *context, RfProvedPoint *proved, const RfKktSystem *system,
                          const RfNet *net, const rf_index *place) {
  (void)context, (void)system, (void)net, (void)place;
  proved->why = why;
  return RF_OK;
}

RfStatus rf_align_prove(RfContext *context, RfAlignment *alignment, const RfFlowProblem *problem) {
  (void)context, (void)problem;
  for (rf_index k = 0; k < alignment->m; k++)
    alignment->neurons[k].proof = (RfAlignProof){.asked = true, .why = why, .destiny = RF_DESTINY_RUNNING};
  return RF_OK;
}
