/* Lyu, Li, Wang, Arora: LLWA-40, Table 1: test errors of the max-margin separator and of trained leaky ReLU
 * nets; LLWA-41: their angle. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "claims_internal.h"
#include "figure.h"
#include "llwa.h"
#include "reluflow/data.h"
#include "reluflow/la.h"
#include "reluflow/margin.h"
#include "reluflow/train.h"

enum { rows = 10, width = 100, inputs = 51 };

typedef struct Entry {
  double svm, net; /* test errors */
  double degrees;  /* between the separator and sum_k a_k w_k */
  rf_index steps;
} Entry;

static RfStatus load(RfContext *context, RfDataset *data, rf_index n, uint64_t seed) {
  RfDataSource source;
  char path[80];
  snprintf(path, sizeof path, "gen:shifted,n=%lld,seed=%llu", (long long)n, (unsigned long long)seed);
  rf_data_source_init(&source);
  source.path = path;
  return rf_data_load(context, data, &source);
}

/* Gradient descent 0.01 on the mean logistic loss; once all samples are right, 0.005/loss; until min y f
 * = 50. */
static RfStatus train_net(RfClaimRun *run, Entry *entry, const RfDataset *data, const RfDataset *test,
                          const double *w, uint64_t seed) {
  RfTrainSettings settings = rf_train_settings_default();
  RfTrainData samples = {
      .X = data->X, .y = data->y, .n = data->n, .test_X = test->X, .test_y = test->y, .test_n = test->n};
  RfNet start;
  RfLayeredNet net = {0};
  RfTrainResult result = {0};
  settings.mean = true, settings.rate = 0.01, settings.raise_rate = 0.005, settings.stop_min_q = 50;
  settings.max_steps = 20000, settings.record_every = 100000;
  RfStatus status = rf_net_init(run->context, &start, RF_INIT_HE, width, inputs, 0.5, seed, 1);
  if (status) return status;
  status = rf_train_from_net(run->context, &net, &start);
  rf_net_free(&start);
  if (!status) rf_la_scale(net.theta, 1e-3, net.n_parameters);
  if (!status) status = rf_train_run(run->context, &result, &net, &samples, &settings);
  if (!status) {
    double sum[inputs] = {0};
    const double *a = result.net.theta + width * inputs;
    for (int k = 0; k < width; k++) rf_la_axpy(sum, a[k], result.net.theta + k * inputs, inputs);
    entry->net = result.last.test_error, entry->steps = result.steps;
    entry->degrees = acos(fmin(1, rf_la_dot(sum, w, inputs) / rf_la_norm(sum, inputs))) * 180 / acos(-1.0);
    rf_claim_true(run, "training ends at min y f(x) = 50", result.stop == RF_STOP_MIN_Q);
  }
  rf_train_result_free(&result);
  rf_layers_free(&net);
  return status;
}

static RfStatus one_entry(RfClaimRun *run, Entry *entry, rf_index n, uint64_t seed) {
  RfDataset data = {0}, test = {0};
  RfLinearMargin linear = {0};
  RfStatus status = load(run->context, &data, n, 1000 * seed + (uint64_t)n);
  if (!status) status = load(run->context, &test, 10000, 1000000 + seed);
  if (!status) status = rf_margin_linear(run->context, &linear, data.X, data.y, n, inputs);
  if (!status) {
    rf_index wrong = 0;
    for (rf_index i = 0; i < test.n; i++)
      wrong += !(test.y[i] * rf_la_dot(test.X + i * inputs, linear.w, inputs) > 0);
    entry->svm = (double)wrong / (double)test.n;
    status = train_net(run, entry, &data, &test, linear.w, seed);
  }
  rf_linear_margin_free(&linear);
  rf_dataset_free(&data), rf_dataset_free(&test);
  return status;
}

RfStatus rf_llwa_40(RfClaimRun *run) {
  static const double printed[rows] = {30.2, 19.7, 17.6, 8.0, 6.4, 6.3, 7.6, 3.9, 6.1, 2.9};
  rf_index repetitions = run->settings->heavy ? 10 : 4;
  double sizes[rows], svm[rows], net[rows], angles[rows], largest = 0, worst = 1;
  for (int r = 0; r < rows; r++) {
    sizes[r] = 10.0 * (r + 1), svm[r] = net[r] = angles[r] = 0;
    for (rf_index k = 0; k < repetitions; k++) {
      Entry entry = {0};
      RfStatus status = one_entry(run, &entry, 10 * (r + 1), run->settings->first_seed + (uint64_t)k);
      if (status) return status;
      svm[r] += 100 * entry.svm / (double)repetitions, net[r] += 100 * entry.net / (double)repetitions;
      angles[r] = fmax(angles[r], entry.degrees), largest = fmax(largest, entry.degrees);
    }
    rf_claim_close(run, "net minus separator, points", net[r] - svm[r], 0, 2.5);
    double factor = fmax(svm[r] / printed[r], printed[r] / svm[r]);
    worst = fmax(worst, factor);
    rf_claim_at_most(run, "separator against the printed value, factor", factor, 1.8, 0);
    rf_claim_at_most(run, "angle between separator and net, degrees (LLWA-41)", angles[r], 20, 0);
  }
  rf_claim_note(
      run,
      "calibration: shift 0.45, leak 1/2, constant 0.1, rate 0.01 then 0.005/loss, mean logistic, %lld "
      "repetitions, 10000 test points; worst factor to the printed column %.2f, largest angle %.1f degrees",
      (long long)repetitions, worst, largest);
  const double *columns[] = {sizes, svm, net, printed, angles};
  return rf_claim_series(run, "LLWA-40.csv",
                         "n,separator_error,net_error,printed_separator_error,largest_angle", columns, 5,
                         rows);
}
