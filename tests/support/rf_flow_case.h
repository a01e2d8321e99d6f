/* A reference flow case of the shared golden files: data, start and the parsed file. */
#ifndef RF_FLOW_CASE_H
#define RF_FLOW_CASE_H

#include <jansson.h>

#include "rf_test.h"

typedef struct RfFlowCase {
  json_t *root;
  double *X, *y;
  RfNet net;
  RfFlowStart start;
  RfFlowProblem problem;
} RfFlowCase;

static inline double rf_flow_case_number(const json_t *rows, rf_index i, rf_index j) {
  json_t *row = json_array_get(rows, (size_t)i);
  return json_number_value(json_is_array(row) ? json_array_get(row, (size_t)j) : row);
}

static inline void rf_flow_case_load(RfFlowCase *c, const char *name) {
  char path[4096];
  RfContext context;
  json_error_t error;
  rf_context_init(&context);
  memset(c, 0, sizeof *c);
  snprintf(path, sizeof path, "%s/flow/%s.json", rf_test_golden(), name);
  c->root = json_load_file(path, 0, &error);
  if (!c->root) fail_msg("%s: %s", path, error.text);
  json_t *input = json_object_get(c->root, "input"), *X = json_object_get(input, "X");
  json_t *W = json_object_get(input, "W0");
  rf_index n = (rf_index)json_array_size(X), d = (rf_index)json_array_size(json_array_get(X, 0));
  rf_index m = (rf_index)json_array_size(W);
  double leak = json_number_value(json_object_get(input, "alpha"));
  c->X = RF_NEW(double, n *d);
  c->y = RF_NEW(double, n);
  assert_ok(&context, rf_net_new(&context, &c->net, m, d, leak));
  for (rf_index i = 0; i < n; i++) {
    c->y[i] = rf_flow_case_number(json_object_get(input, "y"), i, 0);
    for (rf_index j = 0; j < d; j++) c->X[i * d + j] = rf_flow_case_number(X, i, j);
  }
  for (rf_index k = 0; k < m; k++) {
    c->net.a[k] = rf_flow_case_number(json_object_get(input, "a0"), k, 0);
    for (rf_index j = 0; j < d; j++) c->net.W[k * d + j] = rf_flow_case_number(W, k, j);
  }
  assert_ok(&context, rf_flow_start_from_net(&context, &c->start, &c->net));
  RfLoss loss;
  assert_ok(&context, rf_loss_from_name(&context, &loss, json_string_value(json_object_get(input, "loss"))));
  json_t *eps = json_object_get(input, "eps");
  c->problem = (RfFlowProblem){.X = c->X,
                               .y = c->y,
                               .n = n,
                               .d = d,
                               .leak = leak,
                               .loss = loss,
                               .start = &c->start,
                               .log_scale = eps ? log(json_number_value(eps)) : 0};
}

static inline void rf_flow_case_free(RfFlowCase *c) {
  json_decref(c->root);
  rf_free(c->X);
  rf_free(c->y);
  rf_net_free(&c->net);
  rf_flow_start_free(&c->start);
}

#endif
