/* Labels: interning against a plain list, sorting, merging of equal numbers, signs. */
#include "data_test.h"

static void add_all(RfContext *context, RfLabels *labels, const char *const *texts, rf_index count) {
  for (rf_index i = 0; i < count; i++)
    assert_ok(context, rf_labels_add(context, labels, texts[i], strlen(texts[i])));
}

static void finish(RfDataset *dataset, const char *const *texts, rf_index count) {
  RfContext *context = fresh_context();
  RfLabels labels = {0};
  memset(dataset, 0, sizeof *dataset);
  add_all(context, &labels, texts, count);
  dataset->n = count;
  assert_ok(context, rf_labels_finish(context, dataset, &labels));
  rf_labels_free(&labels);
}

static void numbers_and_names(void **state) {
  (void)state;
  RfDataset dataset;
  static const char *const numbers[] = {"10", "9", "1e1", "-0", "0", "9.0"};
  finish(&dataset, numbers, 6);
  assert_int_equal(dataset.n_classes, 3);
  static const int32_t classes[] = {2, 1, 2, 0, 0, 1};
  assert_memory_equal(dataset.class_of, classes, sizeof classes);
  assert_string_equal(dataset.class_names[2], "10"); /* as it was written first */
  assert_null(dataset.y);
  rf_dataset_free(&dataset);
  static const char *const names[] = {"10", "9", "x", "10"};
  finish(&dataset, names, 4);
  assert_string_equal(dataset.class_names[0], "10"); /* bytewise */
  assert_string_equal(dataset.class_names[1], "9");
  rf_dataset_free(&dataset);
}

static void signs(void **state) {
  (void)state;
  RfDataset dataset;
  static const char *const pair[] = {"b", "a"}, *const negative[] = {"-1"}, *const zero[] = {"0"},
                           *const five[] = {"5"};
  finish(&dataset, pair, 2);
  assert_true(dataset.y[0] == 1 && dataset.y[1] == -1);
  rf_dataset_free(&dataset);
  finish(&dataset, negative, 1);
  assert_true(dataset.y[0] == -1);
  rf_dataset_free(&dataset);
  finish(&dataset, zero, 1);
  assert_true(dataset.y[0] == -1);
  rf_dataset_free(&dataset);
  finish(&dataset, five, 1);
  assert_true(dataset.y[0] == 1);
  rf_dataset_free(&dataset);
}

/* Thousands of texts in random order: class_of sorts them as qsort on the texts does. */
static void many_names(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfRandom random;
  RfLabels labels = {0};
  RfDataset dataset = {0};
  enum { ROWS = 20000, NAMES = 5000 };
  static int picked[ROWS];
  rf_random_init(&random, 2, 0);
  char text[32];
  for (int i = 0; i < ROWS; i++) {
    picked[i] = i < NAMES ? i : (int)rf_random_below(&random, NAMES);
    snprintf(text, sizeof text, "name%04d", picked[i]);
    assert_ok(context, rf_labels_add(context, &labels, text, strlen(text)));
  }
  dataset.n = ROWS;
  assert_ok(context, rf_labels_finish(context, &dataset, &labels));
  assert_int_equal(dataset.n_classes, NAMES);
  for (int i = 0; i < ROWS; i++) assert_int_equal(dataset.class_of[i], picked[i]);
  rf_labels_free(&labels);
  rf_dataset_free(&dataset);
}

/* A text is compared in full: neither prefixes nor longer texts match. */
static void prefixes(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfLabels labels = {0};
  assert_ok(context, rf_labels_add(context, &labels, "abc", 3));
  assert_ok(context, rf_labels_add(context, &labels, "abc", 2));
  assert_ok(context, rf_labels_add(context, &labels, "abcd", 4));
  assert_ok(context, rf_labels_add(context, &labels, "abx", 2));
  assert_int_equal(labels.n_texts, 3);
  assert_int_equal(labels.ids[1], labels.ids[3]);
  rf_labels_free(&labels);
  rf_labels_free(&labels);
}

static RfStatus parsed(const char *text, rf_index *n_classes) {
  RfDataset dataset;
  RfDataSource source;
  rf_data_source_init(&source);
  RfStatus status = parse_text(fresh_context(), &dataset, &source, RF_FORMAT_CSV, text);
  *n_classes = status ? 0 : dataset.n_classes;
  if (!status) rf_dataset_free(&dataset);
  return status;
}

/* Numbers with fractions in place of classes are refused; a few of them, integers and names are classes. */
static void measurements(void **state) {
  (void)state;
  rf_index count;
  assert_int_equal(parsed("1,2,0.31\n2,1,0.62\n3,3,1.7\n4,1,2.9\n", &count), RF_ERR_INPUT);
  assert_int_equal(parsed("1,2,0.5\n2,1,1.5\n3,3,0.5\n4,1,1.5\n", &count), RF_OK);
  assert_int_equal(count, 2);
  assert_int_equal(parsed("1,2,0.5\n2,1,1\n3,3,2\n4,1,2\n5,1,0.5\n6,1,1\n", &count), RF_OK);
  assert_int_equal(count, 3);
  assert_int_equal(parsed("1,2,1\n2,1,2\n3,3,3\n4,1,4\n", &count), RF_OK);
  assert_int_equal(count, 4);
  assert_int_equal(parsed("1,2,a0.5\n2,1,b\n3,3,c\n4,1,d\n", &count), RF_OK);
  assert_int_equal(count, 4);
}

/* The first column when the header calls it y; two such columns, one in the middle, or none: the last one. */
static void label_by_its_name(void **state) {
  (void)state;
  rf_index count;
  assert_int_equal(parsed("y,a,b\n1,0.5,0.25\n-1,0.75,0.125\n1,3.5,0.3\n", &count), RF_OK);
  assert_int_equal(count, 2);
  assert_int_equal(parsed("Target,a,b\n0,1.5,0.25\n1,1.25,0.125\n2,1.75,0.3\n", &count), RF_OK);
  assert_int_equal(count, 3);
  assert_int_equal(parsed("x,y,kind\n0,1,a\n1,2,b\n2,3,b\n", &count), RF_OK);
  assert_int_equal(count, 2);
  assert_int_equal(parsed("y,a,class\n1.5,2,7\n1.25,3,8\n1,4,9\n2,4,9\n", &count), RF_OK);
  assert_int_equal(count, 3);
  assert_int_equal(parsed("x,a,b\n1,0.5,0\n-1,0.75,1\n", &count), RF_OK);
  assert_int_equal(count, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_and_names), cmocka_unit_test(signs),
      cmocka_unit_test(many_names),        cmocka_unit_test(prefixes),
      cmocka_unit_test(measurements),      cmocka_unit_test(label_by_its_name),
  };
  return cmocka_run_group_tests_name("data/labels", tests, NULL, NULL);
}
