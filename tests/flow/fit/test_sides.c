/* A branching point on the way: the neuron reaches two ridges, x_0 and x_1, at the same moment t > 0, pushed
 * by x_2. With w = (w1, 0, w3) both are met at w1 = 0, and since <x_0,x_1> = -3 < 0 three of the four pairs
 * of sides are consistent: ++, +- and -+. Each is followed when it is asked for. */
#include "rf_test.h"

static const double X[9] = {1, 2, 0, 1, -2, 0, 1, 0, 1}, y[3] = {1, 1, 1};

static RfStatus run(RfContext *context, RfFlowResult *result, const rf_index *choices, rf_index n_choices,
                    double log_scale) {
  double W[3] = {-0.5, 0, 1}, a = sqrt(1.25);
  RfNet net = {.m = 1, .d = 3, .W = W, .a = &a, .leak = 0};
  RfFlowStart start;
  RfFlowSettings settings;
  assert_ok(context, rf_flow_start_from_net(context, &start, &net));
  RfFlowProblem problem = {.X = X, .y = y, .n = 3, .d = 3, .start = &start, .log_scale = log_scale};
  rf_flow_settings_init(&settings);
  settings.branches = RF_BRANCHES_FOLLOW;
  settings.choices = choices, settings.n_choices = n_choices;
  RfStatus status = rf_flow_run(context, result, &problem, &settings);
  rf_flow_start_free(&start);
  return status;
}

static void three_ways(void **state) {
  (void)state;
  RfContext context;
  RfFlowResult result;
  const double scales[] = {0, -7, -100};
  rf_context_init(&context);
  for (int s = 0; s < 3; s++) {
    bool seen[4] = {false};
    for (rf_index o = 0; o < 3; o++) {
      RfStatus status = run(&context, &result, &o, 1, scales[s]);
      assert_true(status >= 0);
      assert_int_equal(result.n_branches, 1);
      const RfFlowBranch *branch = &result.branches[0];
      assert_int_equal(branch->n_options, 3);
      assert_int_equal(branch->taken, o);
      assert_int_equal(branch->neuron, 0);
      assert_true(isfinite(branch->log_t));
      const int8_t *sector = branch->sectors + o * 3;
      assert_int_equal(sector[2], 1);
      int which = (sector[0] > 0) + 2 * (sector[1] > 0);
      assert_true(which > 0 && !seen[which]);
      seen[which] = true;
      /* one neuron: it separates exactly when it is active on all three */
      if (which == 3) {
        assert_int_equal(result.limit.outcome, RF_FLOW_CONVERGED);
        RfLinearMargin linear;
        assert_ok(&context, rf_margin_linear(&context, &linear, X, y, 3, 3));
        assert_relative(result.limit.margin, linear.margin / 2, 1e-9);
        rf_linear_margin_free(&linear);
      }
      rf_flow_result_free(&result);
    }
  }
}

/* Without choices the first way is followed, and nothing is listed; with an empty list the same is followed.
 */
static void first_way(void **state) {
  (void)state;
  RfContext context;
  RfFlowResult plain, listed;
  rf_index none = 0;
  rf_context_init(&context);
  assert_true(run(&context, &plain, NULL, 0, -7) >= 0);
  assert_true(run(&context, &listed, &none, 0, -7) >= 0);
  assert_true(plain.branched && listed.branched);
  assert_int_equal(plain.n_branches, 0);
  assert_int_equal(listed.n_branches, 1);
  assert_close(plain.limit.margin, listed.limit.margin, 1e-12);
  rf_flow_result_free(&plain);
  rf_flow_result_free(&listed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(three_ways), cmocka_unit_test(first_way)};
  return cmocka_run_group_tests_name("flow/fit/sides", tests, NULL, NULL);
}
