/* Least distance in rational numbers: rows that doubles cannot tell apart, agreement with the usual solver
 * where both answer, and vanishing combinations, also those of more rows than are tried with integers. */
#include "rf_test.h"

#include "margin/margin_internal.h"

/* (1e15,1) and (1e15,2) with opposite labels: v = (3e-15,-2), margin 1/2; nothing in doubles sees it. */
static void nearly_parallel(void **state) {
  (void)state;
  double X[] = {1e15, 1, 1e15, 2}, y[] = {1, -1};
  RfContext context;
  RfLinearMargin margin;
  rf_context_init(&context);
  assert_ok(&context, rf_margin_linear(&context, &margin, X, y, 2, 2));
  assert_relative(margin.margin, 0.5, 1e-14);
  assert_relative(margin.w[0], 1.5e-15, 1e-14);
  for (int i = 0; i < 2; i++)
    assert_true((long double)y[i] * ((long double)X[2 * i] * (long double)margin.w[0] +
                                     (long double)X[2 * i + 1] * (long double)margin.w[1]) >
                0.49L);
  rf_linear_margin_free(&margin);
}

/* v, multipliers and the answer itself against the solver in doubles. */
static void agrees(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 91, 0);
  rf_index separable = 0, not_separable = 0;
  for (rf_index trial = 0; trial < rf_test_iterations(300); trial++) {
    rf_index n = 1 + rf_random_below(&random, 14), d = 1 + rf_random_below(&random, 5);
    double X[70], y[14];
    bool grid = trial % 3 == 0;
    for (rf_index k = 0; k < n * d; k++)
      X[k] = grid ? (double)(rf_random_below(&random, 5) - 2) : rf_random_gaussian(&random);
    for (rf_index i = 0; i < n; i++) y[i] = trial % 2 ? rf_random_sign(&random) : X[i * d] >= 0 ? 1 : -1;
    for (rf_index i = 0; i < n; i++) { /* zero rows are decided before */
      bool zero = true;
      for (rf_index j = 0; j < d; j++) zero = zero && X[i * d + j] == 0;
      if (zero) X[i * d] = 1;
    }
    RfRows rows = {.X = X, .count = n, .d = d, .factor = y};
    RfLeastDistance exact = {0}, usual = {0};
    RfStatus one = rf_exact_distance(&context, &exact, &rows),
             two = rf_least_distance(&context, &usual, &rows);
    assert_true(one == RF_OK || one == RF_INFEASIBLE);
    if (two == RF_OK || two == RF_INFEASIBLE) assert_int_equal(one, two);
    if (one == RF_OK && two == RF_OK) assert_relative((double)exact.length, (double)usual.length, 1e-12);
    for (rf_index i = 0; i < n && one == RF_OK; i++) {
      long double g = 0;
      for (rf_index j = 0; j < d; j++) g += (long double)(y[i] * X[i * d + j]) * exact.v[j];
      assert_true(g >= 1 - 1e-12L);
    }
    for (rf_index j = 0; j < d && one == RF_INFEASIBLE; j++) {
      double sum = 0, size = 0;
      for (rf_index i = 0; i < n; i++)
        sum += exact.farkas[i] * y[i] * X[i * d + j], size += exact.farkas[i] * fabs(X[i * d + j]);
      assert_true(fabs(sum) <= 1e-14 * size);
    }
    separable += one == RF_OK, not_separable += one == RF_INFEASIBLE;
    rf_least_distance_free(&exact);
    rf_least_distance_free(&usual);
  }
  assert_true(separable > 0 && not_separable > 0);
}

/* 31 to 81 dimensions: integers are not tried, the weights are enclosed; moved by one unit of one weight's
 * own size nothing changes, and rows that a plane separates by a hair are not proved inseparable. */
static void enclosed(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 92, 0);
  for (rf_index d = 31; d <= 81; d += 25) {
    rf_index n = 3 * d;
    double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n);
    for (rf_index k = 0; k < n * d; k++) X[k] = rf_random_gaussian(&random);
    for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random);
    RfLinearMargin margin;
    assert_int_equal(rf_margin_linear(&context, &margin, X, y, n, d), RF_NOT_SEPARABLE);
    assert_true(margin.exact);
    RfRows rows = {.X = X, .count = n, .d = d, .factor = y};
    bool exact = true;
    for (rf_index i = 0; i < n; i++) X[i * d] = y[i] * (fabs(X[i * d]) + 1e-3); /* now separable */
    RfStatus status = rf_prove_farkas(&context, &exact, &rows, margin.farkas, false);
    assert_true(status != RF_OK || !exact);
    rf_linear_margin_free(&margin);
    rf_free(X), rf_free(y);
  }
}

/* Fractions that hold: every y_i v.x_i >= 1 by a bracket of a few roundings, where rows agree in eight
 * digits. */
static void as_fractions(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 93, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(40); trial++) {
    rf_index n = 2 + rf_random_below(&random, 6), d = 2 + rf_random_below(&random, 3);
    double X[32], y[8], base[4];
    for (rf_index j = 0; j < d; j++) base[j] = rf_random_gaussian(&random);
    for (rf_index i = 0; i < n; i++) {
      y[i] = i == 0 ? 1 : i == 1 ? -1 : rf_random_sign(&random);
      for (rf_index j = 0; j < d; j++) X[i * d + j] = base[j] + 1e-8 * rf_random_gaussian(&random);
    }
    RfExactMargin margin;
    RfStatus status = rf_margin_exact(&context, &margin, X, y, n, d);
    assert_true(status == RF_OK || status == RF_NOT_SEPARABLE);
    if (status == RF_NOT_SEPARABLE) continue;
    assert_true(margin.lower <= margin.upper && margin.upper <= margin.lower * (1 + 1e-15));
    double A = 0;
    for (rf_index i = 0; i < n; i++) A += margin.multipliers.value[i];
    assert_relative(A, margin.length * margin.length, 1e-12);
    rf_exact_margin_free(&margin);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearly_parallel),
      cmocka_unit_test(agrees),
      cmocka_unit_test(enclosed),
      cmocka_unit_test(as_fractions),
  };
  return cmocka_run_group_tests_name("rational", tests, NULL, NULL);
}
