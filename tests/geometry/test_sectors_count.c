/* Counts of open sectors: reference results, general position formula (WP-03), planted degeneracy, random
 * sampling. */
#include "geometry_test.h"

static void expect_count(RfContext *context, const double *X, rf_index n, rf_index d, const char *count,
                         RfAnswer general_position) {
  RfSectorCount found;
  RfStatus status = rf_geometry_count_sectors(context, &found, X, n, d, 0);
  if (status != RF_OK || strcmp(found.count, count) != 0 || found.general_position != general_position) {
    rf_test_print_matrix("X", X, n, d);
    fail_msg("status %d, %s sectors, expected %s; general position %d", (int)status, found.count, count,
             (int)found.general_position);
  }
  assert_true(found.known && found.exact);
  assert_true(found.approximate == atof(count));
  rf_sector_count_free(&found);
}

static void reference_results(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  char text[32];
  rf_index n, d;
  json_t *root = load_json(RF_SOURCE_DIR, "tests/geometry/arrangements.json"), *item;
  size_t at;
  json_array_foreach(json_object_get(root, "cases"), at, item) {
    double *X = json_rows(json_object_get(item, "X"), &n, &d);
    snprintf(text, sizeof text, "%lld", (long long)json_integer_value(json_object_get(item, "count")));
    expect_count(&context, X, n, d, text, RF_YES);
    rf_free(X);
  }
  json_decref(root);
  root = load_json(rf_test_shared(), "golden/convex/arrangements.json");
  item = json_object_get(root, "degenerate");
  double *X = json_rows(json_object_get(item, "X"), &n, &d);
  snprintf(text, sizeof text, "%lld", (long long)json_integer_value(json_object_get(item, "count")));
  expect_count(&context, X, n, d, text, RF_NO);
  rf_free(X);
  json_decref(root);
}

static void formula_in_general_position(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 51, 0);
  for (rf_index n = 1; n <= 12; n++)
    for (rf_index d = 1; d <= 4; d++) {
      double *X = random_rows(&random, n, d), sum = 0, binomial = 1;
      for (rf_index k = 0; k < d && k < n; k++) {
        sum += 2 * binomial;
        binomial *= (double)(n - 1 - k) / (double)(k + 1);
      }
      RfSectorCount found;
      assert_ok(&context, rf_geometry_count_sectors(&context, &found, X, n, d, 0));
      assert_true(found.approximate == sum);
      assert_string_equal(found.count, found.bound);
      assert_int_equal(found.general_position, RF_YES);
      double r = (double)(n < d ? n : d);
      if (n >= 2)
        assert_true(sum <= 2 * r * pow(exp(1) * (double)(n - 1) / r, r)); /* WP-03, n = 1 is excluded */
      rf_sector_count_free(&found);
      rf_free(X);
    }
}

static void small_and_degenerate(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  expect_count(&context, pl2_X, 5, 2, "8", RF_NO);
  expect_count(&context, wp1_X, 2, 2, "4", RF_YES);
  expect_count(&context, wp1_X, 0, 2, "1", RF_YES);
  expect_count(&context, wp1_X, 1, 4, "2", RF_YES);
  expect_count(&context, wp1_X, 4, 1, "2", RF_YES); /* on a line */
  double zero[4] = {0, 0, 0, 0}, with_zero[4] = {0, 0, 1, 2};
  expect_count(&context, zero, 2, 2, "1", RF_NO);
  expect_count(&context, with_zero, 2, 2, "2", RF_NO);
  /* the braid arrangement x_i = x_j in R^5, rank 4: one sector per order */
  double braid[50] = {0};
  rf_index row = 0;
  for (int i = 0; i < 5; i++)
    for (int j = i + 1; j < 5; j++, row++) {
      braid[5 * row + i] = 1;
      braid[5 * row + j] = -1;
    }
  expect_count(&context, braid, 10, 5, "120", RF_NO);
  double cube[27 * 3], *at = cube; /* all planes of the symmetry group of the cube, twice: 48 chambers */
  for (int a = -1; a <= 1; a++)
    for (int b = -1; b <= 1; b++)
      for (int c = -1; c <= 1; c++) {
        int length = a * a + b * b + c * c;
        if (length == 0 || length == 3) continue;
        *at++ = a, *at++ = b, *at++ = c;
      }
  expect_count(&context, cube, 18, 3, "48", RF_NO);
}

static void large_sizes(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 52, 0);
  double *X = random_rows(&random, 100, 128);
  RfSectorCount found;
  assert_ok(&context, rf_geometry_count_sectors(&context, &found, X, 100, 128, 0));
  assert_string_equal(found.count, "1267650600228229401496703205376"); /* 2^100 */
  rf_sector_count_free(&found);
  assert_ok(&context, rf_geometry_count_sectors(&context, &found, X, 101, 100, 0)); /* 2^101 - 2 */
  assert_string_equal(found.count, "2535301200456458802993406410750");
  assert_int_equal(found.general_position, RF_YES);
  rf_sector_count_free(&found);
  assert_int_equal(rf_geometry_count_sectors(&context, &found, X, 400, 20, 0), RF_LIMIT);
  assert_true(!found.known && !found.count && found.bound && found.general_position == RF_UNKNOWN);
  rf_sector_count_free(&found);
  rf_free(X);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reference_results),
      cmocka_unit_test(formula_in_general_position),
      cmocka_unit_test(small_and_degenerate),
      cmocka_unit_test(large_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
