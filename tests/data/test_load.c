/* Which reader gets which file: endings, first bytes, standard input through a pipe, generators. */
#include "data_test.h"

#include <sys/wait.h>

static const char csv_text[] = "1,2,0\n3,4,1\n", svm_text[] = "0 1:1 2:2\n1 1:3 2:4\n";

static void check(const char *path, RfContext *context) {
  RfDataSource source;
  RfDataset dataset;
  rf_data_source_init(&source);
  source.path = path;
  assert_ok(context, rf_data_load(context, &dataset, &source));
  static const double want[4] = {1, 2, 3, 4};
  assert_int_equal(dataset.n, 2);
  assert_int_equal(dataset.d, 2);
  assert_memory_equal(dataset.X, want, sizeof want);
  assert_true(dataset.y[0] == -1 && dataset.y[1] == 1);
  assert_string_equal(dataset.name, path);
  rf_dataset_free(&dataset);
}

static void endings(void **state) {
  (void)state;
  static const struct {
    const char *name, *text;
  } files[] = {{"a.csv", csv_text},      {"a.CSV", csv_text}, {"a.txt", csv_text},
               {"a", csv_text},          {"a.svm", svm_text}, {"a.libsvm", svm_text},
               {"a.svmlight", svm_text}, {"a.dat", svm_text}, {"a.tsv", "1\t2\t0\n3\t4\t1\n"}};
  for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
    const char *path = scratch_path(files[k].name);
    write_file(path, files[k].text, strlen(files[k].text));
    check(path, fresh_context());
    unlink(path);
  }
}

/* Standard input is a pipe, which cannot be read twice and has no size. */
static void standard_input(void **state) {
  (void)state;
  const char *path = scratch_path("in.npz");
  RfContext *context = fresh_context();
  double X[4] = {1, 2, 3, 4}, y[2] = {-1, 1};
  RfDataset dataset;
  assert_ok(context, rf_dataset_from_arrays(context, &dataset, X, y, 2, 2, NULL));
  assert_ok(context, rf_data_save(context, &dataset, path));
  rf_dataset_free(&dataset);
  static char npz[4096];
  FILE *file = fopen(path, "rb");
  size_t npz_size = fread(npz, 1, sizeof npz, file);
  fclose(file);
  unlink(path);
  const struct {
    const char *bytes;
    size_t size;
  } inputs[] = {{csv_text, sizeof csv_text - 1}, {svm_text, sizeof svm_text - 1}, {npz, npz_size}};
  for (size_t k = 0; k < sizeof inputs / sizeof inputs[0]; k++) {
    int ends[2], kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], inputs[k].bytes, inputs[k].size), inputs[k].size);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    check("-", context);
    dup2(kept, STDIN_FILENO);
    close(kept);
  }
}

static void generators(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataSource source;
  RfDataset dataset;
  rf_data_source_init(&source);
  source.path = "gen:xor", source.has_bias = true, source.bias = 2;
  assert_ok(context, rf_data_load(context, &dataset, &source));
  assert_int_equal(dataset.n, 4);
  assert_int_equal(dataset.d, 3);
  assert_true(dataset.X[2] == 2);
  rf_dataset_free(&dataset);
  source.path = "gen:nothing-of-this-name";
  assert_int_equal(rf_data_load(context, &dataset, &source), RF_ERR_USAGE);
  assert_one_line(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(endings), cmocka_unit_test(standard_input),
                                     cmocka_unit_test(generators)};
  return cmocka_run_group_tests_name("data/load", tests, NULL, NULL);
}
