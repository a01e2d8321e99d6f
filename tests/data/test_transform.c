/* Each transform alone, in the fixed order together, and at the edges. */
#include "data_test.h"

static const char *const ten_rows =
    "x,y,kind\n0,1,a\n1,1,b\n2,1,c\n3,1,a\n4,1,b\n5,1,c\n6,1,a\n7,1,b\n8,1,c\n9,1,a\n";

static RfStatus load(RfDataset *dataset, const RfDataSource *source) {
  return parse_text(fresh_context(), dataset, source, RF_FORMAT_CSV, ten_rows);
}

static RfDataSource plain(void) {
  RfDataSource source;
  rf_data_source_init(&source);
  return source;
}

static void classes_keep_two(void **state) {
  (void)state;
  RfDataset dataset;
  RfDataSource source = plain();
  source.classes = "c,a"; /* a is +1 although it sorts before c */
  assert_int_equal(load(&dataset, &source), RF_OK);
  assert_int_equal(dataset.n, 7);
  assert_int_equal(dataset.n_classes, 2);
  assert_string_equal(dataset.class_names[0], "c");
  assert_string_equal(dataset.class_names[1], "a");
  static const double kept[7] = {0, 2, 3, 5, 6, 8, 9};
  for (int i = 0; i < 7; i++) {
    assert_true(dataset.X[2 * i] == kept[i]);
    assert_true(dataset.y[i] == ((int)kept[i] % 3 == 0 ? 1 : -1));
    assert_int_equal(dataset.class_of[i], dataset.y[i] > 0);
  }
  rf_dataset_free(&dataset);
}

static void classes_as_numbers_and_with_commas(void **state) {
  (void)state;
  RfDataset dataset;
  RfDataSource source = plain();
  source.classes = "+1,2.0";
  assert_int_equal(parse_text(fresh_context(), &dataset, &source, RF_FORMAT_CSV, "5,1\n6,2\n7,3\n"), RF_OK);
  assert_int_equal(dataset.n, 2);
  assert_true(dataset.y[1] == 1);
  rf_dataset_free(&dataset);
  source.classes = "p,q,r";
  assert_int_equal(parse_text(fresh_context(), &dataset, &source, RF_FORMAT_CSV, "5,\"p,q\"\n6,r\n7,s\n"),
                   RF_OK);
  assert_string_equal(dataset.class_names[0], "p,q");
  assert_int_equal(dataset.n, 2);
  rf_dataset_free(&dataset);
}

static void refused(void **state) {
  (void)state;
  static const struct {
    const char *classes;
    rf_index limit;
    double divide, bias;
  } bad[] = {{"a", -1, 1, 0},    {"a,a", -1, 1, 0},       {"a,z", -1, 1, 0},     {"z,a", -1, 1, 0},
             {",", -1, 1, 0},    {"", -1, 1, 0},          {NULL, 0, 1, 0},       {NULL, -1, 0, 0},
             {NULL, -1, NAN, 0}, {NULL, -1, 1, INFINITY}, {NULL, -1, 1e-310, 0}, {NULL, -1, 1, NAN}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    RfContext *context = fresh_context();
    RfDataset dataset;
    RfDataSource source = plain();
    source.classes = bad[k].classes, source.limit = bad[k].limit, source.divide = bad[k].divide;
    source.has_bias = true, source.bias = bad[k].bias;
    RfStatus status = parse_text(context, &dataset, &source, RF_FORMAT_CSV, ten_rows);
    if (status != RF_ERR_USAGE) print_error("case %zu: status %d\n", k, (int)status);
    assert_int_equal(status, RF_ERR_USAGE);
    assert_one_line(context);
    assert_null(dataset.X);
  }
}

/* Row i of the shuffled set is row order[i] of the file, with its label. */
static void shuffle_is_the_documented_permutation(void **state) {
  (void)state;
  RfDataset dataset;
  RfDataSource source = plain();
  for (uint64_t seed = 0; seed < 20; seed++) {
    RfRandom random;
    rf_index order[10];
    rf_random_init(&random, seed, 0);
    rf_random_permutation(&random, order, 10);
    source.shuffle = true, source.shuffle_seed = seed;
    assert_int_equal(load(&dataset, &source), RF_OK);
    for (int i = 0; i < 10; i++) {
      assert_true(dataset.X[2 * i] == (double)order[i]);
      assert_int_equal(dataset.class_of[i], order[i] % 3);
    }
    rf_dataset_free(&dataset);
  }
}

static void limit_drops_classes(void **state) {
  (void)state;
  RfDataset dataset;
  RfDataSource source = plain();
  source.limit = 2; /* a and b are left: a binary set */
  assert_int_equal(load(&dataset, &source), RF_OK);
  assert_int_equal(dataset.n, 2);
  assert_int_equal(dataset.n_classes, 2);
  assert_true(dataset.y[0] == -1 && dataset.y[1] == 1);
  rf_dataset_free(&dataset);
  source.limit = 1;
  source.classes = "b,c"; /* rows 1, 2, ...: only b, which stays negative */
  assert_int_equal(load(&dataset, &source), RF_OK);
  assert_int_equal(dataset.n_classes, 1);
  assert_string_equal(dataset.class_names[0], "b");
  assert_true(dataset.y[0] == -1);
  assert_int_equal(dataset.class_of[0], 0);
  rf_dataset_free(&dataset);
  source.limit = 1000;
  source.classes = NULL;
  assert_int_equal(load(&dataset, &source), RF_OK);
  assert_int_equal(dataset.n, 10);
  assert_null(dataset.y);
  rf_dataset_free(&dataset);
}

static void divide_center_unit_bias(void **state) {
  (void)state;
  RfDataset dataset;
  RfDataSource source = plain();
  source.divide = 4;
  assert_int_equal(load(&dataset, &source), RF_OK);
  for (int i = 0; i < 10; i++) assert_true(dataset.X[2 * i] == i / 4.0 && dataset.X[2 * i + 1] == 0.25);
  rf_dataset_free(&dataset);
  source.center = true;
  assert_int_equal(load(&dataset, &source), RF_OK);
  for (int i = 0; i < 10; i++) assert_true(dataset.X[2 * i] == (i - 4.5) / 4 && dataset.X[2 * i + 1] == 0);
  rf_dataset_free(&dataset);
  source.unit = true, source.has_bias = true, source.bias = -3;
  assert_int_equal(load(&dataset, &source), RF_OK);
  assert_int_equal(dataset.d, 3);
  for (int i = 0; i < 10; i++) {
    assert_true(dataset.X[3 * i] == (i < 5 ? -1 : 1));
    assert_true(dataset.X[3 * i + 1] == 0 && dataset.X[3 * i + 2] == -3);
  }
  rf_dataset_free(&dataset);
}

static void order_is_fixed(void **state) {
  (void)state;
  RfDataset dataset;
  RfDataSource source = plain();
  source.classes = "a,b", source.shuffle = true, source.shuffle_seed = 5, source.limit = 4,
  source.center = true;
  assert_int_equal(load(&dataset, &source), RF_OK);
  static const double kept[7] = {0, 1, 3, 4,
                                 6, 7, 9}; /* rows of a and b, then shuffled, then the first four */
  RfRandom random;
  rf_index order[7];
  rf_random_init(&random, 5, 0);
  rf_random_permutation(&random, order, 7);
  double mean = (kept[order[0]] + kept[order[1]] + kept[order[2]] + kept[order[3]]) / 4;
  for (int i = 0; i < 4; i++) assert_close(dataset.X[2 * i], kept[order[i]] - mean, 1e-15);
  rf_dataset_free(&dataset);
}

/* Centred data: column sums vanish to rounding, also with offsets and sizes far apart. */
static void center_is_accurate(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfRandom random;
  rf_random_init(&random, 1, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(20); trial++) {
    rf_index n = 1 + rf_random_below(&random, 300), d = 1 + rf_random_below(&random, 5);
    double *X = malloc((size_t)(n * d) * sizeof *X), *y = malloc((size_t)n * sizeof *y);
    for (rf_index k = 0; k < n * d; k++) X[k] = 1e6 + rf_random_gaussian(&random);
    for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random);
    RfDataset dataset;
    assert_ok(context, rf_dataset_from_arrays(context, &dataset, X, y, n, d, NULL));
    RfDataSource source = plain();
    source.center = true;
    assert_ok(context, rf_data_transform(context, &dataset, &source));
    for (rf_index j = 0; j < d; j++) {
      long double sum = 0, before = 0;
      for (rf_index i = 0; i < n; i++) sum += dataset.X[i * d + j], before += X[i * d + j];
      assert_close((double)sum, 0, 1e-10 * (double)n);
      assert_close(dataset.X[j], (double)(X[j] - before / n), 1e-9);
    }
    rf_dataset_free(&dataset);
    free(X), free(y);
  }
}

static void unit_at_the_edges(void **state) {
  (void)state;
  RfDataset dataset;
  RfDataSource source = plain();
  source.unit = true;
  const char *text = "3e-320,4e-320,1\n3e307,4e307,1\n0,0,0\n-5,0,0\n1e-160,1e-170,0\n";
  assert_int_equal(parse_text(fresh_context(), &dataset, &source, RF_FORMAT_CSV, text), RF_OK);
  for (int i = 0; i < 5; i++) {
    double norm = hypot(dataset.X[2 * i], dataset.X[2 * i + 1]);
    assert_close(norm, i == 2 ? 0 : 1, 4e-16);
  }
  assert_close(dataset.X[2], 0.6, 2e-16);
  rf_dataset_free(&dataset);
}

/* Mean 0 and deviation 1 at any size; a constant column, also one with a rounding error in it, becomes 0. */
static void standardize_at_the_edges(void **state) {
  (void)state;
  RfDataset dataset;
  RfDataSource source = plain();
  source.standardize = true;
  const char *text = "1e300,3e-310,0.1,7,1\n-1e300,5e-310,0.1,7,1\n3e300,9e-310,0.1,7,0\n0,1e-310,0.1,7,0\n";
  assert_int_equal(parse_text(fresh_context(), &dataset, &source, RF_FORMAT_CSV, text), RF_OK);
  for (int j = 0; j < 4; j++) {
    double mean = 0, square = 0;
    for (int i = 0; i < 4; i++) mean += dataset.X[4 * i + j] / 4;
    for (int i = 0; i < 4; i++) square += dataset.X[4 * i + j] * dataset.X[4 * i + j] / 4;
    assert_close(mean, 0, 1e-13);
    assert_close(square, j < 2 ? 1 : 0, 1e-12);
  }
  rf_dataset_free(&dataset);
}

static void bias_respects_the_memory_limit(void **state) {
  (void)state;
  RfDataset dataset;
  RfDataSource source = plain();
  source.has_bias = true, source.bias = 1, source.memory_limit = 10 * 2 * 8;
  assert_int_equal(load(&dataset, &source), RF_ERR_USAGE);
  source.memory_limit = 10 * 3 * 8;
  assert_int_equal(load(&dataset, &source), RF_OK);
  rf_dataset_free(&dataset);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_keep_two),
      cmocka_unit_test(classes_as_numbers_and_with_commas),
      cmocka_unit_test(refused),
      cmocka_unit_test(shuffle_is_the_documented_permutation),
      cmocka_unit_test(limit_drops_classes),
      cmocka_unit_test(divide_center_unit_bias),
      cmocka_unit_test(order_is_fixed),
      cmocka_unit_test(center_is_accurate),
      cmocka_unit_test(unit_at_the_edges),
      cmocka_unit_test(standardize_at_the_edges),
      cmocka_unit_test(bias_respects_the_memory_limit),
  };
  return cmocka_run_group_tests_name("data/transform", tests, NULL, NULL);
}
