/* Data on which doubles mislead: every word is right, or honestly `gap`. Each case was once answered wrongly.
 */
#include "rf_test.h"
#include "la/la.h"
#include "margin/margin.h"
#include "reluflow/optimum.h"

#include <float.h>
#include <math.h>

__extension__ typedef __float128 Wide; /* products of doubles are exact in it */

/* sum |u| / min margin of a network; infinity when it does not fit. */
static double objective_of(const double *U, const double *sign, rf_index K, const double *X, const double *y,
                           rf_index n, rf_index d, double leak) {
  double least = INFINITY, sum = 0;
  for (rf_index i = 0; i < n; i++) {
    Wide f = 0;
    for (rf_index k = 0; k < K; k++) {
      Wide z = 0;
      for (rf_index j = 0; j < d; j++) z += (Wide)U[k * d + j] * (Wide)X[i * d + j];
      f += (Wide)sign[k] * (z > 0 ? z : (Wide)leak * z);
    }
    least = fmin(least, (double)((Wide)y[i] * f));
  }
  for (rf_index k = 0; k < K; k++) sum += rf_la_norm(U + k * d, d);
  return K > 0 && least > 0 ? sum / least : INFINITY;
}

static RfOptimum solve(const double *X, const double *y, rf_index n, rf_index d, double leak, int signs) {
  RfContext context;
  rf_context_init(&context);
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = leak, settings.signs = signs;
  RfOptimum o;
  assert_ok(&context, rf_optimum_solve(&context, &o, X, y, n, d, &settings));
  if (o.status == RF_OPTIMUM_INFEASIBLE) return o;
  assert_true(o.lower <= o.objective && o.gap >= 0);
  assert_true(o.status != RF_OPTIMUM_PROVED || o.gap <= context.tol.gap);
  if (isfinite(o.objective)) { /* the network is as good as it says */
    double true_value = objective_of(o.U, o.sign, o.neurons, X, y, n, d, leak);
    assert_true(true_value <= o.objective * (1 + 1e-15));
    assert_true(true_value >= o.lower * (1 - 1e-15));
  }
  return o;
}

/* A direction of size 1e-13 carries the labels: dropping it made a lower bound 12.5 times too high. */
static void test_thin_direction(void **state) {
  (void)state;
  double X[] = {1, 0, 1e-13, 1, 0, -1e-13, 0.5, 1, 0}, y[] = {1, -1, 1};
  double U[] = {0, 0, 1e13, 0, 0, -1e13, 0, 1, 0}, sign[] = {1, -1, 1};
  double known = objective_of(U, sign, 3, X, y, 3, 3, 0);
  RfOptimum o = solve(X, y, 3, 3, 0, 0);
  assert_int_not_equal(o.status, RF_OPTIMUM_INFEASIBLE);
  assert_true(o.lower <= known);
  rf_optimum_free(&o);
}

/* Leak 1 is the hard margin, also where the rows are nearly dependent. */
static void test_linear_nearly_dependent(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (rf_index turn = 0; turn < rf_test_iterations(40); turn++) {
    RfRandom random;
    rf_random_init(&random, (uint64_t)turn, 5);
    double X[12], y[4], thin = pow(10, -8 - (double)rf_random_below(&random, 6));
    for (int i = 0; i < 4; i++) {
      double a = rf_random_gaussian(&random), b = rf_random_gaussian(&random);
      y[i] = rf_random_sign(&random);
      X[3 * i] = a, X[3 * i + 1] = b, X[3 * i + 2] = a - 2 * b + thin * y[i] * (1 + fabs(a));
    }
    RfLinearMargin margin;
    RfStatus status = rf_margin_linear(&context, &margin, X, y, 4, 3);
    assert_true(status >= 0);
    RfOptimum o = solve(X, y, 4, 3, 1, 0);
    assert_int_not_equal(o.status, RF_OPTIMUM_INFEASIBLE); /* w = (-1, 2, 1) separates */
    double w[] = {-1, 2, 1}, plus[] = {1};
    assert_true(o.lower <= objective_of(w, plus, 1, X, y, 4, 3, 1) * (1 + 1e-15));
    if (status == RF_OK) { /* one answer: the network is never worse than the separator beside it */
      double one = objective_of(margin.w, plus, 1, X, y, 4, 3, 1);
      assert_true(o.lower <= one * (1 + 1e-15));
      assert_true(o.objective <= one * (1 + 1e-12));
    }
    rf_optimum_free(&o);
    rf_linear_margin_free(&margin);
  }
}

/* One sign: nearly infeasible is not infeasible. */
static void test_nearly_infeasible(void **state) {
  (void)state;
  double X[] = {1, 0, 1, 1e-6}, y[] = {1, -1};
  RfOptimum o = solve(X, y, 2, 2, 0.1, 1);
  assert_int_equal(o.status, RF_OPTIMUM_PROVED);
  assert_relative(o.objective, 2000009.9498743722, 1e-8);
  rf_optimum_free(&o);
}

/* (1e15,1) and (1e15,2) with opposite labels: w = (3e-15,-2) separates them exactly. */
static void test_separable_exactly(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double X[] = {1e15, 1, 1e15, 2}, y[] = {1, -1}, w[] = {3e-15, -2}, plus[] = {1};
  double known = objective_of(w, plus, 1, X, y, 2, 2, 1);
  assert_true(isfinite(known));
  RfLinearMargin margin;
  assert_int_not_equal(rf_margin_linear(&context, &margin, X, y, 2, 2), RF_NOT_SEPARABLE);
  rf_linear_margin_free(&margin);
  for (int k = 0; k < 2; k++) {
    RfOptimum o = solve(X, y, 2, 2, k, 0);
    assert_int_not_equal(o.status, RF_OPTIMUM_INFEASIBLE);
    assert_true(o.lower <= 2 * known);
    assert_true(isfinite(o.objective) && o.neurons > 0); /* the exact separator is a network */
    if (k == 1) assert_int_equal(o.status, RF_OPTIMUM_PROVED);
    rf_optimum_free(&o);
  }
}

/* (+-1, 1e-12), leak 1: the margin 1e-12 has a network. */
static void test_flat_pair(void **state) {
  (void)state;
  double X[] = {1, 1e-12, -1, 1e-12}, y[] = {1, 1};
  RfOptimum o = solve(X, y, 2, 2, 1, 0);
  assert_int_equal(o.status, RF_OPTIMUM_PROVED);
  assert_relative(o.objective, 1e12, 1e-12);
  rf_optimum_free(&o);
}

/* Rows scaled by 1e6 and 1e-6: the bounds hold, and hardly anything is lost. */
static void test_scaled_rows(void **state) {
  (void)state;
  for (rf_index turn = 0; turn < rf_test_iterations(20); turn++) {
    RfRandom random;
    rf_random_init(&random, (uint64_t)turn, 6);
    enum { n = 10, d = 3 };
    double X[n * d], y[n];
    for (int i = 0; i < n; i++) {
      double scale = pow(1e6, (double)rf_random_below(&random, 3) - 1);
      for (int j = 0; j < d; j++) X[i * d + j] = scale * rf_random_gaussian(&random);
      y[i] = rf_random_sign(&random);
    }
    RfOptimum o = solve(X, y, n, d, (double)(turn % 3) * 0.3, 0);
    if (!(o.gap <= 1e-7)) {
      rf_test_print_matrix("X", X, n, d);
      rf_test_print_matrix("y", y, 1, n);
      fprintf(stderr, "turn %lld: gap %.3g, objective %.17g\n", (long long)turn, o.gap, o.objective);
    }
    assert_true(o.gap <= 1e-7);
    rf_optimum_free(&o);
  }
}

/* Opposite labels on rays that differ in the last bit: no certificate. On one ray, exactly: one. */
static void test_rays(void **state) {
  (void)state;
  double X[] = {1, 3, 1, nextafter(3, 4)}, y[] = {1, -1};
  RfOptimum o = solve(X, y, 2, 2, 0, 0);
  assert_int_not_equal(o.status, RF_OPTIMUM_INFEASIBLE);
  rf_optimum_free(&o);
  double Z[] = {0.1, 0.3, 0.2, 0.6};
  o = solve(Z, y, 2, 2, 0, 0);
  assert_int_equal(o.status, RF_OPTIMUM_INFEASIBLE);
  rf_optimum_free(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_thin_direction),
      cmocka_unit_test(test_linear_nearly_dependent),
      cmocka_unit_test(test_nearly_infeasible),
      cmocka_unit_test(test_separable_exactly),
      cmocka_unit_test(test_flat_pair),
      cmocka_unit_test(test_scaled_rows),
      cmocka_unit_test(test_rays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
