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

#endif
