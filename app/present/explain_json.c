/* The explanation as JSON; several classes as lists per_class inside predicted, flow, certify and maxmargin.
 */
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

static void flow_members(RfJson *json, const RfExplanation *e, int detail) {
  RfFlowReport report = rf_explain_flow_report(e, detail);
  rf_json_flow(json, &report);
  rf_json_null(json, "per_class");
}

static void certify_members(RfJson *json, const RfExplanation *e, int detail) {
  (void)detail;
  rf_certificate_json(json, &e->certificate);
  rf_json_string(json, "positive_class", e->positive_class);
}

static void maxmargin_members(RfJson *json, const RfExplanation *e, int detail) {
  rf_json_optimum(json, "global", e->has_optimum ? &e->optimum : NULL, &e->optimum_settings, detail);
  rf_json_linear_margin(json, "linear", &e->seen->linear, false);
  rf_json_class_margin(json, "positive", &e->seen->positive);
  rf_json_class_margin(json, "negative", &e->seen->negative);
  rf_json_string(json, "positive_class", e->positive_class);
}

/* The sum of the best objectives; null when one is missing. */
static void optimum_sum(RfJson *json, const RfExplanation *e) {
  const RfOptimum **parts = RF_NEW(const RfOptimum *, e->n_parts);
  bool complete = parts != NULL;
  for (rf_index k = 0; k < e->n_parts && complete; k++)
    complete = e->parts[k].has_optimum, parts[k] = &e->parts[k].optimum;
  if (!parts) rf_json_fail(json);
  if (complete)
    rf_json_optimum_sum(json, "global", parts, e->n_parts);
  else
    rf_json_null(json, "global");
  rf_free(parts);
}

/* Object `key` with one entry per class. */
static void class_list(RfJson *json, const char *key, const RfExplanation *e, int detail,
                       void (*members)(RfJson *, const RfExplanation *, int)) {
  rf_json_object(json, key);
  if (members == maxmargin_members) optimum_sum(json, e);
  rf_json_array(json, "per_class");
  for (rf_index k = 0; k < e->n_parts; k++) {
    if (members == certify_members && !e->parts[k].has_certificate) {
      rf_json_null(json, NULL);
      continue;
    }
    rf_json_object(json, NULL);
    members(json, &e->parts[k], detail);
    rf_json_end(json);
  }
  rf_json_end(json);
  rf_json_end(json);
}

static void two_classes(RfJson *json, const RfExplanation *e, int detail) {
  rf_json_object(json, "predicted");
  predicted_members(json, e);
  rf_json_null(json, "per_class");
  rf_json_end(json);
  rf_json_object(json, "flow");
  flow_members(json, e, detail);
  rf_json_end(json);
  if (e->has_certificate) {
    rf_json_object(json, "certify");
    certify_members(json, e, detail);
    rf_json_end(json);
  } else {
    rf_json_null(json, "certify");
  }
  rf_json_object(json, "maxmargin");
  maxmargin_members(json, e, detail);
  rf_json_end(json);
}

static void several_classes(RfJson *json, const RfExplanation *e, int detail) {
  rf_json_object(json, "predicted");
  predicted_members(json, e);
  rf_json_array(json, "per_class");
  for (rf_index k = 0; k < e->n_parts; k++) {
    rf_json_object(json, NULL);
    predicted_members(json, &e->parts[k]);
    rf_json_string(json, "positive_class", e->parts[k].positive_class);
    rf_json_end(json);
  }
  rf_json_end(json);
  rf_json_end(json);
  class_list(json, "flow", e, detail, flow_members);
  class_list(json, "certify", e, detail, certify_members);
  class_list(json, "maxmargin", e, detail, maxmargin_members);
}

void rf_explanation_json(RfJson *json, const RfExplanation *e, int detail) {
  rf_json_object(json, "inspect");
  rf_inspection_json(json, &e->inspection);
  rf_json_end(json);
  (e->n_parts ? several_classes : two_classes)(json, e, detail);
  rf_json_array(json, "sentences");
  for (rf_index k = 0; k < e->n_sentences; k++) rf_json_string(json, NULL, e->sentences[k]);
  rf_json_end(json);
}
