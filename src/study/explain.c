/* One walk: inspect, predict, flow, optimum, certify. Each step uses the results of the ones before, and has
 * its own limit of time: a step that is cut short leaves what it knows, and the sentences say so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/study_internal.h"
#include "core/core.h"

void rf_explain_settings_init(RfExplainSettings *settings) {
  *settings = (RfExplainSettings){.seconds = 120,
                                  .inspect_seconds = INFINITY,
                                  .flow_seconds = INFINITY,
                                  .optimum_seconds = INFINITY,
                                  .certify_seconds = INFINITY};
  rf_study_flow_settings_init(&settings->flow);
  rf_study_best_settings_init(&settings->best);
}

void rf_explanation_free(RfExplanation *e) {
  if (!e) return;
  for (rf_index k = 0; e->parts && k < e->n_parts; k++) rf_explanation_free(&e->parts[k]);
  rf_free(e->parts);
  rf_dataset_free(&e->part_data);
  rf_inspection_free(&e->inspection);
  rf_study_flow_free(&e->flow);
  rf_study_flow_free(&e->ways_flow);
  rf_certificate_free(&e->certificate);
  rf_study_best_free(&e->best);
  memset(e, 0, sizeof *e);
}

/* The same context with an earlier deadline. */
RfContext rf_study_limited(const RfContext *context, double seconds) {
  RfContext own = *context;
  own.deadline = fmin(own.deadline, rf_clock_seconds() + seconds);
  return own;
}

/* A failure inside a limited context is one of the caller's. */
RfStatus rf_study_hand_up(RfContext *context, const RfContext *own, RfStatus status) {
  return status < 0 ? rf_fail(context, status, "%s", own->error) : status;
}

const char *const rf_study_candidates[RF_STUDY_CANDIDATES] = {"PL-Thm1", "LLWA-Thm4.3", "LLWA-ThmA.7"};

/* The reason of the theorem that predicts, or the reasons of those that come closest, each once. */
static void find_prediction(RfExplanation *e) {
  const RfTheory *theory = &e->seen->theory;
  if (theory->n_predictions > 0) {
    e->prediction = &theory->predictions[0];
    const RfTheorem *theorem = rf_theory_find(theory, e->prediction->theorem);
    rf_format(e->why, sizeof e->why, "%s", theorem ? theorem->why : "");
    return;
  }
  const char *last = "";
  size_t used = 0;
  for (int k = 0; k < RF_STUDY_CANDIDATES && used < sizeof e->why; k++) {
    const RfTheorem *theorem = rf_theory_find(theory, rf_study_candidates[k]);
    if (!theorem || strcmp(theorem->why, last) == 0) continue;
    last = theorem->why;
    int more =
        rf_format(e->why + used, sizeof e->why - used, "%s%s: %s", used ? "; " : "", theorem->id, last);
    used += more > 0 ? (size_t)more : 0;
  }
}

/* Parts of the time left that the steps take: the flow leaves some for the best margin, which without a limit
 * has all that is left, and with one leaves some to the question what the limit is. */
static const double share_inspect = 0.25, share_flow = 0.6, share_best = 0.6, share_alone = 0.9;

/* Seconds for a step that may take this part of the time left, and `most` at all. Never 0, which steps read
 * as no limit. */
static double seconds_for(const RfExplanation *e, double share, double most) {
  static const double least = 1e-3;
  return fmax(least, fmin(most, share * (e->until - rf_clock_seconds())));
}

/* Samples with y f(x) <= 0 at the limit, or where the integration ended. */
static void count_wrong(RfContext *context, RfExplanation *e) {
  const RfDataset *data = e->data;
  const RfFlowResult *result = &e->flow.run.result;
  const RfNet *net = result->limit.net.W ? &result->limit.net : &result->net_end;
  double *out = net->W ? RF_NEW(double, data->n) : NULL;
  e->n_wrong = -1;
  if (out && rf_net_outputs(context, out, net, data->X, data->n) == RF_OK) {
    e->n_wrong = 0;
    for (rf_index i = 0; i < data->n; i++) e->n_wrong += !(data->y[i] * out[i] > 0);
  }
  rf_free(out);
}

static bool converged(const RfExplanation *e) {
  return e->has_flow && e->flow.run.result.limit.outcome == RF_FLOW_CONVERGED;
}

static RfStatus run_flow(RfContext *context, RfExplanation *e) {
  RfStudyFlowSettings settings = e->settings.flow;
  e->flow_capped = seconds_for(e, share_flow, INFINITY) > e->settings.flow_seconds;
  settings.flow_seconds = fmax(0.01, seconds_for(e, share_flow, e->settings.flow_seconds));
  settings.judge_later = true;
  RfStatus status = rf_study_flow(context, &e->flow, e->data, e->positive_class, &settings);
  if (status < 0) return status;
  e->has_flow = true;
  count_wrong(context, e);
  RfStatus followed =
      rf_study_ways(context, e, seconds_for(e, share_flow, e->settings.flow_seconds - e->flow.run.seconds));
  return followed < 0 ? followed : status;
}

static RfStudyBestSettings best_settings(const RfExplanation *e) {
  RfStudyBestSettings s = e->settings.best;
  s.optimum.leak = e->flow.net.leak, s.optimum.seed = e->settings.flow.start.seed;
  s.optimum.time_limit = seconds_for(e, converged(e) ? share_best : share_alone, e->settings.optimum_seconds);
  return s;
}

/* The limit, or where the flow was stopped, is a network that is known. */
static RfStatus find_best(RfContext *context, RfExplanation *e) {
  const RfFlowResult *flow = &e->flow.run.result;
  const RfNet *known[3], *way = rf_study_ways_best(e);
  rf_index n_known = 0;
  if (flow->limit.net.W) known[n_known++] = &flow->limit.net;
  if (flow->net_end.W) known[n_known++] = &flow->net_end;
  if (way) known[n_known++] = way;
  RfStudyBestSettings settings = best_settings(e);
  e->best_capped = settings.optimum.time_limit >= e->settings.optimum_seconds;
  if (converged(e)) rf_study_best_known(&settings, &flow->limit, e->data->n);
  RfStatus status = rf_study_best(context, &e->best, e->data, e->positive_class, known, n_known, &settings);
  return status < 0 ? status : RF_OK; /* running out of its own time is an answer, with the bounds so far */
}

/* What the limit is; what its multipliers prove and a better network beside it are offered to the best
 * margin, and the verdict follows. */
static RfStatus judge(RfContext *context, RfExplanation *e) {
  const RfNet *net = &e->flow.run.result.limit.net;
  RfStudyBestSettings settings = best_settings(e);
  if (e->flow.problem.freeze_second) return RF_OK;
  rf_study_run_kkt(context, &e->flow.run);
  RfStatus status =
      rf_study_certify(context, &e->certificate, e->data, net, e->best.has_global ? &e->best.global : NULL,
                       seconds_for(e, share_best, e->settings.certify_seconds));
  if (status < 0) return status;
  e->has_certificate = true;
  status = rf_study_best_multipliers(context, &e->best, &e->certificate);
  if (status < 0) return status;
  if (e->certificate.witness.m > 0)
    status = rf_study_best_offer(context, &e->best, &e->certificate.witness, &settings);
  rf_study_run_verdict(&e->flow.run, &e->certificate);
  return status < 0 ? status : RF_OK;
}

/* One proof file: kept when it was written, no failure when there is none to write. */
static RfStatus keep_proof(RfContext *context, RfExplanation *e, RfStatus status) {
  if (status == RF_OK) e->n_proofs++;
  if (status > 0)
    rf_message(context, RF_WARNING, "%s: no proof could be written", e->proofs[e->n_proofs].file);
  return status < 0 ? status : RF_OK;
}

static RfExplainProof *next_proof(RfExplanation *e, const char *name) {
  RfExplainProof *next = &e->proofs[e->n_proofs];
  if (e->part)
    rf_format(next->file, sizeof next->file, "%s/class%lld-%s.proof", e->settings.proofs, (long long)e->part,
              name);
  else
    rf_format(next->file, sizeof next->file, "%s/%s.proof", e->settings.proofs, name);
  return next;
}

/* The best margin, and the KKT residuals of the limit, as files that anyone can check. */
static RfStatus write_proofs(RfContext *context, RfExplanation *e) {
  const RfDataset *data = e->data;
  RfStatus status = RF_OK;
  if (!e->settings.proofs) return RF_OK;
  RfContext own = rf_study_limited(context, seconds_for(e, share_alone, e->settings.optimum_seconds));
  if (e->best.has_global) {
    RfExplainProof *next = next_proof(e, "maxmargin");
    status = rf_optimum_proof(&own, &next->proof, next->file, &e->best.global, data->X, data->y,
                              e->settings.best.optimum.signs);
    status = keep_proof(context, e, rf_study_hand_up(context, &own, status));
  }
  if (!status && e->has_certificate) {
    RfExplainProof *next = next_proof(e, "limit");
    status = rf_certify_proof(context, &next->proof, next->file, &e->certificate.kkt,
                              &e->flow.run.result.limit.net, data->X, data->y, data->n);
    status = keep_proof(context, e, status);
  }
  return status;
}

/* Everything after the inspection, for two classes. Returns the outcome of the flow, or a failure. */
static RfStatus walk(RfContext *context, RfExplanation *e) {
  find_prediction(e);
  rf_progress(context, "gradient flow", -1, e->positive_class ? e->positive_class : "");
  RfStatus flowed = run_flow(context, e);
  if (flowed < 0) return flowed;
  rf_progress(context, "the best margin", -1, e->positive_class ? e->positive_class : "");
  RfStatus status = find_best(context, e);
  if (status >= 0 && converged(e)) status = judge(context, e);
  if (status >= 0) status = write_proofs(context, e);
  if (status < 0) return status;
  rf_study_ways_judge(e);
  rf_explain_sentences(e);
  return flowed;
}

static RfStatus walk_part(RfContext *context, RfExplanation *whole, rf_index k) {
  RfExplanation *part = &whole->parts[k];
  RfExplainSettings *s = &part->settings;
  double share = 1 / (double)whole->n_parts, now = rf_clock_seconds();
  part->settings = whole->settings;
  part->until = now + (whole->until - now) / (double)(whole->n_parts - k); /* what others left is used */
  s->flow_seconds *= share, s->optimum_seconds *= share, s->certify_seconds *= share;
  part->seen = &whole->inspection.parts[k], part->part = k + 1;
  part->positive_class = whole->data->class_names[k];
  RfStatus status = rf_study_part(context, &part->part_data, whole->data, k);
  if (status) return status;
  part->data = &part->part_data;
  return walk(context, part);
}

static RfStatus walk_parts(RfContext *context, RfExplanation *e) {
  if (e->inspection.n_parts != e->data->n_classes)
    return rf_fail(context, RF_ERR_NUMERIC, "stopped before the classes were told apart");
  e->parts = RF_NEW(RfExplanation, e->data->n_classes);
  if (!e->parts) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  e->n_parts = e->data->n_classes;
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < e->n_parts && status >= 0; k++)
    status = rf_status_worse(status, walk_part(context, e, k));
  if (status >= 0) rf_explain_class_sentences(e);
  return status;
}

static double leak_of(const RfExplainSettings *s) {
  return s->flow.start.weights ? s->flow.start.weights->leak : s->flow.start.leak;
}

RfStatus rf_study_explain(RfContext *context, RfExplanation *e, const RfDataset *data,
                          const RfExplainSettings *settings) {
  memset(e, 0, sizeof *e);
  e->data = data, e->settings = *settings, e->seen = &e->inspection, e->n_wrong = -1;
  e->until = fmin(context->deadline, rf_clock_seconds() + settings->seconds);
  RfInspectionSettings inspect = {
      .leak = leak_of(settings), .loss = settings->flow.loss, .thorough = settings->thorough};
  rf_progress(context, "what the data decide", -1, "");
  RfContext own = rf_study_limited(context, seconds_for(e, share_inspect, settings->inspect_seconds));
  RfStatus status = rf_study_hand_up(context, &own, rf_study_inspect(&own, &e->inspection, data, &inspect));
  if (status >= 0) status = data->y ? walk(context, e) : walk_parts(context, e);
  if (status < 0) {
    rf_explanation_free(e);
    return status;
  }
  return rf_context_stop(context) ? RF_INTERRUPTED : status;
}
