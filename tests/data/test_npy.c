/* .npy files written by NumPy (in the fuzz corpus) in every plain type, both byte orders, both layouts. */
#include "data_test.h"

static RfStatus read_corpus(RfArray *array, const char *name) {
  RfContext *context = fresh_context();
  RfStream stream;
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/fuzz/corpus/npy/%s", RF_SOURCE_DIR, name);
  assert_ok(context, rf_stream_open(context, &stream, path));
  RfStatus status = rf_npy_read(context, array, &stream, 1 << 20);
  if (!status) status = rf_array_expect_end(context, &stream);
  if (status) assert_one_line(context);
  rf_stream_close(&stream);
  return status;
}

static void every_type(void **state) {
  (void)state;
  static const char *const names[] = {"le_f8", "be_f8", "le_f4", "be_f4", "le_f2", "be_f2", "le_i8",
                                      "be_i4", "le_i2", "i1",    "u1",    "le_u2", "be_u8", "b1"};
  static const double want[6] = {1, 0, 3, 4, 5, 6}, truth[6] = {1, 0, 1, 1, 1, 1};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    RfArray array;
    assert_int_equal(read_corpus(&array, names[k]), RF_OK);
    assert_int_equal(array.dimensions, 2);
    assert_int_equal(array.shape[0], 2);
    assert_int_equal(array.shape[1], 3);
    assert_memory_equal(array.values, names[k][0] == 'b' && names[k][1] == '1' ? truth : want, sizeof want);
    rf_array_free(&array);
  }
}

static void layouts_and_versions(void **state) {
  (void)state;
  static const char *const names[] = {"fortran", "version2", "version3"};
  static const double want[6] = {1.5, -2, 3, 4, 5, 6.25};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    RfArray array;
    assert_int_equal(read_corpus(&array, names[k]), RF_OK);
    assert_memory_equal(array.values, want, sizeof want);
    rf_array_free(&array);
  }
}

static void texts_scalars_cubes(void **state) {
  (void)state;
  RfArray array;
  assert_int_equal(read_corpus(&array, "texts"), RF_OK);
  assert_string_equal(array.texts + array.text_size, "d\xc3\xb6g");
  assert_string_equal(array.texts + 2 * array.text_size, "\xe2\x82\xac");
  rf_array_free(&array);
  assert_int_equal(read_corpus(&array, "bytes"), RF_OK);
  assert_string_equal(array.texts + array.text_size, "do");
  rf_array_free(&array);
  assert_int_equal(read_corpus(&array, "scalar"), RF_OK);
  assert_int_equal(array.dimensions, 0);
  assert_true(array.count == 1 && array.values[0] == 3);
  rf_array_free(&array);
  assert_int_equal(read_corpus(&array, "cube"), RF_OK);
  assert_int_equal(array.dimensions, 3);
  assert_true(array.values[7] == 7);
  rf_array_free(&array);
  assert_int_equal(read_corpus(&array, "complex"), RF_ERR_INPUT);
  assert_int_equal(read_corpus(&array, "cut"), RF_ERR_INPUT);
}

/* X.npy with --labels y.npy, more than two dimensions flattened. */
static void pairs(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  RfDataSource source;
  char path[1024], labels[1024];
  snprintf(path, sizeof path, "%s/tests/fuzz/corpus/npy/cube", RF_SOURCE_DIR);
  snprintf(labels, sizeof labels, "%s/tests/fuzz/corpus/npy/bytes", RF_SOURCE_DIR);
  rf_data_source_init(&source);
  source.path = path, source.labels_path = labels;
  assert_ok(context, rf_data_load(context, &dataset, &source));
  assert_int_equal(dataset.n, 2);
  assert_int_equal(dataset.d, 4);
  assert_string_equal(dataset.class_names[0], "cat");
  assert_true(dataset.y[0] == -1);
  rf_dataset_free(&dataset);
  snprintf(labels, sizeof labels, "%s/tests/fuzz/corpus/npy/texts", RF_SOURCE_DIR);
  assert_int_equal(rf_data_load(context, &dataset, &source), RF_ERR_INPUT); /* three labels for two rows */
  snprintf(labels, sizeof labels, "%s/tests/fuzz/corpus/npy/none", RF_SOURCE_DIR);
  assert_int_equal(rf_data_load(context, &dataset, &source), RF_ERR_IO);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type),
      cmocka_unit_test(layouts_and_versions),
      cmocka_unit_test(texts_scalars_cubes),
      cmocka_unit_test(pairs),
  };
  return cmocka_run_group_tests_name("data/npy", tests, NULL, NULL);
}
