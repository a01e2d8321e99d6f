/* The linear programs of many samples in few dimensions: the same optimum as pattern generation finds, whose
 * values stand here, and a network on crowded rows even without time. */
#include "rf_test.h"
#include "reluflow/data.h"
#include "reluflow/optimum.h"

#include <math.h>

static RfOptimum solve_by(const char *spec, double leak, double seconds, int threads) {
  RfContext context;
  rf_context_init(&context);
  context.threads = threads;
  RfDataset data;
  assert_ok(&context, rf_data_generate(&context, &data, spec));
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = leak, settings.time_limit = seconds;
  RfOptimum o;
  RfStatus status = rf_optimum_solve(&context, &o, data.X, data.y, data.n, data.d, &settings);
  assert_true(status == RF_OK || status == RF_INTERRUPTED);
  rf_dataset_free(&data);
  return o;
}

static RfOptimum solve(const char *spec, double leak, double seconds) {
  return solve_by(spec, leak, seconds, 1);
}

static void test_known_values(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    double value;
  } cases[] = {{"gaussian,n=100,d=2", 21651.068029063237},
               {"gaussian,n=60,d=3", 328.8749401051497},
               {"gaussian,n=60,d=5", 45.7092129438547}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RfOptimum o = solve(cases[k].spec, 0, 0);
    assert_int_equal(o.status, RF_OPTIMUM_PROVED);
    assert_relative(o.objective, cases[k].value, 1e-8);
    assert_true(o.lower <= cases[k].value * (1 + 1e-12));
    rf_optimum_free(&o);
  }
}

/* Leaks and duplicated rows. */
static void test_leaks(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    RfOptimum o = solve("gaussian,n=64,d=2,seed=5", 0.3 * k, 0);
    assert_int_equal(o.status, RF_OPTIMUM_PROVED);
    rf_optimum_free(&o);
  }
}

/* Climbs, arcs and blocks of the inverse are shared by threads, the sums are not: the same bits. More samples
 * than one block has rows. */
static void test_threads(void **state) {
  (void)state;
  static const char *const specs[] = {"gaussian,n=140,d=2,seed=4", "gaussian,n=110,d=3,seed=4"};
  for (int k = 0; k < 2; k++) {
    RfOptimum one = solve_by(specs[k], 0, 0, 1), three = solve_by(specs[k], 0, 0, 3);
    assert_int_equal(one.status, RF_OPTIMUM_PROVED);
    assert_memory_equal(&one.objective, &three.objective, sizeof one.objective);
    assert_memory_equal(&one.lower, &three.lower, sizeof one.lower);
    assert_int_equal(one.patterns_seen, three.patterns_seen);
    assert_int_equal(one.newton_steps, three.newton_steps);
    assert_int_equal(one.neurons, three.neurons);
    assert_memory_equal(one.U, three.U, (size_t)(one.neurons * one.d) * sizeof *one.U);
    rf_optimum_free(&one), rf_optimum_free(&three);
  }
}

static void test_crowded_rows(void **state) {
  (void)state;
  RfOptimum o = solve("gaussian,n=300,d=2,seed=1", 0, 1e-9);
  assert_true(isfinite(o.objective) && o.neurons > 0 && o.lower <= o.objective);
  rf_optimum_free(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_values), cmocka_unit_test(test_leaks),
                                     cmocka_unit_test(test_threads), cmocka_unit_test(test_crowded_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
