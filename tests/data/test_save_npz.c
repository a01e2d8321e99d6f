/* Archives beyond 4 GiB: members behind a hole in the file need the 64-bit fields, and the reader must follow
 * them. */
#include "data_test.h"

static void beyond_four_gigabytes(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  const char *path = scratch_path("wide.npz");
  static const double X[4] = {1, 2, 3, 4}, y[2] = {5, 6};
  RfNpzMember members[2] = {
      {.name = "X", .dimensions = 2, .shape = {2, 2}, .items = X, .bytes = sizeof X},
      {.name = "y", .dimensions = 1, .shape = {2, 0}, .items = y, .bytes = sizeof y},
  };
  for (int k = 0; k < 2; k++) snprintf(members[k].type, sizeof members[k].type, "%s", rf_npz_double_type());
  RfSink sink;
  assert_ok(context, rf_sink_open(context, &sink, path));
  off_t hole = ((off_t)1 << 32) + 12345;
  assert_int_equal(lseek(sink.fd, hole, SEEK_SET), hole);
  sink.written = hole;
  rf_save_npz(&sink, members, 2);
  assert_ok(context, rf_sink_close(context, &sink, RF_OK));
  RfDataSource source;
  RfDataset dataset;
  rf_data_source_init(&source);
  source.path = path;
  RfStatus status = rf_data_load(context, &dataset, &source);
  unlink(path);
  assert_ok(context, status);
  assert_memory_equal(dataset.X, X, sizeof X);
  assert_string_equal(dataset.class_names[1], "6");
  rf_dataset_free(&dataset);
}

/* The header of every member ends at a multiple of 64, as NumPy wants it for mapping. */
static void headers(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  const char *path = scratch_path("one.npz");
  static const double x[1] = {7};
  for (rf_index zeros = 0; zeros < 12; zeros++) {
    rf_index rows = 1;
    for (rf_index k = 0; k < zeros; k++) rows *= 10;
    RfNpzMember member = {.name = "a", .dimensions = 2, .shape = {1, rows}, .items = x, .bytes = sizeof x};
    snprintf(member.type, sizeof member.type, "%s", rf_npz_double_type());
    RfSink sink;
    assert_ok(context, rf_sink_open(context, &sink, path));
    rf_save_npz(&sink, &member, 1);
    assert_ok(context, rf_sink_close(context, &sink, RF_OK));
    unsigned char bytes[1024];
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 150);
    size_t start = 30 + strlen("a.npy"); /* behind the local header */
    assert_memory_equal(bytes + start, "\x93NUMPY\1", 7);
    size_t length = (size_t)bytes[start + 8] + 256 * (size_t)bytes[start + 9];
    assert_int_equal((10 + length) % 64, 0);
    assert_int_equal(bytes[start + 9 + length], '\n');
  }
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(beyond_four_gigabytes), cmocka_unit_test(headers)};
  return cmocka_run_group_tests_name("data/save_npz", tests, NULL, NULL);
}
