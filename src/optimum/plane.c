/* The oracle in the plane, exactly: F is linear between neighbouring directions orthogonal to a sample, so
 * its maximum over an arc is at the gradient's direction when the arc contains it, and at an end otherwise.
 */
#include "optimum/optimum_internal.h"
#include "optimum/wide.h"
#include "core/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void gradient(double *g, const RfReduced *p, const double *lambda, const double *u, int sign) {
  g[0] = g[1] = 0;
  for (rf_index i = 0; i < p->n; i++) {
    if (lambda[i] <= 0) continue;
    const double *x = p->X + 2 * i;
    double slope = x[0] * u[0] + x[1] * u[1] > 0 ? 1 : p->leak;
    g[0] += sign * lambda[i] * p->y[i] * slope * x[0];
    g[1] += sign * lambda[i] * p->y[i] * slope * x[1];
  }
}

/* The value with 113 bits, rounded up. */
static double wide_value(const RfReduced *p, const double *lambda, const double *u, int sign) {
  RfWide sum = 0;
  for (rf_index i = 0; i < p->n; i++) {
    if (lambda[i] <= 0) continue;
    RfWide z = rf_wide_dot(p->X + i * p->r, u, p->r, NULL);
    sum += (RfWide)(sign * p->y[i] * lambda[i]) * (z > 0 ? z : (RfWide)p->leak * z);
  }
  return rf_wide_up(sum);
}

/* noise: what rounding may have cost the best value so far. */
static RfStatus note(RfContext *context, RfSearch *search, const RfReduced *p, const double *lambda,
                     const double *u, int sign, double noise) {
  double value = rf_oracle_value(p, lambda, u, sign);
  RfStatus status = RF_OK;
  if (value > search->best - noise) value = wide_value(p, lambda, u, sign);
  if (value > search->target &&
      (search->found.count == 0 || value != search->found.value[search->found.count - 1]))
    status = rf_directions_add(context, &search->found, u, value, sign);
  search->best = fmax(search->best, value);
  return status;
}

RfStatus rf_search_plane(RfContext *context, RfSearch *search, const RfReduced *p, const double *lambda,
                         int sign) {
  static const double pi = 3.14159265358979323846;
  double *angle = RF_NEW(double, 2 * p->n + 1), total = 0;
  if (!angle) return rf_fail(context, RF_ERR_MEMORY, "out of memory for angles");
  rf_index count = 0;
  for (rf_index i = 0; i < p->n; i++) {
    if (lambda[i] <= 0) continue;
    total += lambda[i];
    double t = atan2(p->X[2 * i], -p->X[2 * i + 1]); /* direction (-x_2, x_1) */
    angle[count++] = t;
    angle[count++] = t > 0 ? t - pi : t + pi;
  }
  search->found.r = 2;
  double noise = (double)(count + 8) * DBL_EPSILON * total; /* of a value summed in doubles */
  RfStatus status = RF_OK;
  if (count > 0) {
    qsort(angle, (size_t)count, sizeof *angle, by_value);
    angle[count] = angle[0] + 2 * pi;
  }
  for (rf_index k = 0; k < count && !status; k++) {
    double middle = (angle[k] + angle[k + 1]) / 2, g[2];
    double inside[2] = {cos(middle), sin(middle)}, end[2] = {cos(angle[k]), sin(angle[k])};
    status = note(context, search, p, lambda, end, sign, noise);
    if (status || angle[k + 1] - angle[k] < DBL_EPSILON) continue;
    gradient(g, p, lambda, inside, sign);
    double size = hypot(g[0], g[1]), t = atan2(g[1], g[0]);
    while (t < angle[k]) t += 2 * pi;
    if (size > 0 && t <= angle[k + 1]) {
      double u[2] = {g[0] / size, g[1] / size};
      status = note(context, search, p, lambda, u, sign, noise);
    }
  }
  /* F is Lipschitz in the angle with constant `total`, and on an arc the pattern at its middle is right but
   * for samples within the error of an angle of it; values near the best were summed with 113 bits */
  search->upper = fmax(search->target, search->best + rf_plane_ulps * DBL_EPSILON * total);
  search->nodes += count;
  rf_free(angle);
  return status;
}
