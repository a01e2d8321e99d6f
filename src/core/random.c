/* Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011) and what
 * is drawn from it. Compiled without contraction into fused operations, and with its own logarithm, sine and
 * cosine, so that the same seed gives the same bytes on every IEEE machine. */
#include "core/core.h"

#include <math.h>
#include <string.h>

static void philox_block(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
    uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1, c3 = (uint32_t)p0, c0 = n0, c2 = n2;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

void rf_random_init(RfRandom *random, uint64_t seed, uint64_t stream) {
  memset(random, 0, sizeof *random);
  random->key[0] = (uint32_t)seed, random->key[1] = (uint32_t)(seed >> 32);
  random->counter[2] = (uint32_t)stream, random->counter[3] = (uint32_t)(stream >> 32);
  random->used = 4;
}

uint32_t rf_random_u32(RfRandom *random) {
  if (random->used == 4) {
    philox_block(random->block, random->counter, random->key);
    if (++random->counter[0] == 0) random->counter[1]++;
    random->used = 0;
  }
  return random->block[random->used++];
}

uint64_t rf_random_u64(RfRandom *random) {
  uint64_t high = rf_random_u32(random);
  return high << 32 | rf_random_u32(random);
}

double rf_random_uniform(RfRandom *random) { return (double)(rf_random_u64(random) >> 11) * 0x1p-53; }

rf_index rf_random_below(RfRandom *random, rf_index bound) {
  uint64_t range = (uint64_t)bound, limit = UINT64_MAX - UINT64_MAX % range, bits;
  do { bits = rf_random_u64(random); } while (bits >= limit);
  return (rf_index)(bits % range);
}

double rf_random_sign(RfRandom *random) { return rf_random_u32(random) >> 31 ? 1.0 : -1.0; }

/* ln x = e ln 2 + 2 artanh(f/(2+f)) with x = 2^e (1+f), f in [sqrt(1/2)-1, sqrt(2)-1]. The series in
 * s = f/(2+f), |s| <= 0.1716, is summed to s^23: the next term is below 2e-19. */
double rf_portable_log(double x) {
  if (x <= 0 || !isfinite(x)) return x == 0 ? -INFINITY : (x > 0 ? x : NAN);
  int exponent;
  double mantissa = frexp(x, &exponent);
  if (mantissa < 0.70710678118654752440) mantissa *= 2, exponent--;
  double f = mantissa - 1, s = f / (2 + f), z = s * s, sum = 0;
  for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * z;
  const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  double e = exponent;
  return e * ln2_high + (2 * s + (2 * s * sum + e * ln2_low));
}

/* Reduction by pi/2 in three parts (Cody and Waite), then Taylor polynomials on |r| <= pi/4. */
void rf_portable_sincos(double x, double *sine, double *cosine) {
  const double part1 = 1.57079632673412561417e+00, part2 = 6.07710050630396597660e-11,
               part3 = 2.02226624879595063154e-21;
  double turns = floor(x * 0.63661977236758134308 + 0.5);
  double r = ((x - turns * part1) - turns * part2) - turns * part3, z = r * r;
  double s = 0, c = 0;
  for (int k = 19; k >= 3; k -= 2) s = (1 + s) * (-z / (double)(k * (k - 1)));
  for (int k = 20; k >= 2; k -= 2) c = (1 + c) * (-z / (double)(k * (k - 1)));
  s = r + r * s, c = 1 + c;
  switch ((int)((int64_t)turns & 3)) {
  case 0: *sine = s, *cosine = c; break;
  case 1: *sine = c, *cosine = -s; break;
  case 2: *sine = -s, *cosine = -c; break;
  default: *sine = -c, *cosine = s; break;
  }
}

double rf_random_gaussian(RfRandom *random) {
  if (random->has_spare) {
    random->has_spare = false;
    return random->spare;
  }
  double u, v, square;
  do {
    u = 2 * rf_random_uniform(random) - 1;
    v = 2 * rf_random_uniform(random) - 1;
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  double factor = sqrt(-2 * rf_portable_log(square) / square);
  random->spare = v * factor;
  random->has_spare = true;
  return u * factor;
}

void rf_random_direction(RfRandom *random, double *out, rf_index d) {
  double square;
  do {
    square = 0;
    for (rf_index j = 0; j < d; j++) {
      out[j] = rf_random_gaussian(random);
      square += out[j] * out[j];
    }
  } while (square == 0 && d > 0);
  double scale = 1 / sqrt(square);
  for (rf_index j = 0; j < d; j++) out[j] *= scale;
}

void rf_random_permutation(RfRandom *random, rf_index *out, rf_index n) {
  for (rf_index i = 0; i < n; i++) out[i] = i;
  for (rf_index i = n - 1; i > 0; i--) {
    rf_index j = rf_random_below(random, i + 1), keep = out[i];
    out[i] = out[j], out[j] = keep;
  }
}
