/* idx files: a small one by hand, and MNIST with the counts of its description. */
#include "data_test.h"

static void by_hand(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0,   0,   0,
                                         1, 0, 0, 0, 3, 1, 2, 3, 253, 254, 255};
  static const unsigned char labels[] = {0, 0, 9, 1, 0, 0, 0, 2, 0xff, 5};
  const char *path = scratch_path("images"), *labels_path = scratch_path("labels");
  write_file(path, images, sizeof images);
  write_file(labels_path, labels, sizeof labels);
  RfDataSource source;
  RfDataset dataset;
  rf_data_source_init(&source);
  source.path = path, source.labels_path = labels_path;
  assert_ok(context, rf_data_load(context, &dataset, &source));
  assert_int_equal(dataset.n, 2);
  assert_int_equal(dataset.d, 3);
  const double want[6] = {1, 2, 3, 253, 254, 255};
  assert_memory_equal(dataset.X, want, sizeof want);
  assert_string_equal(dataset.class_names[0], "-1");
  assert_true(dataset.y[0] == -1 && dataset.y[1] == 1);
  rf_dataset_free(&dataset);
  source.labels_path = NULL;
  assert_int_equal(rf_data_load(context, &dataset, &source), RF_ERR_USAGE);
  assert_non_null(strstr(context->error, "--labels"));
  source.labels_path = path; /* two times three, no labels */
  assert_int_equal(rf_data_load(context, &dataset, &source), RF_ERR_INPUT);
  source.path = labels_path, source.labels_path = labels_path; /* labels as data */
  assert_int_equal(rf_data_load(context, &dataset, &source), RF_ERR_INPUT);
  unlink(path), unlink(labels_path);
}

static void mnist(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  char path[1024], labels_path[1024];
  const char *folder = rf_test_mnist();
  if (!folder) skip();
  snprintf(path, sizeof path, "%s/mnist/train-images-idx3-ubyte.gz", folder);
  snprintf(labels_path, sizeof labels_path, "%s/mnist/train-labels-idx1-ubyte.gz", folder);
  static const rf_index counts[10] = {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949};
  RfDataSource source;
  RfDataset dataset;
  rf_data_source_init(&source);
  source.path = path, source.labels_path = labels_path;
  assert_ok(context, rf_data_load(context, &dataset, &source));
  assert_int_equal(dataset.n, 60000);
  assert_int_equal(dataset.d, 784);
  assert_int_equal(dataset.n_classes, 10);
  rf_index seen[10] = {0};
  for (rf_index i = 0; i < dataset.n; i++) seen[dataset.class_of[i]]++;
  for (int k = 0; k < 10; k++) assert_int_equal(seen[k], counts[k]);
  rf_dataset_free(&dataset);
  source.classes = "1,0", source.divide = 255, source.center = true;
  assert_ok(context, rf_data_load(context, &dataset, &source));
  assert_int_equal(dataset.n, 12665);
  double largest = 0, least = INFINITY;
  for (rf_index i = 0; i < dataset.n; i++) {
    double norm = rf_la_norm(dataset.X + i * 784, 784);
    largest = fmax(largest, norm), least = fmin(least, norm);
  }
  assert_close(largest, 12.55, 0.01);
  assert_close(least, 5.01, 0.01);
  rf_dataset_free(&dataset);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(mnist)};
  return cmocka_run_group_tests_name("data/idx", tests, NULL, NULL);
}
