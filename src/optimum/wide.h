/* Sums of products of doubles with 113 bits: products are exact, sums have errors of 2^-113 relative to what
 * is added, so that signs and bounds can be decided where doubles cancel. Only + - * and comparisons are
 * used. */
#ifndef RF_OPTIMUM_WIDE_H
#define RF_OPTIMUM_WIDE_H

#include "optimum/optimum_tolerances.h"
#include "core/core.h"

#include <math.h>

#if LDBL_MANT_DIG == 113
typedef long double RfWide;
#else
__extension__ typedef __float128 RfWide;
#endif

static inline double rf_wide_up(RfWide x) {
  double near = (double)x;
  return (RfWide)near < x ? nextafter(near, INFINITY) : near;
}

static inline double rf_wide_down(RfWide x) {
  double near = (double)x;
  return (RfWide)near > x ? nextafter(near, -INFINITY) : near;
}

/* A double whose square is at least `square` >= 0. Powers of two keep the square in the range of doubles. */
static inline double rf_wide_root_up(RfWide square) {
  double scale = 1;
  if (!(square > 0)) return 0;
  for (; square < (RfWide)0x1p-600; scale *= 0x1p-300) square *= (RfWide)0x1p600;
  for (; square > (RfWide)0x1p600; scale *= 0x1p300) square *= (RfWide)0x1p-600;
  double root = sqrt((double)square);
  while ((RfWide)root * (RfWide)root < square) root = nextafter(root, INFINITY);
  double scaled = root * scale;
  return scaled < DBL_MIN ? nextafter(scaled, INFINITY) : scaled;
}

/* x + y or x * y for doubles, rounded up. */
static inline double rf_add_up(double x, double y) { return rf_wide_up((RfWide)x + (RfWide)y); }
static inline double rf_multiply_up(double x, double y) { return rf_wide_up((RfWide)x * (RfWide)y); }

/* sum_k x_k y_k; *size (added to, may be NULL) bounds the sum of |x_k y_k|. The error is at most
 * n rf_wide_roundoff times that. */
static inline RfWide rf_wide_dot(const double *x, const double *y, rf_index n, double *size) {
  RfWide sum = 0;
  double total = 0;
  for (rf_index k = 0; k < n; k++) {
    sum += (RfWide)x[k] * (RfWide)y[k];
    total += fabs(x[k] * y[k]);
  }
  if (size) *size += total * rf_length_slack;
  return sum;
}

#endif
