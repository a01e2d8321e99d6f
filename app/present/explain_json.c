/* The explanation as JSON: the very objects that inspect, flow, certify and maxmargin print. */
#include <math.h>
#include <stdio.h>

#include "present/present_internal.h"
#include "core/core.h"

static void predicted_members(RfJson *json, const RfExplanation *e) {
  const RfPrediction *prediction = e->prediction;
  char limit[RF_EXPLAIN_SENTENCE];
  if (prediction)
    rf_format(limit, sizeof limit, "%lld group%s of equal neurons, normalised margin %.17g",
              (long long)prediction->groups, prediction->groups == 1 ? "" : "s", prediction->margin);
  rf_json_string(json, "theorem", prediction ? prediction->theorem : NULL);
  rf_json_string(json, "limit", prediction ? limit : NULL);
  rf_json_number(json, "margin", prediction ? prediction->margin : NAN);
  rf_json_string(json, "when", prediction ? prediction->when : NULL);
  rf_json_string(json, "why", e->why[0] ? e->why : NULL);
}

static void certify_members(RfJson *json, const RfExplanation *e) {
  rf_json_string(json, "name", e->data->name);
  rf_json_string(json, "model", "limit of the flow");
  rf_certificate_json(json, &e->certificate);
  rf_json_null(json, "proof");
  rf_json_null(json, "optimum_proof");
  rf_robustness_json(json, NULL);
  rf_frozen_json(json, NULL);
  rf_json_string(json, "positive_class", e->positive_class);
  rf_json_null(json, "per_class");
}

static void prediction_json(RfJson *json, const RfExplanation *e) {
  rf_json_object(json, "predicted");
  predicted_members(json, e);
  if (!e->n_parts) rf_json_null(json, "per_class");
  if (e->n_parts) {
    rf_json_array(json, "per_class");
    for (rf_index k = 0; k < e->n_parts; k++) {
      rf_json_object(json, NULL);
      predicted_members(json, &e->parts[k]);
      rf_json_string(json, "positive_class", e->parts[k].positive_class);
      rf_json_end(json);
    }
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void certificates_json(RfJson *json, const RfExplanation *e) {
  if (!e->n_parts && !e->has_certificate) return rf_json_null(json, "certify");
  rf_json_object(json, "certify");
  if (!e->n_parts) certify_members(json, e);
  if (e->n_parts) {
    rf_json_array(json, "per_class");
    for (rf_index k = 0; k < e->n_parts; k++) {
      if (!e->parts[k].has_certificate) {
        rf_json_null(json, NULL);
        continue;
      }
      rf_json_object(json, NULL);
      certify_members(json, &e->parts[k]);
      rf_json_end(json);
    }
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void ways_json(RfJson *json, const RfExplanation *e) {
  const RfExplainWays *w = &e->ways;
  if (!e->has_ways) return rf_json_null(json, "continuations");
  rf_json_object(json, "continuations");
  rf_json_number(json, "log_t", w->log_t);
  rf_json_integer(json, "neuron", w->neuron);
  rf_json_integer(json, "followed", w->followed);
  rf_json_integer(json, "left", w->left);
  rf_json_integer(json, "converged", w->converged);
  rf_json_integer(json, "not_separated", w->not_separated);
  rf_json_number(json, "margin_min", w->lowest);
  rf_json_number(json, "margin_max", w->highest);
  rf_json_end(json);
}

static void proof_items(RfJson *json, const RfExplanation *e) {
  for (rf_index k = 0; k < e->n_proofs; k++) {
    const RfProof *proof = &e->proofs[k].proof;
    rf_json_object(json, NULL);
    rf_json_string(json, "file", e->proofs[k].file);
    rf_json_string(json, "claim", proof->claim);
    rf_json_number(json, "lower", proof->lower);
    rf_json_number(json, "upper", proof->upper);
    rf_json_number(json, "bytes", proof->bytes);
    rf_json_number(json, "seconds", proof->seconds);
    if (e->proofs[k].checked)
      rf_json_boolean(json, "accepted", e->proofs[k].accepted);
    else
      rf_json_null(json, "accepted");
    rf_json_string(json, "verdict", e->proofs[k].checked ? e->proofs[k].verdict : NULL);
    rf_json_string(json, "positive_class", e->positive_class);
    rf_json_end(json);
  }
}

static void proofs_json(RfJson *json, const RfExplanation *e) {
  if (!e->settings.proofs) return rf_json_null(json, "proofs");
  rf_json_array(json, "proofs");
  proof_items(json, e);
  for (rf_index k = 0; k < e->n_parts; k++) proof_items(json, &e->parts[k]);
  rf_json_end(json);
}

void rf_explanation_json(RfJson *json, const RfExplanation *e, int detail) {
  rf_json_object(json, "inspect");
  rf_inspection_json(json, &e->inspection);
  rf_json_end(json);
  prediction_json(json, e);
  RfExplainViews views;
  if (!rf_explain_views(&views, e)) return rf_json_fail(json);
  rf_json_object(json, "flow");
  rf_json_flows(json, e->data, views.flows, views.count, detail);
  rf_json_null(json, "paths");
  rf_json_end(json);
  ways_json(json, e);
  certificates_json(json, e);
  rf_json_object(json, "maxmargin");
  rf_json_bests(json, e->data, views.bests, views.count, &e->settings.best, detail);
  rf_json_null(json, "proof");
  rf_json_end(json);
  rf_explain_views_free(&views);
  proofs_json(json, e);
  rf_json_array(json, "sentences");
  for (rf_index k = 0; k < e->n_sentences; k++) rf_json_string(json, NULL, e->sentences[k]);
  rf_json_end(json);
}
