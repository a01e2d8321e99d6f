/* The flow on data of any size: x -> s x with the start scaled by 1/sqrt(s) is the same flow, slower by s.
 * And the groups of a linear net, whose neurons of both signs move as one. */
#include <math.h>
#include <string.h>

#include "flow/flow.h"
#include "rf_test.h"

static const double X[] = {2, 1, 1, 2, 3, 3, -3, 1, -1, -2};
static const double y[] = {1, 1, 1, -1, -1};
enum { N = 5, D = 2, M = 6 };

static void run(RfContext *context, RfFlowResult *result, const double *data, double leak, double log_scale) {
  RfNet net;
  RfFlowStart start;
  RfFlowSettings settings;
  RfRandom random;
  rf_flow_settings_init(&settings);
  settings.trace = 20;
  rf_random_init(&random, 3, 0);
  assert_ok(context, rf_net_new(context, &net, M, D, leak));
  for (rf_index k = 0; k < M; k++) {
    for (rf_index j = 0; j < D; j++) net.W[k * D + j] = rf_random_gaussian(&random);
    net.a[k] = (k % 2 ? -1 : 1) * hypot(net.W[k * D], net.W[k * D + 1]);
  }
  assert_ok(context, rf_flow_start_from_net(context, &start, &net));
  RfFlowProblem problem = {
      .X = data, .y = y, .n = N, .d = D, .leak = leak, .start = &start, .log_scale = log_scale};
  assert_ok(context, rf_flow_run(context, result, &problem, &settings));
  rf_flow_start_free(&start);
  rf_net_free(&net);
}

static void any_size(void **state) {
  (void)state;
  static const int sizes[] = {-1010, -480, -100, -27, -12, 12, 31, 100, 480, 1010};
  RfContext context;
  RfFlowResult base;
  rf_context_init(&context);
  run(&context, &base, X, 0, log(1e-3));
  for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
    double data[N * D], s = ldexp(1, sizes[c]);
    RfFlowResult other;
    for (int j = 0; j < N * D; j++) data[j] = s * X[j];
    run(&context, &other, data, 0, log(1e-3) - 0.5 * log(s));
    assert_int_equal(other.limit.outcome, RF_FLOW_CONVERGED);
    assert_relative(other.limit.margin, s * base.limit.margin, 1e-10);
    assert_relative(other.alignment.t1 * s, base.alignment.t1, 1e-10);
    assert_close(other.log_t_fit + log(s), base.log_t_fit, 1e-6);
    assert_int_equal(other.n_events, base.n_events);
    for (rf_index j = 0; j < base.n_events; j++)
      assert_close(other.events[j].log_t + log(s), base.events[j].log_t, 1e-6);
    assert_close(other.trace[0].log_norm + 0.5 * log(s), base.trace[0].log_norm, 1e-6);
    assert_relative(other.trace[0].margin / s, base.trace[0].margin, 1e-4);
    for (rf_index i = 0; i < N; i++) assert_close(other.limit.lambda[i] * s, base.limit.lambda[i], 1e-9);
    assert_int_equal(other.limit.n_groups, base.limit.n_groups);
    for (rf_index g = 0; g < base.limit.n_groups; g++)
      for (rf_index j = 0; j < D; j++)
        assert_close(other.limit.groups[g].beta[j] * s, base.limit.groups[g].beta[j], 1e-9);
    rf_flow_result_free(&other);
  }
  rf_flow_result_free(&base);
}

/* beta = sum of |a_k| w_k at smallest margin 1, and sign = sign of a_k, for every member. */
static void linear_signs(void **state) {
  (void)state;
  RfContext context;
  RfFlowResult result;
  rf_context_init(&context);
  run(&context, &result, X, 1, log(1e-2));
  const RfFlowLimit *limit = &result.limit;
  assert_int_equal(limit->n_groups, 2);
  for (rf_index g = 0; g < limit->n_groups; g++) {
    const RfFlowGroup *group = &limit->groups[g];
    double sum[D] = {0};
    for (rf_index r = 0; r < group->n_members; r++) {
      rf_index k = group->members[r];
      assert_true(limit->net.a[k] * group->sign > 0);
      for (int j = 0; j < D; j++) sum[j] += fabs(limit->net.a[k]) * limit->net.W[k * D + j] / limit->margin;
    }
    for (int j = 0; j < D; j++) assert_close(group->beta[j], sum[j], 1e-10);
  }
  rf_flow_result_free(&result);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_size), cmocka_unit_test(linear_signs)};
  return cmocka_run_group_tests_name("flow/units", tests, NULL, NULL);
}
