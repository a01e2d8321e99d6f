/* One walk: inspect, predict, flow, optimum, certify. Each step uses the results of the ones before, and has
 * its own limit of time: a step that is cut short leaves what it knows, and the sentences say so. */
#include "reluflow/study.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/study_internal.h"

RfExplainSettings rf_explain_settings_default(void) {
  return (RfExplainSettings){.loss = RF_LOSS_LOGISTIC,
                             .init = RF_INIT_BALANCED,
                             .width = 50,
                             .log_scale = log(1e-6),
                             .inspect_seconds = 30,
                             .flow_seconds = 60,
                             .optimum_seconds = 20,
                             .certify_seconds = 20,
                             .trace = 200};
}

void rf_explanation_free(RfExplanation *e) {
  if (!e) return;
  for (rf_index k = 0; e->parts && k < e->n_parts; k++) rf_explanation_free(&e->parts[k]);
  rf_free(e->parts);
  rf_dataset_free(&e->part_data);
  rf_inspection_free(&e->inspection);
  rf_net_free(&e->start_net);
  rf_flow_start_free(&e->start);
  rf_flow_result_free(&e->flow);
  rf_certificate_free(&e->certificate);
  rf_optimum_free(&e->optimum);
  memset(e, 0, sizeof *e);
}

/* The same context with an earlier deadline. */
static RfContext limited(const RfContext *context, double seconds) {
  RfContext own = *context;
  own.deadline = fmin(own.deadline, rf_clock_seconds() + seconds);
  return own;
}

/* A failure inside a limited context is one of the caller's. */
static RfStatus hand_up(RfContext *context, const RfContext *own, RfStatus status) {
  return status < 0 ? rf_fail(context, status, "%s", own->error) : status;
}

/* The reason of the theorem that predicts, or the reasons of those that come closest, each once. */
static void find_prediction(RfExplanation *e) {
  const RfTheory *theory = &e->seen->theory;
  if (theory->n_predictions > 0) {
    e->prediction = &theory->predictions[0];
    const RfTheorem *theorem = rf_theory_find(theory, e->prediction->theorem);
    rf_format(e->why, sizeof e->why, "%s", theorem ? theorem->why : "");
    return;
  }
  static const char *const candidates[] = {"PL-Thm1", "LLWA-Thm4.3", "LLWA-ThmA.7"};
  const char *last = "";
  size_t used = 0;
  for (int k = 0; k < 3 && used < sizeof e->why; k++) {
    const RfTheorem *theorem = rf_theory_find(theory, candidates[k]);
    if (!theorem || strcmp(theorem->why, last) == 0) continue;
    last = theorem->why;
    int more =
        rf_format(e->why + used, sizeof e->why - used, "%s%s: %s", used ? "; " : "", theorem->id, last);
    used += more > 0 ? (size_t)more : 0;
  }
}

/* Samples with y f(x) <= 0 at the limit, or where the integration ended. */
static void count_wrong(RfContext *context, RfExplanation *e) {
  const RfDataset *data = e->data;
  const RfNet *net = e->flow.limit.net.W ? &e->flow.limit.net : &e->flow.net_end;
  double *out = net->W ? RF_NEW(double, data->n) : NULL;
  e->n_wrong = -1;
  if (out && rf_net_outputs(context, out, net, data->X, data->n) == RF_OK) {
    e->n_wrong = 0;
    for (rf_index i = 0; i < data->n; i++) e->n_wrong += !(data->y[i] * out[i] > 0);
  }
  rf_free(out);
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
  RfContext own = limited(context, s->flow_seconds);
  status = hand_up(context, &own, rf_flow_run(&own, &e->flow, &e->problem, &settings));
  e->flow_seconds = rf_clock_seconds() - began;
  if (status < 0) return status;
  e->has_flow = true;
  count_wrong(context, e);
  if (status != RF_INTERRUPTED || rf_context_stop(context)) return status;
  if (e->flow.limit.outcome == RF_FLOW_CONVERGED) return RF_OK; /* only the second run was cut short */
  e->flow_stopped = true;
  return RF_LIMIT;
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
  RfContext own = limited(context, e->settings.certify_seconds);
  RfStatus status = rf_certify(&own, &e->certificate, &e->flow.limit.net, data->X, data->y, data->n, &s);
  e->has_certificate = status >= 0;
  return status < 0 ? hand_up(context, &own, status) : RF_OK;
}

/* Everything after the inspection, for two classes. Returns the outcome of the flow, or a failure. */
static RfStatus walk(RfContext *context, RfExplanation *e) {
  find_prediction(e);
  rf_progress(context, "gradient flow", -1, e->positive_class ? e->positive_class : "");
  RfStatus flowed = run_flow(context, e);
  if (flowed < 0) return flowed;
  rf_progress(context, "the best margin", -1, e->positive_class ? e->positive_class : "");
  RfStatus status = run_optimum(context, e);
  if (status >= 0 && e->flow.limit.outcome == RF_FLOW_CONVERGED) status = run_certificate(context, e);
  if (status < 0) return status;
  rf_explain_sentences(e);
  return flowed;
}

static RfStatus walk_part(RfContext *context, RfExplanation *whole, rf_index k) {
  RfExplanation *part = &whole->parts[k];
  RfExplainSettings *s = &part->settings;
  double share = 1 / (double)whole->n_parts;
  part->settings = whole->settings;
  s->flow_seconds *= share, s->optimum_seconds *= share, s->certify_seconds *= share;
  part->seen = &whole->inspection.parts[k];
  part->positive_class = whole->data->class_names[k];
  RfStatus status = rf_dataset_one_versus_rest(context, &part->part_data, whole->data, k);
  if (status) return status;
  rf_free(part->part_data.X); /* the samples themselves are shared */
  part->part_data.X = whole->data->X, part->part_data.borrows_X = true;
  part->data = &part->part_data;
  return walk(context, part);
}

/* The worse of two outcomes: a failure, cut short, undecided, branched, not separated. */
static RfStatus worse(RfStatus a, RfStatus b) {
  static const RfStatus order[] = {RF_INTERRUPTED, RF_LIMIT, RF_UNDECIDED, RF_BRANCHED, RF_NOT_SEPARABLE};
  if (a < 0 || b < 0) return a < 0 ? a : b;
  for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
    if (a == order[k] || b == order[k]) return order[k];
  return RF_OK;
}

static RfStatus walk_parts(RfContext *context, RfExplanation *e) {
  if (e->inspection.n_parts != e->data->n_classes)
    return rf_fail(context, RF_ERR_NUMERIC, "stopped before the classes were told apart");
  e->parts = RF_NEW(RfExplanation, e->data->n_classes);
  if (!e->parts) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  e->n_parts = e->data->n_classes;
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < e->n_parts && status >= 0; k++) status = worse(status, walk_part(context, e, k));
  if (status >= 0) rf_explain_class_sentences(e);
  return status;
}

RfStatus rf_explain_run(RfContext *context, RfExplanation *e, const RfDataset *data,
                        const RfExplainSettings *settings) {
  memset(e, 0, sizeof *e);
  e->data = data, e->settings = *settings, e->seen = &e->inspection, e->n_wrong = -1;
  RfInspectionSettings inspect = {.leak = settings->leak, .loss = settings->loss};
  rf_progress(context, "what the data decide", -1, "");
  RfContext own = limited(context, settings->inspect_seconds);
  RfStatus status = hand_up(context, &own, rf_inspection_run(&own, &e->inspection, data, &inspect));
  if (status >= 0) status = data->y ? walk(context, e) : walk_parts(context, e);
  if (status < 0) {
    rf_explanation_free(e);
    return status;
  }
  return rf_context_stop(context) ? RF_INTERRUPTED : status;
}
