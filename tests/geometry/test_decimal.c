/* Big counts against 64-bit arithmetic, Pascal's rule, and powers of two. */
#include "geometry_test.h"
#include "geometry/geometry_internal.h"

static void small_numbers(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 41, 0);
  RfDecimal a = {0}, b = {0};
  for (rf_index k = 0; k < rf_test_iterations(500); k++) {
    uint64_t x = rf_random_u64(&random) >> (2 + rf_random_below(&random, 60));
    uint64_t y = rf_random_u64(&random) >> (2 + rf_random_below(&random, 60));
    uint32_t factor = 1 + rf_random_u32(&random) / 2;
    assert_ok(&context, rf_decimal_set(&context, &a, x));
    assert_ok(&context, rf_decimal_set(&context, &b, y));
    assert_ok(&context, rf_decimal_add(&context, &a, &b));
    char want[32];
    snprintf(want, sizeof want, "%llu", (unsigned long long)(x + y));
    char *text = rf_decimal_text(&a);
    assert_string_equal(text, want);
    rf_free(text);
    assert_ok(&context, rf_decimal_multiply(&context, &a, factor));
    assert_relative(rf_decimal_value(&a), (double)(x + y) * factor, 1e-15);
    rf_decimal_divide(&a, factor);
    text = rf_decimal_text(&a);
    assert_string_equal(text, want);
    rf_free(text);
  }
  rf_decimal_free(&a);
  rf_decimal_free(&b);
}

static void sector_bounds(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfDecimal a = {0}, b = {0}, c = {0};
  for (rf_index n = 2; n < 60; n += 7) /* r(n,d) = r(n-1,d) + r(n-1,d-1) */
    for (rf_index d = 2; d < n; d++) {
      assert_ok(&context, rf_decimal_sector_bound(&context, &a, n, d));
      assert_ok(&context, rf_decimal_sector_bound(&context, &b, n - 1, d));
      assert_ok(&context, rf_decimal_sector_bound(&context, &c, n - 1, d - 1));
      assert_ok(&context, rf_decimal_add(&context, &b, &c));
      char *left = rf_decimal_text(&a), *right = rf_decimal_text(&b);
      assert_string_equal(left, right);
      rf_free(left);
      rf_free(right);
    }
  assert_ok(&context, rf_decimal_sector_bound(&context, &a, 128, 128));
  char *text = rf_decimal_text(&a);
  assert_string_equal(text, "340282366920938463463374607431768211456"); /* 2^128 */
  rf_free(text);
  assert_ok(&context, rf_decimal_sector_bound(&context, &a, 4294967298, 3)); /* a factor of 33 bits */
  text = rf_decimal_text(&a);
  assert_string_equal(text, "18446744086594453508"); /* 2 (1 + (2^32+1) + (2^32+1) 2^31) */
  rf_free(text);
  assert_ok(&context, rf_decimal_sector_bound(&context, &a, 0, 0));
  assert_true(rf_decimal_value(&a) == 1);
  rf_decimal_free(&a);
  rf_decimal_free(&b);
  rf_decimal_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_numbers), cmocka_unit_test(sector_bounds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
