/* A study of a flow, for programs and for people: every network of a dataset, with its continuations. */
#include <math.h>

#include "present/present_internal.h"

enum { MOST_PATHS = 60, FEW_PATHS = 8, MANY_NUMBERS = 1000000 };

RfFlowReport rf_flow_report(const RfStudyFlow *study, const RfStudyRun *run, int detail) {
  return (RfFlowReport){.name = study->data->name,
                        .positive_class = study->positive_class,
                        .init = study->init,
                        .problem = &study->problem,
                        .result = &run->result,
                        .frames = run->frames,
                        .n_frames = run->n_frames,
                        .detail = detail,
                        .t_bound = study->t_bound,
                        .kkt = run->kkt,
                        .local = run->judged ? rf_verdict_name(run->local) : NULL,
                        .global = run->judged ? rf_verdict_name(run->global) : NULL,
                        .gap = run->judged ? run->gap : NAN,
                        .choice = run->choice,
                        .seconds = run->seconds};
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

static void flow_json(RfJson *json, const RfStudyFlow *study, int detail) {
  RfFlowReport report = rf_flow_report(study, &study->run, detail);
  rf_json_flow(json, &report);
  if (study->n_continuations == 0) {
    rf_json_null(json, "continuations");
    rf_json_null(json, "continuations_left");
  } else {
    rf_json_integer(json, "continuations_left", study->continuations_left);
    rf_json_array(json, "continuations");
    for (rf_index k = 0; k < study->n_continuations; k++) {
      RfFlowReport other = rf_flow_report(study, &study->continuations[k], detail);
      rf_json_object(json, NULL);
      rf_json_flow(json, &other);
      rf_json_end(json);
    }
    rf_json_end(json);
  }
  rf_json_null(json, "per_class");
}

void rf_json_flows(RfJson *json, const RfDataset *whole, const RfStudyFlow *const *flows, rf_index count,
                   int detail) {
  if (whole->y) return flow_json(json, flows[0], detail);
  rf_json_string(json, "name", whole->name);
  rf_json_integer(json, "n", whole->n);
  rf_json_integer(json, "d", whole->d);
  rf_json_array(json, "per_class");
  for (rf_index k = 0; k < count; k++) {
    rf_json_object(json, NULL);
    flow_json(json, flows[k], detail);
    rf_json_end(json);
  }
  rf_json_end(json);
}

/* ---- pages ----------------------------------------------------------------------------------------- */

void rf_text_flows(RfText *page, const RfStudyFlow *const *flows, rf_index count, int detail) {
  for (rf_index k = 0; k < count; k++) {
    const RfStudyFlow *study = flows[k];
    RfFlowReport report = rf_flow_report(study, &study->run, detail);
    if (k) rf_text_add(page, "\n");
    rf_text_flow(page, &report);
    for (rf_index o = 0; o < study->n_continuations; o++) {
      RfFlowReport other = rf_flow_report(study, &study->continuations[o], detail);
      rf_text_addf(page, "\nContinuation %lld, %s\n", (long long)o, other.choice);
      rf_text_flow(page, &other);
    }
  }
}

/* A path passes every hyperplane of the data: few of them where there are many numbers. Out of time: none. */
static RfStatus find_paths(RfContext *context, RfFlowPaths *paths, const RfStudyFlow *study) {
  rf_index most = study->problem.n * study->problem.d > MANY_NUMBERS ? FEW_PATHS : MOST_PATHS;
  RfStatus status = rf_flow_paths_new(context, paths, &study->problem, &study->run.result, most);
  return status < 0 ? status : RF_OK;
}

RfStatus rf_html_flows(RfContext *context, RfText *html, const RfStudyFlow *const *flows, rf_index count) {
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < count && !status; k++) {
    RfFlowPaths paths = {0};
    RfFlowReport report = rf_flow_report(flows[k], &flows[k]->run, 0);
    status = find_paths(context, &paths, flows[k]);
    if (!status) rf_html_flow(html, &report, &paths);
    rf_flow_paths_free(&paths);
  }
  return status;
}

/* Picture number `which` of one network; false when this run does not have it. */
static bool draw_one(RfSvg *svg, int which, const RfFlowReport *report, const RfFlowPaths *paths) {
  switch (which) {
  case 0:
    if (paths->count == 0) return false; /* not followed in the time for pictures */
    rf_svg_flow_neurons(svg, report, paths);
    return true;
  case 1:
    if (report->result->n_trace < 2) return false;
    rf_svg_flow_trace(svg, report);
    return true;
  case 2:
    if (report->result->n_trace < 2) return false;
    rf_svg_flow_margins(svg, report);
    return true;
  default: rf_svg_flow_events(svg, report); return true;
  }
}

RfStatus rf_flow_pictures(RfContext *context, RfPictureFn draw, void *user, const RfStudyFlow *const *flows,
                          rf_index count) {
  static const char *const names[] = {"neurons", "trace", "margins", "events"};
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < count && !status; k++) {
    RfFlowPaths paths = {0};
    RfFlowReport report = rf_flow_report(flows[k], &flows[k]->run, 0);
    status = find_paths(context, &paths, flows[k]);
    for (int which = 0; which < 4 && !status; which++) {
      RfSvg svg;
      RfText name = {0};
      if (!draw_one(&svg, which, &report, &paths)) continue;
      if (flows[k]->positive_class) rf_text_addf(&name, "class%lld-", (long long)k);
      rf_text_addf(&name, "%s.svg", names[which]);
      status = draw(user, &svg, rf_text_string(&name));
      rf_text_free(&name);
      rf_svg_free(&svg);
    }
    rf_flow_paths_free(&paths);
  }
  return status;
}
