/* Rest, and what still moves: samples that no neuron sees do not hold the clock, thresholds are relative to
 * the data, and a run that never separates reports a limit. */
#include "../random_problem.h"
#include "rf_test.h"

static RfStatus run(RfContext *context, RfFlowResult *result, const double *X, const double *y, rf_index n,
                    rf_index m, double leak) {
  RfNet net;
  RfFlowStart start;
  RfFlowSettings settings;
  assert_ok(context, rf_net_init(context, &net, RF_INIT_BALANCED, m, 2, leak, 0, 1));
  assert_ok(context, rf_flow_start_from_net(context, &start, &net));
  RfFlowProblem problem = {.X = X, .y = y, .n = n, .d = 2, .leak = leak, .start = &start};
  problem.log_scale = log(1e-6);
  rf_flow_settings_init(&settings);
  settings.trace = 0;
  RfStatus status = rf_flow_run(context, result, &problem, &settings);
  rf_flow_start_free(&start);
  rf_net_free(&net);
  return status;
}

/* One row of length 1e6 makes every other speed small in the common clock; no rest is possible there. */
static void long_row(void **state) {
  (void)state;
  RfContext context;
  double y[4] = {1, 1, 1, -1}, margin[2];
  rf_context_init(&context);
  for (int k = 0; k < 2; k++) {
    double X[8] = {k ? 1e6 : 1e5, 1, 1, 2, -1, 1, -0.5, -1};
    RfFlowResult result;
    assert_ok(&context, run(&context, &result, X, y, 4, 6, 0.1));
    assert_int_equal(result.limit.outcome, RF_FLOW_CONVERGED);
    margin[k] = result.limit.margin;
    rf_flow_result_free(&result);
  }
  assert_close(margin[0], 0.32167, 1e-5);
  assert_close(margin[1], margin[0], 1e-5);
}

/* One neuron on XOR keeps one sample; the three others are never seen, and the direction is that of the
 * first. */
static void never_seen(void **state) {
  (void)state;
  RfContext context;
  RfFlowResult result;
  double X[8] = {1, 1, -1, -1, 1, -1, -1, 1}, y[4] = {1, 1, -1, -1};
  rf_context_init(&context);
  assert_int_equal(run(&context, &result, X, y, 4, 1, 0), RF_NOT_SEPARABLE);
  assert_int_equal(result.limit.outcome, RF_FLOW_NOT_SEPARATED);
  assert_int_equal(result.limit.n_resting, 3);
  assert_int_equal(result.limit.n_groups, 1);
  const double *w = result.limit.net.W;
  assert_close(fabs(w[0]), 0.5, 1e-9);
  assert_close(fabs(w[1]), 0.5, 1e-9);
  rf_flow_result_free(&result);
}

/* A sample that nobody sees for long comes into sight in the end: once called not separated. */
static void woken(void **state) {
  (void)state;
  RfContext context;
  RandomProblem p;
  RfFlowSettings settings;
  RfFlowResult result;
  rf_context_init(&context);
  rf_flow_settings_init(&settings);
  assert_ok(&context, random_problem_new(&context, &p, 4242, 617, true));
  assert_ok(&context, rf_flow_run(&context, &result, &p.flow, &settings));
  assert_int_equal(result.limit.outcome, RF_FLOW_CONVERGED);
  assert_true(result.limit.margin > 0 && result.limit.stationarity < 1e-10);
  rf_flow_result_free(&result);
  random_problem_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(long_row), cmocka_unit_test(never_seen),
                                     cmocka_unit_test(woken)};
  return cmocka_run_group_tests_name("flow/far/rest", tests, NULL, NULL);
}
