/* Growing matrices: contents survive growth and widening, limits hold. */
#include "data_test.h"

static void grows_and_widens(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 1, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(50); trial++) {
    RfContext *context = fresh_context();
    RfMatrix matrix = {.columns = rf_random_below(&random, 4), .memory_limit = 1 << 20};
    rf_index rows = rf_random_below(&random, 200);
    for (rf_index i = 0; i < rows; i++) {
      if (rf_random_below(&random, 20) == 0) {
        assert_ok(context,
                  rf_matrix_widen(context, &matrix, "m", matrix.columns + rf_random_below(&random, 3)));
      }
      assert_ok(context, rf_matrix_make_room(context, &matrix, "m", rf_random_below(&random, 300)));
      assert_true(matrix.rows < matrix.capacity);
      for (rf_index j = 0; j < matrix.columns; j++) {
        matrix.values[matrix.rows * matrix.columns + j] = (double)(i * 1000 + j + 1);
      }
      matrix.rows++;
    }
    for (rf_index i = 0; i < rows; i++) {
      for (rf_index j = 0; j < matrix.columns; j++) {
        double value = matrix.values[i * matrix.columns + j];
        assert_true(value == 0 || value == (double)(i * 1000 + j + 1));
        if (value == 0 && j + 1 < matrix.columns) assert_true(matrix.values[i * matrix.columns + j + 1] == 0);
      }
    }
    rf_matrix_trim(&matrix);
    assert_int_equal(matrix.capacity, rows);
    rf_free(matrix.values);
  }
}

static void limits(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfMatrix matrix = {.columns = 4, .memory_limit = 320};
  assert_ok(context, rf_matrix_check(context, &matrix, "m", 10, 4));
  assert_int_equal(rf_matrix_check(context, &matrix, "m", 11, 4), RF_ERR_USAGE);
  assert_int_equal(rf_matrix_check(context, &matrix, "m", (rf_index)1 << 62, 4), RF_ERR_USAGE);
  for (int i = 0; i < 10; i++) {
    assert_ok(context, rf_matrix_make_room(context, &matrix, "m",
                                           1000000)); /* a wild guess does not break the limit */
    matrix.rows++;
  }
  assert_int_equal(matrix.capacity, 10);
  assert_int_equal(rf_matrix_make_room(context, &matrix, "m", 0), RF_ERR_USAGE);
  assert_one_line(context);
  assert_int_equal(rf_matrix_widen(context, &matrix, "m", 5), RF_ERR_USAGE);
  rf_free(matrix.values);
  RfDataSource source;
  rf_data_source_init(&source);
  assert_true(rf_data_memory_limit(&source) > 1 << 20);
  source.memory_limit = 7;
  assert_int_equal(rf_data_memory_limit(&source), 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(grows_and_widens), cmocka_unit_test(limits)};
  return cmocka_run_group_tests_name("data/matrix", tests, NULL, NULL);
}
