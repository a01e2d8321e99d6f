/* How far samples are from where the network changes its mind: the shortest delta with y f(x + delta) <= 0,
 * by branch and bound over the linear pieces of f.
 *
 * Neurons on one ray are one unit c phi(<u,z>) with |u| = 1. A node fixes the sides of some units. Within a
 * ball of radius R, the best length known, every other unit keeps its side or is replaced by a line below y c
 * phi: for y c > 0 a tangent, for y c < 0 the chord over the inputs that the ball reaches. What is left is
 * the shortest delta under linear constraints, a least-distance problem that one NNLS solves (Lawson and
 * Hanson 1974, chapter 23). Its length bounds the node from below; where no line was needed, or the network
 * agrees with them at the solution, it is attained. f(0) = 0, so that R = |x| to begin with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certify_internal.h"
#include "core/core.h"
#include "la/la.h"

typedef struct Units {
  rf_index count, d;
  double *u, *c;     /* count rows of d, unit; coefficients */
  double leak, size; /* sum |c| */
} Units;

typedef struct Search {
  RfContext *context;
  const Units *units;
  const double *x;
  double y, best, open; /* open: least bound of a node that was given up */
  double *nearest;      /* d */
  double *t;            /* count: inputs at x */
  double *columns, *solution, *residual, *delta, *g;
  int8_t *side;
  double nodes, most;
  RfLeastSquaresWork *work;
} Search;

void rf_robustness_free(RfRobustness *robustness) {
  rf_free(robustness->distance), rf_free(robustness->lower);
  rf_free(robustness->nearest), rf_free(robustness->direction);
  memset(robustness, 0, sizeof *robustness);
}

static double phi(double t, double leak) { return t > 0 ? t : leak * t; }

static double output(const Units *units, const double *z) {
  double f = 0;
  for (rf_index k = 0; k < units->count; k++)
    f += units->c[k] * phi(rf_la_dot(units->u + k * units->d, z, units->d), units->leak);
  return f;
}

/* Neurons of one direction add up. */
static RfStatus merge(RfContext *context, Units *units, const RfNet *net) {
  rf_index d = net->d;
  *units = (Units){.d = d, .leak = net->leak};
  units->u = RF_NEW(double, net->m *d), units->c = RF_NEW(double, net->m);
  if (!units->u || !units->c)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld neurons", (long long)net->m);
  for (rf_index k = 0; k < net->m; k++) {
    const double *w = net->W + k * d;
    double length = rf_la_norm(w, d), c = net->a[k] * length;
    rf_index at = 0;
    if (c == 0) continue;
    for (; at < units->count; at++) {
      double apart = 0;
      for (rf_index j = 0; j < d; j++) apart = fmax(apart, fabs(units->u[at * d + j] - w[j] / length));
      if (apart <= RF_CERTIFY_PROPORTIONAL) break;
    }
    if (at == units->count) {
      for (rf_index j = 0; j < d; j++) units->u[at * d + j] = w[j] / length;
      units->c[units->count++] = 0;
    }
    units->c[at] += c;
  }
  for (rf_index k = 0; k < units->count; k++) units->size += fabs(units->c[k]);
  return RF_OK;
}

/* What stands for unit k in the ball of radius R: y c phi(t) >= slope t + shift, with equality unless *open.
 */
static void line_below(const Search *s, rf_index k, double *slope, double *shift, bool *open) {
  double c = s->y * s->units->c[k], leak = s->units->leak, low = s->t[k] - s->best, high = s->t[k] + s->best;
  *shift = 0, *open = false;
  if (s->side[k] > 0 || low >= 0) {
    *slope = c;
  } else if (s->side[k] < 0 || high <= 0) {
    *slope = c * leak;
  } else if (c > 0) {
    *slope = s->t[k] > 0 ? c : c * leak, *open = true;
  } else {
    double chord = (high - leak * low) / (high - low);
    *slope = c * chord, *shift = c * (leak * low - chord * low), *open = true;
  }
}

/* The bound of the node; infinite when it is empty. s->delta receives the solution, *branch the unit whose
 * line is farthest from it (-1: none). */
static RfStatus bound(Search *s, double *length, rf_index *branch) {
  const Units *units = s->units;
  rf_index d = units->d, rows = d + 1, cols = 0;
  double shift = 0, worst = RF_CERTIFY_LINES * units->size * fmax(s->best, rf_la_norm(s->x, d));
  RfLeastSquaresInfo info;
  memset(s->g, 0, (size_t)d * sizeof *s->g);
  for (rf_index k = 0; k < units->count; k++) {
    double slope, constant;
    bool open;
    line_below(s, k, &slope, &constant, &open);
    rf_la_axpy(s->g, slope, units->u + k * d, d), shift += constant;
  }
  double *column = s->columns, scale = rf_la_norm(s->g, d);
  *branch = -1, *length = INFINITY;
  double right = rf_la_dot(s->g, s->x, d) + shift; /* -g.delta >= right */
  if (scale == 0 && right > 0) return RF_OK;
  if (scale > 0) {
    for (rf_index j = 0; j < d; j++) column[j] = -s->g[j] / scale;
    column[d] = right / scale, cols = 1;
  }
  for (rf_index k = 0; k < units->count; k++) {
    if (s->side[k] == 0) continue;
    column = s->columns + cols++ * rows;
    for (rf_index j = 0; j < d; j++) column[j] = s->side[k] * units->u[k * d + j];
    column[d] = -s->side[k] * s->t[k];
  }
  memset(s->delta, 0, (size_t)rows * sizeof *s->delta);
  s->delta[d] = 1;
  RfStatus status = rf_la_nnls(s->context, s->solution, s->residual, &info, s->columns, s->delta, rows, cols,
                               rows, s->work);
  if (status < 0) return status;
  if (!(s->residual[d] > RF_CERTIFY_EMPTY)) return RF_OK; /* no point satisfies the constraints */
  for (rf_index j = 0; j < d; j++) s->delta[j] = -s->residual[j] / s->residual[d];
  *length = rf_la_norm(s->delta, d);
  for (rf_index k = 0; k < units->count; k++) {
    double slope, constant, t = s->t[k] + rf_la_dot(units->u + k * d, s->delta, d);
    bool open;
    line_below(s, k, &slope, &constant, &open);
    double off = s->y * units->c[k] * phi(t, units->leak) - slope * t - constant;
    if (open && off > worst) worst = off, *branch = k;
  }
  return RF_OK;
}

static RfStatus explore(Search *s) {
  double length;
  rf_index branch;
  if (s->nodes >= s->most) return RF_LIMIT;
  s->nodes++;
  RfStatus status = rf_context_stop(s->context) ? RF_INTERRUPTED : bound(s, &length, &branch);
  if (status || !(length < s->best)) return status;
  if (branch < 0) { /* attained */
    s->best = length;
    for (rf_index j = 0; j < s->units->d; j++) s->nearest[j] = s->x[j] + s->delta[j];
    return RF_OK;
  }
  double t = s->t[branch] + rf_la_dot(s->units->u + branch * s->units->d, s->delta, s->units->d);
  int8_t first = t > 0 ? 1 : -1;
  for (int turn = 0; turn < 2 && !status; turn++) {
    s->side[branch] = turn ? (int8_t)-first : first;
    status = explore(s);
    if (status == RF_LIMIT) s->open = fmin(s->open, length), status = RF_OK;
  }
  s->side[branch] = 0;
  return status;
}

typedef struct Crossings {
  double *at;
  rf_index count;
} Crossings;

static int by_value(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return p < q ? -1 : p > q;
}

/* Where y f(x + c p) falls to 0 for 0 < c <= far; breaks: room for count + 2, roots for count + 1. */
static rf_index falls(const Units *units, const double *x, const double *p, double y, double far,
                      double *breaks, double *roots) {
  rf_index n = 0, found = 0, d = units->d;
  for (rf_index k = 0; k < units->count; k++) {
    double slope = rf_la_dot(units->u + k * d, p, d), c = -rf_la_dot(units->u + k * d, x, d) / slope;
    if (slope != 0 && c > 0 && c < far) breaks[n++] = c;
  }
  breaks[n++] = far;
  qsort(breaks, (size_t)n, sizeof *breaks, by_value);
  double from = 0, before = y * output(units, x);
  for (rf_index k = 0; k < n; k++) {
    double now = 0;
    for (rf_index j = 0; j < units->count; j++) {
      const double *u = units->u + j * d;
      now += y * units->c[j] * phi(rf_la_dot(u, x, d) + breaks[k] * rf_la_dot(u, p, d), units->leak);
    }
    if (before > 0 && now <= 0) roots[found++] = from + (breaks[k] - from) * before / (before - now);
    from = breaks[k], before = now;
  }
  return found;
}

/* Directions in which all samples may be flipped at once: the mean gradient, and the sum of y_i x_i. */
static void common_direction(double *u, const Units *units, const double *X, const double *y, rf_index n,
                             int which) {
  rf_index d = units->d;
  memset(u, 0, (size_t)d * sizeof *u);
  for (rf_index i = 0; i < n; i++) {
    const double *x = X + i * d;
    for (rf_index k = 0; k < units->count && which == 0; k++)
      rf_la_axpy(u, units->c[k] * (rf_la_dot(units->u + k * d, x, d) > 0 ? 1 : units->leak), units->u + k * d,
                 d);
    if (which == 1) rf_la_axpy(u, y[i], x, d);
  }
  double length = rf_la_norm(u, d);
  if (length > 0) rf_la_scale(u, 1 / length, d);
}

/* The smallest c at which x_i - c y_i u is wrong for every sample that was right. */
static double flips_all(const Units *units, const double *u, const double *X, const double *y, rf_index n,
                        double far, double *breaks, double *roots, double *p, double *z) {
  rf_index d = units->d;
  double best = INFINITY;
  for (rf_index i = 0; i < n; i++) {
    if (!(y[i] * output(units, X + i * d) > 0)) continue;
    for (rf_index j = 0; j < d; j++) p[j] = -y[i] * u[j];
    rf_index found = falls(units, X + i * d, p, y[i], far, breaks, roots);
    for (rf_index r = 0; r < found; r++) {
      double c = roots[r] * (1 + RF_CERTIFY_PAST);
      bool all = c < best;
      for (rf_index k = 0; k < n && all; k++) {
        for (rf_index j = 0; j < d; j++) z[j] = X[k * d + j] - c * y[k] * u[j];
        all = !(y[k] * output(units, X + k * d) > 0) || y[k] * output(units, z) <= 0;
      }
      if (all) best = c;
    }
  }
  return best;
}

static RfStatus one_sample(Search *s, RfRobustness *out, rf_index i, double *breaks, double *roots) {
  const Units *units = s->units;
  rf_index d = units->d;
  s->nearest = out->nearest + i * d, s->open = INFINITY, s->nodes = 0;
  memcpy(s->nearest, s->x, (size_t)d * sizeof *s->x);
  out->distance[i] = out->lower[i] = 0;
  if (!(s->y * output(units, s->x) > 0)) return RF_OK; /* wrong as it is */
  for (rf_index k = 0; k < units->count; k++) s->t[k] = rf_la_dot(units->u + k * d, s->x, d);
  s->best = rf_la_norm(s->x, d);
  memset(s->nearest, 0, (size_t)d * sizeof *s->nearest);
  for (rf_index k = 0; k < units->count; k++) /* against its gradient: a good first length */
    rf_la_axpy(s->nearest, -s->y * units->c[k] * (s->t[k] > 0 ? 1 : units->leak), units->u + k * d, d);
  double length = rf_la_norm(s->nearest, d);
  if (length > 0) rf_la_scale(s->nearest, 1 / length, d);
  double c = 0;
  if (length > 0 && falls(units, s->x, s->nearest, s->y, s->best, breaks, roots) > 0) c = s->best = roots[0];
  for (rf_index j = 0; j < d; j++) s->nearest[j] = c > 0 ? s->x[j] + c * s->nearest[j] : 0;
  memset(s->side, 0, (size_t)units->count);
  RfStatus status = explore(s);
  if (status == RF_LIMIT) s->open = 0, status = RF_OK;
  out->distance[i] = s->best, out->lower[i] = fmin(s->best, s->open);
  out->nodes += s->nodes;
  if (out->lower[i] < s->best) out->exact = false;
  return status;
}

static RfStatus universal(RfContext *context, RfRobustness *out, const Units *units, const double *X,
                          const double *y, rf_index n, double *breaks, double *roots) {
  rf_index d = units->d;
  double far = 0, *p = RF_NEW(double, 2 * d), *u = RF_NEW(double, d);
  RfStatus status = p && u ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory for directions");
  for (rf_index i = 0; i < n; i++) far = fmax(far, 2 * rf_la_norm(X + i * d, d));
  out->universal = INFINITY;
  for (int which = 0; which < 2 && !status; which++) {
    common_direction(u, units, X, y, n, which);
    double c = flips_all(units, u, X, y, n, far, breaks, roots, p, p + d);
    if (c < out->universal || which == 0) {
      if (c < out->universal) out->universal = c;
      memcpy(out->direction, u, (size_t)d * sizeof *u);
    }
  }
  if (!isfinite(out->universal)) out->universal = NAN;
  rf_free(p), rf_free(u);
  return status;
}

RfStatus rf_certify_robustness(RfContext *context, RfRobustness *out, const RfNet *net, const double *X,
                               const double *y, rf_index n, double max_nodes) {
  Units units = {0};
  rf_index d = net->d;
  memset(out, 0, sizeof *out);
  RfStatus status = merge(context, &units, net);
  rf_index m = units.count;
  Search s = {.context = context, .units = &units, .most = max_nodes > 0 ? max_nodes : RF_CERTIFY_NODES};
  double *breaks = RF_NEW(double, m + 2), *roots = RF_NEW(double, m + 2);
  out->n = n, out->d = d, out->exact = true;
  out->distance = RF_NEW(double, n), out->lower = RF_NEW(double, n), out->nearest = RF_NEW(double, n *d);
  out->direction = RF_NEW(double, d);
  s.t = RF_NEW(double, m + 1), s.columns = RF_NEW(double, (m + 1) * (d + 1)),
  s.solution = RF_NEW(double, m + 1);
  s.residual = RF_NEW(double, d + 1), s.delta = RF_NEW(double, d + 1), s.g = RF_NEW(double, d);
  s.side = RF_NEW(int8_t, m + 1);
  if (!status && (!breaks || !roots || !out->distance || !out->lower || !out->nearest || !out->direction ||
                  !s.t || !s.columns || !s.solution || !s.residual || !s.delta || !s.g || !s.side))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for the distances of %lld samples", (long long)n);
  if (!status) status = rf_la_least_squares_work_new(context, &s.work, d + 1, m + 1);
  for (rf_index i = 0; i < n && !status; i++) {
    s.x = X + i * d, s.y = y[i];
    status = one_sample(&s, out, i, breaks, roots);
  }
  if (!status) status = universal(context, out, &units, X, y, n, breaks, roots);
  rf_la_least_squares_work_free(s.work);
  rf_free(s.t), rf_free(s.columns), rf_free(s.solution), rf_free(s.residual), rf_free(s.delta), rf_free(s.g);
  rf_free(s.side), rf_free(breaks), rf_free(roots), rf_free(units.u), rf_free(units.c);
  if (status) rf_robustness_free(out);
  return status;
}
