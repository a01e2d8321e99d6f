/* .npz files written by NumPy (in the fuzz corpus): stored, deflated, 64-bit sizes, inside gzip; and damaged
 * ones. */
#include "data_test.h"

static RfStatus load_corpus(RfContext *context, RfDataset *dataset, const char *name) {
  static char path[1024];
  RfDataSource source;
  rf_data_source_init(&source);
  snprintf(path, sizeof path, "%s/tests/fuzz/corpus/npz/%s", RF_SOURCE_DIR, name);
  source.path = path;
  RfStatus status = rf_data_load(context, dataset, &source);
  if (status) assert_one_line(context);
  return status;
}

static void good(void **state) {
  (void)state;
  static const char *const names[] = {"stored", "deflated", "names", "fortran", "extra", "zip64", "gzip"};
  static const double want[6] = {1.5, -2, 3, 4, 5, 6.25};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    RfContext *context = fresh_context();
    RfDataset dataset;
    assert_ok(context, load_corpus(context, &dataset, names[k]));
    assert_int_equal(dataset.n, 2);
    assert_int_equal(dataset.d, 3);
    assert_memory_equal(dataset.X, want, sizeof want);
    assert_true(dataset.y[0] == -1 && dataset.y[1] == 1);
    rf_dataset_free(&dataset);
  }
}

static void damaged(void **state) {
  (void)state;
  static const struct {
    const char *name, *says;
  } bad[] = {{"no_y", "found no y"}, {"net", "found no X"},           {"nan", "finite"},
             {"cut", "zip"},         {"bzip2", "stored or deflated"}, {"bad_sum", ""}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    RfContext *context = fresh_context();
    RfDataset dataset;
    RfStatus status = load_corpus(context, &dataset, bad[k].name);
    if (status != RF_ERR_INPUT) print_error("%s: status %d\n", bad[k].name, (int)status);
    assert_int_equal(status, RF_ERR_INPUT);
    if (!strstr(context->error, bad[k].says)) print_error("%s: %s\n", bad[k].name, context->error);
    assert_non_null(strstr(context->error, bad[k].says));
    assert_null(dataset.X);
  }
}

/* Every flipped byte is either noticed or harmless; never a crash, and never other numbers. */
static void flipped_bytes(void **state) {
  (void)state;
  static const double want[6] = {1.5, -2, 3, 4, 5, 6.25};
  static const char *const names[] = {"stored", "deflated"};
  for (size_t k = 0; k < 2; k++) {
    char path[1024];
    unsigned char bytes[4096];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/npz/%s", RF_SOURCE_DIR, names[k]);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t at = 0; at < size; at++) {
      RfContext *context = fresh_context();
      RfDataset dataset;
      RfDataSource source;
      rf_data_source_init(&source);
      bytes[at] ^= 0x11;
      if (rf_data_parse(context, &dataset, &source, RF_FORMAT_NPZ, bytes, size) == RF_OK) {
        assert_memory_equal(dataset.X, want, sizeof want);
      } else {
        assert_one_line(context);
      }
      rf_dataset_free(&dataset);
      bytes[at] ^= 0x11;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(good), cmocka_unit_test(damaged),
                                     cmocka_unit_test(flipped_bytes)};
  return cmocka_run_group_tests_name("data/zip", tests, NULL, NULL);
}
