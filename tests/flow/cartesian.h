/* A second opinion: gradient flow of a two-layer (leaky) ReLU network in plain weights (w_k, a_k) and plain
 * time, sharing no code with src/flow. Extrapolation (Gragg, Bulirsch and Stoer) on pieces without a kink; a
 * step ends where a neuron reaches a hyperplane, where the slope of a slide leaves [leak,1], or where a
 * changes sign on a slide; there the sides are decided from scratch: every choice of sides on ridges, with
 * the least-norm element over the valleys, that moves every neuron to the side it claims. Parallel samples
 * are one hyperplane, whose two slopes are those of its two sides. The error estimate is the difference of
 * two runs at two tolerances. */
#ifndef RF_TEST_CARTESIAN_H
#define RF_TEST_CARTESIAN_H

#include "cartesian_field.h"

/* One extrapolated step of length h into out; returns the error over the tolerance, and the column used. */
static inline double cart_extrapolate(Cart *c, double h, double *out, int *column) {
  static double table[CART_COLUMNS][CART_V];
  double v0[CART_V], a[CART_V], b[CART_V], v[CART_V], error = INFINITY;
  int size = c->m * (c->d + 1), most = *column > 0 ? *column : CART_COLUMNS - 1;
  cart_velocity(c, c->theta, v0);
  for (int j = 0; j <= most; j++) {
    int parts = 2 * (j + 1);
    double part = h / parts, before[CART_V], now[CART_V];
    for (int e = 0; e < size; e++) a[e] = c->theta[e], b[e] = a[e] + part * v0[e];
    for (int s = 1; s < parts; s++) {
      cart_velocity(c, b, v);
      for (int e = 0; e < size; e++) {
        double next = a[e] + 2 * part * v[e];
        a[e] = b[e], b[e] = next;
      }
    }
    cart_velocity(c, b, v); /* Gragg's smoothing */
    for (int e = 0; e < size; e++) now[e] = 0.5 * (a[e] + b[e] + part * v[e]);
    for (int col = 1; col <= j; col++) { /* Aitken and Neville in the squares of the parts */
      double factor = (double)parts / (2 * (j - col + 1));
      memcpy(before, table[col - 1], sizeof before);
      memcpy(table[col - 1], now, sizeof now);
      for (int e = 0; e < size; e++) now[e] += (now[e] - before[e]) / (factor * factor - 1);
    }
    if (j >= 2) {
      error = 0;
      for (int k = 0; k < c->m; k++) {
        double scale = 1e-300, worst = 0;
        for (int e = k * (c->d + 1); e < (k + 1) * (c->d + 1); e++) {
          scale = fmax(scale, fmax(fabs(c->theta[e]), fabs(now[e])));
          worst = fmax(worst, isfinite(now[e]) ? fabs(now[e] - table[j - 1][e]) : INFINITY);
        }
        error = isfinite(worst) ? fmax(error, worst / (c->tol * scale)) : INFINITY;
        if (!isfinite(error)) break;
      }
    }
    memcpy(table[j], now, sizeof now);
    memcpy(out, now, sizeof now);
    if (*column > 0 ? j == most : error <= 1) {
      *column = j;
      return error;
    }
  }
  *column = most;
  return error;
}

/* ---- events ---- */

/* What must stay positive: kind 0 side*w.n, 1 slope-leak, 2 1-slope, 3 sign of a on a slide. After
 * cart_velocity(theta). */
static inline double cart_watch(const Cart *c, const double *theta, int k, int p, int kind, double sign) {
  const double *w = theta + k * (c->d + 1);
  double room = c->slack == 0 ? 0 : c->slack * (kind == 0 ? sqrt(cart_dot(w, w, c->d)) : 1000);
  if (kind == 0) return c->side[k][p] * cart_dot(w, c->normal[p], c->d) + room;
  if (kind == 1) return c->slope[k][p] - c->leak + room;
  if (kind == 2) return 1 - c->slope[k][p] + room;
  return sign * w[c->d];
}

typedef struct CartHit {
  int k, p, kind;
  double low, high;
} CartHit;

/* Everything that is negative at theta. */
static inline int cart_violated(Cart *c, const double *theta, CartHit *hits) {
  double v[CART_V];
  int count = 0;
  cart_velocity(c, theta, v);
  for (int k = 0; k < c->m; k++) {
    if (c->dead[k] || c->asleep[k]) continue;
    double sign = c->theta[k * (c->d + 1) + c->d] >= 0 ? 1 : -1;
    for (int p = 0; p < c->planes; p++)
      if (c->leak != 1 && c->side[k][p] != 0 && cart_watch(c, theta, k, p, 0, sign) < 0)
        hits[count++] = (CartHit){.k = k, .p = p, .kind = 0};
    for (int s = 0; s < c->slides[k]; s++)
      for (int kind = 1; kind < 3; kind++)
        if (!(cart_watch(c, theta, k, s, kind, sign) >= 0))
          hits[count++] = (CartHit){.k = k, .p = s, .kind = kind};
    if (c->slides[k] > 0 && cart_watch(c, theta, k, 0, 3, sign) < 0)
      hits[count++] = (CartHit){.k = k, .p = 0, .kind = 3};
  }
  return count;
}

/* A neuron that dips through a plane and back inside the step, as the cubic through both ends sees it. */
static inline bool cart_dips(Cart *c, const double *end, double h) {
  double v0[CART_V], v1[CART_V];
  cart_velocity(c, c->theta, v0);
  cart_velocity(c, end, v1);
  for (int k = 0; k < c->m; k++)
    for (int p = 0; p < c->planes && !c->dead[k] && !c->asleep[k]; p++) {
      if (c->side[k][p] == 0 || c->leak == 1) continue;
      int at = k * (c->d + 1);
      double f0 = cart_watch(c, c->theta, k, p, 0, 1), f1 = cart_watch(c, end, k, p, 0, 1);
      double d0 = h * c->side[k][p] * cart_dot(v0 + at, c->normal[p], c->d);
      double d1 = h * c->side[k][p] * cart_dot(v1 + at, c->normal[p], c->d);
      if (!(d0 < 0 && d1 > 0)) continue;
      for (int s = 1; s < 16; s++) {
        double z = s / 16.0, u = 1 - z;
        double f = u * u * (1 + 2 * z) * f0 + z * z * (3 - 2 * z) * f1 + z * u * (u * d0 - z * d1);
        if (f < 0) return true;
      }
    }
  return false;
}

/* Least-norm g = base + sum of z_j normal_{v_j}, z_j between the values on the two sides: active set. */
static inline bool cart_least(const Cart *c, const double *base, const int *v, int count, double *z,
                              double *g) {
  bool freed[CART_N] = {false};
  int list[CART_N], n_free = 0;
  for (int j = 0; j < count; j++) z[j] = c->down[v[j]];
  for (int round = 0; round < 60 * (count + 1); round++) {
    double target[CART_D], rest[CART_D];
    memcpy(rest, base, sizeof rest);
    n_free = 0;
    for (int j = 0; j < count; j++) {
      if (freed[j]) list[n_free++] = j;
      for (int e = 0; e < c->d && !freed[j]; e++) rest[e] += z[j] * c->normal[v[j]][e];
    }
    int on[CART_D];
    if (n_free > c->d) return false;
    for (int f = 0; f < n_free; f++) on[f] = v[list[f]];
    if (!cart_project(c, rest, on, n_free, target)) return false;
    double reach = 1;
    int stop = -1;
    for (int f = 0; f < n_free; f++) {
      int j = list[f];
      double low = fmin(c->down[v[j]], c->up[v[j]]), high = fmax(c->down[v[j]], c->up[v[j]]);
      double end = target[f] < low ? low : target[f] > high ? high : target[f];
      if (end == target[f]) continue;
      double part = target[f] == z[j] ? 0 : (end - z[j]) / (target[f] - z[j]);
      if (part < reach) reach = fmax(0, part), stop = f;
    }
    for (int f = 0; f < n_free; f++) z[list[f]] += reach * (target[f] - z[list[f]]);
    if (stop >= 0) {
      int j = list[stop];
      double low = fmin(c->down[v[j]], c->up[v[j]]), high = fmax(c->down[v[j]], c->up[v[j]]);
      z[j] = target[stop] < low ? low : high;
      freed[j] = false;
      continue;
    }
    memcpy(g, base, sizeof rest);
    for (int j = 0; j < count; j++)
      for (int e = 0; e < c->d; e++) g[e] += z[j] * c->normal[v[j]][e];
    int worst = -1;
    double most = 1e-14 * (sqrt(cart_dot(base, base, c->d)) + 1e-300);
    for (int j = 0; j < count; j++) {
      if (freed[j]) continue;
      double low = fmin(c->down[v[j]], c->up[v[j]]), high = fmax(c->down[v[j]], c->up[v[j]]);
      double slope = cart_dot(g, c->normal[v[j]], c->d), gain = z[j] <= low ? -slope : slope;
      if (high > low && gain > most) most = gain, worst = j;
    }
    if (worst < 0) return true;
    freed[worst] = true;
  }
  return false;
}

/* Where neuron k goes on the planes with side 0: number of continuations found (the first is taken). */
static inline int cart_corner(Cart *c, int k) {
  double base[CART_D], g[CART_D], z[CART_N], *theta = c->theta + k * (c->d + 1);
  int ridge[CART_N], valley[CART_N], ridges = 0, valleys = 0, found = 0;
  signed char first[CART_N];
  double sign = theta[c->d] >= 0 ? 1 : -1;
  bool active = false, ways[CART_N][2] = {{false}};
  cart_weights(c, c->theta);
  for (int i = 0; i < c->n; i++) {
    int p = c->plane[i];
    if (p < 0) continue;
    if (c->side[k][p] == 0)
      ways[p][c->ratio[i] > 0] = true; /* mirrored samples: one is seen on either side */
    if (c->side[k][p] * c->ratio[i] > 0 || (ways[p][0] && ways[p][1])) active = true;
  }
  if (c->leak == 0 && !active) { /* the regular solution stays */
    c->dead[k] = true;
    return 1;
  }
  cart_base(c, k, base);
  for (int p = 0; p < c->planes; p++)
    if (c->side[k][p] == 0) {
      if (sign * (c->up[p] - c->down[p]) >= 0)
        ridge[ridges++] = p;
      else
        valley[valleys++] = p;
    }
  if (ridges > 16) return -1;
  for (long choice = 0; choice < 1L << ridges; choice++) {
    double rest[CART_D];
    memcpy(rest, base, sizeof rest);
    for (int r = 0; r < ridges; r++)
      for (int e = 0; e < c->d; e++)
        rest[e] += (choice >> r & 1 ? c->up[ridge[r]] : c->down[ridge[r]]) * c->normal[ridge[r]][e];
    if (!cart_least(c, rest, valley, valleys, z, g)) return -1;
    bool good = true;
    for (int r = 0; r < ridges && good; r++) {
      double drift = sign * cart_dot(g, c->normal[ridge[r]], c->d);
      good = choice >> r & 1 ? drift > 0 : drift < 0;
    }
    if (!good || found++ > 0) continue;
    memcpy(first, c->side[k], sizeof first);
    for (int r = 0; r < ridges; r++) first[ridge[r]] = choice >> r & 1 ? 1 : -1;
    for (int j = 0; j < valleys; j++) {
      double low = c->down[valley[j]], high = c->up[valley[j]];
      first[valley[j]] = z[j] == high ? 1 : z[j] == low ? -1 : 0;
    }
  }
  if (found > 0) memcpy(c->side[k], first, sizeof first);
  return found;
}

/* New sides of neuron k: its slides, and w exactly on them. False when dependent. */
static inline bool cart_refresh(Cart *c, int k) {
  double z[CART_D], *w = c->theta + k * (c->d + 1);
  c->slides[k] = 0;
  for (int p = 0; p < c->planes && !c->dead[k]; p++)
    if (c->side[k][p] == 0) {
      if (c->slides[k] == c->d) return false;
      c->on[k][c->slides[k]++] = p;
    }
  if (c->slides[k] == 0) return true;
  if (!cart_project(c, w, c->on[k], c->slides[k], z)) return false;
  for (int s = 0; s < c->slides[k]; s++)
    for (int j = 0; j < c->d; j++) w[j] += z[s] * c->normal[c->on[k][s]][j];
  return true;
}

static inline void cart_decide(Cart *c, int k) {
  int ways = cart_corner(c, k);
  if (ways > 1) c->status = CART_BRANCHED;
  if (ways < 1 || (c->status == CART_RUNNING && !cart_refresh(c, k))) c->status = CART_DEPENDENT;
}

static inline void cart_apply(Cart *c, const CartHit *hits, int count) {
  for (int k = 0; k < c->m && c->status == CART_RUNNING; k++) {
    bool decide = false, touched = false;
    signed char came[CART_N];
    int planes = 0, last = -1;
    memcpy(came, c->side[k], sizeof came);
    for (int j = 0; j < count; j++) {
      if (hits[j].k != k) continue;
      touched = true;
      if (hits[j].kind == 0) c->side[k][hits[j].p] = 0, decide = true, planes++, last = hits[j].p;
      if (hits[j].kind == 1) c->side[k][c->on[k][hits[j].p]] = -1;
      if (hits[j].kind == 2) c->side[k][c->on[k][hits[j].p]] = 1;
      if (hits[j].kind == 3) decide = true; /* valleys have become ridges */
    }
    if (!touched) continue;
    c->events++;
    if (decide && planes == 1 &&
        c->slides[k] == 0) { /* one plane: through it, unless the far side pushes back */
      double g[CART_D], far, sign = c->theta[k * (c->d + 1) + c->d] >= 0 ? 1 : -1;
      cart_weights(c, c->theta);
      cart_base(c, k, g);
      int to = -came[last];
      far = cart_dot(g, c->normal[last], c->d) + (to > 0 ? c->up[last] : c->down[last]);
      if (to * sign * far > 0) {
        c->side[k][last] = (signed char)to;
        decide = false;
      }
    }
    if (decide)
      cart_decide(c, k);
    else if (!cart_refresh(c, k))
      c->status = CART_DEPENDENT;
  }
}

/* First moment inside the step (0,h] at which something is violated: state there, hits filled. Secants of the
 * earliest hit from both sides, and a bisection every third time. */
static inline double cart_locate(Cart *c, double h, int column, double *end, CartHit *hits, int *count) {
  double low = 0, high = h, trial[CART_V], start[CART_V], v[CART_V];
  memcpy(start, c->theta, sizeof start);
  for (int round = 0; round < 200 && high - low > 4e-16 * h; round++) {
    double guess = 0.5 * (low + high), first = high;
    for (int j = 0; j < *count && round % 3 != 2; j++) {
      double sign = c->theta[hits[j].k * (c->d + 1) + c->d] >= 0 ? 1 : -1;
      cart_velocity(c, start, v);
      double f0 = fmax(0, cart_watch(c, start, hits[j].k, hits[j].p, hits[j].kind, sign));
      cart_velocity(c, end, v);
      double f1 = cart_watch(c, end, hits[j].k, hits[j].p, hits[j].kind, sign);
      if (f0 > f1) first = fmin(first, low + (high - low) * f0 / (f0 - f1));
    }
    double inner = (round > 6 ? 1e-8 : 1e-3) * (high - low);
    if (round % 3 != 2) guess = round % 3 == 0 ? first - inner : first + inner;
    if (!(guess > low && guess < high)) guess = 0.5 * (low + high);
    static CartHit at[CART_M * CART_N];
    int same = column;
    cart_extrapolate(c, guess, trial, &same);
    int here = cart_violated(c, trial, at);
    if (here == 0) {
      low = guess;
      memcpy(start, trial, sizeof trial);
      continue;
    }
    high = guess;
    memcpy(end, trial, sizeof trial);
    memcpy(hits, at, sizeof at);
    *count = here;
  }
  return high;
}

/* One step, not beyond t_end. */
static inline void cart_step(Cart *c, double t_end) {
  double end[CART_V], middle[CART_V];
  static CartHit hits[CART_M * CART_N];
  c->step = fmin(c->step, cart_reach(c));
  for (int tries = 0; tries < 200; tries++) {
    double h = fmin(c->step, t_end - c->t);
    bool last = h == t_end - c->t;
    int column = 0, slides = 0;
    double error = cart_extrapolate(c, h, end, &column);
    if (!(error <= 1)) {
      c->step = 0.35 * h;
      continue;
    }
    double room = column <= 4 ? 2.0 : column == 5 ? 1.3 : 0.9;
    double grow = 0.8 * pow(fmax(error, 1e-3), -1.0 / (2 * column + 1)) * room;
    for (int k = 0; k < c->m; k++) slides += c->slides[k];
    int same = column, count = 0;
    if (slides > 0) {
      cart_extrapolate(c, 0.5 * h, middle, &same);
      count = cart_violated(c, middle, hits);
      if (count > 0) h *= 0.5, memcpy(end, middle, sizeof end), last = false;
    }
    if (count == 0) count = cart_violated(c, end, hits);
    if (count == 0 && cart_dips(c, end, h) && tries < 40) {
      c->step = 0.5 * h;
      continue;
    }
    double taken = h;
    if (count > 0) taken = cart_locate(c, h, column, end, hits, &count), last = false;
    c->stuck = taken > 1e-12 * (h + c->t * 1e-3) ? 0 : c->stuck + 1;
    memcpy(c->theta, end, sizeof end);
    c->t = last ? t_end : c->t + taken;
    c->step = fmax(taken, 0.05 * h) * fmin(4, fmax(0.3, grow));
    if (count > 0) cart_apply(c, hits, count);
    for (int k = 0; k < c->m && c->status == CART_RUNNING; k++) cart_refresh(c, k);
    if (c->stuck > 40) c->status = CART_DEPENDENT;
    c->steps++;
    return;
  }
  c->status = CART_UNFINISHED;
}

/* ---- runs ---- */

/* X is n rows of d; W (m rows of d) and a are scaled by `scale`. False: too large for the arrays. */
static inline bool cart_begin(Cart *c, const double *X, const double *y, int n, int d, const double *W,
                              const double *a, int m, double scale, double leak, int loss, bool mean,
                              bool frozen, double tol) {
  if (n > CART_N || d > CART_D || m > CART_M) return false;
  memset(c, 0, sizeof *c);
  c->n = n, c->d = d, c->m = m, c->leak = leak, c->loss = loss, c->mean = mean, c->frozen = frozen,
  c->tol = tol;
  c->limit = 400000;
  for (int i = 0; i < n; i++) {
    c->y[i] = y[i], c->plane[i] = -1;
    for (int j = 0; j < d; j++) c->x[i][j] = X[i * d + j];
    double length = sqrt(cart_dot(c->x[i], c->x[i], d));
    for (int p = 0; p < c->planes && length > 0; p++) {
      double along = cart_dot(c->x[i], c->normal[p], d), off = 0;
      for (int j = 0; j < d; j++) off = fmax(off, fabs(c->x[i][j] - along * c->normal[p][j]));
      if (off <= 4e-16 * length) c->plane[i] = p, c->ratio[i] = along;
    }
    if (c->plane[i] >= 0 || length == 0) continue;
    c->plane[i] = c->planes, c->ratio[i] = length;
    for (int j = 0; j < d; j++) c->normal[c->planes][j] = c->x[i][j] / length;
    c->planes++;
  }
  for (int k = 0; k < m; k++) {
    for (int j = 0; j < d; j++) c->theta[k * (d + 1) + j] = scale * W[k * d + j];
    c->theta[k * (d + 1) + d] = scale * a[k];
    for (int p = 0; p < c->planes; p++) {
      double h = cart_dot(c->theta + k * (d + 1), c->normal[p], d);
      c->side[k][p] = (signed char)(leak == 1 ? 1 : h > 0 ? 1 : h < 0 ? -1 : 0);
    }
  }
  cart_weights(c, c->theta);
  for (int k = 0; k < m && c->status == CART_RUNNING; k++) {
    bool on = false, active = false;
    for (int i = 0; i < n; i++) {
      if (c->plane[i] < 0) continue;
      on = on || c->side[k][c->plane[i]] == 0;
      active = active || c->side[k][c->plane[i]] * c->ratio[i] > 0;
    }
    if (on) cart_decide(c, k);
    if (leak == 0 && !active && !on) c->dead[k] = true;
  }
  c->step = 1e-6;
  return true;
}

static inline CartStatus cart_to_time(Cart *c, double t) {
  while (c->status == CART_RUNNING && c->t < t && c->steps < c->limit) cart_step(c, t);
  if (c->status == CART_RUNNING) c->status = c->t >= t ? CART_REACHED : CART_UNFINISHED;
  cart_weights(c, c->theta);
  return c->status;
}

#endif
