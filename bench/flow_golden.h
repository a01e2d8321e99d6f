/* Times of the reference flows tests/golden/flow/NAME.json. */
#ifndef RF_BENCH_FLOW_GOLDEN_H
#define RF_BENCH_FLOW_GOLDEN_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reluflow/reluflow.h"
#include "core/core.h"

static inline double *golden_numbers(json_t *array, rf_index *rows, rf_index *cols) {
  bool nested = json_is_array(json_array_get(array, 0));
  *rows = (rf_index)json_array_size(array);
  *cols = nested ? (rf_index)json_array_size(json_array_get(array, 0)) : 1;
  double *out = RF_NEW(double, *rows **cols);
  for (rf_index i = 0; out && i < *rows * *cols; i++) {
    json_t *cell = json_array_get(array, (size_t)(i / *cols));
    out[i] = json_number_value(nested ? json_array_get(cell, (size_t)(i % *cols)) : cell);
  }
  return out;
}

/* Best of seven runs in seconds of processor time; negative when the file cannot be read or the flow fails.
 */
static inline double golden_time(const char *name, const char **outcome) {
  char path[1024];
  RfContext context;
  RfNet net = {0};
  RfFlowStart start = {0};
  RfFlowProblem problem = {0};
  rf_index rows, cols;
  rf_context_init(&context);
  *outcome = "";
  snprintf(path, sizeof path, "%s/tests/golden/flow/%s.json", RF_SOURCE_DIR, name);
  json_t *root = json_load_file(path, 0, NULL), *input = json_object_get(root, "input");
  if (!input) return -1;
  double *X = golden_numbers(json_object_get(input, "X"), &problem.n, &problem.d);
  double *y = golden_numbers(json_object_get(input, "y"), &rows, &cols), best = -1;
  net.W = golden_numbers(json_object_get(input, "W0"), &net.m, &net.d);
  net.a = golden_numbers(json_object_get(input, "a0"), &rows, &cols);
  problem.leak = net.leak = json_number_value(json_object_get(input, "alpha"));
  json_t *eps = json_object_get(input, "eps");
  problem.X = X, problem.y = y, problem.start = &start;
  problem.log_scale = eps ? log(json_number_value(eps)) : 0;
  RfStatus status = X && y && net.W && net.a ? RF_OK : RF_ERR_MEMORY;
  if (!status)
    status = rf_loss_from_name(&context, &problem.loss, json_string_value(json_object_get(input, "loss")));
  if (!status) status = rf_flow_start_from_net(&context, &start, &net);
  for (int round = 0; round < 7 && status >= 0; round++) {
    RfFlowSettings settings;
    RfFlowResult result = {0};
    rf_flow_settings_init(&settings);
    clock_t began = clock();
    status = rf_flow_run(&context, &result, &problem, &settings);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    if (status >= 0) *outcome = rf_flow_outcome_name(result.limit.outcome);
    if (best < 0 || seconds < best) best = seconds;
    rf_flow_result_free(&result);
  }
  rf_flow_start_free(&start);
  rf_net_free(&net);
  rf_free(X), rf_free(y);
  json_decref(root);
  return status < 0 ? -1 : best;
}

#endif
