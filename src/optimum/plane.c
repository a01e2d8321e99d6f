/* The oracle in the plane, exactly: F is linear between neighbouring directions orthogonal to a sample, so
 * its maximum over an arc is at the gradient's direction when the arc contains it, and at an end otherwise.
 */
#include "optimum/optimum_internal.h"
#include "optimum/wide.h"
#include "core/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Kink { /* a direction orthogonal to sample `at`, (-x_2, x_1) times side */
  double angle, side;
  rf_index at;
} Kink;

static int by_angle(const void *a, const void *b) {
  const Kink *x = a, *y = b;
  return (x->angle > y->angle) - (x->angle < y->angle);
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

/* A direction where F may have its maximum: an end of an arc, or the gradient's direction within it. */
typedef struct Candidate {
  double u[2], value;
  bool is; /* false: the arc has none */
} Candidate;

/* What the best value may be short of the maximum. Ends of arcs are directions from rows: the division
 * rounds each coordinate by u at most, so the angle is off by u, and F is Lipschitz with constant `total`;
 * the common factor costs 3 u of the value. Within an arc that is longer than the errors of angles F = |g|
 * cos(angle to g), with the pattern at its middle; an error e of the angle of g costs |g| e^2 at most, e
 * being that of angles plus noise/|g|. Kinks that angles cannot tell apart span `crowd`, which costs its
 * length at most. Values near the best were summed with 113 bits. */
static double shortfall(double best, double total, double noise, double crowd) {
  double spread = rf_plane_angle + 4 * noise / best, plain = rf_plane_ulps * DBL_EPSILON * total;
  if (!(noise < best / 8)) return plain + crowd * total;
  return fmin(plain, DBL_EPSILON * total + 4 * best * (DBL_EPSILON + spread * spread)) + crowd * total;
}

/* The kinks in order, the first one again at the end; how many. */
static rf_index list_kinks(Kink *kinks, const RfReduced *p, const double *lambda, double *total) {
  static const double pi = 3.14159265358979323846;
  rf_index count = 0;
  for (rf_index i = 0; i < p->n; i++) {
    if (lambda[i] <= 0) continue;
    *total += lambda[i];
    double t = atan2(p->X[2 * i], -p->X[2 * i + 1]);
    kinks[count++] = (Kink){t, 1, i};
    kinks[count++] = (Kink){t > 0 ? t - pi : t + pi, -1, i};
  }
  qsort(kinks, (size_t)count, sizeof *kinks, by_angle);
  kinks[count] = kinks[0];
  kinks[count].angle += 2 * pi;
  return count;
}

/* The two candidates of arc k, with values in doubles. */
static void look_at_arc(Candidate *out, const Kink *kinks, rf_index k, const RfReduced *p,
                        const double *lambda, int sign) {
  static const double pi = 3.14159265358979323846;
  double from = kinks[k].angle, to = kinks[k + 1].angle, middle = (from + to) / 2, g[2];
  const double *x = p->X + 2 * kinks[k].at;
  double length = hypot(x[0], x[1]), inside[2] = {cos(middle), sin(middle)};
  out[0] = (Candidate){.u = {kinks[k].side * -x[1] / length, kinks[k].side * x[0] / length}, .is = true};
  out[0].value = rf_oracle_value(p, lambda, out[0].u, sign);
  out[1].is = false;
  if (to - from < 2 * rf_plane_angle) return;
  gradient(g, p, lambda, inside, sign);
  double size = hypot(g[0], g[1]), t = atan2(g[1], g[0]);
  while (t < from) t += 2 * pi;
  if (!(size > 0) || t > to) return;
  out[1] = (Candidate){.u = {g[0] / size, g[1] / size}, .is = true};
  out[1].value = rf_oracle_value(p, lambda, out[1].u, sign);
}

/* Kinks that angles cannot tell apart: the longest run of short arcs. */
static double longest_crowd(const Kink *kinks, rf_index count) {
  double run = 0, crowd = 0;
  for (rf_index k = 0; k < count; k++) {
    double length = kinks[k + 1].angle - kinks[k].angle;
    run = length < 2 * rf_plane_angle ? run + length + 2 * rf_plane_angle : 0;
    crowd = fmax(crowd, run);
  }
  return crowd;
}

/* Values of all candidates, those that rounding might make the largest with 113 bits; the largest. */
static double look_at_all(RfContext *context, Candidate *list, const Kink *kinks, rf_index count,
                          const RfReduced *p, const double *lambda, int sign, double noise, double best) {
  int threads = context->threads > 1 && count > 64 ? context->threads : 1;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (rf_index k = 0; k < count; k++) look_at_arc(list + 2 * k, kinks, k, p, lambda, sign);
  for (rf_index k = 0; k < 2 * count; k++)
    if (list[k].is) best = fmax(best, list[k].value);
  double near = best - noise, largest = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8) if (threads > 1)
  for (rf_index k = 0; k < 2 * count; k++)
    if (list[k].is && list[k].value > near) list[k].value = wide_value(p, lambda, list[k].u, sign);
  for (rf_index k = 0; k < 2 * count; k++)
    if (list[k].is) largest = fmax(largest, list[k].value);
  return largest;
}

RfStatus rf_search_plane(RfContext *context, RfSearch *search, const RfReduced *p, const double *lambda,
                         int sign) {
  Kink *kinks = RF_NEW(Kink, 2 * p->n + 1);
  Candidate *list = RF_NEW(Candidate, 4 * p->n);
  double total = 0;
  RfStatus status = kinks && list ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory for angles");
  rf_index count = status ? 0 : list_kinks(kinks, p, lambda, &total);
  search->found.r = 2;
  double noise = (double)(count + 8) * DBL_EPSILON * total, last = NAN; /* noise: of a value in doubles */
  if (!status) {
    double largest = look_at_all(context, list, kinks, count, p, lambda, sign, noise, search->best);
    search->best = fmax(search->best, largest);
  }
  for (rf_index k = 0; k < 2 * count && !status; k++) {
    if (!list[k].is || !(list[k].value > search->target) || list[k].value == last) continue;
    last = list[k].value;
    status = rf_directions_add(context, &search->found, list[k].u, last, sign);
  }
  double crowd = status ? 0 : longest_crowd(kinks, count);
  search->upper = fmax(search->target, search->best + shortfall(search->best, total, noise, 2 * crowd));
  search->nodes += count;
  rf_free(kinks), rf_free(list);
  return status;
}
