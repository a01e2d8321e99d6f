/* Samples on one line share a hyperplane: symmetric data never branch, and the limit is that of Theorem 4.3
 * of Lyu, Li, Wang and Arora, margin (1+leak)/4 times the linear margin when neurons of both signs take part,
 * leak/2 times it otherwise. */
#include "rf_test.h"

static void symmetric_data_do_not_branch(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  const double leaks[] = {0.1, 0.5, 0.9};
  for (rf_index seed = 0; seed < rf_test_iterations(12); seed++) {
    char spec[64];
    RfDataset data;
    RfNet net;
    RfFlowStart start;
    RfFlowResult result;
    RfFlowSettings settings;
    RfLinearMargin linear;
    double leak = leaks[seed % 3];
    snprintf(spec, sizeof spec, seed % 2 ? "DS-SYM6" : "symmetric,seed=%lld", (long long)seed);
    assert_ok(&context, rf_data_generate(&context, &data, spec));
    assert_ok(&context, rf_margin_linear(&context, &linear, data.X, data.y, data.n, data.d));
    assert_ok(&context, rf_net_init(&context, &net, RF_INIT_GAUSSIAN, 8, data.d, leak, (uint64_t)seed, 1));
    assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
    rf_flow_settings_init(&settings);
    RfFlowProblem problem = {.X = data.X,
                             .y = data.y,
                             .n = data.n,
                             .d = data.d,
                             .leak = leak,
                             .start = &start,
                             .log_scale = log(seed % 4 ? 1e-6 : 1e-2)};
    RfStatus status = rf_flow_run(&context, &result, &problem, &settings);
    if (status || result.branched)
      print_error("%s leak %g seed %lld: %s\n", spec, leak, (long long)seed, result.limit.why);
    assert_int_equal(status, RF_OK);
    assert_false(result.branched);
    double both = (1 + leak) / 4 * linear.margin, one = leak / 2 * linear.margin;
    double nearest = fabs(result.limit.margin - both) < fabs(result.limit.margin - one) ? both : one;
    assert_relative(result.limit.margin, nearest, 1e-8);
    rf_linear_margin_free(&linear);
    rf_flow_result_free(&result);
    rf_flow_start_free(&start);
    rf_net_free(&net);
    rf_dataset_free(&data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(symmetric_data_do_not_branch)};
  return cmocka_run_group_tests_name("flow/align/parallel", tests, NULL, NULL);
}
