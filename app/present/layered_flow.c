/* The flow of a layered network: JSON, page and picture. */
#include <math.h>
#include <stdio.h>

#include "present/present_internal.h"
#include "core/core.h"

static void support_json(RfJson *json, const RfLayeredLimit *limit) {
  if (!limit->margins) return rf_json_null(json, "support");
  rf_json_array(json, "support");
  for (rf_index i = 0; i < limit->n; i++)
    if (limit->margins[i] <= 1 + 1e-9) rf_json_integer(json, NULL, i);
  rf_json_end(json);
}

static void limit_json(RfJson *json, const RfLayeredLimit *limit) {
  rf_json_object(json, "limit");
  rf_json_null(json, "W"), rf_json_null(json, "a");
  rf_json_layered_net(json, &limit->net);
  rf_json_number(json, "margin", limit->margin);
  rf_json_numbers(json, "margins", limit->margins, limit->n);
  support_json(json, limit);
  rf_json_null(json, "groups"), rf_json_null(json, "vanishing"), rf_json_null(json, "dead");
  rf_json_object(json, "kkt");
  rf_json_number(json, "stationarity", limit->stationarity);
  rf_json_number(json, "complementarity", limit->complementarity);
  rf_json_numbers(json, "lambda", limit->lambda, limit->n);
  rf_json_end(json);
  rf_json_null(json, "resting");
  rf_json_number(json, "direction_error", limit->direction_error);
  rf_json_null(json, "compared");
  rf_json_string(json, "status", rf_flow_outcome_name(limit->outcome));
  rf_json_string(json, "why", limit->why[0] ? limit->why : NULL);
  rf_json_string(json, "reason", limit->outcome == RF_FLOW_UNDECIDED ? limit->why : NULL);
  rf_json_array(json, "candidates");
  rf_json_end(json);
  rf_json_end(json);
}

static void verdict_json(RfJson *json, const RfLayeredLimit *limit, const RfLayeredCertificate *certificate) {
  rf_json_object(json, "verdict");
  rf_json_answer(json, "kkt", limit->outcome == RF_FLOW_CONVERGED ? RF_YES : RF_UNKNOWN);
  rf_json_string(json, "local", certificate ? rf_verdict_name(certificate->local) : NULL);
  rf_json_string(json, "global", certificate ? rf_verdict_name(certificate->global) : NULL);
  rf_json_number(json, "gap", certificate ? certificate->gap : NAN);
  rf_json_end(json);
}

void rf_json_layered_flow(RfJson *json, const RfStudyLayered *study) {
  const RfLayeredLimit *limit = &study->limit;
  rf_json_string(json, "name", study->data->name);
  rf_json_integer(json, "n", study->data->n);
  rf_json_integer(json, "d", study->data->d);
  rf_json_null(json, "width");
  rf_json_number(json, "leak", limit->net.leak);
  rf_json_string(json, "loss", rf_loss_name(study->loss));
  rf_json_string(json, "norm", study->mean ? "mean" : "sum");
  rf_json_string(json, "init", study->init);
  rf_json_number(json, "log_scale", study->log_scale);
  rf_json_null(json, "alignment"), rf_json_null(json, "phases"), rf_json_null(json, "events");
  rf_json_null(json, "n_events");
  rf_json_boolean(json, "branched", false);
  limit_json(json, limit);
  rf_json_trace(json, limit->trace, limit->n_trace);
  rf_json_null(json, "frames");
  rf_json_object(json, "end");
  rf_json_number(json, "log_t", limit->log_t);
  rf_json_number(json, "log_loss", limit->log_loss);
  rf_json_number(json, "log_norm", limit->log_norm);
  rf_json_end(json);
  rf_json_object(json, "monitors");
  rf_json_number(json, "balance_error", limit->drift);
  rf_json_null(json, "energy_error"), rf_json_null(json, "smoothed_margin_monotone");
  rf_json_integer(json, "steps", limit->steps);
  rf_json_null(json, "escapes");
  rf_json_end(json);
  rf_json_null(json, "audit");
  verdict_json(json, limit, study->judged ? &study->certificate : NULL);
  rf_json_null(json, "choice"), rf_json_null(json, "positive_class");
}

void rf_text_layered_flow(RfText *page, const RfStudyLayered *study, int width) {
  const RfLayeredLimit *limit = &study->limit;
  rf_text_styled(page, RF_BOLD, study->data->name ? study->data->name : "data");
  rf_text_addf(page, "  %lld samples in %lld dimensions\n", (long long)study->data->n,
               (long long)study->data->d);
  rf_text_addf(page, "%lld layers, %lld weights, leak %g, %s loss (%s), start %s\n\n",
               (long long)limit->net.n_layers, (long long)limit->net.n_parameters, limit->net.leak,
               rf_loss_name(study->loss), study->mean ? "mean" : "sum", study->init ? study->init : "given");
  rf_text_addf(page, "Flow to ln t = %.6g, loss e^%.6g, |theta| = %.6g\n", limit->log_t, limit->log_loss,
               exp(limit->log_norm));
  rf_text_styled(page, RF_BOLD, "Limit  ");
  rf_text_styled(page, limit->outcome == RF_FLOW_CONVERGED ? RF_GOOD : RF_BAD,
                 rf_flow_outcome_name(limit->outcome));
  rf_text_addf(page, "%s%s\n", limit->why[0] ? ": " : "", limit->why);
  if (isfinite(limit->margin)) rf_text_addf(page, "  margin     %.15g\n", limit->margin);
  if (isfinite(limit->stationarity))
    rf_text_addf(page, "  KKT        stationarity %.1e, complementarity %.1e\n", limit->stationarity,
                 limit->complementarity);
  if (limit->outcome == RF_FLOW_CONVERGED && limit->held > 0)
    rf_text_addf(page, "  kinks      %lld hidden inputs are 0 at the limit, with slopes in between\n",
                 (long long)limit->held);
  if (isfinite(limit->direction_error))
    rf_text_addf(page, "  direction  two runs agree to %.1e\n", limit->direction_error);
  if (study->judged) rf_text_layered_certificate(page, &study->certificate, width);
  rf_text_style(page, RF_DIM);
  rf_text_addf(page, "\n%.3g s, %lld steps; layers stay balanced to %.1e\n", study->seconds,
               (long long)limit->steps, limit->drift);
  rf_text_style(page, RF_PLAIN);
}

/* ---- picture ------------------------------------------------------------------------------- */

static double pick(const RfFlowTrace *row, int which) {
  const double per_log10 = 1 / log(10);
  switch (which) {
  case 0: return row->log_loss * per_log10;
  case 1: return row->log_norm * per_log10;
  case 2: return row->margin;
  default: return row->smoothed_margin;
  }
}

/* One panel over ln t; the third shows both margins and the limit. */
static void panel(RfSvg *svg, const RfLayeredLimit *limit, const double *t, double *values, int which) {
  static const char *const labels[] = {"log10 loss", "log10 |\xCE\xB8|", "margin / |\xCE\xB8|^D"};
  static const RfColour colours[] = {RF_COLOUR_PURPLE, RF_COLOUR_INK, RF_COLOUR_GREEN, RF_COLOUR_PURPLE};
  rf_index rows = limit->n_trace;
  RfPlot plot = {.svg = svg,
                 .left = 66,
                 .top = 20 + 168 * which,
                 .width = 415,
                 .height = 130,
                 .x = {.low = INFINITY, .high = -INFINITY, .label = which == 2 ? "ln t" : ""},
                 .y = {.low = INFINITY, .high = -INFINITY, .label = labels[which]}};
  rf_axis_cover(&plot.x, t, rows);
  for (rf_index k = 0; k < rows; k++) values[k] = pick(&limit->trace[k], which);
  rf_axis_cover(&plot.y, values, rows);
  if (which == 2 && isfinite(limit->margin)) rf_axis_cover(&plot.y, &limit->margin, 1);
  rf_axis_pad(&plot.x, 0.02);
  rf_axis_pad(&plot.y, 0.08);
  rf_plot_axes(&plot);
  if (which == 2 && isfinite(limit->margin)) {
    double x[] = {plot.x.low, plot.x.high}, y[] = {limit->margin, limit->margin};
    rf_plot_line(&plot, x, y, 2, (RfPen){.colour = RF_COLOUR_INK, .width = 1.2, .dashed = true});
  }
  rf_plot_line(&plot, t, values, rows, (RfPen){.colour = colours[which], .width = 2});
  if (which < 2) return;
  for (rf_index k = 0; k < rows; k++) {
    values[k] = pick(&limit->trace[k], 3);
    if (!(values[k] >= plot.y.low)) values[k] = NAN; /* far below before separation */
  }
  rf_plot_line(&plot, t, values, rows, (RfPen){.colour = colours[3], .width = 2});
}

void rf_svg_layered_flow(RfSvg *svg, const RfStudyLayered *study) {
  const RfLayeredLimit *limit = &study->limit;
  double *t = RF_NEW(double, limit->n_trace), *values = RF_NEW(double, limit->n_trace);
  rf_svg_begin(svg, 500, 590, "Loss, norm and margins", "Three quantities along the run over ln t");
  for (rf_index k = 0; k < limit->n_trace && t; k++)
    t[k] = isfinite(limit->trace[k].log_t) ? limit->trace[k].log_t : NAN;
  for (int which = 0; which < 3 && t && values; which++) panel(svg, limit, t, values, which);
  const RfLegendEntry entries[] = {{"margin", RF_COLOUR_GREEN, -1},
                                   {"smoothed margin", RF_COLOUR_PURPLE, -1},
                                   {"margin at t = \xE2\x88\x9E", RF_COLOUR_INK, -2}};
  rf_svg_legend(svg, 16, 560, 480, entries, isfinite(limit->margin) ? 3 : 2);
  rf_free(t), rf_free(values);
  rf_svg_end(svg);
}

void rf_html_layered_flow(RfText *html, const RfStudyLayered *study) {
  const RfLayeredLimit *limit = &study->limit;
  char line[256];
  RfText plain = {0};
  RfSvg svg;
  rf_html_section(html, study->data->name ? study->data->name : "data");
  if (limit->outcome == RF_FLOW_CONVERGED)
    rf_format(line, sizeof line, "The flow converges to a direction with margin %.12g.", limit->margin);
  else
    rf_format(line, sizeof line, "%s%s%s", rf_flow_outcome_name(limit->outcome), limit->why[0] ? ": " : "",
              limit->why);
  rf_html_verdict(html, limit->outcome == RF_FLOW_CONVERGED ? RF_GOOD : RF_BAD, line);
  if (limit->n_trace > 1) {
    rf_svg_layered_flow(&svg, study);
    rf_html_picture(html, &svg, "Loss, norm and margins along the run; dashed: the margin of the limit.");
    rf_svg_free(&svg);
  }
  rf_text_layered_flow(&plain, study, 100);
  rf_html_fold(html, "The run as the terminal shows it");
  rf_html_preformatted(html, rf_text_string(&plain));
  rf_html_fold_end(html);
  if (plain.failed) html->failed = true;
  rf_text_free(&plain);
}
