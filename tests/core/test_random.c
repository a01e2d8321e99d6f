/* Philox against its published known answers, distribution checks, and portable elementary functions against
 * libm. */
#include "rf_test.h"

static void known_answers(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 0, 0); /* counter 0, key 0: Random123 known-answer vector */
  assert_int_equal(rf_random_u32(&random), 0x6627e8d5u);
  assert_int_equal(rf_random_u32(&random), 0xe169c58du);
  assert_int_equal(rf_random_u32(&random), 0xbc57ac4cu);
  assert_int_equal(rf_random_u32(&random), 0x9b00dbd8u);
}

static void streams_differ_and_repeat(void **state) {
  (void)state;
  RfRandom a, b, c;
  rf_random_init(&a, 7, 1);
  rf_random_init(&b, 7, 1);
  rf_random_init(&c, 7, 2);
  uint64_t first = rf_random_u64(&a);
  assert_true(first == rf_random_u64(&b));
  assert_true(first != rf_random_u64(&c));
}

static void portable_functions(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 3, 0);
  for (rf_index k = 0; k < rf_test_iterations(200000); k++) {
    double x = ldexp(rf_random_uniform(&random) + 1e-17, (int)rf_random_below(&random, 200) - 100);
    double exact = log(x);
    assert_close(rf_portable_log(x), exact, 4e-16 * fmax(1, fabs(exact)));
    double angle = (rf_random_uniform(&random) - 0.5) * 2000, s, c;
    rf_portable_sincos(angle, &s, &c);
    assert_close(s, sin(angle), 6e-16);
    assert_close(c, cos(angle), 6e-16);
  }
  assert_true(rf_portable_log(0) == -INFINITY);
  assert_true(isnan(rf_portable_log(-1)));
  assert_true(rf_portable_log(1) == 0);
}

static void gaussian_moments(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 11, 0);
  rf_index n = rf_test_iterations(400000);
  double mean = 0, square = 0, fourth = 0;
  for (rf_index k = 0; k < n; k++) {
    double g = rf_random_gaussian(&random);
    mean += g, square += g * g, fourth += g * g * g * g;
  }
  double size = (double)n, six_sigma = 6 / sqrt(size);
  assert_close(mean / size, 0, six_sigma);
  assert_close(square / size, 1, six_sigma * sqrt(2));
  assert_close(fourth / size, 3, six_sigma * sqrt(96));
}

static void below_is_uniform_and_permutations_complete(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 5, 0);
  rf_index counts[7] = {0}, n = 70000;
  for (rf_index k = 0; k < n; k++) counts[rf_random_below(&random, 7)]++;
  for (int k = 0; k < 7; k++) assert_close((double)counts[k], 10000, 6 * sqrt(10000));
  rf_index order[100], seen[100] = {0};
  rf_random_permutation(&random, order, 100);
  for (int k = 0; k < 100; k++) seen[order[k]]++;
  for (int k = 0; k < 100; k++) assert_int_equal(seen[k], 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_answers),
      cmocka_unit_test(streams_differ_and_repeat),
      cmocka_unit_test(portable_functions),
      cmocka_unit_test(gaussian_moments),
      cmocka_unit_test(below_is_uniform_and_permutations_complete),
  };
  return cmocka_run_group_tests_name("core/random", tests, NULL, NULL);
}
