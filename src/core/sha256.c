/* SHA-256 (FIPS 180-4), for digests of data that users can recompute with any tool. */
#include "core/core.h"

#include <string.h>

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int by) { return (x >> by) | (x << (32 - by)); }

/* The message schedule: 16 words of the block, then 48 mixed ones. */
static void schedule(uint32_t w[64], const unsigned char block[64]) {
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
           block[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
}

/* One round on names that are passed in turned order instead of moving the values. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                     \
  do {                                                                                                       \
    uint32_t t = (h) + (turn((e), 6) ^ turn((e), 11) ^ turn((e), 25)) + ((g) ^ ((e) & ((f) ^ (g)))) +        \
                 rounds[(i)] + w[(i)];                                                                       \
    (d) += t;                                                                                                \
    (h) = t + (turn((a), 2) ^ turn((a), 13) ^ turn((a), 22)) + (((a) & (b)) | ((c) & ((a) | (b))));          \
  } while (0)

static void mix(RfSha256 *sha, const unsigned char block[64]) {
  uint32_t w[64], *s = sha->state;
  uint32_t s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3], s4 = s[4], s5 = s[5], s6 = s[6], s7 = s[7];
  schedule(w, block);
  for (int i = 0; i < 64; i += 8) {
    ROUND(s0, s1, s2, s3, s4, s5, s6, s7, i);
    ROUND(s7, s0, s1, s2, s3, s4, s5, s6, i + 1);
    ROUND(s6, s7, s0, s1, s2, s3, s4, s5, i + 2);
    ROUND(s5, s6, s7, s0, s1, s2, s3, s4, i + 3);
    ROUND(s4, s5, s6, s7, s0, s1, s2, s3, i + 4);
    ROUND(s3, s4, s5, s6, s7, s0, s1, s2, i + 5);
    ROUND(s2, s3, s4, s5, s6, s7, s0, s1, i + 6);
    ROUND(s1, s2, s3, s4, s5, s6, s7, s0, i + 7);
  }
  s[0] += s0, s[1] += s1, s[2] += s2, s[3] += s3, s[4] += s4, s[5] += s5, s[6] += s6, s[7] += s7;
}

void rf_sha256_init(RfSha256 *sha) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memset(sha, 0, sizeof *sha);
  memcpy(sha->state, start, sizeof start);
}

void rf_sha256_add(RfSha256 *sha, const void *data, size_t size) {
  const unsigned char *bytes = data;
  sha->bytes += size;
  while (size > 0) {
    size_t room = sizeof sha->block - sha->used, piece = size < room ? size : room;
    memcpy(sha->block + sha->used, bytes, piece);
    sha->used += piece, bytes += piece, size -= piece;
    if (sha->used < sizeof sha->block) break;
    mix(sha, sha->block);
    sha->used = 0;
  }
}

void rf_sha256_text(RfSha256 *sha, char out[RF_SHA256_SIZE]) {
  static const char digits[] = "0123456789abcdef";
  static const unsigned char pad[64] = {0x80};
  uint64_t bits = 8 * sha->bytes;
  unsigned char length[8];
  for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
  rf_sha256_add(sha, pad, sha->used < 56 ? 56 - sha->used : 120 - sha->used);
  rf_sha256_add(sha, length, sizeof length);
  for (int i = 0; i < 32; i++) {
    unsigned byte = (sha->state[i / 4] >> (24 - 8 * (i % 4))) & 255u;
    out[2 * i] = digits[byte >> 4], out[2 * i + 1] = digits[byte & 15];
  }
  out[64] = '\0';
}
