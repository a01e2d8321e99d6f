/* Lyu, Li, Wang, Arora, appendix J. LLWA-40, Table 1: test errors of the max-margin separator and of trained
 * leaky ReLU nets; LLWA-41, Figure 4: both on a plane through e1, and their angle. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "core/core.h"
#include "kit/grid.h"
#include "llwa/llwa.h"
#include "data/data.h"
#include "la/la.h"
#include "margin/margin.h"
#include "reluflow/train.h"

enum { rows = 10, width = 100, inputs = 51 };

typedef struct Entry {
  double svm, net;  /* test errors */
  double degrees;   /* between the separator and sum_k a_k w_k */
  double w[inputs]; /* the separator */
} Entry;

static RfStatus load(RfContext *context, RfDataset *data, rf_index n, uint64_t seed) {
  RfDataSource source;
  char path[80];
  rf_format(path, sizeof path, "gen:shifted,n=%lld,seed=%llu", (long long)n, (unsigned long long)seed);
  rf_data_source_init(&source);
  source.path = path;
  return rf_data_load(context, data, &source);
}

/* Gradient descent 0.01 on the mean logistic loss; once all samples are right, 0.005/loss; until min y f
 * = 50. */
static RfStatus train_net(RfClaimRun *run, RfTrainResult *result, Entry *entry, const RfDataset *data,
                          const RfDataset *test, uint64_t seed) {
  RfTrainSettings settings;
  rf_train_settings_init(&settings);
  RfTrainData samples = {
      .X = data->X, .y = data->y, .n = data->n, .test_X = test->X, .test_y = test->y, .test_n = test->n};
  RfNet start;
  RfLayeredNet net = {0};
  settings.mean = true, settings.rate = 0.01, settings.raise_rate = 0.005, settings.stop_min_q = 50;
  settings.max_steps = 20000, settings.record_every = 100000;
  RfStatus status = rf_net_init(run->context, &start, RF_INIT_HE, width, inputs, 0.5, seed, 1);
  if (status) return status;
  status = rf_train_from_net(run->context, &net, &start);
  rf_net_free(&start);
  if (!status) rf_la_scale(net.theta, 1e-3, net.n_parameters);
  if (!status) status = rf_train_run(run->context, result, &net, &samples, &settings);
  if (!status) {
    double sum[inputs] = {0};
    const double *a = result->net.theta + width * inputs;
    for (int k = 0; k < width; k++) rf_la_axpy(sum, a[k], result->net.theta + k * inputs, inputs);
    double cosine =
        rf_la_dot(sum, entry->w, inputs) / (rf_la_norm(sum, inputs) * rf_la_norm(entry->w, inputs));
    entry->net = result->last.test_error;
    entry->degrees = acos(fmax(-1, fmin(1, cosine))) * 180 / acos(-1.0);
    rf_claim_true(run, "training ends at min y f(x) = 50", result->stop == RF_STOP_MIN_Q);
  }
  rf_layers_free(&net);
  return status;
}

/* data and result may be wanted by the caller, who frees them also after a failure. test_n = 0: no test. */
static RfStatus one_entry(RfClaimRun *run, Entry *entry, RfDataset *data, RfTrainResult *result, rf_index n,
                          rf_index test_n, uint64_t seed) {
  RfDataset test = {0};
  RfLinearMargin linear = {0};
  RfStatus status = load(run->context, data, n, 1000 * seed + (uint64_t)n);
  if (!status && test_n > 0) status = load(run->context, &test, test_n, 1000000 + seed);
  if (!status) status = rf_margin_linear(run->context, &linear, data->X, data->y, n, inputs);
  if (!status) {
    rf_index wrong = 0;
    memcpy(entry->w, linear.w, sizeof entry->w);
    for (rf_index i = 0; i < test.n; i++)
      wrong += !(test.y[i] * rf_la_dot(test.X + i * inputs, linear.w, inputs) > 0);
    entry->svm = test.n > 0 ? (double)wrong / (double)test.n : NAN;
    status = train_net(run, result, entry, data, &test, seed);
  }
  rf_linear_margin_free(&linear);
  rf_dataset_free(&test);
  return status;
}

/* The separator alone on further data sets: its mean is judged against printed values of single runs, so it
 * must not be noisy itself. */
static RfStatus separator_error(RfClaimRun *run, double *error, rf_index n, uint64_t seed) {
  enum { test_n = 2000 };
  RfDataset data = {0}, test = {0};
  RfLinearMargin linear = {0};
  rf_index wrong = 0;
  RfStatus status = load(run->context, &data, n, 1000 * seed + (uint64_t)n);
  if (!status) status = load(run->context, &test, test_n, 1000000 + seed);
  if (!status) status = rf_margin_linear(run->context, &linear, data.X, data.y, n, inputs);
  for (rf_index i = 0; i < test.n && !status; i++)
    wrong += !(test.y[i] * rf_la_dot(test.X + i * inputs, linear.w, inputs) > 0);
  *error = 100 * (double)wrong / test_n;
  rf_linear_margin_free(&linear);
  rf_dataset_free(&test), rf_dataset_free(&data);
  return status;
}

/* ---- LLWA-40: Table 1 ---------------------------------------------------------------------- */

/* Columns of the table; errors in percent. */
typedef struct Table {
  double n[rows], svm[rows], svm_spread[rows], net[rows], net_spread[rows], angle[rows];
} Table;

static const double printed_svm[rows] = {30.2, 19.7, 17.6, 8.0, 6.4, 6.3, 7.6, 3.9, 6.1, 2.9},
                    printed_net[rows] = {30.5, 18.9, 15.6, 7.1, 5.9, 5.1, 6.5, 3.1, 5.2, 2.9};

static RfStatus draw_table(RfClaimRun *run, const Table *t) {
  const double *columns[] = {t->n,          t->svm,      t->svm_spread, t->net,
                             t->net_spread, printed_svm, printed_net,   t->angle};
  RfStatus status = rf_claim_series(run, "E-LL-6.csv",
                                    "n,separator_error,separator_spread,net_error,net_spread,printed_"
                                    "separator,printed_net,largest_angle",
                                    columns, 8, rows);
  if (status || !rf_claim_draws(run)) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 640, 420, "LLWA Table 1",
               "test errors of the max-margin separator and of trained nets, beside the printed ones");
  RfPlot plot = {.svg = &svg, .left = 70, .top = 70, .width = 540, .height = 290};
  plot.x = (RfAxis){.low = 5, .high = 105, .label = "training samples n", .step = 10};
  plot.y = (RfAxis){.low = 0, .high = 34, .label = "test error, percent"};
  rf_svg_label(&svg, 70, 24, RF_ANCHOR_START, 15, RF_COLOUR_INK, "LLWA Table 1: separator and net err alike");
  rf_plot_axes(&plot);
  rf_plot_line(&plot, t->n, t->svm, rows, (RfPen){.colour = RF_COLOUR_BLUE, .width = 2});
  rf_plot_line(&plot, t->n, t->net, rows, (RfPen){.colour = RF_COLOUR_VERMILION, .width = 2});
  for (int r = 0; r < rows; r++) {
    double x = rf_plot_x(&plot, t->n[r]), low = fmax(0, t->net[r] - t->net_spread[r]);
    rf_svg_line(&svg, x, rf_plot_y(&plot, low), x, rf_plot_y(&plot, fmin(34, t->net[r] + t->net_spread[r])),
                (RfPen){.colour = RF_COLOUR_VERMILION, .width = 1});
  }
  rf_plot_marks(&plot, t->n, printed_svm, rows, RF_MARK_CIRCLE, RF_COLOUR_BLUE);
  rf_plot_marks(&plot, t->n, printed_net, rows, RF_MARK_CROSS, RF_COLOUR_VERMILION);
  const RfLegendEntry legend[] = {{"separator, mean", RF_COLOUR_BLUE, -1},
                                  {"net, mean and spread", RF_COLOUR_VERMILION, -1},
                                  {"separator, printed", RF_COLOUR_BLUE, RF_MARK_CIRCLE},
                                  {"net, printed", RF_COLOUR_VERMILION, RF_MARK_CROSS}};
  rf_svg_legend(&svg, 70, 36, 560, legend, 4);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-LL-6.svg");
}

RfStatus rf_llwa_40(RfClaimRun *run) {
  enum { sets = 24 }; /* of the separator */
  rf_index repetitions = run->settings->quick ? 4 : 10;
  double worst = 1, count = (double)repetitions;
  Table t = {0};
  for (int r = 0; r < rows; r++) {
    double svm2 = 0, net2 = 0;
    t.n[r] = 10.0 * (r + 1);
    for (rf_index k = 0; k < repetitions; k++) {
      Entry entry = {0};
      RfDataset data = {0};
      RfTrainResult result = {0};
      RfStatus status = one_entry(run, &entry, &data, &result, 10 * (r + 1), 10000,
                                  rf_claim_seed(run, "entry", (uint64_t)(100 * r + k)));
      rf_train_result_free(&result);
      rf_dataset_free(&data);
      if (status) return status;
      double svm = 100 * entry.svm, net = 100 * entry.net;
      t.svm[r] += svm / count, svm2 += svm * svm / count;
      t.net[r] += net / count, net2 += net * net / count;
      t.angle[r] = fmax(t.angle[r], entry.degrees);
    }
    t.svm_spread[r] = sqrt(fmax(0, svm2 - t.svm[r] * t.svm[r]));
    t.net_spread[r] = sqrt(fmax(0, net2 - t.net[r] * t.net[r]));
    double mean = t.svm[r] * count / sets;
    for (rf_index k = repetitions; k < sets; k++) {
      double error;
      RfStatus status =
          separator_error(run, &error, 10 * (r + 1), rf_claim_seed(run, "entry", (uint64_t)(100 * r + k)));
      if (status) return status;
      mean += error / sets;
    }
    double factor = fmax(mean / printed_svm[r], printed_svm[r] / mean);
    worst = fmax(worst, factor);
    rf_claim_close(run, "net minus separator, points", t.net[r] - t.svm[r], 0, 2.5);
    rf_claim_at_most(run, "separator against the printed value, factor", factor, 1.8, 0);
  }
  rf_claim_note(run,
                "calibration: shift 0.45, leak 1/2, constant 0.1, rate 0.01 then 0.005/loss, mean logistic, "
                "%lld repetitions, 10000 test points; worst factor to the printed column %.2f",
                (long long)repetitions, worst);
  return draw_table(run, &t);
}

/* ---- LLWA-41: Figure 4 --------------------------------------------------------------------- */

enum { cells = 201, coarse = 51 };

/* f on the plane alpha e1 + beta v with the appended constant, alpha to the right and beta upwards, |.| <= 3.
 */
static RfStatus plane_values(RfClaimRun *run, double *values, const RfLayeredNet *net, const double *v) {
  double *points = RF_NEW(double, (rf_index)cells *inputs);
  RfStatus status = points ? RF_OK : rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a figure");
  for (int r = 0; r < cells && !status; r++) {
    double beta = 3 - 6.0 * r / (cells - 1);
    for (int c = 0; c < cells; c++) {
      double *x = points + (rf_index)c * inputs;
      for (int j = 0; j < inputs; j++) x[j] = beta * v[j];
      x[0] += -3 + 6.0 * c / (cells - 1);
      x[inputs - 1] = 0.1;
    }
    status = rf_layers_evaluate(run->context, values + (rf_index)r * cells, NULL, net, points, cells);
  }
  rf_free(points);
  return status;
}

/* One panel: f in colour with its zero line, the separator, the samples. series: beta, alpha where f = 0 and
 * where the separator is 0, appended as text. */
static void plane_panel(RfSvg *svg, RfText *series, int place, const double *values, const Entry *entry,
                        const RfDataset *data, const double *v) {
  double shown[coarse * coarse], largest = 0;
  char title[64];
  RfPlot plot = {.svg = svg, .left = 70 + 245 * (place % 5), .top = 60 + 280 * (place / 5.0 >= 1)};
  plot.width = plot.height = 190;
  plot.x = (RfAxis){.low = -3, .high = 3, .label = "along e1", .step = 1};
  plot.y = (RfAxis){.low = -3, .high = 3, .label = place % 5 ? NULL : "along v", .step = 1};
  for (int r = 0; r < coarse; r++)
    for (int c = 0; c < coarse; c++) {
      shown[r * coarse + c] = values[4 * r * cells + 4 * c];
      largest = fmax(largest, fabs(shown[r * coarse + c]));
    }
  rf_claim_heat(svg, plot.left, plot.top, plot.width, plot.height, shown, coarse, coarse, 1.6 * largest);
  rf_plot_axes(&plot);
  rf_claim_level(&plot, shown, coarse, coarse, 0, (RfPen){.colour = RF_COLOUR_INK, .width = 2});
  double along = rf_la_dot(entry->w, v, inputs), constant = 0.1 * entry->w[inputs - 1], alpha[2];
  const double beta[2] = {-3, 3};
  for (int k = 0; k < 2; k++) alpha[k] = -(along * beta[k] + constant) / entry->w[0];
  rf_plot_line(&plot, alpha, beta, 2, (RfPen){.colour = RF_COLOUR_PURPLE, .width = 2, .dashed = true});
  for (rf_index i = 0; i < data->n; i++) {
    double x = data->X[i * inputs], y = rf_la_dot(data->X + i * inputs, v, inputs);
    if (fabs(x) < 3 && fabs(y) < 3)
      rf_svg_mark(svg, rf_plot_x(&plot, x), rf_plot_y(&plot, y), 2.6,
                  data->y[i] > 0 ? RF_MARK_DISC : RF_MARK_CROSS,
                  data->y[i] > 0 ? RF_COLOUR_PLUS : RF_COLOUR_MINUS);
  }
  rf_format(title, sizeof title, "n = %lld, %.1f degrees", (long long)data->n, entry->degrees);
  rf_svg_label(svg, plot.left + 95, plot.top - 8, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK, title);
  for (int r = 0; r < cells; r++) {
    const double *line = values + (rf_index)r * cells;
    double zero = NAN, height = 3 - 6.0 * r / (cells - 1);
    for (int c = 0; c + 1 < cells && isnan(zero); c++)
      if ((line[c] > 0) != (line[c + 1] > 0))
        zero = -3 + 6 * (c + line[c] / (line[c] - line[c + 1])) / (cells - 1);
    rf_text_addf(series, "%lld,%.17g,%.17g,%.17g\n", (long long)data->n, height, zero,
                 -(along * height + constant) / entry->w[0]);
  }
}

static RfStatus draw_plane(RfClaimRun *run, RfSvg *svg, RfText *series, int place, const RfLayeredNet *net,
                           const Entry *entry, const RfDataset *data, const double *v) {
  if (!rf_claim_draws(run)) return RF_OK;
  double *values = RF_NEW(double, (rf_index)cells *cells);
  if (!values) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a figure");
  RfStatus status = plane_values(run, values, net, v);
  if (!status) plane_panel(svg, series, place, values, entry, data, v);
  rf_free(values);
  return status;
}

RfStatus rf_llwa_41(RfClaimRun *run) {
  rf_index repetitions = run->settings->quick ? 1 : 10;
  rf_index near = 0;
  double v[inputs] = {0}, largest = 0, sum = 0;
  RfRandom random = rf_claim_random(run, 0);
  RfSvg svg = {0};
  RfText series = {0};
  RfStatus status = RF_OK;
  rf_random_direction(&random, v + 1, inputs - 2); /* orthogonal to e1 and to the constant */
  rf_svg_begin(&svg, 1290, 640, "LLWA Figure 4", "nets on the plane of e1 and a random direction");
  rf_svg_label(&svg, 60, 22, RF_ANCHOR_START, 15, RF_COLOUR_INK,
               "LLWA Figure 4: f on the plane of e1 and a random v; zero line of the net, separator dashed");
  rf_text_add(&series, "n,beta,alpha_net,alpha_separator\n");
  for (int r = 0; r < rows && !status; r++)
    for (rf_index k = 0; k < repetitions && !status; k++) {
      Entry entry = {0};
      RfDataset data = {0};
      RfTrainResult result = {0};
      status = one_entry(run, &entry, &data, &result, 10 * (r + 1), 0,
                         rf_claim_seed(run, "entry", (uint64_t)(100 * r + k)));
      if (!status) {
        rf_claim_at_most(run, "angle between separator and net, degrees", entry.degrees, 0, 30);
        near += entry.degrees <= 20;
        largest = fmax(largest, entry.degrees), sum += entry.degrees;
        if (k == 0) status = draw_plane(run, &svg, &series, r, &result.net, &entry, &data, v);
      }
      rf_train_result_free(&result);
      rf_dataset_free(&data);
    }
  rf_svg_end(&svg);
  if (!status)
    rf_claim_probability(run, "runs with an angle of at most 20 degrees", near, rows * repetitions, 0.99,
                         false);
  rf_claim_note(run, "%lld runs for each n = 10, 20, ..., 100; angles up to %.1f degrees, mean %.1f",
                (long long)repetitions, largest, sum / (double)(rows * repetitions));
  if (!status) status = rf_claim_text(run, "E-LL-7.csv", rf_text_string(&series));
  rf_text_free(&series);
  if (!status && rf_claim_draws(run)) return rf_claim_picture(run, &svg, "E-LL-7.svg");
  rf_svg_free(&svg);
  return status;
}
