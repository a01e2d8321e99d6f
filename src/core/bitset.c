/* Bitsets: activation patterns and sample sets. Bits at and above n in the last word are kept zero by the
 * callers. */
#include "core/core.h"

#include <string.h>

rf_index rf_bits_count(const uint64_t *bits, rf_index n) {
  rf_index count = 0;
  for (rf_index k = 0; k < rf_bits_words(n); k++) count += __builtin_popcountll(bits[k]);
  return count;
}

bool rf_bits_equal(const uint64_t *a, const uint64_t *b, rf_index n) {
  return memcmp(a, b, (size_t)rf_bits_words(n) * sizeof *a) == 0;
}

/* Multiply-and-fold over the words (constants of the splitmix64 finaliser). */
uint64_t rf_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (size_t k = 0; k < size; k++) hash = (hash ^ at[k]) * 0x100000001b3u;
  return hash;
}

uint64_t rf_bits_hash(const uint64_t *bits, rf_index n) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ (uint64_t)n;
  for (rf_index k = 0; k < rf_bits_words(n); k++) {
    hash = (hash ^ bits[k]) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 29;
    hash *= 0x94d049bb133111ebu;
    hash ^= hash >> 32;
  }
  return hash;
}
