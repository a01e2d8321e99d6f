/* Whole files and archives as other rooms use them. */
#include "data_test.h"

static void whole_files(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  const char *path = scratch_path("whole");
  unsigned char *bytes;
  size_t size;
  assert_ok(context, rf_data_write_file(context, path, "abc\0d", 5));
  assert_ok(context, rf_data_read_file(context, &bytes, &size, path));
  assert_int_equal(size, 5);
  assert_memory_equal(bytes, "abc\0d", 5);
  rf_free(bytes);
  assert_ok(context, rf_data_write_file(context, path, "", 0));
  assert_ok(context, rf_data_read_file(context, &bytes, &size, path));
  assert_int_equal(size, 0);
  rf_free(bytes);
  unlink(path);
  assert_int_equal(rf_data_read_file(context, &bytes, &size, path), RF_ERR_IO);
  assert_null(bytes);
  assert_int_equal(rf_data_write_file(context, "/nonexistent/x", "", 0), RF_ERR_IO);
}

static void archives(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  const char *path = scratch_path("some.npz");
  static const double values[6] = {1, 2, 3, 4, 5, -0.0};
  RfNpzMember members[2] = {
      {.name = "matrix", .dimensions = 2, .shape = {2, 3}, .items = values, .bytes = sizeof values},
      {.name = "number", .dimensions = 0, .items = values + 2, .bytes = sizeof(double)},
  };
  for (int k = 0; k < 2; k++) snprintf(members[k].type, sizeof members[k].type, "%s", rf_npz_double_type());
  assert_ok(context, rf_data_npz_write(context, path, members, 2));
  assert_int_equal(rf_data_npz_write(context, path, members, RF_NPZ_MEMBERS + 1), RF_ERR_USAGE);
  unsigned char *bytes;
  size_t size;
  assert_ok(context, rf_data_read_file(context, &bytes, &size, path));
  unlink(path);
  RfArray array;
  bool found;
  assert_ok(context, rf_data_npz_find(context, &array, &found, "matrix", path, bytes, size));
  assert_true(found && array.dimensions == 2 && array.shape[1] == 3);
  assert_memory_equal(array.values, values, sizeof values);
  rf_array_free(&array);
  assert_ok(context, rf_data_npz_find(context, &array, &found, "number", path, bytes, size));
  assert_true(found && array.dimensions == 0 && array.values[0] == 3);
  rf_array_free(&array);
  assert_ok(context, rf_data_npz_find(context, &array, &found, "other", path, bytes, size));
  assert_true(!found && array.values == NULL);
  assert_int_equal(rf_data_npz_find(context, &array, &found, "matrix", path, bytes, size - 1), RF_ERR_INPUT);
  assert_int_equal(rf_data_npz_find(context, &array, &found, "matrix", path, bytes, 0), RF_ERR_INPUT);
  rf_free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(whole_files), cmocka_unit_test(archives)};
  return cmocka_run_group_tests_name("data/files", tests, NULL, NULL);
}
