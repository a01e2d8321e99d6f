/* One walk: inspect, predict, flow, optimum, certify. Each step uses the results of the ones before. */
#include "reluflow/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "explain_internal.h"

RfExplainSettings rf_explain_settings_default(void) {
  return (RfExplainSettings){.loss = RF_LOSS_LOGISTIC,
                             .init = RF_INIT_BALANCED,
                             .width = 50,
                             .log_scale = log(1e-6),
                             .optimum_seconds = 20,
                             .trace = 200};
}

void rf_explanation_free(RfExplanation *e) {
  if (!e) return;
  rf_inspection_free(&e->inspection);
  rf_net_free(&e->start_net);
  rf_flow_start_free(&e->start);
  rf_flow_result_free(&e->flow);
  rf_certificate_free(&e->certificate);
  rf_optimum_free(&e->optimum);
  memset(e, 0, sizeof *e);
}

/* The reason of the theorem that predicts, or the reasons of the three that come closest. */
static void find_prediction(RfExplanation *e) {
  const RfTheory *theory = &e->inspection.theory;
  if (theory->n_predictions > 0) {
    e->prediction = &theory->predictions[0];
    const RfTheorem *theorem = rf_theory_find(theory, e->prediction->theorem);
    snprintf(e->why, sizeof e->why, "%s", theorem ? theorem->why : "");
    return;
  }
  static const char *const candidates[] = {"PL-Thm1", "LLWA-Thm4.3", "LLWA-ThmA.7"};
  size_t used = 0;
  for (int k = 0; k < 3 && used < sizeof e->why; k++) {
    const RfTheorem *theorem = rf_theory_find(theory, candidates[k]);
    if (!theorem) continue;
    int more = snprintf(e->why + used, sizeof e->why - used, "%s%s: %s", used ? "; " : "", theorem->id,
                        theorem->why);
    used += more > 0 ? (size_t)more : 0;
  }
}

static RfStatus run_flow(RfContext *context, RfExplanation *e) {
  const RfExplainSettings *s = &e->settings;
  const RfDataset *data = e->data;
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.trace = s->trace, settings.branches = RF_BRANCHES_FOLLOW;
  RfStatus status = rf_net_init(context, &e->start_net, s->init, s->width, data->d, s->leak, s->seed, 1);
  if (!status) status = rf_flow_start_from_net(context, &e->start, &e->start_net);
  if (status) return status;
  e->problem = (RfFlowProblem){.X = data->X,
                               .y = data->y,
                               .n = data->n,
                               .d = data->d,
                               .leak = s->leak,
                               .loss = s->loss,
                               .start = &e->start,
                               .log_scale = s->log_scale};
  double began = rf_clock_seconds();
  status = rf_flow_run(context, &e->flow, &e->problem, &settings);
  e->flow_seconds = rf_clock_seconds() - began;
  return status;
}

static RfStatus run_optimum(RfContext *context, RfExplanation *e) {
  RfOptimumSettings *s = &e->optimum_settings;
  rf_optimum_settings_init(s);
  s->leak = e->settings.leak, s->time_limit = e->settings.optimum_seconds, s->seed = e->settings.seed;
  RfStatus status = rf_optimum_solve(context, &e->optimum, e->data->X, e->data->y, e->data->n, e->data->d, s);
  e->has_optimum = status >= 0;
  return status < 0 ? status : RF_OK; /* running out of its own time is an answer, with the bounds so far */
}

static RfStatus run_certificate(RfContext *context, RfExplanation *e) {
  RfCertifySettings s;
  rf_certify_settings_init(&s);
  s.optimum = &e->optimum, s.global = e->has_optimum;
  const RfDataset *data = e->data;
  RfStatus status = rf_certify(context, &e->certificate, &e->flow.limit.net, data->X, data->y, data->n, &s);
  e->has_certificate = status >= 0;
  return status < 0 ? status : RF_OK;
}

RfStatus rf_explain_run(RfContext *context, RfExplanation *e, const RfDataset *data,
                        const RfExplainSettings *settings) {
  memset(e, 0, sizeof *e);
  e->data = data, e->settings = *settings;
  if (!data->y)
    return rf_fail(context, RF_ERR_USAGE, "explain needs two classes: choose them with --classes A,B");
  RfInspectionSettings inspect = {.leak = settings->leak, .loss = settings->loss};
  rf_progress(context, "what the data decide", -1, "");
  RfStatus status = rf_inspection_run(context, &e->inspection, data, &inspect), flowed = RF_OK;
  if (status < 0) goto fail;
  find_prediction(e);
  rf_progress(context, "gradient flow", -1, "");
  flowed = run_flow(context, e);
  if (flowed < 0) {
    status = flowed;
    goto fail;
  }
  rf_progress(context, "the best margin", -1, "");
  status = run_optimum(context, e);
  if (status >= 0 && e->flow.limit.outcome == RF_FLOW_CONVERGED) status = run_certificate(context, e);
  if (status < 0) goto fail;
  rf_explain_sentences(e);
  return rf_context_stop(context) ? RF_INTERRUPTED : flowed;
fail:
  rf_explanation_free(e);
  return status;
}
