/* Bitsets against a plain array of truth values: single bits, counts, equality, hashes, at every word
 * boundary. */
#include "core/core.h"
#include "rf_test.h"

enum { MOST = 200 };

static void as_an_array(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 5, 0);
  for (rf_index n = 0; n <= MOST; n++) {
    uint64_t bits[(MOST + 63) / 64] = {0}, same[(MOST + 63) / 64] = {0};
    bool plain[MOST] = {false};
    assert_int_equal(rf_bits_words(n), n / 64 + (n % 64 != 0));
    for (int round = 0; round < 100 && n > 0; round++) {
      rf_index i = rf_random_below(&random, n);
      switch (rf_random_below(&random, 3)) {
      case 0: rf_bits_set(bits, i), plain[i] = true; break;
      case 1: rf_bits_clear(bits, i), plain[i] = false; break;
      default: rf_bits_flip(bits, i), plain[i] = !plain[i];
      }
    }
    rf_index count = 0;
    for (rf_index i = 0; i < n; i++) {
      assert_int_equal(rf_bits_get(bits, i), plain[i]);
      count += plain[i];
      if (plain[i]) rf_bits_set(same, i);
    }
    assert_int_equal(rf_bits_count(bits, n), count);
    assert_true(rf_bits_equal(bits, same, n));
    assert_true(rf_bits_hash(bits, n) == rf_bits_hash(same, n));
    if (n == 0) continue;
    rf_bits_flip(same, rf_random_below(&random, n));
    assert_false(rf_bits_equal(bits, same, n));
    assert_true(rf_bits_hash(bits, n) !=
                rf_bits_hash(same, n)); /* multiplication by odd numbers loses nothing */
  }
}

/* The hash spreads: all sets of at most two of 200 elements differ, and every bit of it is used evenly. */
static void hashes_spread(void **state) {
  (void)state;
  enum { COUNT = 1 + MOST + MOST * (MOST - 1) / 2 };
  uint64_t *hash = malloc(COUNT * sizeof *hash);
  rf_index count = 0, ones[64] = {0};
  for (rf_index i = -1; i < MOST; i++)
    for (rf_index j = i; j < MOST; j++) {
      uint64_t bits[(MOST + 63) / 64] = {0};
      if (i < 0 && j >= 0) continue;
      if (i >= 0) rf_bits_set(bits, i);
      if (j >= 0) rf_bits_set(bits, j);
      hash[count++] = rf_bits_hash(bits, MOST);
    }
  assert_int_equal(count, COUNT);
  for (rf_index a = 0; a < COUNT; a++)
    for (int b = 0; b < 64; b++) ones[b] += (rf_index)(hash[a] >> b & 1);
  for (int b = 0; b < 64; b++) assert_close((double)ones[b] / COUNT, 0.5, 5 / sqrt(COUNT)); /* ten sigma */
  for (rf_index a = 0; a < COUNT; a += 97) /* a sample of the pairs */
    for (rf_index b = a + 1; b < COUNT; b++) assert_true(hash[a] != hash[b]);
  free(hash);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_an_array), cmocka_unit_test(hashes_spread)};
  return cmocka_run_group_tests_name("core/bitset", tests, NULL, NULL);
}
