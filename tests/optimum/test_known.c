/* Networks known before the search: used, never trusted, and always there on data that some network fits. */
#include "rf_test.h"
#include "data/data.h"
#include "optimum/optimum.h"
#include "reluflow/optimum.h"

#include <math.h>

/* A search that has no time keeps the caller's network as its bound, and finds one on its own without it. */
static void test_no_time(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfDataset data;
  assert_ok(&context, rf_data_generate(&context, &data, "gaussian,n=40,d=5,seed=3"));
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  RfOptimum best, o;
  assert_ok(&context, rf_optimum_solve(&context, &best, data.X, data.y, data.n, data.d, &settings));
  RfNet net, other;
  assert_ok(&context, rf_optimum_net(&context, &net, &best));
  assert_ok(&context, rf_net_copy(&context, &other, &net));
  other.leak = 0.5; /* passed over, as is the missing one */
  const RfNet *known[] = {NULL, &other, &net};
  settings.time_limit = 1e-9;
  settings.incumbents = known, settings.n_incumbents = 3;
  assert_int_equal(rf_optimum_solve(&context, &o, data.X, data.y, data.n, data.d, &settings), RF_INTERRUPTED);
  assert_true(o.objective <= best.objective * (1 + 1e-9));
  rf_optimum_free(&o);
  settings.n_incumbents = 2;
  assert_int_equal(rf_optimum_solve(&context, &o, data.X, data.y, data.n, data.d, &settings), RF_INTERRUPTED);
  assert_true(isfinite(o.objective) && o.neurons > 0);
  rf_optimum_free(&o);
  rf_net_free(&net), rf_net_free(&other);
  rf_optimum_free(&best);
  rf_dataset_free(&data);
}

/* Neurons of a sign that is not allowed do not make an upper bound. */
static void test_signs(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double X[] = {1, 0, 0, 1}, y[] = {1, -1}, W[] = {1, 0, 0, 1}, a[] = {1, -1};
  RfNet net = {.m = 2, .d = 2, .W = W, .a = a};
  const RfNet *known[] = {&net};
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.incumbents = known, settings.n_incumbents = 1;
  RfOptimum o;
  assert_ok(&context, rf_optimum_solve(&context, &o, X, y, 2, 2, &settings));
  assert_relative(o.objective, 2, 1e-12);
  rf_optimum_free(&o);
  settings.signs = 1, settings.leak = net.leak = 0.5;
  assert_ok(&context, rf_optimum_solve(&context, &o, X, y, 2, 2, &settings));
  for (rf_index k = 0; k < o.neurons; k++) assert_true(o.sign[k] > 0);
  rf_optimum_free(&o);
}

/* Multipliers and a network that are optimal together need no search of patterns; wrong ones do no harm. */
static void test_multipliers(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfDataset data;
  assert_ok(&context, rf_data_generate(&context, &data, "teacher,n=60,d=4,seed=5"));
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  RfOptimum best, o;
  assert_ok(&context, rf_optimum_solve(&context, &best, data.X, data.y, data.n, data.d, &settings));
  assert_int_equal(best.status, RF_OPTIMUM_PROVED);
  RfNet net;
  assert_ok(&context, rf_optimum_net(&context, &net, &best));
  const RfNet *known[] = {&net};
  settings.incumbents = known, settings.n_incumbents = 1;
  settings.multipliers = best.lambda;
  for (rf_index i = 0; i < data.n; i++) best.lambda[i] *= 7; /* the factor does not matter */
  assert_ok(&context, rf_optimum_solve(&context, &o, data.X, data.y, data.n, data.d, &settings));
  assert_int_equal(o.status, RF_OPTIMUM_PROVED);
  assert_int_equal(o.patterns_seen, 0);
  assert_relative(o.objective, best.objective, 1e-8);
  rf_optimum_free(&o);
  for (rf_index i = 0; i < data.n; i++) best.lambda[i] = 1;
  assert_ok(&context, rf_optimum_solve(&context, &o, data.X, data.y, data.n, data.d, &settings));
  assert_int_equal(o.status, RF_OPTIMUM_PROVED);
  assert_true(o.patterns_seen > 0);
  assert_relative(o.objective, best.objective, 1e-8);
  rf_optimum_free(&o);
  rf_net_free(&net);
  rf_optimum_free(&best);
  rf_dataset_free(&data);
}

/* The same after a search that had no time. */
static void test_multipliers_afterwards(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double X[] = {1, 0, 0, 1}, y[] = {1, -1}, W[] = {1, 0, 0, 1}, a[] = {1, -1}, lambda[] = {3, 3};
  RfNet net = {.m = 2, .d = 2, .W = W, .a = a};
  const RfNet *known[] = {&net};
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.incumbents = known, settings.n_incumbents = 1, settings.time_limit = 1e-9;
  RfOptimum o;
  rf_optimum_solve(&context, &o, X, y, 2, 2, &settings);
  o.status = RF_OPTIMUM_INTERRUPTED, o.lower = 1, o.gap = 0.5;
  assert_ok(&context,
            rf_optimum_offer_multipliers(&context, &o, lambda, 6)); /* a bound below the one known */
  assert_relative(o.lower, 1, 1e-15);
  assert_ok(&context, rf_optimum_offer_multipliers(&context, &o, lambda, 3));
  assert_relative(o.lower, 2, 1e-12);
  assert_relative(o.lambda[0], 1, 1e-12);
  assert_int_equal(o.status, RF_OPTIMUM_PROVED);
  rf_optimum_free(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_time), cmocka_unit_test(test_signs),
                                     cmocka_unit_test(test_multipliers),
                                     cmocka_unit_test(test_multipliers_afterwards)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
