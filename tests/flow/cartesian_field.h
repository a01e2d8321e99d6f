/* The second opinion's problem and state (cartesian.h), its margins and its velocity. */
#ifndef RF_TEST_CARTESIAN_FIELD_H
#define RF_TEST_CARTESIAN_FIELD_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { CART_N = 64, CART_D = 16, CART_M = 8, CART_V = CART_M * (CART_D + 1), CART_COLUMNS = 8 };
typedef enum CartStatus {
  CART_RUNNING = 0,
  CART_REACHED = 1,   /* the time, or margin, asked for */
  CART_PLATEAU = 2,   /* the loss has stopped falling over three decades of time */
  CART_BRANCHED = 3,  /* several continuations */
  CART_DEPENDENT = 4, /* a slide on dependent hyperplanes, or events without end: no opinion */
  CART_UNFINISHED = 5 /* step limit */
} CartStatus;

typedef struct Cart {
  int n, d, m, planes;
  double leak, tol,
      slack; /* slack: how far beyond a plane, over |w|, a neuron is met; slopes 1000 times it */
  int loss;  /* 0 logistic, 1 twice logistic, 2 exponential */
  bool mean, frozen;
  bool relative; /* the pulls of the samples are divided by their sum: a clock in which no size overflows */
  double x[CART_N][CART_D], y[CART_N];
  int plane[CART_N];    /* of a sample, -1 for a zero one */
  double ratio[CART_N]; /* x_i = ratio times the unit normal of its plane */
  double normal[CART_N][CART_D];
  signed char side[CART_M][CART_N]; /* neuron k, plane p: +1, -1, 0 = slides */
  bool dead[CART_M];
  bool asleep[CART_M]; /* for cartesian_far.h: too small to matter, and shrinking */
  int slides[CART_M], on[CART_M][CART_D];
  double q[CART_N], up[CART_N],
      down[CART_N];                       /* margins; field of a plane on its two sides, times its normal */
  double pull[CART_N], log_sum, log_loss; /* relative: pulls over their sum, the logarithms of sum and loss */
  double log_seen, margin_seen;           /* and of the loss of the samples seen, and their least margin */
  double slope[CART_M][CART_D];
  double theta[CART_V], t, step;
  double loss_value, margin;
  long steps, events, stuck, limit;
  CartStatus status;
} Cart;

static inline double cart_dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int j = 0; j < n; j++) sum += a[j] * b[j];
  return sum;
}

/* Solves A z = b (n x n, row stride CART_D) by elimination with pivots; false when singular. */
static inline bool cart_solve(double A[][CART_D], double *b, int n) {
  for (int c = 0; c < n; c++) {
    int p = c;
    for (int r = c + 1; r < n; r++)
      if (fabs(A[r][c]) > fabs(A[p][c])) p = r;
    if (!(fabs(A[p][c]) > 1e-13)) return false;
    for (int j = 0; j < n && p != c; j++) {
      double swap = A[p][j];
      A[p][j] = A[c][j], A[c][j] = swap;
    }
    double swap = b[p];
    b[p] = b[c], b[c] = swap;
    for (int r = c + 1; r < n; r++) {
      double f = A[r][c] / A[c][c];
      for (int j = c; j < n; j++) A[r][j] -= f * A[c][j];
      b[r] -= f * b[c];
    }
  }
  for (int c = n - 1; c >= 0; c--) {
    for (int j = c + 1; j < n; j++) b[c] -= A[c][j] * b[j];
    b[c] /= A[c][c];
  }
  return true;
}

/* Coefficients z with g + sum z_j normal_{on_j} orthogonal to those normals. */
static inline bool cart_project(const Cart *c, const double *g, const int *on, int count, double *z) {
  double A[CART_D][CART_D];
  for (int r = 0; r < count; r++) {
    for (int j = 0; j < count; j++) A[r][j] = cart_dot(c->normal[on[r]], c->normal[on[j]], c->d);
    z[r] = -cart_dot(g, c->normal[on[r]], c->d);
  }
  return count <= c->d && cart_solve(A, z, count);
}

/* Is sample i on the active side of some live neuron? One that is only slid on pushes with any small slope.
 */
static inline bool cart_seen(const Cart *c, int i) {
  int p = c->plane[i];
  for (int k = 0; k < c->m && p >= 0; k++) {
    int s = c->side[k][p] * (c->ratio[i] > 0 ? 1 : -1);
    if (!c->dead[k] && (s > 0 || (s < 0 && c->leak != 0))) return true;
  }
  return false;
}

/* Divides the pulls by the sum over the samples that are seen, from logarithms; the others are walls. */
static inline void cart_relative(Cart *c) {
  double log_pull[CART_N], log_loss[CART_N], most = -INFINITY, high = -INFINITY, high_seen = -INFINITY;
  double sum = 0, all = 0, losses = 0;
  bool seen[CART_N];
  c->margin_seen = INFINITY;
  for (int i = 0; i < c->n; i++) {
    double q = c->q[i], soft = fmax(0, q) + log1p(exp(-fabs(q))); /* ln(1 + e^q) */
    double own = fmax(0, -q) + log1p(exp(-fabs(q)));              /* ln(1 + e^-q), the logistic loss */
    seen[i] = cart_seen(c, i);
    log_pull[i] = c->loss == 2 ? -q : -soft;
    log_loss[i] = c->loss == 2 || q > 40 ? -q : log(own);
    high = fmax(high, log_loss[i]);
    if (!seen[i]) continue;
    most = fmax(most, log_pull[i]), high_seen = fmax(high_seen, log_loss[i]);
    c->margin_seen = fmin(c->margin_seen, q);
  }
  if (most == -INFINITY) most = 0, sum = 1;
  for (int i = 0; i < c->n; i++) {
    c->pull[i] = exp(fmin(600, log_pull[i] - most));
    all += exp(log_loss[i] - high);
    if (seen[i]) sum += c->pull[i], losses += exp(log_loss[i] - high_seen);
  }
  double each = (c->loss == 1 ? log(2) : 0) - (c->mean ? log(c->n) : 0);
  for (int i = 0; i < c->n; i++) c->pull[i] /= sum;
  c->log_sum = most + log(sum) + each, c->log_loss = high + log(all) + each;
  c->log_seen = losses > 0 ? high_seen + log(losses) : -INFINITY;
  c->loss_value = exp(c->log_loss);
}

/* Margins, loss, and what each plane contributes to the fields on its two sides, on the present sides. */
static inline void cart_weights(Cart *c, const double *theta) {
  double total = 0, least = INFINITY, share = c->mean ? 1.0 / c->n : 1;
  memset(c->up, 0, sizeof(double) * (size_t)c->planes);
  memset(c->down, 0, sizeof(double) * (size_t)c->planes);
  for (int i = 0; i < c->n; i++) {
    double f = 0;
    int p = c->plane[i];
    for (int k = 0; k < c->m && p >= 0; k++) {
      const double *w = theta + k * (c->d + 1);
      int s = c->side[k][p] * (c->ratio[i] > 0 ? 1 : -1);
      if (s != 0) f += w[c->d] * (s > 0 ? 1 : c->leak) * cart_dot(w, c->x[i], c->d);
    }
    c->q[i] = c->y[i] * f;
    least = fmin(least, c->q[i]);
  }
  c->margin = least;
  if (c->relative) cart_relative(c);
  for (int i = 0; i < c->n; i++) {
    int p = c->plane[i];
    if (!c->relative) {
      double q = c->q[i], e = exp(-fabs(q)), logistic = (q < 0 ? -q : 0) + log1p(e);
      double twice = c->loss == 1 ? 2 : 1;
      c->pull[i] = share * (c->loss == 2 ? exp(-q) : twice * (q > 0 ? e : 1) / (1 + e));
      total += c->loss == 2 ? exp(-q) : twice * logistic;
    }
    if (p < 0) continue;
    double v = c->pull[i] * c->y[i] * c->ratio[i];
    c->up[p] += v * (c->ratio[i] > 0 ? 1 : c->leak);
    c->down[p] += v * (c->ratio[i] > 0 ? c->leak : 1);
  }
  if (!c->relative) c->loss_value = share * total;
}

/* Field of neuron k over the planes it is not on. */
static inline void cart_base(const Cart *c, int k, double *g) {
  memset(g, 0, sizeof(double) * CART_D);
  for (int p = 0; p < c->planes; p++)
    for (int j = 0; j < c->d && c->side[k][p] != 0; j++)
      g[j] += (c->side[k][p] > 0 ? c->up[p] : c->down[p]) * c->normal[p][j];
}

/* dtheta/dt on the present sides; fills the slopes of slides (1 and leak at their ends). */
static inline void cart_velocity(Cart *c, const double *theta, double *v) {
  cart_weights(c, theta);
  for (int k = 0; k < c->m; k++) {
    const double *w = theta + k * (c->d + 1);
    double g[CART_D] = {0}, z[CART_D];
    bool still = c->dead[k] || c->asleep[k];
    if (!still) cart_base(c, k, g);
    if (c->slides[k] > 0 && !still) {
      cart_project(c, g, c->on[k], c->slides[k], z);
      for (int s = 0; s < c->slides[k]; s++) {
        int p = c->on[k][s];
        c->slope[k][s] = c->leak + (1 - c->leak) * (z[s] - c->down[p]) / (c->up[p] - c->down[p]);
        for (int j = 0; j < c->d; j++) g[j] += z[s] * c->normal[p][j];
      }
    }
    for (int j = 0; j < c->d; j++) v[k * (c->d + 1) + j] = w[c->d] * g[j];
    v[k * (c->d + 1) + c->d] = c->frozen ? 0 : cart_dot(g, w, c->d);
  }
}

/* How long a step may be at most: no margin moves by more than 1, or half of itself where that leaves its
 * pull (a logistic one below 0, or one that is nothing beside the others). Where pulls are all or nothing, a
 * longer step misses the place between, and its error estimate does not see it. */
static inline double cart_reach(Cart *c) {
  double v[CART_V], reach = INFINITY, sum = 0;
  cart_velocity(c, c->theta, v);
  for (int i = 0; i < c->n; i++) sum += c->pull[i];
  for (int i = 0; i < c->n; i++) {
    double rate = 0;
    int p = c->plane[i];
    for (int k = 0; k < c->m && p >= 0; k++) {
      const double *w = c->theta + k * (c->d + 1), *dw = v + k * (c->d + 1);
      int s = c->side[k][p] * (c->ratio[i] > 0 ? 1 : -1);
      double slope = s > 0 ? 1 : s < 0 ? c->leak : 0;
      rate += slope * (dw[c->d] * cart_dot(w, c->x[i], c->d) + w[c->d] * cart_dot(dw, c->x[i], c->d));
    }
    bool flat = (c->loss != 2 && c->q[i] < 0) || c->pull[i] < 1e-16 * sum;
    if (rate != 0) reach = fmin(reach, (flat ? fmax(1, 0.5 * fabs(c->q[i])) : 1) / fabs(rate));
  }
  return reach;
}

#endif
