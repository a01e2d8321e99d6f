/* Settings that claims of all papers share: data of the catalogue, a start, and the flow from it. */
#ifndef RF_CLAIMS_SETTING_H
#define RF_CLAIMS_SETTING_H

#include "kit/claims_internal.h"
#include "kit/data.h"
#include "data/data.h"
#include "flow/flow.h"
#include "net/net.h"

/* Everything a flow needs. After rf_claim_setting_new change `problem` (leak, loss, mean, log_scale) and
 * `flow` (until, observe, ...) as the claim says. The second run for direction_error is off, branches are
 * followed, events are kept. */
typedef struct RfClaimSetting {
  RfDataset data;
  RfFlowStart start;
  RfFlowProblem problem; /* borrows data and start */
  RfFlowSettings flow;
} RfClaimSetting;

void rf_claim_setting_free(RfClaimSetting *setting);
/* A generator of `reluflow data list` with its keys ("separated,np=5,nm=5,sep=0.2,seed=3"), every sample
 * divided by `divide` (0: by the largest norm). */
RfStatus rf_claim_data(RfClaimRun *run, RfDataset *data, const char *generator, double divide);
/* Data as above; width m, initialiser at size 1 from start number `seed` (hashed with the run's seed), ln
 * eps. Zeroed on failure.
 */
RfStatus rf_claim_setting_new(RfClaimRun *run, RfClaimSetting *setting, const char *generator, double divide,
                              RfInit init, rf_index m, uint64_t seed, double log_scale);
/* The same with given weights instead of an initialiser (log_scale 0). */
RfStatus rf_claim_setting_from(RfClaimRun *run, RfClaimSetting *setting, const char *generator, double divide,
                               const RfNet *net);
/* Takes the starts out of the balanced form by 2e-12, so that (w, a) are integrated together and |w| = |a| is
 * not built in. */
void rf_claim_joint_form(RfFlowStart *start);
/* Runs it. Outcomes like undecided or not separated are not failures here: look at result->limit.outcome.
 * Free the result after RF_OK. */
RfStatus rf_claim_flow(RfClaimRun *run, RfFlowResult *result, const RfClaimSetting *setting);
/* rf_flow_run, counted: made when it was decided where the flow goes, dropped when not. */
RfStatus rf_claim_run_flow(RfClaimRun *run, RfFlowResult *result, const RfFlowProblem *problem,
                           const RfFlowSettings *settings);
/* The same count for flows of other kinds. */
void rf_claim_count_flow(RfClaimRun *run, RfStatus status);
/* The network at a moment, at its true size (scale -infinity to 700 in the exponent is the caller's care). */
void rf_claim_moment_net(RfNet *net, const RfFlowMoment *moment);

#endif
