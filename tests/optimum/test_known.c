/* Networks known before the search: used, never trusted, and always there on data that some network fits. */
#include "rf_test.h"
#include "data/data.h"
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_time), cmocka_unit_test(test_signs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
