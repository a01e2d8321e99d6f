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
  root = load_json(rf_test_golden(), "convex/arrangements.json");
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
  double unit_and_zero[] = {1, 0, 0, 1, 0, 0}, on_line[] = {1, 0, -2};
  expect_count(&context, unit_and_zero, 3, 2, "4", RF_NO); /* a zero row among independent ones */
  expect_count(&context, on_line, 3, 1, "2", RF_NO);
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

/* ---- integers: the same recursion without rounding ---------------------------------------------- */

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/* Divides rows by their common factor, makes the first nonzero entry positive, drops zero rows and
 * repetitions. */
static rf_index reduce(int64_t *rows, rf_index n, rf_index d) {
  rf_index kept = 0;
  for (rf_index i = 0; i < n; i++) {
    int64_t common = 0, first = 0;
    for (rf_index k = 0; k < d; k++) {
      common = gcd(common, rows[i * d + k]);
      if (first == 0) first = rows[i * d + k];
    }
    if (common == 0) continue;
    for (rf_index k = 0; k < d; k++) rows[kept * d + k] = rows[i * d + k] / (first < 0 ? -common : common);
    bool seen = false;
    for (rf_index j = 0; j < kept && !seen; j++)
      seen = memcmp(rows + j * d, rows + kept * d, (size_t)d * sizeof *rows) == 0;
    kept += !seen;
  }
  return kept;
}

/* On the hyperplane u.w = 0 with u_p != 0, eliminate w_p: x becomes (x_q u_p - x_p u_q) for q != p. */
static int64_t count_integers(const int64_t *rows, rf_index n, rf_index d) {
  if (n == 0) return 1;
  if (d == 1) return 2;
  if (d == 2) return 2 * n;
  int64_t total = 2, *child = malloc((size_t)(n * (d - 1)) * sizeof *child);
  for (rf_index k = 1; k < n; k++) {
    const int64_t *u = rows + k * d;
    rf_index p = 0;
    for (rf_index q = 0; q < d; q++)
      if (u[q] != 0 && (u[p] == 0 || llabs(u[q]) < llabs(u[p]))) p = q;
    for (rf_index i = 0; i < k; i++)
      for (rf_index q = 0, at = 0; q < d; q++)
        if (q != p) child[i * (d - 1) + at++] = rows[i * d + q] * u[p] - rows[i * d + p] * u[q];
    total += count_integers(child, reduce(child, k, d - 1), d - 1);
  }
  free(child);
  return total;
}

static void against_integers(RfContext *context, const double *X, rf_index n, rf_index d, double unit) {
  int64_t *rows = malloc((size_t)(n * d) * sizeof *rows);
  char want[32];
  RfSectorCount found;
  for (rf_index i = 0; i < n * d; i++) rows[i] = llround(X[i] / unit);
  snprintf(want, sizeof want, "%lld", (long long)count_integers(rows, reduce(rows, n, d), d));
  assert_ok(context, rf_geometry_count_sectors(context, &found, X, n, d, 0));
  if (strcmp(want, found.count) != 0 || !found.exact) {
    rf_test_print_matrix("X", X, n, d);
    fail_msg("%s sectors (exact %d), integers say %s", found.count, (int)found.exact, want);
  }
  rf_sector_count_free(&found);
  free(rows);
}

static void integer_arithmetic(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 53, 0);
  for (rf_index k = 0; k < rf_test_iterations(150); k++) {
    rf_index d = 2 + rf_random_below(&random, 3), n = 1 + rf_random_below(&random, 25),
             size = 1 + rf_random_below(&random, 40);
    double *X = random_integers(&random, n, d, size), unit = k % 2 ? 0.1 : 1;
    if (k % 3 == 0) /* a thin bundle, as measurements are */
      for (rf_index i = 0; i < n; i++) X[i * d] += 100;
    rf_la_scale(X, unit, n * d);
    against_integers(&context, X, n, d, unit);
    rf_free(X);
  }
  RfDataSource source;
  RfDataset iris;
  char path[1024];
  snprintf(path, sizeof path, "%s/iris.csv", rf_test_data());
  rf_data_source_init(&source);
  source.path = path;
  source.classes = "1,2";
  assert_ok(&context, rf_data_load(&context, &iris, &source));
  against_integers(&context, iris.X, iris.n, iris.d, 0.1); /* 309422 */
  rf_dataset_free(&iris);
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
      cmocka_unit_test(reference_results),    cmocka_unit_test(formula_in_general_position),
      cmocka_unit_test(small_and_degenerate), cmocka_unit_test(integer_arithmetic),
      cmocka_unit_test(large_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
