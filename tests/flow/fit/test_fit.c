/* Data that no network separates end in a clear status, with the samples that stand against it. */
#include "rf_test.h"

static RfFlowOutcome run_on(const double *X, const double *y, rf_index n, rf_index d, double leak,
                            uint64_t seed, char *why) {
  RfContext context;
  RfNet net;
  RfFlowStart start;
  RfFlowSettings settings;
  RfFlowResult result;
  rf_context_init(&context);
  rf_flow_settings_init(&settings);
  assert_ok(&context, rf_net_init(&context, &net, RF_INIT_BALANCED, 6, d, leak, seed, 1));
  assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
  RfFlowProblem problem = {
      .X = X, .y = y, .n = n, .d = d, .leak = leak, .start = &start, .log_scale = log(1e-4)};
  RfStatus status = rf_flow_run(&context, &result, &problem, &settings);
  assert_true(status >= 0);
  RfFlowOutcome outcome = result.limit.outcome;
  snprintf(why, 160, "%s", result.limit.why);
  assert_true(result.monitors.steps_explicit + result.monitors.steps_implicit < 20000);
  rf_flow_result_free(&result);
  rf_flow_start_free(&start);
  rf_net_free(&net);
  return outcome;
}

static void conflicting_labels_and_zero_samples(void **state) {
  (void)state;
  RfRandom random;
  char why[160];
  for (rf_index trial = 0; trial < rf_test_iterations(20); trial++) {
    enum { n = 7, d = 3 };
    double X[n * d], y[n];
    rf_random_init(&random, 77, (uint64_t)trial);
    for (int k = 0; k < n * d; k++) X[k] = rf_random_gaussian(&random);
    for (int i = 0; i < n; i++) y[i] = rf_random_sign(&random);
    if (trial % 4 == 3) {
      for (int k = 0; k < d; k++) X[2 * d + k] = 0;
    } else {
      for (int k = 0; k < d; k++)
        X[5 * d + k] = (trial % 3 ? 1 : 4) * X[2 * d + k]; /* equal, or on one ray */
      y[5] = -y[2];
    }
    RfFlowOutcome outcome = run_on(X, y, n, d, trial % 2 ? 0 : 0.2, (uint64_t)trial, why);
    if (outcome != RF_FLOW_NOT_SEPARATED && outcome != RF_FLOW_BRANCHED) {
      rf_test_print_matrix("X", X, n, d);
      rf_test_print_matrix("y", y, 1, n);
      fail_msg("trial %lld: %s (%s)", (long long)trial, rf_flow_outcome_name(outcome), why);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(conflicting_labels_and_zero_samples)};
  return cmocka_run_group_tests_name("flow/fit/fit", tests, NULL, NULL);
}
