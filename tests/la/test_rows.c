/* Products with rows kept without their zeros against plain loops, at every number of lanes and of threads.
 */
#include "la/la.h"
#include "rf_test.h"

#include <math.h>
#include <string.h>

static double *draw(RfRandom *random, rf_index count, double share) {
  double *out = RF_NEW(double, count);
  for (rf_index k = 0; k < count; k++) {
    double value = rf_random_gaussian(random);
    out[k] = rf_random_uniform(random) < share ? value : 0;
  }
  return out;
}

static void compare(RfRandom *random, rf_index n, rf_index d, rf_index m, double share) {
  RfContext context;
  RfManyRows rows;
  double *X = draw(random, n * d, share), *A = draw(random, m * d, 1), *B = draw(random, m * n, 0.7);
  double *images = RF_NEW(double, m *n), *sums = RF_NEW(double, m *d), *again = RF_NEW(double, m *(n + d));
  rf_context_init(&context);
  assert_ok(&context, rf_rows_new(&context, &rows, X, n, d));
  assert_true((rows.start != NULL) == (share < 0.3));
  rf_rows_images(images, A, &rows, m, 1);
  rf_rows_combine(sums, B, &rows, m, 1);
  for (rf_index k = 0; k < m; k++)
    for (rf_index i = 0; i < n; i++) {
      long double sum = 0;
      for (rf_index j = 0; j < d; j++) sum += (long double)A[k * d + j] * X[i * d + j];
      assert_true(fabsl((long double)images[k * n + i] - sum) <= 1e-15L * (long double)d);
    }
  for (rf_index k = 0; k < m; k++)
    for (rf_index j = 0; j < d; j++) {
      long double sum = 0;
      for (rf_index i = 0; i < n; i++) sum += (long double)B[k * n + i] * X[i * d + j];
      assert_true(fabsl((long double)sums[k * d + j] - sum) <= 1e-15L * (long double)n);
    }
  for (int threads = 2; threads <= 3; threads++) {
    rf_rows_images(again, A, &rows, m, threads);
    rf_rows_combine(again + m * n, B, &rows, m, threads);
    assert_int_equal(memcmp(again, images, (size_t)(m * n) * sizeof(double)), 0);
    assert_int_equal(memcmp(again + m * n, sums, (size_t)(m * d) * sizeof(double)), 0);
  }
  rf_rows_free(&rows);
  rf_free(X), rf_free(A), rf_free(B), rf_free(images), rf_free(sums), rf_free(again);
}

static void same_as_plain(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 9, 0);
  for (rf_index m = 1; m <= 17; m += m < 10 ? 1 : 7) {
    compare(&random, 40, 30, m, 0.2);
    compare(&random, 1100, 12, m, 0.2);
    compare(&random, 60, 20, m, 1);
  }
  compare(&random, 2000, 2600, 2, 0.2); /* long enough for threads */
  compare(&random, 30, 10, 3, 0);       /* nothing but zeros */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_plain)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
