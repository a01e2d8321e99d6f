/* Exact intervals: at each end the tail of the binomial distribution, summed term by term, is 2.5 %. */
#include "rf_test.h"

#include "sweep/plot.h"

/* P(X >= k) for X binomial(n, p). */
static double upper_tail(rf_index k, rf_index n, double p) {
  double sum = 0;
  for (rf_index j = k; j <= n; j++)
    sum += exp(lgamma((double)n + 1) - lgamma((double)j + 1) - lgamma((double)(n - j) + 1) +
               (double)j * log(p) + (double)(n - j) * log1p(-p));
  return sum;
}

static void tails(void **state) {
  (void)state;
  for (rf_index n = 1; n <= 200; n = n * 3 / 2 + 1)
    for (rf_index k = 0; k <= n; k += 1 + n / 9) {
      double low = sweep_interval_low(k, n), high = sweep_interval_high(k, n);
      assert_true(low <= (double)k / (double)n && (double)k / (double)n <= high);
      if (k > 0) assert_close(upper_tail(k, n, low), 0.025, 1e-10);
      if (k < n) assert_close(1 - upper_tail(k + 1, n, high), 0.025, 1e-10);
    }
}

static void ends(void **state) {
  (void)state;
  assert_true(sweep_interval_low(0, 10) == 0 && sweep_interval_high(10, 10) == 1);
  assert_close(sweep_interval_high(0, 10), 1 - pow(0.025, 0.1), 1e-13);
  assert_close(sweep_interval_low(5, 10) + sweep_interval_high(5, 10), 1, 1e-13);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tails), cmocka_unit_test(ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
