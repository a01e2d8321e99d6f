/* Phuong and Lampert: training of section 5 and appendix D. PL-18: two layers; PL-19: the residual network
 * (30); PL-20: the shapes of Table 1; PL-21, PL-22: that network on digits. */
#include <math.h>
#include <string.h>

#include "figure.h"
#include "networks.h"
#include "pl.h"
#include "reluflow/data.h"
#include "reluflow/la.h"
#include "reluflow/margin.h"
#include "reluflow/train.h"

static RfStatus load(RfContext *context, RfDataset *data, const char *path) {
  RfDataSource source;
  rf_data_source_init(&source);
  source.path = path;
  return rf_data_load(context, data, &source);
}

/* SGD of section 5.1: rate 0.1, batches of 50, 500 epochs, batch mean; weights uniform +-0.05/sqrt(fan-in).
 */
static RfStatus train_sgd(RfClaimRun *run, RfTrainResult *result, RfLayeredNet *net, const RfDataset *data,
                          uint64_t seed) {
  RfTrainSettings settings = rf_train_settings_default();
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

/* Singular values, neurons in the plane of the first two right singular vectors, correlations. */
static RfStatus draw_layer(RfClaimRun *run, const char *name, const char *csv, const double *W, rf_index m,
                           rf_index d, const double *cosines) {
  enum { most = 128 };
  double values[most], right[2][most], x[most], y[most], index[most], all[most * most];
  if (!rf_claim_draws(run) || m > most || d > most) return RF_OK;
  RfStatus status = rf_la_singular(run->context, values, all, W, m, d);
  if (status) return status;
  memcpy(right[0], all, (size_t)d * sizeof *all), memcpy(right[1], all + d, (size_t)d * sizeof *all);
  for (rf_index k = 0; k < m; k++) {
    x[k] = rf_la_dot(W + k * d, right[0], d), y[k] = rf_la_dot(W + k * d, right[1], d);
    index[k] = (double)k;
  }
  for (rf_index k = d; k < m; k++) values[k] = 0;
  const double *columns[] = {index, values, x, y, cosines};
  status = rf_claim_series(run, csv, "neuron,singular_value,along_first,along_second,cosine", columns, 5, m);
  if (status) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 1090, 300, name, "singular values, neurons in the top plane, correlations");
  RfPlot first = rf_claim_panel(&svg, 0, 0, "index", "singular value");
  rf_claim_curve(&first, index, values, d < m ? d : m, RF_COLOUR_BLUE);
  RfPlot second = rf_claim_panel(&svg, 0, 1, "along the first direction", "along the second");
  rf_claim_cloud(&second, x, y, m, RF_COLOUR_VERMILION);
  RfPlot third = rf_claim_panel(&svg, 0, 2, "neuron", "cosine with the max-margin direction");
  rf_claim_cloud(&third, index, cosines, m, RF_COLOUR_GREEN);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, name);
}

static RfStatus two_layers(RfClaimRun *run, const RfDataset *data, uint64_t seed, double *share) {
  enum { m = 100, d = 20 };
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
    rf_claim_at_least(run, "share of neurons with cosine above 0.9", (double)above / m, 0.35, 0);
    rf_claim_at_least(run, "median cosine", median(sorted, m), 0.86, 0);
    *share += (double)above / m;
    if (seed == 0) status = draw_layer(run, "PL-18.svg", "PL-18.csv", result.net.theta, m, d, cosines);
  }
  rf_train_result_free(&result);
  rf_layers_free(&net);
  return status;
}

RfStatus rf_pl_18(RfClaimRun *run) {
  RfDataset data = {0};
  rf_index seeds = rf_claim_repetitions(run, 5);
  double share = 0;
  RfStatus status = load(run->context, &data, "gen:orthant,n=500,d=20");
  for (rf_index seed = 0; seed < seeds && !status; seed++)
    status = two_layers(run, &data, (uint64_t)seed, &share);
  if (!status)
    rf_claim_at_least(run, "mean share above 0.9", share / (double)seeds, seeds > 2 ? 0.6 : 0.35, 0);
  rf_claim_note(run,
                "%lld seeds, SGD 0.1, batches of 50, 500 epochs; on average %.0f of 100 neurons above 0.9",
                (long long)seeds, 100 * share / (double)seeds);
  rf_dataset_free(&data);
  return status;
}

static RfStatus residual_net(RfClaimRun *run, const RfDataset *data, uint64_t seed) {
  enum { m = 100, d = 20 };
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
  }
  if (!status) status = correlations(run->context, cosines, result.net.theta, NULL, m, data);
  if (!status) {
    memcpy(sorted, cosines, sizeof sorted);
    rf_claim_at_least(run, "median cosine of the first layer", median(sorted, m), 0.85, 0);
    if (seed == 0) status = draw_layer(run, "PL-19.svg", "PL-19.csv", result.net.theta, m, d, cosines);
  }
  rf_train_result_free(&result);
  rf_layers_free(&net);
  return status;
}

RfStatus rf_pl_19(RfClaimRun *run) {
  RfDataset data = {0};
  rf_index seeds = rf_claim_repetitions(run, 3);
  RfStatus status = load(run->context, &data, "gen:orthant,n=500,d=20");
  for (rf_index seed = 0; seed < seeds && !status; seed++) status = residual_net(run, &data, (uint64_t)seed);
  rf_claim_note(run, "%lld seeds, depth 4, width 100, SGD as in PL-18", (long long)seeds);
  rf_dataset_free(&data);
  return status;
}

/* Table 1: six convolutions, 3136 -> 128 -> 1. */
static RfStatus table_net(RfClaimRun *run, RfLayeredNet *net, bool judged) {
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
  RfStatus status = table_net(run, &net, true);
  if (!status) rf_layers_free(&net);
  return status;
}
