/* Which data some network fits: the criterion against the rank and linear programs behind it, and constructed
 * cases. */
#include "theory_test.h"

static RfContext context;

static int setup(void **state) {
  (void)state;
  rf_context_init(&context);
  return 0;
}

static void expect_fits(const double *X, const double *y, rf_index n, rf_index d, double leak, RfAnswer fits,
                        const char *words) {
  Inspected all = inspect_arrays(&context, X, y, n, d, leak);
  const RfTheorem *theorem = rf_theory_find(&all.theory, "LLWA-Thm3.1");
  if (all.theory.fits != fits || !strstr(theorem->why, words)) {
    rf_test_print_matrix("X", X, n, d);
    print_error("fits %d, '%s'\n", all.theory.fits, theorem->why);
  }
  assert_int_equal(all.theory.fits, fits);
  assert_non_null(strstr(theorem->why, words));
  inspected_free(&all);
}

static void cases(void **state) {
  (void)state;
  const double xor_X[] = {1, 1, 1, -1, -1, 1, -1, -1}, xor_y[] = {1, -1, -1, 1};
  expect_fits(xor_X, xor_y, 4, 2, 0, RF_YES, "");
  expect_fits(xor_X, xor_y, 4, 2, 0.9, RF_YES, "");
  expect_fits(xor_X, xor_y, 4, 2, 1, RF_NO, "linear");
  const double ray[] = {1, 2, 3, 6, -1, 0}, ray_y[] = {1, -1, 1};
  expect_fits(ray, ray_y, 3, 2, 0, RF_NO, "samples 0 and 1 lie on one ray");
  const double zero[] = {1, 2, 0, 0, -1, -2}, zero_y[] = {1, -1, 1};
  expect_fits(zero, zero_y, 3, 2, 0.5, RF_NO, "sample 1 is zero");
  /* three opposite pairs with different labels that no line separates */
  const double s = sqrt(0.75);
  const double hexagon[] = {1, 0, -1, 0, -0.5, s, 0.5, -s, -0.5, -s, 0.5, s},
               hexagon_y[] = {1, -1, 1, -1, 1, -1};
  expect_fits(hexagon, hexagon_y, 6, 2, 0, RF_NO, "opposite samples");
  expect_fits(hexagon, hexagon_y, 4, 2, 0, RF_YES, "");
  /* duplicates with equal labels are no obstacle */
  const double twins[] = {1, 1, 2, 2, 1, -1, -1, 1, -1, -1}, twins_y[] = {1, 1, -1, -1, 1};
  expect_fits(twins, twins_y, 5, 2, 0, RF_YES, "");
}

/* On a line (d = 1): two rays; labels must be constant on each, and any such labelling fits. */
static void line(void **state) {
  (void)state;
  const double X[] = {1, 2, -1, -3};
  for (int bits = 0; bits < 16; bits++) {
    double y[4];
    for (int i = 0; i < 4; i++) y[i] = bits >> i & 1 ? 1 : -1;
    bool possible = y[0] == y[1] && y[2] == y[3];
    expect_fits(X, y, 4, 1, 0, possible ? RF_YES : RF_NO, "");
  }
}

/* Random grid points with random labels against the global solver, which proves infeasibility on its own. */
static void against_global_solver(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 6, 0);
  rf_index no = 0;
  for (rf_index t = 0; t < 60 || t < rf_test_iterations(60); t++) {
    double X[14], y[7], leak = t % 2 ? 0.3 : 0;
    rf_index n = 3 + rf_random_below(&random, 5);
    for (rf_index k = 0; k < 2 * n; k++) X[k] = (double)rf_random_below(&random, 5) - 2;
    for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random);
    Inspected all = inspect_arrays(&context, X, y, n, 2, leak);
    RfOptimum optimum;
    RfOptimumSettings settings;
    rf_optimum_settings_init(&settings);
    settings.leak = leak, settings.time_limit = 5;
    assert_ok(&context, rf_optimum_solve(&context, &optimum, X, y, n, 2, &settings));
    bool infeasible = optimum.status == RF_OPTIMUM_INFEASIBLE;
    if (infeasible != (all.theory.fits == RF_NO))
      rf_test_print_matrix("X", X, n, 2), rf_test_print_matrix("y", y, 1, n);
    assert_true(infeasible == (all.theory.fits == RF_NO));
    no += infeasible;
    rf_optimum_free(&optimum);
    inspected_free(&all);
  }
  assert_true(no > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(cases, setup),
      cmocka_unit_test_setup(line, setup),
      cmocka_unit_test_setup(against_global_solver, setup),
  };
  return cmocka_run_group_tests_name("theory/fits", tests, NULL, NULL);
}
