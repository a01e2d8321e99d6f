/* la, inside the room: what its files share. */
#ifndef RF_LA_INTERNAL_H
#define RF_LA_INTERNAL_H

#include "la/la.h"

static inline double rf_small_dot(const double *x, const double *y, rf_index n) {
  if (n >= 64) return rf_la_dot(x, y, n);
  double a = 0, b = 0, c = 0, e = 0;
  rf_index i = 0;
  for (; i + 4 <= n; i += 4) {
    a += x[i] * y[i];
    b += x[i + 1] * y[i + 1];
    c += x[i + 2] * y[i + 2];
    e += x[i + 3] * y[i + 3];
  }
  for (; i < n; i++) a += x[i] * y[i];
  return (a + b) + (c + e);
}

#endif
