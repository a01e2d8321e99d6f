/* The flow of a layered network, and the certificate of its limit. */
#include <math.h>
#include <string.h>

#include "la/la.h"
#include "layers/layers.h"
#include "study/study_internal.h"

void rf_study_layered_free(RfStudyLayered *study) {
  if (!study) return;
  rf_layered_limit_free(&study->limit);
  rf_layered_certificate_free(&study->certificate);
  memset(study, 0, sizeof *study);
}

static RfStatus check(RfContext *context, const RfDataset *data, const RfLayeredNet *net,
                      const RfStudyFlowSettings *s) {
  if (s->start.in_limit)
    return rf_fail(context, RF_ERR_USAGE, "the limit of scale 0 is not for a layered network");
  if (!data->y)
    return rf_fail(context, RF_ERR_USAGE, "%s: a layered network takes two classes, the data have %lld",
                   data->name, (long long)data->n_classes);
  if (rf_layers_inputs(net) != data->d)
    return rf_fail(context, RF_ERR_USAGE,
                   "a layered network with %lld inputs, but the data have %lld columns",
                   (long long)rf_layers_inputs(net), (long long)data->d);
  return RF_OK;
}

RfStatus rf_study_layered(RfContext *context, RfStudyLayered *study, const RfDataset *data, RfLayeredNet *net,
                          const RfStudyFlowSettings *s) {
  *study = (RfStudyLayered){
      .data = data, .init = s->start.name, .loss = s->loss, .mean = s->mean, .log_scale = s->start.log_scale};
  double began = rf_clock_seconds();
  RfStatus status = check(context, data, net, s), judged = RF_OK;
  if (status) return status;
  rf_la_scale(net->theta, exp(s->start.log_scale), net->n_parameters);
  status =
      rf_flow_run_layered(context, &study->limit, net, data->X, data->y, data->n, s->loss, s->mean, &s->flow);
  if (status >= 0 && study->limit.outcome == RF_FLOW_CONVERGED && s->verdict_seconds > 0 &&
      study->limit.held == 0) {
    judged = rf_certify_layered(context, &study->certificate, &study->limit.net, data->X, data->y, data->n);
    study->judged = judged == RF_OK;
  }
  study->seconds = rf_clock_seconds() - began;
  if (status >= 0 && judged < 0) status = judged;
  if (status < 0) rf_study_layered_free(study);
  return status;
}
