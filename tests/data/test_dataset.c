/* Datasets from arrays and one class against the rest. */
#include "data_test.h"

static void from_arrays(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  double X[6] = {1, 2, 3, 4, 5, 6}, y[3] = {1, -1, 1};
  assert_ok(context, rf_dataset_from_arrays(context, &dataset, X, y, 3, 2, "mine"));
  X[0] = 99; /* the dataset has its own copy */
  assert_true(dataset.X[0] == 1);
  assert_string_equal(dataset.name, "mine");
  assert_int_equal(dataset.n_classes, 2);
  assert_string_equal(dataset.class_names[0], "-1");
  assert_string_equal(dataset.class_names[1], "1");
  assert_int_equal(dataset.class_of[0], 1);
  assert_int_equal(dataset.class_of[1], 0);
  rf_dataset_free(&dataset);
  assert_null(dataset.X);
  rf_dataset_free(&dataset);
  rf_dataset_free(NULL);
  double negative[3] = {-1, -1, -1};
  assert_ok(context, rf_dataset_from_arrays(context, &dataset, X, negative, 3, 2, NULL));
  assert_int_equal(dataset.n_classes, 1);
  assert_string_equal(dataset.class_names[0], "-1");
  rf_dataset_free(&dataset);
}

static void from_bad_arrays(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  double X[2] = {1, NAN}, y[2] = {1, -1}, odd[2] = {1, 0};
  assert_int_equal(rf_dataset_from_arrays(context, &dataset, X, y, 2, 1, NULL), RF_ERR_USAGE);
  assert_int_equal(rf_dataset_from_arrays(context, &dataset, y, odd, 2, 1, NULL), RF_ERR_USAGE);
  assert_int_equal(rf_dataset_from_arrays(context, &dataset, X, y, 0, 1, NULL), RF_ERR_USAGE);
  assert_int_equal(rf_dataset_from_arrays(context, &dataset, X, y, 1, 0, NULL), RF_ERR_USAGE);
  assert_int_equal(rf_dataset_from_arrays(context, &dataset, X, y, -1, 5, NULL), RF_ERR_USAGE);
  assert_null(dataset.X);
}

static void one_versus_rest(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset, binary;
  assert_ok(context, parse_text(context, &dataset, NULL, RF_FORMAT_CSV, "1,a\n2,b\n3,c\n4,b\n"));
  for (rf_index k = 0; k < 3; k++) {
    assert_ok(context, rf_dataset_one_versus_rest(context, &binary, &dataset, k));
    assert_int_equal(binary.n_classes, 2);
    assert_string_equal(binary.class_names[0], "rest");
    assert_string_equal(binary.class_names[1], dataset.class_names[k]);
    for (rf_index i = 0; i < 4; i++) {
      assert_true(binary.y[i] == (dataset.class_of[i] == k ? 1 : -1));
      assert_int_equal(binary.class_of[i], dataset.class_of[i] == k);
      assert_true(binary.X[i] == dataset.X[i]);
    }
    rf_dataset_free(&binary);
  }
  assert_int_equal(rf_dataset_one_versus_rest(context, &binary, &dataset, 3), RF_ERR_USAGE);
  assert_int_equal(rf_dataset_one_versus_rest(context, &binary, &dataset, -1), RF_ERR_USAGE);
  rf_dataset_free(&dataset);
}

static void adopted(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  RfDataSource source;
  static const char *const names[] = {"ash", "oak", "pine"};
  double X[6] = {1, 2, 3, 4, 5, 6};
  int32_t class_of[3] = {2, 0, 1}, two[3] = {1, 0, 1}, outside[3] = {0, 3, 1};
  rf_data_source_init(&source);
  source.path = "mine";
  assert_ok(context, rf_data_adopt(context, &dataset, &source, X, two, names, 3, 2, 2));
  assert_ptr_equal(dataset.X, X); /* in place */
  assert_true(dataset.y[0] == 1 && dataset.y[1] == -1 && dataset.y[2] == 1);
  assert_string_equal(dataset.class_names[1], "oak");
  rf_dataset_free(&dataset); /* X is on the stack: freeing it would be found */
  assert_ok(context, rf_data_adopt(context, &dataset, &source, X, class_of, names, 3, 2, 3));
  assert_null(dataset.y);
  rf_dataset_free(&dataset);
  source.classes = "ash,pine", source.has_bias = true, source.bias = 7;
  assert_ok(context, rf_data_adopt(context, &dataset, &source, X, class_of, names, 3, 2, 3));
  assert_int_equal(dataset.n, 2);
  assert_int_equal(dataset.d, 3);
  assert_true(dataset.X[0] == 1 && dataset.X[2] == 7 && dataset.y[0] == 1 && X[2] == 3);
  rf_dataset_free(&dataset);
  assert_int_equal(rf_data_adopt(context, &dataset, &source, X, outside, names, 3, 2, 3), RF_ERR_USAGE);
  X[3] = INFINITY;
  assert_int_equal(rf_data_adopt(context, &dataset, &source, X, two, names, 3, 2, 2), RF_ERR_USAGE);
  assert_null(dataset.X);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(from_arrays),
      cmocka_unit_test(from_bad_arrays),
      cmocka_unit_test(one_versus_rest),
      cmocka_unit_test(adopted),
  };
  return cmocka_run_group_tests_name("data/dataset", tests, NULL, NULL);
}
