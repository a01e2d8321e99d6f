/* Every writer against every reader: the same bits, names and signs come back, also for awkward names and
 * values. */
#include "data_test.h"

#include <sys/stat.h>

static const char *const endings[] = {"t.csv", "t.tsv", "t.libsvm", "t.npz"};

static void round_trip(const RfDataset *dataset, const char *ending, bool same_names) {
  RfContext *context = fresh_context();
  const char *path = scratch_path(ending);
  RfDataSource source;
  RfDataset back;
  rf_data_source_init(&source);
  source.path = path;
  assert_ok(context, rf_data_save(context, dataset, path));
  assert_ok(context, rf_data_load(context, &back, &source));
  if (same_names) {
    assert_same_dataset(dataset, &back);
  } else {
    assert_int_equal(dataset->n, back.n);
    assert_int_equal(dataset->d, back.d);
    assert_memory_equal(dataset->X, back.X, (size_t)(back.n * back.d) * sizeof(double));
    if (dataset->y)
      assert_memory_equal(dataset->y, back.y, (size_t)back.n * sizeof(double));
    else
      assert_memory_equal(dataset->class_of, back.class_of, (size_t)back.n * sizeof(int32_t));
  }
  rf_dataset_free(&back);
  unlink(path);
}

/* Any finite bit pattern, zeros of both signs, empty columns at the end. */
static void random_values(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 8, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(40); trial++) {
    RfContext *context = fresh_context();
    rf_index n = 1 + rf_random_below(&random, 20), d = 1 + rf_random_below(&random, 8);
    double X[160], y[20];
    for (rf_index k = 0; k < n * d; k++) {
      uint64_t bits = rf_random_u64(&random);
      memcpy(X + k, &bits, sizeof bits);
      rf_index pick = rf_random_below(&random, 4);
      if (!isfinite(X[k]) || pick == 0) X[k] = 0;
      if (pick == 1) X[k] = -0.0;
      if (pick == 2) X[k] = rf_random_gaussian(&random);
      if (k % d == d - 1 && trial % 2) X[k] = 0;
    }
    for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random);
    RfDataset dataset;
    assert_ok(context, rf_dataset_from_arrays(context, &dataset, X, y, n, d, "random"));
    for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) round_trip(&dataset, endings[e], true);
    rf_dataset_free(&dataset);
  }
}

static void names(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool numbers;
  } sets[] = {
      {"1,0\n2,1\n", true},
      {"1,0.1\n2,-7\n3,1e300\n", true},
      {"1,+1\n2,-1\n", true},
      {"1,2.50\n2,1\n3,2\n", true},
      {"1,cat\n2,dog\n", false},
      {"1,\"a,b\"\n2,\"say \"\"x\"\"\"\n3,\" blank \"\n4,#hash\n5,\"tab\there\"\n", false},
      {"1,caf\xc3\xa9\n2,\xe2\x82\xac\n3,\xf0\x9f\x98\x80\n", false},
      {"1,label\n2,class\n", false},
      {"7,y\n", false},
      {"7,0\n8,0\n", true},
      {"7,-3\n8,-3\n", true},
  };
  for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
    RfContext *context = fresh_context();
    RfDataset dataset;
    char text[256];
    snprintf(text, sizeof text, "x,kind\n%s", sets[k].text);
    assert_ok(context, parse_text(context, &dataset, NULL, RF_FORMAT_CSV, text));
    for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) {
      round_trip(&dataset, endings[e], sets[k].numbers || e != 2);
    }
    rf_dataset_free(&dataset);
  }
}

/* Signs that the names do not give: a swapped pair, and one class cut from a pair. */
static void signs_survive(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  RfDataSource source;
  rf_data_source_init(&source);
  source.classes = "3,2";
  assert_ok(context, parse_text(context, &dataset, &source, RF_FORMAT_CSV, "5,2\n6,3\n7,4\n"));
  assert_true(dataset.y[0] == 1);
  for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) round_trip(&dataset, endings[e], false);
  rf_dataset_free(&dataset);
  source.classes = "2,3", source.limit = 1;
  assert_ok(context, parse_text(context, &dataset, &source, RF_FORMAT_CSV, "5,2\n6,3\n7,4\n"));
  assert_true(dataset.y[0] == -1);
  for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) round_trip(&dataset, endings[e], false);
  rf_dataset_free(&dataset);
}

static void refusals(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  double X[1] = {1}, y[1] = {1};
  assert_ok(context, rf_dataset_from_arrays(context, &dataset, X, y, 1, 1, NULL));
  assert_int_equal(rf_data_save(context, &dataset, "x.png"), RF_ERR_USAGE);
  assert_int_equal(rf_data_save(context, &dataset, "x.csv.gz"), RF_ERR_USAGE);
  assert_int_equal(rf_data_save(context, &dataset, "/nonexistent/x.csv"), RF_ERR_IO);
  assert_one_line(context);
  rf_dataset_free(&dataset);
}

/* A failed write leaves the old file and nothing beside it. */
static void old_file_stays(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  const char *path = scratch_path("old.csv");
  write_file(path, "old", 3);
  RfSink sink;
  assert_ok(context, rf_sink_open(context, &sink, path));
  char beside[400];
  snprintf(beside, sizeof beside, "%s", sink.beside);
  rf_sink_text(&sink, "new");
  assert_int_equal(access(beside, F_OK), 0);
  assert_int_equal(rf_sink_close(context, &sink, RF_ERR_NUMERIC), RF_ERR_NUMERIC);
  assert_int_not_equal(access(beside, F_OK), 0);
  struct stat about;
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_size, 3);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_values), cmocka_unit_test(names),          cmocka_unit_test(signs_survive),
      cmocka_unit_test(refusals),      cmocka_unit_test(old_file_stays),
  };
  return cmocka_run_group_tests_name("data/save", tests, NULL, NULL);
}
