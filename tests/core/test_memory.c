/* Checked allocation and size arithmetic. */
#include "rf_test.h"

static void sizes_are_checked(void **state) {
  (void)state;
  rf_index out = 0;
  assert_true(rf_multiply_sizes(&out, 3, 5) && out == 15);
  assert_false(rf_multiply_sizes(&out, -1, 5));
  assert_false(rf_multiply_sizes(&out, INT64_MAX / 2, 3));
  assert_true(rf_add_sizes(&out, 3, 5) && out == 8);
  assert_false(rf_add_sizes(&out, INT64_MAX, 1));
  assert_false(rf_add_sizes(&out, 1, -1));
}

static void blocks(void **state) {
  (void)state;
  double *block = RF_NEW(double, 10);
  assert_non_null(block);
  for (int k = 0; k < 10; k++) assert_true(block[k] == 0);
  block[9] = 4;
  double *larger = rf_resize(block, 1000, sizeof *block);
  assert_non_null(larger);
  assert_true(larger[9] == 4);
  double *copy = rf_copy_doubles(larger, 10);
  assert_true(copy[9] == 4);
  rf_free(copy);
  rf_free(larger);
  rf_free(NULL);
  void *nothing = rf_alloc(0, 8);
  assert_non_null(nothing);
  rf_free(nothing);
  assert_null(rf_alloc(-1, 8));
  assert_null(rf_alloc(INT64_MAX, 8));
  assert_null(rf_resize(NULL, INT64_MAX, 16));
  assert_null(RF_NEW_TABLE(double, INT64_MAX / 2, 3)); /* the product would be small again */
  assert_null(RF_NEW_TABLE(double, (rf_index)1 << 32, (rf_index)1 << 32));
  assert_null(RF_NEW_TABLE(double, -1, -1));
  if (sizeof(size_t) == 4) { /* counts that a cast to 32 bits would make 1, 8 or 0 */
    assert_null(rf_alloc(((rf_index)1 << 32) + 1, 1));
    assert_null(rf_alloc(((rf_index)1 << 29) + 1, 8));
    assert_null(rf_resize(NULL, ((rf_index)1 << 32) + 8, 1));
    assert_null(RF_NEW_TABLE(char, 1, ((rf_index)1 << 32) + 1));
    assert_null(RF_NEW_TABLE(double, 1 << 16, 1 << 16));
  }
  double *table = RF_NEW_TABLE(double, 3, 4);
  assert_non_null(table);
  assert_true(rf_grow((void **)&table, 20, sizeof *table));
  double *before = table;
  assert_false(rf_grow((void **)&table, INT64_MAX, sizeof *table)); /* and the block is kept */
  assert_ptr_equal(table, before);
  rf_free(table);
  char *text = rf_copy_text("sector");
  assert_string_equal(text, "sector");
  rf_free(text);
}

/* The published values of FNV-1a. */
static void hashes(void **state) {
  (void)state;
  assert_true(rf_hash_bytes(RF_HASH_START, "", 0) == 0xcbf29ce484222325u);
  assert_true(rf_hash_bytes(RF_HASH_START, "a", 1) == 0xaf63dc4c8601ec8cu);
  assert_true(rf_hash_bytes(RF_HASH_START, "foobar", 6) == 0x85944171f73967e8u);
  assert_true(rf_hash_bytes(rf_hash_bytes(RF_HASH_START, "foo", 3), "bar", 3) == 0x85944171f73967e8u);
}

static void bits(void **state) {
  (void)state;
  uint64_t a[3] = {0}, b[3] = {0};
  assert_int_equal(rf_bits_words(0), 0);
  assert_int_equal(rf_bits_words(64), 1);
  assert_int_equal(rf_bits_words(65), 2);
  rf_bits_set(a, 0), rf_bits_set(a, 64), rf_bits_set(a, 129);
  assert_int_equal(rf_bits_count(a, 130), 3);
  assert_true(rf_bits_get(a, 129) && !rf_bits_get(a, 128));
  assert_false(rf_bits_equal(a, b, 130));
  rf_bits_set(b, 0), rf_bits_flip(b, 64), rf_bits_flip(b, 129);
  assert_true(rf_bits_equal(a, b, 130));
  assert_true(rf_bits_hash(a, 130) == rf_bits_hash(b, 130));
  rf_bits_clear(b, 0);
  assert_true(rf_bits_hash(a, 130) != rf_bits_hash(b, 130));
}

/* A hash that collided on neighbouring patterns would make the arrangement tables slow. */
static void hash_spreads(void **state) {
  (void)state;
  enum { patterns = 4096, slots = 65536 };
  static int seen[slots];
  memset(seen, 0, sizeof seen);
  int collisions = 0;
  for (uint64_t k = 0; k < patterns; k++) collisions += seen[rf_bits_hash(&k, 12) % slots]++ > 0;
  assert_in_range(collisions, 0, 250); /* 126 expected for a random function */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_checked), cmocka_unit_test(blocks),
                                     cmocka_unit_test(hashes), cmocka_unit_test(bits),
                                     cmocka_unit_test(hash_spreads)};
  return cmocka_run_group_tests_name("core/memory", tests, NULL, NULL);
}
