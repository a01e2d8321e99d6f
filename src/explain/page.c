/* The explanation as ten lines, as JSON, and as one self-contained page. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "explain_internal.h"

static RfFlowReport flow_report(const RfExplanation *e, int detail) {
  const RfCertificate *c = &e->certificate;
  bool judged = e->has_certificate;
  return (RfFlowReport){.name = e->data->name,
                        .init = rf_init_name(e->settings.init),
                        .problem = &e->problem,
                        .result = &e->flow,
                        .detail = detail,
                        .t_bound = e->inspection.theory.alignment.t1,
                        .kkt = !judged        ? RF_UNKNOWN
                               : c->kkt.holds ? RF_YES
                                              : RF_NO,
                        .local = judged ? rf_verdict_text(c->local) : NULL,
                        .global = judged ? rf_verdict_text(c->global) : NULL,
                        .gap = judged ? c->gap : NAN,
                        .seconds = e->flow_seconds};
}

/* Good news, bad news, or neither: the colour of the verdict. */
static RfStyle mood(const RfExplanation *e) {
  if (e->flow.limit.outcome != RF_FLOW_CONVERGED) return RF_BAD;
  if (!e->has_certificate || e->certificate.global == RF_VERDICT_UNKNOWN) return RF_PLAIN;
  return e->certificate.global == RF_VERDICT_OPTIMUM ? RF_GOOD : RF_BAD;
}

static void verdict(char *out, size_t size, const RfExplanation *e) {
  if (e->flow.limit.outcome != RF_FLOW_CONVERGED)
    snprintf(out, size, "Gradient flow from this start: %s.", rf_flow_outcome_name(e->flow.limit.outcome));
  else if (e->has_certificate && e->certificate.global == RF_VERDICT_OPTIMUM)
    snprintf(out, size, "Gradient flow finds the best margin there is, %.10g.", e->flow.limit.margin);
  else if (e->has_certificate && e->certificate.global == RF_VERDICT_NOT_OPTIMUM)
    snprintf(out, size, "Gradient flow converges to margin %.10g; the best is %.10g.", e->flow.limit.margin,
             1 / (2 * e->certificate.best));
  else
    snprintf(out, size, "Gradient flow converges to margin %.10g; whether that is the best is not decided.",
             e->flow.limit.margin);
}

void rf_explanation_page(RfText *page, const RfExplanation *e, int width) {
  char line[RF_EXPLAIN_SENTENCE];
  verdict(line, sizeof line, e);
  rf_text_styled(page, RF_BOLD, e->data->name ? e->data->name : "data");
  rf_text_add(page, "  ");
  rf_text_styled(page, mood(e), line);
  rf_text_add(page, "\n");
  for (rf_index k = 0; k < e->n_sentences; k++) {
    rf_text_addf(page, "%2lld  ", (long long)k + 1);
    rf_text_wrap(page, e->sentences[k], 4, width);
  }
}

void rf_explanation_json(RfJson *json, const RfExplanation *e, int detail) {
  RfFlowReport report = flow_report(e, detail);
  rf_json_object(json, "inspect");
  rf_inspection_json(json, &e->inspection);
  rf_json_end(json);
  rf_json_object(json, "predicted");
  rf_json_string(json, "theorem", e->prediction ? e->prediction->theorem : NULL);
  char limit[RF_EXPLAIN_SENTENCE];
  if (e->prediction)
    snprintf(limit, sizeof limit, "%lld group%s of equal neurons, normalised margin %.17g",
             (long long)e->prediction->groups, e->prediction->groups == 1 ? "" : "s", e->prediction->margin);
  rf_json_string(json, "limit", e->prediction ? limit : NULL);
  rf_json_number(json, "margin", e->prediction ? e->prediction->margin : NAN);
  rf_json_string(json, "when", e->prediction ? e->prediction->when : NULL);
  rf_json_string(json, "why", e->why);
  rf_json_end(json);
  rf_json_object(json, "flow");
  rf_json_flow(json, &report);
  rf_json_null(json, "per_class");
  rf_json_end(json);
  if (e->has_certificate) {
    rf_json_object(json, "certify");
    rf_certificate_json(json, &e->certificate);
    rf_json_end(json);
  } else {
    rf_json_null(json, "certify");
  }
  rf_json_object(json, "maxmargin");
  rf_json_optimum(json, "global", e->has_optimum ? &e->optimum : NULL, &e->optimum_settings, detail);
  rf_json_linear_margin(json, "linear", &e->inspection.linear, false);
  rf_json_class_margin(json, "positive", &e->inspection.positive);
  rf_json_class_margin(json, "negative", &e->inspection.negative);
  rf_json_end(json);
  rf_json_array(json, "sentences");
  for (rf_index k = 0; k < e->n_sentences; k++) rf_json_string(json, NULL, e->sentences[k]);
  rf_json_end(json);
}

static void add_picture(RfText *page, const RfInspection *inspection,
                        void (*draw)(RfSvg *, const RfInspection *), const char *caption) {
  RfSvg svg;
  draw(&svg, inspection);
  rf_html_picture(page, &svg, caption);
  rf_svg_free(&svg);
}

static void data_section(RfText *page, const RfExplanation *e) {
  const RfInspection *i = &e->inspection;
  rf_html_section(page, "What the data decide");
  if (e->data->d == 2) {
    add_picture(page, i, rf_inspection_plane_svg,
                "The samples, the max-margin separator w*, the class vectors w+ and w-, the cones S+ and S-, "
                "and the directions that "
                "neurons turn to while the network is small.");
    add_picture(page, i, rf_inspection_potential_svg,
                "G on the circle: neurons climb it (a > 0) or descend it (a < 0).");
  } else if (i->linear.status == RF_OK) {
    add_picture(page, i, rf_inspection_margins_svg, "Margins of the samples under the max-margin separator.");
  }
  RfTable table;
  rf_table_init(&table, "lll", "theorem|applies|why");
  for (rf_index k = 0; k < i->theory.n_theorems; k++) {
    const RfTheorem *theorem = &i->theory.theorems[k];
    rf_table_cell(&table, "%s", theorem->id);
    rf_table_cell(&table, "%s",
                  theorem->applies == RF_YES  ? "yes"
                  : theorem->applies == RF_NO ? "no"
                                              : "not decided");
    rf_table_cell(&table, "%s", theorem->why);
  }
  rf_table_html(page, &table);
  rf_table_free(&table);
}

static void margins_section(RfText *page, const RfExplanation *e) {
  RfTable table;
  rf_html_section(page, "Margins compared");
  rf_table_init(&table, "lrl", "network|normalised margin|how it is known");
  if (e->prediction) {
    rf_table_cell(&table, "predicted by %s", e->prediction->theorem);
    rf_table_cell(&table, "%.12g", e->prediction->margin);
    rf_table_cell(&table, "computed from the data alone");
  }
  if (e->flow.limit.outcome == RF_FLOW_CONVERGED) {
    rf_table_cell(&table, "limit of gradient flow");
    rf_table_cell(&table, "%.12g", e->flow.limit.margin);
    rf_table_cell(&table, "KKT residual %.1e, escape test passed", e->flow.limit.stationarity);
  }
  if (e->has_optimum && isfinite(e->optimum.objective)) {
    rf_table_cell(&table, "best network of any width");
    rf_table_cell(&table, "%.12g", 1 / (2 * e->optimum.objective));
    rf_table_cell(&table, "certified gap %.1e, %lld neurons", e->optimum.gap,
                  (long long)e->optimum.width_needed);
  }
  rf_table_html(page, &table);
  rf_table_free(&table);
}

RfStatus rf_explanation_html(RfContext *context, RfText *page, const RfExplanation *e) {
  char line[RF_EXPLAIN_SENTENCE];
  RfFlowPaths paths = {0};
  RfFlowReport report = flow_report(e, 0);
  RfStatus status = rf_flow_paths_new(context, &paths, &e->problem, &e->flow, 60);
  if (status < 0) return status;
  verdict(line, sizeof line, e);
  rf_html_begin(page, "What gradient flow learns here", e->data->name);
  rf_html_verdict(page, mood(e), line);
  for (rf_index k = 0; k < e->n_sentences; k++) rf_html_paragraph(page, e->sentences[k]);
  margins_section(page, e);
  rf_html_section(page, "Where the flow goes");
  rf_html_flow(page, &report, &paths);
  data_section(page, e);
  rf_html_end(page);
  rf_flow_paths_free(&paths);
  return RF_OK;
}
