/* One source for the card and for the processor. A kernel is a sequence of phases between barriers; inside a
 * phase every lane works alone. On the card the lanes of a network run at the same time and a lane's state is
 * its registers; compiled as C a phase is a loop over the lanes and their states are an array. Sums across
 * lanes are butterflies in both, and every product-and-sum that is fused is written as such, so both give the
 * same bits. */
#ifndef RF_CUDA_LANES_H
#define RF_CUDA_LANES_H

#include <stdint.h>
#include <string.h>
#include <math.h>

enum {
  LANES_TEAM = 32,      /* lanes that can exchange registers */
  LANES_MOST = 128,     /* lanes of one network */
  LANES_ABREAST = 8,    /* neurons side by side in a team; the rest of the team takes other samples */
  LANES_WORD = 32,      /* bits of a word of activity */
  LANES_CHUNK_MOST = 8, /* samples, and groups of neurons, that a lane holds at once */
};

#ifdef __CUDACC__

#define FN                       static __device__ __forceinline__
#define BOTH                     static inline __host__ __device__
#define UNROLL                   _Pragma("unroll")
#define ROLLED                   _Pragma("unroll 1")
#define TWICE                    _Pragma("unroll 2")
#define AT(x)                    (x)
#define OF(states)               (states)
#define EACH_LANE(L)             /* this lane */
#define BARRIER(net)             lanes_barrier(net)
#define ONE_LANE(net)            if ((net)->lane == 0)
#define GROUPS_HERE(group, most) (most)

#else

#define FN   static inline
#define BOTH static inline
#define UNROLL
#define ROLLED
#define TWICE
#define AT(x)        ((x)[lane])
#define OF(states)   ((states) + lane)
#define EACH_LANE(L) for (int lane = 0; lane < (L); lane++)
#define BARRIER(net) ((void)(net))
#define ONE_LANE(net)
#define GROUPS_HERE(group, most) (task->groups - (group) < (most) ? task->groups - (group) : (most))

#endif

/* ---- bits of numbers -------------------------------------------------------------------------- */

#ifdef __CUDACC__
FN uint32_t high_word_double(double x) { return (uint32_t)__double2hiint(x); }
FN uint32_t high_word_float(float x) { return __float_as_uint(x); }
/* Shifts the sign of x into the word from the right. */
FN uint32_t push_sign(uint32_t word, uint32_t high) { return __funnelshift_l(high, word, 1); }
FN double double_of_bits(uint64_t bits) { return __longlong_as_double((long long)bits); }
FN uint64_t bits_of_double(double x) { return (uint64_t)__double_as_longlong(x); }
FN float float_of_bits(uint32_t bits) { return __uint_as_float(bits); }
FN uint32_t bits_of_float(float x) { return __float_as_uint(x); }
#else
FN uint64_t bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
FN double double_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
FN uint32_t bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
FN float float_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
FN uint32_t high_word_double(double x) { return (uint32_t)(bits_of_double(x) >> 32); }
FN uint32_t high_word_float(float x) { return bits_of_float(x); }
FN uint32_t push_sign(uint32_t word, uint32_t high) { return (word << 1) | (high >> 31); }
#endif

/* f + a min(z, 0). In double under a condition on the sign: the units of double precision are what a step
 * waits for. */
FN double add_below_zero_double(double f, double a, double z) {
  if ((int32_t)high_word_double(z) < 0) f = fma(a, z, f);
  return f;
}
FN float add_below_zero_float(float f, float a, float z) { return fmaf(a, fminf(z, 0.0f), f); }

FN double fma_double(double a, double b, double c) { return fma(a, b, c); }
FN float fma_float(float a, float b, float c) { return fmaf(a, b, c); }

#ifdef __CUDACC__
/* sums += (top; low) b on the matrix units: see descent_matrix.h. Older cards have an instruction of half the
 * rows, or none, with the same bits. */
FN void matrix_product(double sums[4], double top, double low, double b) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
               : "d"(top), "d"(low), "d"(b));
#elif __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(sums[0]), "+d"(sums[1])
               : "d"(top), "d"(b));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(sums[2]), "+d"(sums[3])
               : "d"(low), "d"(b));
#else
  const int in = (int)threadIdx.x % LANES_TEAM, row = in / 4 * 4, column = in % 4 * 8;
  UNROLL for (int k = 0; k < 4; k++) {
    double up = __shfl_sync(0xffffffffu, top, row + k), down = __shfl_sync(0xffffffffu, low, row + k),
           even = __shfl_sync(0xffffffffu, b, column + k), odd = __shfl_sync(0xffffffffu, b, column + 4 + k);
    sums[0] = fma(up, even, sums[0]), sums[1] = fma(up, odd, sums[1]);
    sums[2] = fma(down, even, sums[2]), sums[3] = fma(down, odd, sums[3]);
  }
#endif
}
#endif

/* The words that hold the bits of `count` groups of eight neurons. */
FN void load_words(uint32_t word[2], const uint32_t *bits, const int count) {
#ifdef __CUDACC__
  if (count > 4) {
    uint2 two = *reinterpret_cast<const uint2 *>(bits);
    word[0] = two.x, word[1] = two.y;
    return;
  }
#endif
  word[0] = bits[0];
  if (count > 4) word[1] = bits[1];
}

/* ---- exponential and logarithm ---------------------------------------------------------------- */

/* Written out, because two libraries agree to the last bit but one. e^x = 2^k e^r, |r| <= ln(2)/2, and a
 * Taylor polynomial for e^r; k by adding 1.5 * 2^52, after which it stands in the lowest bits. */
FN double exp_double(double x) {
  const double magic = 6755399441055744.0;
  x = x < -745 ? -745 : x > 709 ? 709 : x;
  double t = fma(x, 1.4426950408889634, magic), k = t - magic;
  int64_t n = (int64_t)(bits_of_double(t) - bits_of_double(magic));
  double r = fma(k, -0.6931471805599453, x);
  r = fma(k, -2.3190468138462996e-17, r);
  double p = 1.6059043836821613e-10; /* 1/13! */
  p = fma(p, r, 2.08767569878681e-09);
  p = fma(p, r, 2.505210838544172e-08);
  p = fma(p, r, 2.755731922398589e-07);
  p = fma(p, r, 2.7557319223985893e-06);
  p = fma(p, r, 2.48015873015873e-05);
  p = fma(p, r, 0.0001984126984126984);
  p = fma(p, r, 0.001388888888888889);
  p = fma(p, r, 0.008333333333333333);
  p = fma(p, r, 0.041666666666666664);
  p = fma(p, r, 0.16666666666666666);
  p = fma(p, r, 0.5);
  p = fma(p, r, 1.0);
  p = fma(p, r, 1.0);
  int64_t half = n >> 1;
  double first = double_of_bits((uint64_t)(half + 1023) << 52),
         second = double_of_bits((uint64_t)(n - half + 1023) << 52);
  return (p * first) * second;
}

FN float exp_float(float x) {
  const float magic = 12582912.0f; /* 1.5 * 2^23 */
  x = x < -103.0f ? -103.0f : x > 88.0f ? 88.0f : x;
  float t = fmaf(x, 1.44269504f, magic), k = t - magic;
  int32_t n = (int32_t)(bits_of_float(t) - bits_of_float(magic));
  float r = fmaf(k, -0.693147182f, x);
  r = fmaf(k, 1.90465421e-9f, r);
  float p = 0.000198412698f; /* 1/7! */
  p = fmaf(p, r, 0.00138888889f);
  p = fmaf(p, r, 0.00833333333f);
  p = fmaf(p, r, 0.0416666667f);
  p = fmaf(p, r, 0.166666667f);
  p = fmaf(p, r, 0.5f);
  p = fmaf(p, r, 1.0f);
  p = fmaf(p, r, 1.0f);
  int32_t half = n >> 1;
  return (p * float_of_bits((uint32_t)(half + 127) << 23)) * float_of_bits((uint32_t)(n - half + 127) << 23);
}

/* ln x for positive normal x: x = 2^e m, sqrt(1/2) <= m < sqrt(2), ln m = 2 artanh((m-1)/(m+1)). */
FN double log_double(double x) {
  uint64_t bits = bits_of_double(x);
  int64_t e = (int64_t)(bits >> 52) - 1023;
  double m = double_of_bits((bits & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  if (m > 1.4142135623730951) m *= 0.5, e++;
  double s = (m - 1) / (m + 1), z = s * s, p = 0.043478260869565216; /* 1/23 */
  p = fma(p, z, 0.047619047619047616);
  p = fma(p, z, 0.05263157894736842);
  p = fma(p, z, 0.058823529411764705);
  p = fma(p, z, 0.06666666666666667);
  p = fma(p, z, 0.07692307692307693);
  p = fma(p, z, 0.09090909090909091);
  p = fma(p, z, 0.1111111111111111);
  p = fma(p, z, 0.14285714285714285);
  p = fma(p, z, 0.2);
  p = fma(p, z, 0.3333333333333333);
  double tail = fma(p * z, 2 * s, (double)e * 2.3190468138462996e-17);
  return fma((double)e, 0.6931471805599453, fma(2.0, s, tail));
}

/* ln(1+u), 0 <= u <= 1. */
FN double log1p_double(double u) {
  double w = 1 + u;
  return log_double(w) + (u - (w - 1)) / w;
}

/* ln(1+e^z). */
FN double log1p_exp_double(double z) {
  return z > 0 ? z + log1p_double(exp_double(-z)) : log1p_double(exp_double(z));
}

/* ---- losses, as in src/net/loss.c ------------------------------------------------------------- */

enum { LANES_LOGISTIC = 0, LANES_LOGISTIC2 = 1, LANES_EXP = 2 };

FN double loss_log_value(int loss, double q) {
  if (loss == LANES_EXP) return -q;
  double factor = loss == LANES_LOGISTIC2 ? 0.6931471805599453 : 0;
  if (q < 30) return factor + log_double(log1p_exp_double(-q));
  return factor - q - exp_double(-q) / 2;
}

FN double loss_log_slope(int loss, double q) {
  if (loss == LANES_EXP) return -q;
  return (loss == LANES_LOGISTIC2 ? 0.6931471805599453 : 0) - log1p_exp_double(q);
}

/* ---- across lanes ----------------------------------------------------------------------------- */

/* A network on its lanes. */
typedef struct Lanes {
  int count; /* lanes of the network: 8, 16, 32 or 128 */
  int team;  /* of them can exchange registers */
#ifdef __CUDACC__
  int lane;      /* this one */
  unsigned mask; /* of its team, in the warp */
#endif
  double *slots; /* one per team: sums across teams */
} Lanes;

#ifdef __CUDACC__

FN void lanes_barrier(const Lanes *net) {
  if (net->count <= LANES_TEAM)
    __syncwarp(net->mask);
  else
    __syncthreads(); /* such a network has a block of its own */
}

FN double lanes_sum(const Lanes *net, double x) {
  for (int step = 1; step < net->team; step *= 2) x += __shfl_xor_sync(net->mask, x, step);
  if (net->count <= LANES_TEAM) return x;
  lanes_barrier(net);
  if (net->lane % LANES_TEAM == 0) net->slots[net->lane / LANES_TEAM] = x;
  lanes_barrier(net);
  double sum = 0;
  for (int k = 0; k < net->count / LANES_TEAM; k++) sum += net->slots[k];
  return sum;
}

FN double lanes_min(const Lanes *net, double x) {
  for (int step = 1; step < net->team; step *= 2) x = fmin(x, __shfl_xor_sync(net->mask, x, step));
  if (net->count <= LANES_TEAM) return x;
  lanes_barrier(net);
  if (net->lane % LANES_TEAM == 0) net->slots[net->lane / LANES_TEAM] = x;
  lanes_barrier(net);
  for (int k = 0; k < net->count / LANES_TEAM; k++) x = fmin(x, net->slots[k]);
  return x;
}

#else

FN double lanes_sum(const Lanes *net, double *x) {
  double before[LANES_MOST], sum = 0;
  for (int step = 1; step < net->team; step *= 2) {
    memcpy(before, x, (size_t)net->count * sizeof *x);
    for (int lane = 0; lane < net->count; lane++) x[lane] = before[lane] + before[lane ^ step];
  }
  if (net->count <= LANES_TEAM) return x[0];
  for (int k = 0; k < net->count / LANES_TEAM; k++) sum += x[k * LANES_TEAM];
  return sum;
}

FN double lanes_min(const Lanes *net, double *x) {
  double low = x[0];
  for (int lane = 1; lane < net->count; lane++) low = fmin(low, x[lane]);
  return low;
}

#endif

#endif
