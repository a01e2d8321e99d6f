/* CSV and its relatives: separators, headers, labels, quotes, odd files that are accepted. What is refused is
 * in test_malformed.c. */
#include "data_test.h"

typedef struct Accepted {
  const char *what, *text, *label;
  rf_index n, d;
  double first[3];     /* first row of X, up to three columns */
  const char *classes; /* names in order, with spaces between */
  double last_y;       /* 0: several classes */
} Accepted;

static const Accepted accepted[] = {
    {"plain", "1,2,1\n3,4,-1\n", NULL, 2, 2, {1, 2}, "-1 1", -1},
    {"no final line end", "1,2,1\n3,4,-1", NULL, 2, 2, {1, 2}, "-1 1", -1},
    {"CRLF", "1,2,1\r\n3,4,-1\r\n", NULL, 2, 2, {1, 2}, "-1 1", -1},
    {"header", "a,b,label\n1,2,0\n3,4,1\n", NULL, 2, 2, {1, 2}, "0 1", 1},
    {"quoted header", "\"a,1\",\"b\"\"\",label\n1,2,0\n3,4,1\n", NULL, 2, 2, {1, 2}, "0 1", 1},
    {"quoted numbers", "\"1\",\"2\",\"0\"\n 3 , 4 , 1 \n", NULL, 2, 2, {1, 2}, "0 1", 1},
    {"byte order mark",
     "\xef\xbb\xbf"
     "1,2,0\n3,4,1\n",
     NULL,
     2,
     2,
     {1, 2},
     "0 1",
     1},
    {"tabs", "1\t2\t0\n3\t4\t1\n", NULL, 2, 2, {1, 2}, "0 1", 1},
    {"semicolons", "1;2;0\n3;4;1\n", NULL, 2, 2, {1, 2}, "0 1", 1},
    {"blanks", "  1 2   0\n3\t4 1  \n", NULL, 2, 2, {1, 2}, "0 1", 1},
    {"blank lines and comments",
     "# made by hand\n\n1,2,0\n   \n# more\n3,4,1\n\n",
     NULL,
     2,
     2,
     {1, 2},
     "0 1",
     1},
    {"trailing separators", "1,2,0,\n3,4,1,\n5,6,1\n", NULL, 3, 2, {1, 2}, "0 1", 1},
    {"trailing separators, header", "a,b,c,\n3,4,1,\n", NULL, 1, 2, {3, 4}, "1", 1},
    {"label by name", "a,b,c\n1,2,3\n0,4,5\n", "a", 2, 2, {2, 3}, "0 1", -1},
    {"label by index", "1,2,3\n0,4,5\n", "0", 2, 2, {2, 3}, "0 1", -1},
    {"label by index from the end", "1,2,3\n0,2,5\n", "-2", 2, 2, {1, 3}, "2", 1},
    {"label by a name of digits", "2019,b,c\n1,2,3\n0,4,5\n", "2019", 2, 2, {2, 3}, "0 1", -1},
    {"names", "a,b,kind\n1,2,cat\n3,4,dog\n", NULL, 2, 2, {1, 2}, "cat dog", 1},
    {"names without header", "1,2,dog\n3,4,cat\n", NULL, 2, 2, {1, 2}, "cat dog", -1},
    {"numbered header above names", "0,1,label\n3,4,cat\n", NULL, 1, 2, {3, 4}, "cat", 1},
    {"numbered header above numbers", "0,1,kind\n3,4,7\n", NULL, 1, 2, {3, 4}, "7", 1},
    {"names with commas and quotes", "a,b\n1,\"x,\"\"y\"\"\"\n2,z\n", NULL, 2, 1, {1}, "x,\"y\" z", 1},
    {"same numbers written differently", "1,2,+1\n3,4,1.0\n5,6,1\n7,8,-1\n", NULL, 4, 2, {1, 2}, "-1 +1", -1},
    {"numbers sort as numbers", "1,10\n2,9\n", NULL, 2, 1, {1}, "9 10", -1},
    {"three classes", "1,2\n2,0\n3,1\n", NULL, 3, 1, {1}, "0 1 2", 0},
    {"one class, positive", "1,5\n2,5\n", NULL, 2, 1, {1}, "5", 1},
    {"one class, zero", "1,0\n2,0\n", NULL, 2, 1, {1}, "0", -1},
    {"one class, name", "1,x\n2,x\n", NULL, 2, 1, {1}, "x", 1},
    {"one row", "1,2,1", NULL, 1, 2, {1, 2}, "1", 1},
    {"denormal and tiny numbers", "5e-324,1e-400,1\n1,1,0\n", NULL, 2, 2, {5e-324, 0}, "0 1", -1},
    {"mixed names and numbers sort bytewise", "1,10\n2,b\n3,9\n", NULL, 3, 1, {1}, "10 9 b", 0},
};

static void check_accepted(const Accepted *item) {
  RfContext *context = fresh_context();
  RfDataset dataset;
  RfDataSource source;
  rf_data_source_init(&source);
  source.label = item->label;
  RfStatus status = parse_text(context, &dataset, &source, RF_FORMAT_CSV, item->text);
  if (status) print_error("%s: %s\n", item->what, context->error);
  assert_int_equal(status, RF_OK);
  if (dataset.n != item->n || dataset.d != item->d)
    print_error("%s: %lld x %lld\n", item->what, (long long)dataset.n, (long long)dataset.d);
  assert_int_equal(dataset.n, item->n);
  assert_int_equal(dataset.d, item->d);
  for (rf_index j = 0; j < item->d; j++) assert_true(dataset.X[j] == item->first[j]);
  char names[256] = "";
  for (rf_index k = 0; k < dataset.n_classes; k++) {
    if (k > 0) strcat(names, " ");
    strcat(names, dataset.class_names[k]);
  }
  if (strcmp(names, item->classes) != 0) print_error("%s: classes '%s'\n", item->what, names);
  assert_string_equal(names, item->classes);
  if (item->last_y == 0)
    assert_null(dataset.y);
  else
    assert_true(dataset.y[dataset.n - 1] == item->last_y);
  for (rf_index i = 0; i < dataset.n; i++) assert_in_range(dataset.class_of[i], 0, dataset.n_classes - 1);
  rf_dataset_free(&dataset);
}

static void accepted_files(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof accepted / sizeof accepted[0]; k++) check_accepted(accepted + k);
}

/* Many rows through small and large buffers: every cell is what was printed. */
static void long_file(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfRandom random;
  rf_random_init(&random, 9, 0);
  rf_index n = 20000, d = 11;
  size_t capacity = (size_t)(n * (d + 1)) * 26, used = 0;
  char *text = malloc(capacity);
  double *X = malloc((size_t)(n * d) * sizeof *X);
  for (rf_index i = 0; i < n; i++) {
    for (rf_index j = 0; j < d; j++) {
      X[i * d + j] = rf_random_gaussian(&random);
      used += (size_t)snprintf(text + used, capacity - used, "%.17g,", X[i * d + j]);
    }
    used += (size_t)snprintf(text + used, capacity - used, "%d\n", (int)(i % 3));
  }
  RfDataset dataset;
  assert_ok(context, parse_text(context, &dataset, NULL, RF_FORMAT_CSV, text));
  assert_int_equal(dataset.n, n);
  assert_int_equal(dataset.d, d);
  assert_memory_equal(dataset.X, X, (size_t)(n * d) * sizeof *X);
  for (rf_index i = 0; i < n; i++) assert_int_equal(dataset.class_of[i], i % 3);
  rf_dataset_free(&dataset);
  free(X), free(text);
}

/* One row longer than the read buffer. */
static void long_line(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  rf_index d = 700000;
  char *text = malloc((size_t)d * 4 + 16), *p = text;
  for (int row = 0; row < 2; row++) {
    for (rf_index j = 0; j < d; j++) *p++ = (char)('0' + j % 10), *p++ = ',';
    *p++ = (char)('0' + row), *p++ = '\n';
  }
  *p = 0;
  RfDataset dataset;
  assert_ok(context, parse_text(context, &dataset, NULL, RF_FORMAT_CSV, text));
  assert_int_equal(dataset.n, 2);
  assert_int_equal(dataset.d, d);
  for (rf_index k = 0; k < 2 * d; k++) assert_true(dataset.X[k] == (double)(k % d % 10));
  rf_dataset_free(&dataset);
  free(text);
}

/* Real files, with facts from their descriptions. */
static void real_files(void **state) {
  (void)state;
  static const struct {
    const char *file;
    rf_index n, d, classes;
  } files[] = {{"breast_cancer.csv", 569, 30, 2}, {"digits8x8.csv", 1797, 64, 10}, {"iris.csv", 150, 4, 3}};
  RfContext *context = fresh_context();
  for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", rf_test_data(), files[k].file);
    RfDataSource source;
    RfDataset dataset;
    rf_data_source_init(&source);
    source.path = path;
    assert_ok(context, rf_data_load(context, &dataset, &source));
    assert_int_equal(dataset.n, files[k].n);
    assert_int_equal(dataset.d, files[k].d);
    assert_int_equal(dataset.n_classes, files[k].classes);
    assert_string_equal(dataset.name, path);
    rf_dataset_free(&dataset);
  }
}

static void cancelled(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  volatile int stop = 1;
  context->cancel = &stop;
  RfDataset dataset;
  assert_int_equal(parse_text(context, &dataset, NULL, RF_FORMAT_CSV, "1,2\n3,4\n"), RF_INTERRUPTED);
  assert_null(dataset.X);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepted_files), cmocka_unit_test(long_file), cmocka_unit_test(long_line),
      cmocka_unit_test(real_files),     cmocka_unit_test(cancelled),
  };
  return cmocka_run_group_tests_name("data/csv", tests, NULL, NULL);
}
