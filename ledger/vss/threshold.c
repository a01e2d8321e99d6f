/* Theorem 2.1 of Vardi, Shamir, Srebro asks for a start with loss below 1. One sample x = 1, one ReLU neuron
 * with a = -w, w > 0: the output is -w^2, and the flow of the logistic loss keeps a = -w and ends at the
 * origin, where the loss is ln 2 (MP-VSS-02). From a start with loss below ln 2 it falls to 0. */
#include <math.h>
#include <stdio.h>

#include "kit/figure.h"
#include "core/core.h"
#include "kit/networks.h"
#include "vss/vss.h"

enum { n_starts = 4, n_times = 121 };

/* Outputs at the start: at the printed threshold and below it but wrong, at the origin, and right. */
static const double outputs[n_starts] = {-0.5, -0.3, 0, 0.1};
static const RfColour colours[n_starts] = {RF_COLOUR_VERMILION, RF_COLOUR_ORANGE, RF_COLOUR_PURPLE,
                                           RF_COLOUR_BLUE};

/* The loss at times 10^{-1} .. 10^{3}, and the start of the series at t = 0. */
static RfStatus follow(RfClaimRun *run, double *loss, const double *times, double output) {
  static const double x[] = {1}, y[] = {1};
  static const rf_index widths[] = {1, 1, 1};
  RfLayeredNet net;
  RfLayeredFlow flow = {0};
  RfStatus status = rf_claim_dense(run->context, &net, widths, 2, 0);
  if (status) return status;
  net.theta[0] = sqrt(fabs(output)), net.theta[1] = output < 0 ? -net.theta[0] : net.theta[0];
  status = rf_layered_flow_new(run->context, &flow, &net, x, y, 1, RF_LOSS_LOGISTIC);
  for (int k = 0; k < n_times && !status; k++) {
    if (output != 0) status = rf_layered_flow_to_time(run->context, &flow, times[k]); /* the origin stays */
    loss[k] = exp(flow.log_loss);
  }
  rf_layered_flow_free(&flow);
  rf_layers_free(&net);
  return status;
}

/* Left: the two losses of one sample. Where the logistic one is below 1 although the output is wrong. */
static void draw_losses(RfSvg *svg) {
  enum { points = 101 };
  double q[points], logistic[points], exponential[points];
  for (int k = 0; k < points; k++) {
    q[k] = -1 + 2.5 * k / (points - 1);
    logistic[k] = log1p(exp(-q[k])), exponential[k] = exp(-q[k]);
  }
  RfPlot plot = {.svg = svg, .left = 66, .top = 58, .width = 300, .height = 230};
  plot.x = (RfAxis){.low = -1, .high = 1.5, .label = "output y f(x) of one sample"};
  plot.y = (RfAxis){.low = 0, .high = 1.6, .label = "loss"};
  double wrong = -log(expm1(1)); /* logistic loss 1 */
  double px[] = {rf_plot_x(&plot, wrong), rf_plot_x(&plot, 0), rf_plot_x(&plot, 0), rf_plot_x(&plot, wrong)};
  double py[] = {rf_plot_y(&plot, 0), rf_plot_y(&plot, 0), rf_plot_y(&plot, 1), rf_plot_y(&plot, 1)};
  rf_svg_polygon(svg, px, py, 4, RF_COLOUR_ORANGE, 0.25);
  rf_plot_axes(&plot);
  const double ends[] = {-1, 1.5}, printed[] = {1, 1}, right[] = {log(2), log(2)};
  rf_plot_line(&plot, ends, printed, 2, (RfPen){.colour = RF_COLOUR_INK, .width = 1.5, .dashed = true});
  rf_plot_line(&plot, ends, right, 2, (RfPen){.colour = RF_COLOUR_GREEN, .width = 1.5, .dashed = true});
  rf_plot_line(&plot, q, exponential, points, (RfPen){.colour = RF_COLOUR_SKY, .width = 2.2});
  rf_plot_line(&plot, q, logistic, points, (RfPen){.colour = RF_COLOUR_BLUE, .width = 2.2});
  rf_svg_label(svg, rf_plot_x(&plot, 1.48), rf_plot_y(&plot, 1) - 6, RF_ANCHOR_END, 12, RF_COLOUR_INK,
               "printed threshold 1");
  rf_svg_label(svg, rf_plot_x(&plot, 1.48), rf_plot_y(&plot, log(2)) - 6, RF_ANCHOR_END, 12, RF_COLOUR_GREEN,
               "ln 2");
  rf_svg_label(svg, rf_plot_x(&plot, wrong / 2), rf_plot_y(&plot, 0.12), RF_ANCHOR_MIDDLE, 12, RF_COLOUR_INK,
               "loss < 1");
  rf_svg_label(svg, rf_plot_x(&plot, wrong / 2), rf_plot_y(&plot, 0.02), RF_ANCHOR_MIDDLE, 12, RF_COLOUR_INK,
               "but wrong");
  static const RfLegendEntry entries[] = {{"logistic", RF_COLOUR_BLUE, -1},
                                          {"exponential", RF_COLOUR_SKY, -1}};
  rf_svg_legend(svg, 66, 34, 300, entries, 2);
}

static void draw_flows(RfSvg *svg, const double *times, double (*losses)[n_times]) {
  static char names[n_starts][48];
  RfLegendEntry entries[n_starts];
  RfPlot plot = {.svg = svg, .left = 440, .top = 78, .width = 300, .height = 210};
  plot.x = (RfAxis){.low = times[0], .high = times[n_times - 1], .log = true, .label = "time t"};
  plot.y = (RfAxis){.low = 0, .high = 1.05, .label = "logistic loss along the flow"};
  rf_plot_axes(&plot);
  const double ends[] = {plot.x.low, plot.x.high}, right[] = {log(2), log(2)};
  rf_plot_line(&plot, ends, right, 2, (RfPen){.colour = RF_COLOUR_GREEN, .width = 1.5, .dashed = true});
  for (int k = 0; k < n_starts; k++) {
    rf_plot_line(&plot, times, losses[k], n_times, (RfPen){.colour = colours[k], .width = 2.2});
    rf_format(names[k], sizeof names[k], "start %g", outputs[k]);
    entries[k] = (RfLegendEntry){names[k], colours[k], -1};
  }
  rf_svg_legend(svg, 440, 34, 310, entries, n_starts);
}

RfStatus rf_vss_01_threshold(RfClaimRun *run) {
  double times[n_times], losses[n_starts][n_times];
  const double *columns[n_starts + 1] = {times};
  RfStatus status = RF_OK;
  for (int k = 0; k < n_times; k++) times[k] = pow(10, -1 + 4.0 * k / (n_times - 1));
  for (int s = 0; s < n_starts && !status; s++) {
    status = follow(run, losses[s], times, outputs[s]);
    columns[s + 1] = losses[s];
  }
  if (status) return status;
  for (int s = 0; s < 3; s++)
    rf_claim_at_least(run, "loss of a start below 1 that never separates", losses[s][n_times - 1], log(2),
                      1e-12);
  rf_claim_at_most(run, "loss of a start below ln 2, at t = 1000", losses[3][n_times - 1], 0, 2e-3);
  status = rf_claim_series(run, "front-vss-theorem-2-1.csv",
                           "t,loss_from_output_-0.5,loss_from_-0.3,loss_from_0,loss_from_0.1", columns,
                           n_starts + 1, n_times);
  if (status || !rf_claim_draws(run)) return status;
  RfSvg svg;
  rf_svg_begin(&svg, 760, 340, "Theorem 2.1 of Vardi, Shamir, Srebro: the threshold of the logistic loss",
               "Left: the logistic loss is below 1 for outputs above -0.541. Right: from such starts the "
               "flow stops at "
               "loss ln 2.");
  rf_svg_label(
      &svg, 20, 20, RF_ANCHOR_START, 14, RF_COLOUR_INK,
      "Loss below 1 does not mean classified (left), and then the flow may end at the origin (right)");
  draw_losses(&svg);
  draw_flows(&svg, times, losses);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "front-vss-theorem-2-1.svg");
}
