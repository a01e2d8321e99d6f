/* The fit on thousands of samples: ends at a KKT point, passes its audit, and does not depend on threads. */
#include "flow/audit/audit.h"
#include "flow/large/gram.h"
#include "flow/large/walk_fit.h"
#include "rf_test.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 2200, DIMENSIONS = 32, NEURONS = 10 };

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
  assert_true(rf_gram_pays(SAMPLES, DIMENSIONS, NEURONS)); /* or nobody walks */
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

/* A run whose fit walks, on samples that are few enough for a test. */
typedef struct Fit {
  RfContext context;
  RfGram gram;
  RfNet net;
  RfFlowStart start;
  RfFlowProblem problem;
  RfFlowSettings settings;
  RfRun run;
} Fit;

static void fit_new(Fit *fit, const double *X, const double *y, rf_index n, rf_index d) {
  memset(fit, 0, sizeof *fit);
  rf_context_init(&fit->context);
  assert_ok(&fit->context, rf_gram_new(&fit->context, &fit->gram, X, n, d));
  assert_ok(&fit->context, rf_net_init(&fit->context, &fit->net, RF_INIT_BALANCED, 6, d, 0, 0, 1));
  assert_ok(&fit->context, rf_flow_start_from_net(&fit->context, &fit->start, &fit->net));
  fit->problem = (RfFlowProblem){.X = X,
                                 .y = y,
                                 .n = n,
                                 .d = d,
                                 .loss = RF_LOSS_LOGISTIC,
                                 .start = &fit->start,
                                 .gram = &fit->gram,
                                 .log_scale = log(0.1)};
  rf_flow_settings_init(&fit->settings);
  assert_ok(&fit->context, rf_run_new(&fit->context, &fit->run, &fit->problem, &fit->settings));
  assert_ok(&fit->context, rf_run_start(&fit->run));
  assert_true(rf_walk_fit_fits(&fit->run));
}

static void fit_free(Fit *fit) {
  rf_run_free(&fit->run);
  rf_flow_start_free(&fit->start);
  rf_net_free(&fit->net);
  rf_gram_free(&fit->gram);
}

/* Slides hold under the weights of the state, not only under those that the last step was taken with: a fresh
 * audit after every few of them finds no velocity off (5e-4 where only the middle decided). */
static void slides_hold_at_the_end_of_steps(void **state) {
  (void)state;
  enum { STEPS = 60 };
  RfContext context;
  RfDataset data;
  Fit fit;
  double worst = 0;
  rf_index sliding = 0;
  rf_context_init(&context);
  assert_ok(&context, rf_data_generate(&context, &data, "gaussian,n=300,d=8"));
  fit_new(&fit, data.X, data.y, data.n, data.d);
  RfRun *run = &fit.run;
  for (int step = 0; step < STEPS; step++) {
    assert_ok(&fit.context, rf_run_step(run));
    assert_ok(&fit.context, rf_audit_new(&fit.context, &run->audit, run));
    assert_ok(&fit.context, rf_audit_look(run->audit, run));
    worst = fmax(worst, rf_audit_result(run->audit).velocity);
    for (rf_index u = 0; u < run->system.units; u++) sliding += run->system.slide[u].n_on;
    rf_audit_free(run->audit);
    run->audit = NULL;
  }
  print_message("velocity %.1e, on %.1f hyperplanes\n", worst, (double)sliding / STEPS);
  assert_true(sliding > STEPS && worst <= 1e-9);
  fit_free(&fit);
  rf_dataset_free(&data);
}

/* ln S at the time log_t, and the batches of steps to there. */
static double fallen(const double *X, const double *y, rf_index n, rf_index d, double log_t, double tolerance,
                     rf_index *batches) {
  Fit fit;
  double before = NAN, at = NAN;
  fit_new(&fit, X, y, n, d);
  RfRun *run = &fit.run;
  run->stride_tolerance = tolerance;
  while (run->system.log_t < log_t) {
    before = run->system.log_S, at = run->system.log_t;
    assert_ok(&fit.context, rf_run_step(run));
  }
  *batches = run->steps_explicit;
  double part = (log_t - at) / (run->system.log_t - at), ends = run->system.log_S;
  fit_free(&fit);
  return before + part * (ends - before);
}

/* Long rows that point the same way, as pictures do: their weights push back hundreds of times faster than
 * the fit goes on. Steps are as long as the fit asks for, and right. */
static void steps_are_long_where_weights_push_back(void **state) {
  (void)state;
  enum { N = 400, D = 12 };
  double *X = RF_NEW(double, N *D), y[N], teacher[D];
  rf_index coarse, fine;
  RfRandom random;
  rf_random_init(&random, 2, 0);
  for (rf_index j = 0; j < D; j++) teacher[j] = rf_random_gaussian(&random);
  for (rf_index i = 0; i < N; i++) {
    double sum = 0.7 * rf_random_gaussian(&random);
    for (rf_index j = 0; j < D; j++) {
      double z = rf_random_gaussian(&random);
      X[i * D + j] = 6 + z, sum += teacher[j] * z;
    }
    y[i] = sum > 0 ? 1 : -1;
  }
  double rough = fallen(X, y, N, D, 1, 1, &coarse), exact = fallen(X, y, N, D, 1, 0.01, &fine);
  print_message("ln S %.6f and %.6f, %lld and %lld batches\n", rough, exact, (long long)coarse,
                (long long)fine);
  assert_true(fabs(rough - exact) <= 3e-3);
  assert_true(coarse <= 100);
  rf_free(X);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ends_and_is_the_same),
                                     cmocka_unit_test(slides_hold_at_the_end_of_steps),
                                     cmocka_unit_test(steps_are_long_where_weights_push_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
