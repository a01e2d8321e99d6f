/* The updated factor: after any sequence of appended and removed columns, Q R is the matrix and Q is
 * orthonormal. */
#include "rf_test.h"

static void check_factor(const RfFactor *factor, const double *A, const double *norms, double tolerance) {
  rf_index rows = factor->rows, size = factor->size;
  for (rf_index p = 0; p < size; p++) {
    for (rf_index q = 0; q <= p; q++)
      assert_close(rf_la_dot(factor->Q + p * rows, factor->Q + q * rows, rows), p == q, tolerance);
    for (rf_index i = 0; i < rows; i++) {
      double sum = 0;
      for (rf_index k = 0; k <= p; k++) sum += factor->Q[k * rows + i] * factor->R[p * (p + 1) / 2 + k];
      rf_index j = factor->columns[p];
      assert_close(sum, A[j * rows + i] / norms[j], tolerance);
    }
  }
}

static void appended_and_removed(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 1, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(60); trial++) {
    rf_index rows = 1 + rf_random_below(&random, trial % 3 ? 12 : 90), cols = 40;
    double *A = RF_NEW(double, rows *cols), norms[40], c[128] = {0}, d[128] = {0};
    bool used[40] = {false};
    for (rf_index i = 0; i < rows * cols; i++)
      A[i] = rf_random_gaussian(&random) * pow(10, (double)(i / rows % 7) - 3);
    for (rf_index j = 0; j < cols; j++) norms[j] = rf_la_norm(A + j * rows, rows);
    RfFactor factor;
    rf_la_factor_init(&factor, rows);
    for (int step = 0; step < 120; step++) {
      rf_index j = rf_random_below(&random, cols);
      assert_true(rf_la_factor_reserve(&factor, factor.size + 1));
      if (rf_random_uniform(&random) < 0.6 && factor.size < rows && !used[j]) {
        double distance = rf_la_factor_append(&factor, A + j * rows, norms[j], j, 1e-13);
        assert_true(distance > 0 && distance <= 1 + 1e-15);
        used[j] = true;
      } else if (factor.size > 0) {
        rf_index at = rf_random_below(&random, factor.size);
        used[factor.columns[at]] = false;
        rf_la_factor_remove(&factor, at);
      }
      if (step % 20 == 19) check_factor(&factor, A, norms, 1e-13);
    }
    /* solves: R^T R p = c */
    rf_index size = factor.size;
    for (rf_index k = 0; k < size; k++) c[k] = d[k] = rf_random_gaussian(&random);
    rf_la_factor_solve(&factor, c);
    for (rf_index i = 0; i < size; i++) {
      double sum = 0;
      for (rf_index j = i; j < size; j++) sum += factor.R[j * (j + 1) / 2 + i] * c[j];
      assert_close(sum, d[i], 1e-12 * (1 + rf_la_norm(c, size)));
    }
    memcpy(c, d, sizeof c);
    rf_la_factor_solve_transposed(&factor, c);
    for (rf_index j = 0; j < size; j++) {
      double sum = 0;
      for (rf_index i = 0; i <= j; i++) sum += factor.R[j * (j + 1) / 2 + i] * c[i];
      assert_close(sum, d[j], 1e-12 * (1 + rf_la_norm(c, size)));
    }
    rf_la_factor_free(&factor);
    rf_free(A);
  }
}

static void dependent_columns_are_refused(void **state) {
  (void)state;
  double A[] = {1, 0, 0, 0, 1, 0, 3, -4, 0, 1, 1, 1e-9};
  RfFactor factor;
  rf_la_factor_init(&factor, 3);
  assert_true(rf_la_factor_reserve(&factor, 4));
  assert_true(rf_la_factor_append(&factor, A, 1, 0, 1e-13) == 1);
  assert_true(rf_la_factor_append(&factor, A + 3, 1, 1, 1e-13) == 1);
  assert_true(rf_la_factor_append(&factor, A + 6, 5, 2, 1e-13) == 0);
  assert_int_equal(factor.size, 2);
  assert_relative(rf_la_factor_append(&factor, A + 9, sqrt(2), 3, 1e-13), 1e-9 / sqrt(2), 1e-7);
  double norms[] = {1, 1, 5, sqrt(2)};
  check_factor(&factor, A, norms, 1e-14);
  rf_la_factor_free(&factor);
}

static void split_columns_give_the_same(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 2, 0);
  double A[30], norms[5], along[5], step[6];
  RfFactor factor;
  rf_la_factor_init(&factor, 6);
  assert_true(rf_la_factor_reserve(&factor, 6));
  for (rf_index j = 0; j < 5; j++) {
    for (rf_index i = 0; i < 6; i++) A[j * 6 + i] = rf_random_gaussian(&random);
    norms[j] = rf_la_norm(A + j * 6, 6);
    for (rf_index i = 0; i < 6; i++) step[i] = A[j * 6 + i] / norms[j];
    rf_la_factor_project(&factor, along, step);
    rf_la_factor_expand(&factor, step, -1, along);
    rf_la_factor_append_split(&factor, along, step, rf_la_norm(step, 6), j);
  }
  check_factor(&factor, A, norms, 1e-13);
  rf_la_factor_free(&factor);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(appended_and_removed),
                                     cmocka_unit_test(dependent_columns_are_refused),
                                     cmocka_unit_test(split_columns_give_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
