/* Items of every type, both byte orders, column order, texts; and pairs of files. */
#include "data_test.h"

static double value_of(uint64_t bits, RfItemKind kind, int size, bool big) {
  unsigned char item[8];
  for (int k = 0; k < size; k++) item[big ? size - 1 - k : k] = (unsigned char)(bits >> (8 * k));
  return rf_item_value(item, (RfItemType){kind, size, big});
}

static void items(void **state) {
  (void)state;
  for (int big = 0; big < 2; big++) {
    assert_true(value_of(0x80, RF_ITEM_SIGNED, 1, big) == -128);
    assert_true(value_of(0xff, RF_ITEM_UNSIGNED, 1, big) == 255);
    assert_true(value_of(0x8001, RF_ITEM_SIGNED, 2, big) == -32767);
    assert_true(value_of(0xfffffffe, RF_ITEM_SIGNED, 4, big) == -2);
    assert_true(value_of(0xfffffffe, RF_ITEM_UNSIGNED, 4, big) == 4294967294.0);
    assert_true(value_of(UINT64_MAX, RF_ITEM_SIGNED, 8, big) == -1);
    assert_true(value_of((uint64_t)1 << 63, RF_ITEM_UNSIGNED, 8, big) == 0x1p63);
    assert_true(value_of(1, RF_ITEM_BOOL, 1, big) == 1);
    assert_true(value_of(0x3c00, RF_ITEM_FLOAT, 2, big) == 1);
    assert_true(value_of(0xc248, RF_ITEM_FLOAT, 2, big) == -3.140625);
    assert_true(value_of(0x0001, RF_ITEM_FLOAT, 2, big) == 0x1p-24);
    assert_true(value_of(0x7bff, RF_ITEM_FLOAT, 2, big) == 65504);
    assert_true(value_of(0xfc00, RF_ITEM_FLOAT, 2, big) == -INFINITY);
    assert_true(isnan(value_of(0x7e00, RF_ITEM_FLOAT, 2, big)));
    assert_true(value_of(0x3f80, RF_ITEM_BFLOAT, 2, big) == 1);
    assert_true(value_of(0xc049, RF_ITEM_BFLOAT, 2, big) == -3.140625);
    assert_true(value_of(0x40490fdb, RF_ITEM_FLOAT, 4, big) == (double)3.14159274f);
    assert_true(value_of(0x3ff8000000000000u, RF_ITEM_FLOAT, 8, big) == 1.5);
  }
}

static void read_items(RfArray *array, const void *bytes, size_t size, RfItemType type, bool turned,
                       RfStatus want) {
  RfContext *context = fresh_context();
  RfStream stream;
  assert_ok(context, rf_stream_open_memory(context, &stream, "m", bytes, size));
  RfStatus status = rf_array_read_items(context, array, &stream, type, turned, 1 << 20);
  assert_int_equal(status, want);
  if (status) assert_one_line(context);
  rf_stream_close(&stream);
}

static void column_order(void **state) {
  (void)state;
  const unsigned char bytes[6] = {1, 2, 3, 4, 5, 6};
  RfArray array = {.dimensions = 2, .shape = {2, 3}, .count = 6};
  read_items(&array, bytes, 6, (RfItemType){RF_ITEM_UNSIGNED, 1, false}, true, RF_OK);
  const double want[6] = {1, 3, 5, 2, 4, 6};
  assert_memory_equal(array.values, want, sizeof want);
  rf_array_free(&array);
}

static void texts(void **state) {
  (void)state;
  const unsigned char bytes[6] = "abcd\0";
  RfArray array = {.dimensions = 1, .shape = {2}, .count = 2};
  read_items(&array, bytes, 6, (RfItemType){RF_ITEM_BYTES, 3, false}, false, RF_OK);
  assert_string_equal(array.texts, "abc");
  assert_string_equal(array.texts + array.text_size, "d");
  rf_array_free(&array);
  const unsigned char wide[16] = {0, 0, 0, 'a', 0, 0, 0, 0xe9, 0, 0, 0x20, 0xac, 0, 1, 0xf6, 0x00};
  array = (RfArray){.dimensions = 1, .shape = {1}, .count = 1};
  read_items(&array, wide, 16, (RfItemType){RF_ITEM_UNICODE, 16, true}, false, RF_OK);
  assert_string_equal(array.texts, "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  rf_array_free(&array);
}

static void too_short_or_too_large(void **state) {
  (void)state;
  const unsigned char bytes[6] = {1, 2, 3, 4, 5, 6};
  RfArray array = {.dimensions = 1, .shape = {7}, .count = 7};
  read_items(&array, bytes, 6, (RfItemType){RF_ITEM_UNSIGNED, 1, false}, false, RF_ERR_INPUT);
  rf_array_free(&array);
  array = (RfArray){.dimensions = 1, .shape = {(rf_index)1 << 40}, .count = (rf_index)1 << 40};
  read_items(&array, bytes, 6, (RfItemType){RF_ITEM_UNSIGNED, 1, false}, false, RF_ERR_USAGE);
  rf_array_free(&array);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(items),
      cmocka_unit_test(column_order),
      cmocka_unit_test(texts),
      cmocka_unit_test(too_short_or_too_large),
  };
  return cmocka_run_group_tests_name("data/array", tests, NULL, NULL);
}
