/* Reference results of flow/NAME.json as a problem. */
#ifndef RF_TEST_FLOW_GOLDEN_H
#define RF_TEST_FLOW_GOLDEN_H

#include <jansson.h>

#include "rf_test.h"

typedef struct Golden {
  json_t *root;
  double *X, *y;
  RfNet net;
  RfFlowStart start;
  RfFlowProblem problem;
} Golden;

static const char *const golden_names[] = {
    "gauss_d3_leaky",   "hinted_d2",        "linear_d3",    "min_mu_d2",          "orthsep_d2",
    "orthsep_d20",      "orthsep_d3_leaky", "symmetric_d2", "symmetric_d3_unbal", "vardi32_leaky",
    "vardi32_logistic", "vardi_local",      "xor_d2"};

static inline double *golden_numbers(json_t *array, rf_index *rows, rf_index *cols) {
  assert_true(json_is_array(array));
  json_t *first = json_array_get(array, 0);
  bool nested = json_is_array(first);
  *rows = (rf_index)json_array_size(array);
  *cols = nested ? (rf_index)json_array_size(first) : 1;
  double *out = RF_NEW(double, *rows **cols);
  assert_non_null(out);
  for (rf_index i = 0; i < *rows; i++)
    for (rf_index j = 0; j < *cols; j++) {
      json_t *cell = json_array_get(array, (size_t)i);
      out[i * *cols + j] = json_number_value(nested ? json_array_get(cell, (size_t)j) : cell);
    }
  return out;
}

static inline void golden_load(RfContext *context, Golden *golden, const char *name) {
  char path[1024];
  json_error_t error;
  rf_index rows, cols;
  memset(golden, 0, sizeof *golden);
  snprintf(path, sizeof path, "%s/flow/%s.json", rf_test_golden(), name);
  golden->root = json_load_file(path, 0, &error);
  if (!golden->root) print_error("%s: %s\n", path, error.text);
  assert_non_null(golden->root);
  json_t *input = json_object_get(golden->root, "input"), *eps = json_object_get(input, "eps");
  RfFlowProblem *problem = &golden->problem;
  golden->X = golden_numbers(json_object_get(input, "X"), &problem->n, &problem->d);
  golden->y = golden_numbers(json_object_get(input, "y"), &rows, &cols);
  problem->leak = json_number_value(json_object_get(input, "alpha"));
  assert_ok(context,
            rf_loss_from_name(context, &problem->loss, json_string_value(json_object_get(input, "loss"))));
  golden->net.W = golden_numbers(json_object_get(input, "W0"), &golden->net.m, &golden->net.d);
  golden->net.a = golden_numbers(json_object_get(input, "a0"), &rows, &cols);
  golden->net.leak = problem->leak;
  assert_ok(context, rf_flow_start_from_net(context, &golden->start, &golden->net));
  problem->X = golden->X, problem->y = golden->y, problem->start = &golden->start;
  problem->log_scale = eps ? log(json_number_value(eps)) : 0;
}

static inline void golden_free(Golden *golden) {
  json_decref(golden->root);
  rf_free(golden->X);
  rf_free(golden->y);
  rf_net_free(&golden->net);
  rf_flow_start_free(&golden->start);
}

#endif
