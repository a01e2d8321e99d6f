/* Sectors as strings, and the potential G whose extremal directions neurons align with (Phuong & Lampert,
 * (9)). */
#include "geometry/geometry.h"
#include "la/la.h"

#include <math.h>

void rf_geometry_sector(const RfContext *context, char *sector, const double *w, const double *X, rf_index n,
                        rf_index d) {
  double norm = rf_la_norm(w, d);
  for (rf_index i = 0; i < n; i++) {
    const double *x = X + i * d;
    double value = rf_la_dot(w, x, d);
    bool zero = fabs(value) <= context->tol.zero * norm * rf_la_norm(x, d);
    sector[i] = zero ? '0' : value > 0 ? '+' : '-';
  }
  sector[n] = 0;
}

double rf_geometry_potential(const double *w, const double *X, const double *y, rf_index n, rf_index d,
                             double leak, double slope) {
  double sum = 0;
  for (rf_index i = 0; i < n; i++) {
    double value = rf_la_dot(w, X + i * d, d);
    sum += y[i] * (value > 0 ? value : leak * value);
  }
  return slope * sum;
}
