/* Settings that claims share. */
#include "kit/setting.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

void rf_claim_setting_free(RfClaimSetting *setting) {
  rf_dataset_free(&setting->data);
  rf_flow_start_free(&setting->start);
  memset(setting, 0, sizeof *setting);
}

RfStatus rf_claim_data(RfClaimRun *run, RfDataset *data, const char *generator, double divide) {
  RfStatus status = rf_claim_generate(run, data, generator);
  for (rf_index i = 0; !status && divide == 0 && i < data->n; i++)
    divide = fmin(divide, -rf_la_norm(data->X + i * data->d, data->d));
  if (!status && divide != 0 && divide != 1)
    for (rf_index j = 0; j < data->n * data->d; j++) data->X[j] /= fabs(divide);
  return status;
}

RfStatus rf_claim_setting_from(RfClaimRun *run, RfClaimSetting *setting, const char *generator, double divide,
                               const RfNet *net) {
  memset(setting, 0, sizeof *setting);
  RfStatus status = rf_claim_data(run, &setting->data, generator, divide);
  if (!status) status = rf_flow_start_from_net(run->context, &setting->start, net);
  if (status) {
    rf_claim_setting_free(setting);
    return status;
  }
  setting->problem = (RfFlowProblem){.X = setting->data.X,
                                     .y = setting->data.y,
                                     .n = setting->data.n,
                                     .d = setting->data.d,
                                     .leak = net->leak};
  rf_flow_settings_init(&setting->flow);
  setting->flow.check_direction = false;
  setting->flow.branches = RF_BRANCHES_FOLLOW;
  return RF_OK;
}

RfStatus rf_claim_setting_new(RfClaimRun *run, RfClaimSetting *setting, const char *generator, double divide,
                              RfInit init, rf_index m, uint64_t seed, double log_scale) {
  RfDataset data = {0};
  RfNet net = {0};
  memset(setting, 0, sizeof *setting);
  RfStatus status = rf_claim_generate(run, &data, generator);
  if (!status)
    status = rf_net_init(run->context, &net, init, m, data.d, 0, rf_claim_seed(run, "start", seed), 1);
  if (!status) status = rf_claim_setting_from(run, setting, generator, divide, &net);
  setting->problem.log_scale = log_scale;
  rf_net_free(&net);
  rf_dataset_free(&data);
  return status;
}

void rf_claim_joint_form(RfFlowStart *start) {
  for (rf_index k = 0; k < start->m; k++) {
    double *v = start->directions + k * (start->d + 1);
    v[start->d] *= 1 + 2e-12;
    rf_la_scale(v, 1 / rf_la_norm(v, start->d + 1), start->d + 1);
  }
}

void rf_claim_count_flow(RfClaimRun *run, RfStatus status) {
  if (status == RF_OK || status == RF_NOT_SEPARABLE)
    rf_claim_made(run, "flows", 1);
  else
    rf_claim_dropped(run, "flows", 1);
}

RfStatus rf_claim_run_flow(RfClaimRun *run, RfFlowResult *result, const RfFlowProblem *problem,
                           const RfFlowSettings *settings) {
  RfStatus status = rf_flow_run(run->context, result, problem, settings);
  rf_claim_count_flow(run, status);
  return status;
}

RfStatus rf_claim_flow(RfClaimRun *run, RfFlowResult *result, const RfClaimSetting *setting) {
  RfFlowProblem problem = setting->problem; /* the setting may have been moved since it was made */
  problem.start = &setting->start;
  RfStatus status = rf_claim_run_flow(run, result, &problem, &setting->flow);
  return status > 0 && status != RF_INTERRUPTED ? RF_OK : status;
}

void rf_claim_moment_net(RfNet *net, const RfFlowMoment *moment) {
  rf_index d = moment->d;
  for (rf_index k = 0; k < moment->m; k++) {
    double size = exp(moment->log_norms[k]);
    const double *direction = moment->directions + k * (d + 1);
    for (rf_index j = 0; j < d; j++) net->W[k * d + j] = size * direction[j];
    net->a[k] = size * direction[d];
  }
}
