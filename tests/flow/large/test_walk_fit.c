/* The fit on thousands of samples: ends at a KKT point, passes its audit, and does not depend on threads. */
#include "rf_test.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 2200, DIMENSIONS = 12, NEURONS = 10 };

/* Two clouds of mostly zero rows, as pictures are, on both sides of a plane. */
static void draw(double *X, double *y, uint64_t seed) {
  RfRandom random;
  rf_random_init(&random, seed, 0);
  for (rf_index i = 0; i < SAMPLES; i++) {
    double *x = X + i * DIMENSIONS;
    y[i] = i % 2 ? 1 : -1;
    for (rf_index j = 0; j < DIMENSIONS; j++)
      x[j] = rf_random_uniform(&random) < 0.25 ? fabs(rf_random_gaussian(&random)) : 0;
    x[i % 2] += 1.5 + rf_random_uniform(&random);
    x[1 - i % 2] *= 0.2;
  }
}

static void limit_of(RfFlowResult *result, const double *X, const double *y, int threads, bool twice) {
  RfContext context;
  RfNet net;
  RfFlowStart start;
  RfFlowSettings settings;
  rf_context_init(&context);
  context.threads = threads;
  assert_ok(&context, rf_net_init(&context, &net, RF_INIT_BALANCED, NEURONS, DIMENSIONS, 0, 5, 1));
  assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
  RfFlowProblem problem = {.X = X,
                           .y = y,
                           .n = SAMPLES,
                           .d = DIMENSIONS,
                           .loss = RF_LOSS_LOGISTIC,
                           .start = &start,
                           .log_scale = log(1e-5)};
  rf_flow_settings_init(&settings);
  settings.check_direction = twice;
  assert_ok(&context, rf_flow_run(&context, result, &problem, &settings));
  rf_flow_start_free(&start);
  rf_net_free(&net);
}

static void ends_and_is_the_same(void **state) {
  (void)state;
  double *X = RF_NEW(double, SAMPLES *DIMENSIONS), *y = RF_NEW(double, SAMPLES);
  RfFlowResult one, three;
  draw(X, y, 1);
  limit_of(&one, X, y, 1, true);
  limit_of(&three, X, y, 3, false);
  print_message("margin %.15g, %lld + %lld steps, stationarity %.1e, two runs %.1e\n", one.limit.margin,
                (long long)one.monitors.steps_explicit, (long long)one.monitors.steps_implicit,
                one.limit.stationarity, one.limit.direction_error);
  assert_int_equal(one.limit.outcome, RF_FLOW_CONVERGED);
  assert_true(one.limit.stationarity <= 1e-9 && one.limit.direction_error <= 1e-4);
  assert_true(one.audit.passed && one.audit.points > 0);
  assert_true(one.limit.margin == three.limit.margin && one.n_events == three.n_events);
  assert_int_equal(memcmp(one.limit.net.W, three.limit.net.W, NEURONS * DIMENSIONS * sizeof(double)), 0);
  rf_flow_result_free(&one);
  rf_flow_result_free(&three);
  rf_free(X), rf_free(y);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ends_and_is_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
