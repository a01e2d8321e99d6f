/* Short loops over the coordinates of the reduced problem, inlined: r is even there, so they run in pairs. */
#ifndef RF_OPTIMUM_KERNELS_H
#define RF_OPTIMUM_KERNELS_H

#include "core/core.h"

static inline double rf_short_dot(const double *x, const double *y, rf_index r) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (rf_index k = 0; k < r; k++) sum += x[k] * y[k];
  return sum;
}

static inline void rf_short_axpy(double *y, double factor, const double *x, rf_index r) {
#pragma omp simd
  for (rf_index k = 0; k < r; k++) y[k] += factor * x[k];
}

/* The same for a number of pairs that the compiler knows: the sums are kept in registers and added as a tree,
 * since a coordinate step waits for the one before it. Four sums by hand, as compilers add them one by one.
 */
typedef double RfPair __attribute__((vector_size(16), aligned(8), may_alias));

static inline double rf_pairs_dot(const RfPair *x, const RfPair *y, int pairs) {
  RfPair sum[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
#pragma GCC unroll 8
  for (int k = 0; k < pairs; k++) sum[k % 4] += x[k] * y[k];
  RfPair all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  return all[0] + all[1];
}

static inline void rf_pairs_axpy(RfPair *y, double factor, const RfPair *x, int pairs) {
#pragma GCC unroll 8
  for (int k = 0; k < pairs; k++) y[k] += factor * x[k];
}

#endif
