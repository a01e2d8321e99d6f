/* LIBSVM text: what is accepted, widening without a first sweep, the memory limit, long random files. */
#include "data_test.h"

#include <fcntl.h>
#include <zlib.h>

typedef struct Accepted {
  const char *what, *text;
  rf_index n, d, classes;
  double X[6];
} Accepted;

static const Accepted accepted[] = {
    {"plain", "+1 1:0.5 3:2\n-1 2:1\n", 2, 3, 2, {0.5, 0, 2, 0, 1, 0}},
    {"no final line end", "+1 1:0.5 3:2\n-1 2:1", 2, 3, 2, {0.5, 0, 2, 0, 1, 0}},
    {"CRLF, tabs, blanks", " +1\t1:0.5  3:2 \r\n-1 2:1\r\n", 2, 3, 2, {0.5, 0, 2, 0, 1, 0}},
    {"comments and empty lines",
     "# file\n\n+1 1:0.5 3:2 # row\n-1 2:1#x\n  \n",
     2,
     3,
     2,
     {0.5, 0, 2, 0, 1, 0}},
    {"query numbers", "+1 qid:7 1:0.5 3:2\n-1 qid:8 2:1\n", 2, 3, 2, {0.5, 0, 2, 0, 1, 0}},
    {"a row without entries", "1\n-1 2:1\n", 2, 2, 2, {0, 0, 0, 1}},
    {"widening", "1 1:1\n2 1:2 2:3\n", 2, 2, 2, {1, 0, 2, 3}},
    {"three classes", "1 1:1\n2 1:2\n3 1:3\n", 3, 1, 3, {1, 2, 3}},
    {"one class", "1 1:1\n1 1:2\n", 2, 1, 1, {1, 2}},
    {"explicit zero keeps a column", "1 1:1 2:0\n2 1:2\n", 2, 2, 2, {1, 0, 2, 0}},
    {"labels 1 and +1.0 are one class", "1 1:1\n+1.0 1:2\n", 2, 1, 1, {1, 2}},
    {"last line is a comment", "1 1:1 2:2\n# 9:9", 1, 2, 1, {1, 2}},
};

static void accepted_files(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof accepted / sizeof accepted[0]; k++) {
    RfContext *context = fresh_context();
    RfDataset dataset;
    RfStatus status = parse_text(context, &dataset, NULL, RF_FORMAT_LIBSVM, accepted[k].text);
    if (status) print_error("%s: %s\n", accepted[k].what, context->error);
    assert_int_equal(status, RF_OK);
    assert_int_equal(dataset.n, accepted[k].n);
    assert_int_equal(dataset.d, accepted[k].d);
    assert_int_equal(dataset.n_classes, accepted[k].classes);
    for (rf_index j = 0; j < dataset.n * dataset.d; j++) assert_true(dataset.X[j] == accepted[k].X[j]);
    rf_dataset_free(&dataset);
  }
}

static void recognised_without_an_ending(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  assert_ok(context, parse_text(context, &dataset, NULL, RF_FORMAT_AUTO, "# c\n+1 2:1\n-1 1:3\n"));
  assert_int_equal(dataset.d, 2);
  rf_dataset_free(&dataset);
}

/* Random sparse rows whose largest index grows, as text; X is what they mean. */
static char *random_text(RfRandom *random, double *X, rf_index n, rf_index d, size_t *size) {
  char *text = malloc((size_t)(n * d) * 34 + (size_t)n * 4 + 1), *p = text;
  memset(X, 0, (size_t)(n * d) * sizeof *X);
  for (rf_index i = 0; i < n; i++) {
    p += sprintf(p, i % 2 ? "1" : "-1");
    rf_index reach = 1 + i * d / n;
    for (rf_index j = 0; j < reach; j++) {
      bool last = i == n - 1 && j == d - 1;
      if (!last && rf_random_below(random, 3) > 0) continue;
      X[i * d + j] = rf_random_gaussian(random);
      p += sprintf(p, " %lld:%.17g", (long long)j + 1, X[i * d + j]);
    }
    *p++ = '\n';
  }
  *p = 0, *size = (size_t)(p - text);
  return text;
}

/* The same rows from memory, from a file (two sweeps) and from gzip (one sweep, widening). */
static void three_ways(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 6, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(10); trial++) {
    RfContext *context = fresh_context();
    rf_index n = 1 + rf_random_below(&random, 400), d = 1 + rf_random_below(&random, 60);
    double *X = malloc((size_t)(n * d) * sizeof *X);
    size_t size;
    char *text = random_text(&random, X, n, d, &size);
    const char *plain = scratch_path("t.svm"), *packed = scratch_path("t.svm.gz");
    write_file(plain, text, size);
    gzFile file = gzopen(packed, "wb");
    gzwrite(file, text, (unsigned)size);
    gzclose(file);
    RfDataSource source;
    RfDataset first, second, third;
    rf_data_source_init(&source);
    assert_ok(context, parse_text(context, &first, NULL, RF_FORMAT_LIBSVM, text));
    source.path = plain;
    assert_ok(context, rf_data_load(context, &second, &source));
    source.path = packed;
    assert_ok(context, rf_data_load(context, &third, &source));
    if (n > 1 || d == 1) {
      assert_int_equal(first.d, d);
      assert_memory_equal(first.X, X, (size_t)(n * d) * sizeof *X);
    }
    assert_same_dataset(&first, &second);
    assert_same_dataset(&first, &third);
    rf_dataset_free(&first), rf_dataset_free(&second), rf_dataset_free(&third);
    unlink(plain), unlink(packed);
    free(text), free(X);
  }
}

static void memory_limit(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  RfDataSource source;
  rf_data_source_init(&source);
  source.memory_limit = 1000;
  assert_int_equal(parse_text(context, &dataset, &source, RF_FORMAT_LIBSVM, "1 126:1\n"), RF_ERR_USAGE);
  assert_one_line(context);
  assert_non_null(strstr(context->error, "--memory"));
  assert_int_equal(parse_text(context, &dataset, &source, RF_FORMAT_LIBSVM, "1 125:1\n"), RF_OK);
  rf_dataset_free(&dataset);
  source.memory_limit = 0;
  assert_int_equal(parse_text(context, &dataset, &source, RF_FORMAT_LIBSVM, "1 9999999999999:1\n"),
                   RF_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepted_files),
      cmocka_unit_test(recognised_without_an_ending),
      cmocka_unit_test(three_ways),
      cmocka_unit_test(memory_limit),
  };
  return cmocka_run_group_tests_name("data/libsvm", tests, NULL, NULL);
}
