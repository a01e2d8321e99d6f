/* Phuong and Lampert: training of section 5 and appendix D. PL-18: two layers; PL-19: the residual network
 * (30); PL-20: the shapes of Table 1; PL-21, PL-22: that network on digits. */
#include <math.h>
#include <string.h>

#include "kit/figure.h"
#include "kit/networks.h"
#include "pl/pl.h"
#include "data/data.h"
#include "la/la.h"
#include "margin/margin.h"
#include "reluflow/train.h"
#include "kit/setting.h"

/* SGD of section 5.1: rate 0.1, batches of 50, 500 epochs, batch mean; weights uniform +-0.05/sqrt(fan-in).
 */
static RfStatus train_sgd(RfClaimRun *run, RfTrainResult *result, RfLayeredNet *net, const RfDataset *data,
                          uint64_t seed) {
  RfTrainSettings settings;
  rf_train_settings_init(&settings);
  RfRandom random = rf_claim_random(run, seed);
  RfTrainData samples = {.X = data->X, .y = data->y, .n = data->n};
  settings.optimizer = RF_TRAIN_SGD, settings.rate = 0.1, settings.batch = 50, settings.mean = true;
  settings.max_steps = -1, settings.max_epochs = 500, settings.seed = seed, settings.record_every = 50;
  rf_layers_init_uniform(net, &random, 0.05);
  return rf_train_run(run->context, result, net, &samples, &settings);
}

/* Cosines of the rows of W with w+ or w-: of the sign of `a` when given, else the larger one. */
static RfStatus correlations(RfContext *context, double *out, const double *W, const double *a, rf_index m,
                             const RfDataset *data) {
  RfClassMargin sides[2] = {{0}, {0}};
  RfStatus status = rf_margin_class(context, &sides[0], data->X, data->y, data->n, data->d, +1);
  if (!status) status = rf_margin_class(context, &sides[1], data->X, data->y, data->n, data->d, -1);
  for (rf_index k = 0; k < m && !status; k++) {
    const double *w = W + k * data->d;
    double cosines[2];
    for (int s = 0; s < 2; s++)
      cosines[s] = rf_la_dot(w, sides[s].w, data->d) / (rf_la_norm(w, data->d) * sides[s].norm);
    out[k] = a ? cosines[a[k] > 0 ? 0 : 1] : fmax(cosines[0], cosines[1]);
  }
  rf_class_margin_free(&sides[0]), rf_class_margin_free(&sides[1]);
  return status;
}

static double median(double *values, rf_index count) {
  for (rf_index i = 1; i < count; i++)
    for (rf_index j = i; j > 0 && values[j - 1] > values[j]; j--) {
      double swap = values[j];
      values[j] = values[j - 1], values[j - 1] = swap;
    }
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* ---- pictures ----------------------------------------------------------------------------------------- */

enum { most = 128, shown = 10, bins = 20 };

/* A layer as the figures show it. */
typedef struct Layer {
  double values[most];     /* singular values */
  double x[most], y[most]; /* rows in the plane of the first two right singular vectors */
  rf_index m;
} Layer;

static RfStatus look_at_layer(RfClaimRun *run, Layer *layer, const double *W, rf_index m, rf_index d) {
  double *right = RF_NEW(double, most *most);
  if (!right || m > most || d > most) {
    rf_free(right);
    return rf_fail(run->context, RF_ERR_MEMORY, "no room for the figure of a layer");
  }
  memset(layer, 0, sizeof *layer);
  layer->m = m;
  RfStatus status = rf_la_singular(run->context, layer->values, right, W, m, d);
  for (rf_index k = 0; k < m && !status; k++)
    layer->x[k] = rf_la_dot(W + k * d, right, d), layer->y[k] = rf_la_dot(W + k * d, right + d, d);
  rf_free(right);
  return status;
}

static void draw_values(RfSvg *svg, int row, int column, const Layer *layer, const char *title) {
  double index[shown];
  for (int k = 0; k < shown; k++) index[k] = k + 1;
  RfPlot plot = rf_claim_panel(svg, row, column, "index", "singular value");
  plot.top += 50, plot.x.step = 1, plot.y.low = 0, plot.y.high = layer->values[0];
  rf_axis_cover(&plot.x, index, shown), rf_axis_pad(&plot.x, 0.06);
  plot.y.high *= 1.06;
  rf_plot_axes(&plot);
  for (int k = 0; k < shown; k++)
    rf_svg_line(svg, rf_plot_x(&plot, index[k]), rf_plot_y(&plot, 0), rf_plot_x(&plot, index[k]),
                rf_plot_y(&plot, layer->values[k]), (RfPen){.colour = RF_COLOUR_BLUE, .width = 8});
  rf_svg_label(svg, plot.left, plot.top - 10, RF_ANCHOR_START, 13, RF_COLOUR_INK, title);
}

/* sign: of the outgoing weight, orange above 0 and blue below; NULL: one colour. */
static void draw_rows(RfSvg *svg, int row, int column, const Layer *layer, const double *sign,
                      const char *title) {
  RfPlot plot = rf_claim_panel(svg, row, column, "along the first direction", "along the second");
  plot.top += 50;
  rf_axis_cover(&plot.x, layer->x, layer->m), rf_axis_cover(&plot.y, layer->y, layer->m);
  rf_axis_pad(&plot.x, 0.06), rf_axis_pad(&plot.y, 0.06);
  rf_plot_axes(&plot);
  for (rf_index k = 0; k < layer->m; k++)
    rf_plot_marks(&plot, layer->x + k, layer->y + k, 1, RF_MARK_DISC,
                  !sign         ? RF_COLOUR_GREEN
                  : sign[k] > 0 ? RF_COLOUR_PLUS
                                : RF_COLOUR_MINUS);
  rf_svg_label(svg, plot.left, plot.top - 10, RF_ANCHOR_START, 13, RF_COLOUR_INK, title);
}

static void draw_histogram(RfSvg *svg, int row, int column, const double *cosines, rf_index m,
                           const char *title) {
  double counts[bins] = {0}, largest = 1;
  for (rf_index k = 0; k < m; k++) {
    int bin = (int)floor(cosines[k] * bins);
    counts[bin < 0 ? 0 : bin >= bins ? bins - 1 : bin]++;
  }
  for (int b = 0; b < bins; b++) largest = fmax(largest, counts[b]);
  RfPlot plot = rf_claim_panel(svg, row, column, "correlation with the max-margin direction", "neurons");
  plot.top += 50;
  plot.x.low = 0, plot.x.high = 1, plot.y.low = 0, plot.y.high = 1.06 * largest;
  rf_plot_axes(&plot);
  for (int b = 0; b < bins; b++) {
    double left = rf_plot_x(&plot, (double)b / bins) + 1, right = rf_plot_x(&plot, (b + 1.0) / bins) - 1,
           top = rf_plot_y(&plot, counts[b]), low = rf_plot_y(&plot, 0);
    double x[] = {left, right, right, left}, y[] = {low, low, top, top};
    if (counts[b] > 0) rf_svg_polygon(svg, x, y, 4, RF_COLOUR_GREEN, 1);
  }
  rf_svg_label(svg, plot.left, plot.top - 10, RF_ANCHOR_START, 13, RF_COLOUR_INK, title);
}

static RfStatus write_layer(RfClaimRun *run, const char *name, const Layer *layer, const double *sign,
                            const double *cosines) {
  double index[most], none[most];
  for (rf_index k = 0; k < layer->m; k++) index[k] = (double)k + 1, none[k] = NAN;
  const double *columns[] = {index,    layer->values,      layer->x,
                             layer->y, sign ? sign : none, cosines ? cosines : none};
  return rf_claim_series(run, name, "index,singular_value,along_first,along_second,outgoing,cosine", columns,
                         6, layer->m);
}

/* E-PL-1: ten singular values, rows in the top plane, histogram of correlations. */
static RfStatus draw_two_layers(RfClaimRun *run, const double *W, const double *a, rf_index m, rf_index d,
                                const double *cosines) {
  Layer layer;
  if (!rf_claim_draws(run)) return RF_OK;
  RfStatus status = look_at_layer(run, &layer, W, m, d);
  if (!status) status = write_layer(run, "E-PL-1.csv", &layer, a, cosines);
  if (status) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 1090, 340, "E-PL-1: PL Figure 1",
               "singular values, neurons in the top plane, correlations");
  rf_svg_label(&svg, 70, 22, RF_ANCHOR_START, 14, RF_COLOUR_INK,
               "Phuong and Lampert, Figure 1: two layers, SGD");
  draw_values(&svg, 0, 0, &layer, "a: singular values of W");
  draw_rows(&svg, 0, 1, &layer, a, "b: neurons, orange a > 0, blue a < 0");
  draw_histogram(&svg, 0, 2, cosines, m, "c: correlations with the own direction");
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-PL-1.svg");
}

/* E-PL-2: the same for three layers, correlations for the first. */
static RfStatus draw_residual(RfClaimRun *run, const RfLayeredNet *net, rf_index m, rf_index d,
                              const double *cosines) {
  const char *values[] = {"a: singular values of W1", "b: of W2", "c: of W3"};
  const char *rows[] = {"d: rows of W1", "e: rows of W2", "f: rows of W3"};
  const char *files[] = {"E-PL-2-W1.csv", "E-PL-2-W2.csv", "E-PL-2-W3.csv"};
  Layer layer;
  RfSvg svg = {0};
  if (!rf_claim_draws(run)) return RF_OK;
  rf_svg_begin(&svg, 1090, 860, "E-PL-2: PL Figure 2",
               "residual network: singular values, rows, correlations");
  rf_svg_label(&svg, 70, 22, RF_ANCHOR_START, 14, RF_COLOUR_INK,
               "Phuong and Lampert, Figure 2: residual network of depth 4, SGD");
  RfStatus status = RF_OK;
  for (int l = 0; l < 3 && !status; l++) {
    status = look_at_layer(run, &layer, rf_layers_weights(net, l), m, l ? m : d);
    if (!status) status = write_layer(run, files[l], &layer, NULL, l ? NULL : cosines);
    if (status) break;
    draw_values(&svg, 0, l, &layer, values[l]);
    draw_rows(&svg, 1, l, &layer, NULL, rows[l]);
  }
  draw_histogram(&svg, 2, 0, cosines, m, "g: first layer, correlations with the closest direction");
  rf_svg_end(&svg);
  if (status) rf_svg_free(&svg);
  return status ? status : rf_claim_picture(run, &svg, "E-PL-2.svg");
}

/* Share of the squared lengths of the rows of one side that lies along their mean direction, in the plane of
 * the first two singular vectors: 1 when they are on one ray. side[k]: any sign; the worse of the two sides.
 */
static double on_two_rays(const Layer *layer, const double *side) {
  double worst = 1;
  for (int s = 0; s < 2; s++) {
    double sum[2] = {0, 0}, along = 0, all = 0;
    for (rf_index k = 0; k < layer->m; k++)
      if ((side[k] > 0) == (s == 0)) sum[0] += layer->x[k], sum[1] += layer->y[k];
    double length = hypot(sum[0], sum[1]);
    for (rf_index k = 0; k < layer->m; k++) {
      if ((side[k] > 0) != (s == 0)) continue;
      double part = (layer->x[k] * sum[0] + layer->y[k] * sum[1]) / length;
      along += part > 0 ? part * part : 0, all += layer->x[k] * layer->x[k] + layer->y[k] * layer->y[k];
    }
    if (all > 0) worst = fmin(worst, along / all);
  }
  return worst;
}

/* ---- PL-18, PL-19 ------------------------------------------------------------------------------------- */

static RfStatus two_layers(RfClaimRun *run, const RfDataset *data, uint64_t seed, double *share,
                           rf_index *most_above) {
  enum { m = 100, d = 20 };
  Layer layer;
  const rf_index widths[] = {d, m, 1};
  RfLayeredNet net;
  RfTrainResult result = {0};
  double values[d], cosines[m], sorted[m];
  RfStatus status = rf_claim_dense(run->context, &net, widths, 2, 0);
  if (!status) status = train_sgd(run, &result, &net, data, seed);
  if (!status) status = rf_la_singular(run->context, values, NULL, result.net.theta, m, d);
  if (!status)
    status = correlations(run->context, cosines, result.net.theta, result.net.theta + m * d, m, data);
  if (!status) {
    rf_index above = 0;
    for (int k = 0; k < m; k++) above += cosines[k] > 0.9;
    memcpy(sorted, cosines, sizeof sorted);
    rf_claim_at_most(run, "sigma3/sigma1", values[2] / values[0], 0.05, 0);
    rf_claim_at_most(run, "sigma3/sigma2", values[2] / values[1], 0.35, 0);
    rf_claim_at_least(run, "median cosine", median(sorted, m), 0.86, 0);
    *share += (double)above / m;
    *most_above += above >= 35;
    status = look_at_layer(run, &layer, result.net.theta, m, d);
    if (!status)
      rf_claim_at_least(run, "squared length on two rays, by the sign of a",
                        on_two_rays(&layer, result.net.theta + m * d), 0.99, 0);
    if (seed == 0) status = draw_two_layers(run, result.net.theta, result.net.theta + m * d, m, d, cosines);
  }
  rf_train_result_free(&result);
  rf_layers_free(&net);
  return status;
}

/* Data set number `number` of section 5.1. */
static RfStatus orthant(RfClaimRun *run, RfDataset *data, rf_index number) {
  char spec[60];
  rf_format(spec, sizeof spec, "orthant,n=500,d=20,seed=%lld", (long long)number);
  return rf_claim_data(run, data, spec, 1);
}

RfStatus rf_pl_18(RfClaimRun *run) {
  rf_index seeds = rf_claim_repetitions(run, 20), most_above = 0;
  double share = 0;
  RfStatus status = RF_OK;
  for (rf_index seed = 0; seed < seeds && !status; seed++) {
    RfDataset data = {0};
    status = orthant(run, &data, seed);
    if (!status) status = two_layers(run, &data, (uint64_t)seed, &share, &most_above);
    rf_dataset_free(&data);
  }
  if (status) return status;
  rf_claim_at_least(run, "mean share above 0.9", share / (double)seeds, 0.6, 0);
  rf_claim_probability(run, "data sets with 35 neurons above 0.9", most_above, seeds, 0.97, false);
  rf_claim_require(run, "data sets", seeds), rf_claim_made(run, "data sets", seeds);
  rf_claim_note(
      run,
      "%lld data sets, SGD 0.1, batches of 50, 500 epochs; on average %.0f of 100 neurons above 0.9, "
      "at least 35 on %lld of them (not on all data: 1 of 200 was seen with 31)",
      (long long)seeds, 100 * share / (double)seeds, (long long)most_above);
  return RF_OK;
}

/* The best split of the rows by a line through the origin into two rays. */
static double best_two_rays(const Layer *layer) {
  double best = 0;
  for (int turn = 0; turn < 180; turn++) {
    double side[most], angle = turn * acos(-1.0) / 180;
    for (rf_index k = 0; k < layer->m; k++) side[k] = layer->x[k] * cos(angle) + layer->y[k] * sin(angle);
    best = fmax(best, on_two_rays(layer, side));
  }
  return best;
}

static RfStatus residual_net(RfClaimRun *run, const RfDataset *data, uint64_t seed) {
  enum { m = 100, d = 20 };
  Layer layer;
  RfLayeredNet net;
  RfTrainResult result = {0};
  double values[m], cosines[m], sorted[m];
  RfStatus status = rf_layers_new(run->context, &net, 0);
  if (!status) status = rf_layers_add_dense(run->context, &net, d, m);
  for (int l = 0; l < 2 && !status; l++) {
    status = rf_layers_add_dense(run->context, &net, m, m);
    if (!status) status = rf_layers_set_residual(run->context, &net);
  }
  if (!status) status = rf_layers_add_dense(run->context, &net, m, 1);
  if (!status) status = train_sgd(run, &result, &net, data, seed);
  for (int l = 0; l < 3 && !status; l++) {
    status = rf_la_singular(run->context, values, NULL, rf_layers_weights(&result.net, l), m, l ? m : d);
    if (status) break;
    if (l == 0) rf_claim_at_most(run, "W1: sigma3/sigma1", values[2] / values[0], 0.07, 0);
    rf_claim_at_most(run, l ? "W2, W3: sigma3/sigma2" : "W1: sigma3/sigma2", values[2] / values[1],
                     l ? 0.12 : 0.45, 0);
    status = look_at_layer(run, &layer, rf_layers_weights(&result.net, l), m, l ? m : d);
    if (!status)
      rf_claim_at_least(run, "squared length of the rows on two rays", best_two_rays(&layer), 0.99, 0);
  }
  if (!status) status = correlations(run->context, cosines, result.net.theta, NULL, m, data);
  if (!status) {
    memcpy(sorted, cosines, sizeof sorted);
    rf_claim_at_least(run, "median cosine of the first layer", median(sorted, m), 0.85, 0);
    if (seed == 0) status = draw_residual(run, &result.net, m, d, cosines);
  }
  rf_train_result_free(&result);
  rf_layers_free(&net);
  return status;
}

RfStatus rf_pl_19(RfClaimRun *run) {
  rf_index seeds = rf_claim_repetitions(run, 3);
  RfStatus status = RF_OK;
  for (rf_index seed = 0; seed < seeds && !status; seed++) {
    RfDataset data = {0};
    status = orthant(run, &data, seed);
    if (!status) status = residual_net(run, &data, (uint64_t)seed);
    rf_dataset_free(&data);
  }
  rf_claim_require(run, "data sets", seeds), rf_claim_made(run, "data sets", status ? 0 : seeds);
  rf_claim_note(run, "%lld data sets, depth 4, width 100, SGD as in PL-18", (long long)seeds);
  return status;
}

/* Table 1: six convolutions, 3136 -> 128 -> 1. */
RfStatus rf_pl_table_net(RfClaimRun *run, RfLayeredNet *net, bool judged) {
  const rf_index rows[6][4] = {{32, 3, 1, 1}, {32, 3, 1, 1}, {32, 5, 2, 2},
                               {64, 3, 1, 1}, {64, 3, 1, 1}, {64, 5, 2, 2}};
  const double sides[6] = {28, 28, 14, 14, 14, 7};
  rf_index channels = 1, size = 28;
  RfStatus status = rf_layers_new(run->context, net, 0);
  for (int l = 0; l < 6 && !status; l++) {
    RfConvShape shape = {.channels_in = channels,
                         .height = size,
                         .width = size,
                         .channels_out = rows[l][0],
                         .kernel_h = rows[l][1],
                         .kernel_w = rows[l][1],
                         .stride = rows[l][2],
                         .padding = rows[l][3]};
    status = rf_layers_add_conv(run->context, net, shape);
    if (status) break;
    channels = rows[l][0], size = net->layers[l].conv.height_out;
    if (judged) rf_claim_close(run, "side of the image", (double)size, sides[l], 0);
  }
  if (!status && judged) rf_claim_close(run, "features", (double)net->layers[5].outputs, 3136, 0);
  if (!status) status = rf_layers_add_dense(run->context, net, 3136, 128);
  if (!status) status = rf_layers_add_dense(run->context, net, 128, 1);
  if (status) rf_layers_free(net);
  return status;
}

RfStatus rf_pl_20(RfClaimRun *run) {
  RfLayeredNet net;
  RfStatus status = rf_pl_table_net(run, &net, true);
  if (!status) rf_layers_free(&net);
  return status;
}
