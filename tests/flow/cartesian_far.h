/* The second opinion carried far: to large margins, or to where the loss no longer falls. The same plain
 * weights, sides and events as cartesian.h, in the clock ds = S dt with S the sum of the pulls of the
 * samples that are seen (the others exert no force, and may wait for e^400), and by a method that stiff
 * problems do not stop: RODAS (Hairer and Wanner, Solving ODEs II, IV.7; order 4(3), L-stable) with the exact
 * Jacobian matrix. A step is at most one growth time of the fastest neuron, so that nothing that grows is
 * stepped over. How far to trust it: a_k^2 - |w_k|^2 is conserved by the flow and not by the method, is put
 * back after every step, and the largest sum of what had to be put back is reported; sensitive runs are told
 * by a second tolerance. */
#ifndef RF_TEST_CARTESIAN_FAR_H
#define RF_TEST_CARTESIAN_FAR_H

#include "cartesian.h"

typedef struct CartFar {
  Cart cart;
  double J[CART_V][CART_V], LU[CART_V][CART_V]; /* Jacobian matrix at the start of the step; factors */
  int pivot[CART_V];
  double balance[CART_M], drift[CART_M]; /* a^2 - |w|^2 at the start; what was put back, relative, summed */
  double log_t, trust, size;             /* size: of the largest neuron at the start */
  bool lost[CART_M]; /* a has decayed to rounding and no longer moves: its sign is not known from there on */
  long woken, evaluations, factors;
  bool short_of; /* a plateau of fewer decades than wanted */
} CartFar;

/* w_k without its parts along the planes neuron k slides on: an orthonormal basis of their normals. */
static inline int far_basis(const Cart *c, int k, double basis[][CART_D]) {
  int count = 0;
  for (int s = 0; s < c->slides[k]; s++) {
    double *e = basis[count];
    memcpy(e, c->normal[c->on[k][s]], sizeof(double) * CART_D);
    for (int twice = 0; twice < 2; twice++)
      for (int b = 0; b < count; b++) {
        double along = cart_dot(e, basis[b], c->d);
        for (int j = 0; j < c->d; j++) e[j] -= along * basis[b][j];
      }
    double length = sqrt(cart_dot(e, e, c->d));
    if (!(length > 1e-12)) continue;
    for (int j = 0; j < c->d; j++) e[j] /= length;
    count++;
  }
  return count;
}

static inline void far_remove(double *v, int d, double basis[][CART_D], int count) {
  for (int b = 0; b < count; b++) {
    double along = cart_dot(v, basis[b], d);
    for (int j = 0; j < d; j++) v[j] -= along * basis[b][j];
  }
}

/* J of the velocity F = sum p_i grad q_i, p_i = pull_i / S: with l_i = d ln pull_i / d q_i,
 * J = sum p_i l_i grad q_i grad q_i' - F (sum p_i l_i grad q_i)' + sum p_i hess q_i. Returns the largest
 * |g_k| of a neuron that moves: nothing grows faster. */
static inline double far_jacobian(CartFar *far) {
  static double grad[CART_N][CART_V];
  static double basis[CART_M][CART_D][CART_D], g[CART_M][CART_D];
  Cart *c = &far->cart;
  int size = c->m * (c->d + 1), counts[CART_M];
  double F[CART_V], mean[CART_V] = {0}, fastest = 0;
  cart_velocity(c, c->theta, F);
  for (int r = 0; r < size; r++) memset(far->J[r], 0, sizeof(double) * (size_t)size);
  for (int k = 0; k < c->m; k++) {
    int at = k * (c->d + 1), a = at + c->d;
    if (c->dead[k] || c->asleep[k]) continue;
    counts[k] = far_basis(c, k, basis[k]);
    cart_base(c, k, g[k]);
    far_remove(g[k], c->d, basis[k], counts[k]);
    fastest = fmax(fastest, sqrt(cart_dot(g[k], g[k], c->d)));
    for (int j = 0; j < c->d; j++) {
      far->J[at + j][a] = g[k][j];
      if (!c->frozen) far->J[a][at + j] = g[k][j];
    }
  }
  for (int i = 0; i < c->n; i++) {
    int p = c->plane[i];
    double *v = grad[i], q = c->q[i], l = c->loss == 2 ? -1 : -1 / (1 + exp(-q));
    if (p < 0 || !(c->pull[i] > 0)) continue;
    for (int k = 0; k < c->m; k++) {
      int at = k * (c->d + 1), s = c->side[k][p] * (c->ratio[i] > 0 ? 1 : -1);
      const double *w = c->theta + at;
      double slope = c->dead[k] || c->asleep[k] || s == 0 ? 0 : s > 0 ? 1 : c->leak;
      for (int j = 0; j < c->d; j++) v[at + j] = slope * c->y[i] * w[c->d] * c->x[i][j];
      v[at + c->d] = c->frozen ? 0 : slope * c->y[i] * cart_dot(w, c->x[i], c->d);
      if (slope != 0) far_remove(v + at, c->d, basis[k], counts[k]);
    }
    for (int r = 0; r < size; r++) {
      double factor = c->pull[i] * l * v[r];
      mean[r] += factor;
      for (int s = 0; s < size && factor != 0; s++) far->J[r][s] += factor * v[s];
    }
  }
  for (int r = 0; r < size; r++)
    for (int s = 0; s < size; s++) far->J[r][s] -= F[r] * mean[s];
  return fastest;
}

static inline bool far_factor(CartFar *far, double h) {
  const Cart *c = &far->cart;
  int size = c->m * (c->d + 1);
  far->factors++;
  for (int r = 0; r < size; r++) {
    for (int s = 0; s < size; s++) far->LU[r][s] = -far->J[r][s];
    far->LU[r][r] += 4 / h; /* gamma = 1/4 */
  }
  for (int p = 0; p < size; p++) {
    int best = p;
    for (int r = p + 1; r < size; r++)
      if (fabs(far->LU[r][p]) > fabs(far->LU[best][p])) best = r;
    far->pivot[p] = best;
    for (int s = 0; s < size && best != p; s++) {
      double swap = far->LU[p][s];
      far->LU[p][s] = far->LU[best][s], far->LU[best][s] = swap;
    }
    if (!(fabs(far->LU[p][p]) > 0)) return false;
    for (int r = p + 1; r < size; r++) {
      double f = far->LU[r][p] / far->LU[p][p];
      far->LU[r][p] = f;
      for (int s = p + 1; s < size && f != 0; s++) far->LU[r][s] -= f * far->LU[p][s];
    }
  }
  return true;
}

static inline void far_solve(const CartFar *far, double *b) {
  int size = far->cart.m * (far->cart.d + 1);
  for (int p = 0; p < size; p++) {
    double swap = b[far->pivot[p]];
    b[far->pivot[p]] = b[p], b[p] = swap;
  }
  for (int p = 0; p < size; p++)
    for (int r = p + 1; r < size; r++) b[r] -= far->LU[r][p] * b[p];
  for (int p = size - 1; p >= 0; p--) {
    for (int s = p + 1; s < size; s++) b[p] -= far->LU[p][s] * b[s];
    b[p] /= far->LU[p][p];
  }
}

/* One step of length h into out; the error over the tolerance, neuron by neuron. J is that of the start. */
static inline double far_try(CartFar *far, double h, double *out) {
  static const double A[6][5] = {
      {0},
      {1.544},
      {0.9466785280815826, 0.2557011698983284},
      {3.314825187068521, 2.896124015972201, 0.9986419139977817},
      {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
      {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1}};
  static const double C[6][5] = {
      {0},
      {-5.6688},
      {-2.430093356833875, -0.2063599157091915},
      {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
      {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
      {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054}};
  Cart *c = &far->cart;
  int size = c->m * (c->d + 1);
  double u[6][CART_V], y[CART_V], error = 0, largest = 0;
  if (!far_factor(far, h)) return INFINITY;
  for (int s = 0; s < 6; s++) {
    for (int e = 0; e < size; e++) {
      y[e] = c->theta[e];
      for (int r = 0; r < s; r++) y[e] += A[s][r] * u[r][e];
    }
    cart_velocity(c, y, u[s]);
    far->evaluations++;
    for (int e = 0; e < size; e++)
      for (int r = 0; r < s; r++) u[s][e] += C[s][r] / h * u[r][e];
    far_solve(far, u[s]);
  }
  for (int e = 0; e < size; e++) {
    out[e] = y[e] + u[5][e];
    largest = fmax(largest, fabs(c->theta[e]));
    if (!isfinite(out[e])) return INFINITY;
  }
  for (int k = 0; k < c->m; k++) {
    double scale = 1e-60 * largest, worst = 0;
    for (int e = k * (c->d + 1); e < (k + 1) * (c->d + 1); e++) {
      scale = fmax(scale, fmax(fabs(c->theta[e]), fabs(out[e])));
      worst = fmax(worst, fabs(u[5][e]));
    }
    error = fmax(error, worst / (c->tol * scale));
  }
  return error;
}

/* First moment inside the step (0,h] at which something is violated: state there, hits filled. */
static inline double far_locate(CartFar *far, double h, double *end, CartHit *hits, int *count) {
  static CartHit at[CART_M * CART_N];
  Cart *c = &far->cart;
  double low = 0, high = h, trial[CART_V], start[CART_V], v[CART_V];
  memcpy(start, c->theta, sizeof start);
  for (int round = 0; round < 100 && high - low > 1e-14 * h; round++) {
    double first = high, beyond = 0, before[CART_M * 4] = {0};
    int asked = *count < CART_M * 4 ? *count : CART_M * 4;
    cart_velocity(c, start, v);
    for (int j = 0; j < asked; j++) {
      double sign = c->theta[hits[j].k * (c->d + 1) + c->d] >= 0 ? 1 : -1;
      before[j] = fmax(0, cart_watch(c, start, hits[j].k, hits[j].p, hits[j].kind, sign));
    }
    cart_velocity(c, end, v);
    for (int j = 0; j < asked; j++) {
      const double *w = end + hits[j].k * (c->d + 1);
      double sign = c->theta[hits[j].k * (c->d + 1) + c->d] >= 0 ? 1 : -1;
      double after = cart_watch(c, end, hits[j].k, hits[j].p, hits[j].kind, sign);
      double size = hits[j].kind == 0 ? sqrt(cart_dot(w, w, c->d)) : hits[j].kind == 3 ? fabs(w[c->d]) : 1;
      if (hits[j].kind == 3) size += sqrt(cart_dot(w, w, c->d));
      beyond = fmax(beyond, isfinite(after) ? -after / size : INFINITY);
      if (before[j] > after) first = fmin(first, low + (high - low) * before[j] / (before[j] - after));
    }
    if (beyond <= 1e-13) break;
    double inner = (round > 4 ? 1e-7 : 1e-3) * (high - low), guess = 0.5 * (low + high);
    if (round % 3 != 2) guess = round % 3 == 0 ? first + inner : first - inner;
    if (!(guess > low && guess < high)) guess = 0.5 * (low + high);
    far_try(far, guess, trial);
    int here = cart_violated(c, trial, at);
    if (here == 0) {
      low = guess;
      memcpy(start, trial, sizeof trial);
      continue;
    }
    high = guess;
    memcpy(end, trial, sizeof trial);
    memcpy(hits, at, sizeof(CartHit) * (size_t)here);
    *count = here;
  }
  return high;
}

/* a^2 - |w|^2 as it was, with a w as it is: every margin stays. */
static inline void far_restore(CartFar *far) {
  Cart *c = &far->cart;
  for (int k = 0; k < c->m && !c->frozen; k++) {
    double *w = c->theta + k * (c->d + 1), a = w[c->d], delta = far->balance[k];
    double w2 = cart_dot(w, w, c->d), a2 = a * a, root = sqrt(delta * delta + 4 * a2 * w2);
    if (c->dead[k] || c->asleep[k] || !(a2 > 0 && w2 > 0)) continue;
    double square = delta > 0 ? 2 * a2 / (delta + root) : (root - delta) / (2 * w2);
    double off = fabs(a2 - w2 - delta) / (a2 + w2);
    far->drift[k] += off, far->trust = fmax(far->trust, far->drift[k]);
    if (!(square > 0.5 && square < 2)) continue;
    for (int j = 0; j < c->d; j++) w[j] *= sqrt(square);
    w[c->d] /= sqrt(square);
  }
}

/* A neuron far below rounding that shrinks and cannot turn is left where it is, until it would grow: in truth
 * it comes back later than here, if ever. */
static inline void far_sleep(CartFar *far) {
  Cart *c = &far->cart;
  double all = fmax(far->size, sqrt(cart_dot(c->theta, c->theta, c->m * (c->d + 1))));
  cart_weights(c, c->theta);
  for (int k = 0; k < c->m; k++) {
    const double *w = c->theta + k * (c->d + 1);
    double g[CART_D], basis[CART_D][CART_D], size = sqrt(cart_dot(w, w, c->d));
    if (c->dead[k] || !(size < 1e-40 * all)) continue;
    cart_base(c, k, g);
    far_remove(g, c->d, basis, far_basis(c, k, basis));
    double along = cart_dot(g, w, c->d), across = cart_dot(g, g, c->d) - along * along / (size * size);
    bool shrinks = w[c->d] * along < 0 && across <= 1e-12 * cart_dot(g, g, c->d);
    if (c->asleep[k] && !shrinks) far->woken++;
    c->asleep[k] = shrinks;
  }
}

/* A neuron whose a has come to rest at rounding, and that grows again later: which way, rounding decided. */
static inline void far_lose(CartFar *far) {
  Cart *c = &far->cart;
  double v[CART_V];
  cart_velocity(c, c->theta, v);
  for (int k = 0; k < c->m && !c->frozen; k++) {
    const double *w = c->theta + k * (c->d + 1);
    double size = sqrt(cart_dot(w, w, c->d)), a = fabs(w[c->d]);
    if (a < 1e-13 * size && fabs(v[k * (c->d + 1) + c->d]) < 1e-10 * size) far->lost[k] = true;
    if (far->lost[k] && a > 1e-10 * size) far->woken++;
  }
}

static inline void far_step(CartFar *far) {
  static CartHit hits[CART_M * CART_N];
  Cart *c = &far->cart;
  double end[CART_V], middle[CART_V], before = (cart_weights(c, c->theta), c->log_sum);
  double fastest = far_jacobian(far);
  if (fastest > 0) c->step = fmin(c->step, 1 / fastest);
  for (int tries = 0; tries < 100; tries++) {
    double h = c->step, error = far_try(far, h, end);
    if (!(error <= 1)) {
      c->step = h * (isfinite(error) ? fmax(0.1, 0.9 * pow(error, -0.25)) : 0.1);
      continue;
    }
    double grow = fmin(6, 0.9 * pow(fmax(error, 1e-6), -0.25)), taken = h;
    int slides = 0, count = 0;
    for (int k = 0; k < c->m; k++) slides += c->slides[k];
    count = cart_violated(c, end, hits);
    if (count == 0 && slides > 0) { /* the slope of a slide may leave and return */
      far_try(far, 0.5 * h, middle);
      count = cart_violated(c, middle, hits);
      if (count > 0) h *= 0.5, memcpy(end, middle, sizeof end);
    }
    if (count == 0 && tries < 40 && cart_dips(c, end, h)) {
      c->step = 0.5 * h;
      continue;
    }
    if (count > 0) taken = far_locate(far, h, end, hits, &count);
    c->stuck = taken > 1e-12 * h ? 0 : c->stuck + 1;
    memcpy(c->theta, end, sizeof end);
    c->step = fmax(taken, 0.05 * h) * fmax(0.2, grow);
    if (count > 0) cart_apply(c, hits, count);
    for (int k = 0; k < c->m && c->status == CART_RUNNING; k++) cart_refresh(c, k);
    far_restore(far);
    if (c->stuck > 40) c->status = CART_DEPENDENT;
    c->steps++;
    cart_weights(c, c->theta);
    double fall = before - c->log_sum; /* dt = ds / S, S by an exponential over the step */
    double mean = fabs(fall) < 1e-6 ? 0 : log(fabs(expm1(-fall) / fall));
    if (taken > 0) {
      double log_step = log(taken) - c->log_sum + mean;
      far->log_t = fmax(far->log_t, log_step) + log1p(exp(-fabs(far->log_t - log_step)));
    }
    return;
  }
  c->status = CART_UNFINISHED;
}

/* After cart_begin: until every margin exceeds `margin`; or only those of the samples that are seen; or their
 * loss has fallen by less than a millionth over the last six decades of time, nine after the time unit of the
 * slowest sample. Where rounding stops it before (a velocity of 1e-16 over a time of 1e9 is motion), three
 * decades with a fall of less than 1e-5 count, six after that unit.
 */
static inline CartStatus far_to_end(CartFar *far, double margin) {
  enum { QUIET = 6, ENOUGH = 3, STEPS = 20000 };
  Cart *c = &far->cart;
  double past[QUIET] = {0}, shortest = INFINITY, before; /* ln loss before decades ended, the last first */
  int decades = 0;
  bool rests = false;
  c->relative = true, c->slack = 1e-12, c->step = 1e-6, c->limit = STEPS, far->log_t = -INFINITY,
  far->size = 0;
  c->step = fmin(c->step, cart_reach(c));
  for (int k = 0; k < c->m; k++) {
    const double *w = c->theta + k * (c->d + 1);
    double a2 = w[c->d] * w[c->d], w2 = cart_dot(w, w, c->d);
    far->balance[k] = fabs(a2 - w2) <= 1e-14 * (a2 + w2) ? 0 : a2 - w2, far->drift[k] = 0;
    far->size = fmax(far->size, sqrt(a2 + w2)), far->lost[k] = false;
  }
  for (int i = 0; i < c->n; i++)
    if (c->plane[i] >= 0) shortest = fmin(shortest, cart_dot(c->x[i], c->x[i], c->d));
  double decade = fmax(0, -log(shortest)) / log(10) + 3;
  while (c->status == CART_RUNNING && c->steps < c->limit) {
    before = c->log_seen;
    far_step(far);
    if (c->status != CART_RUNNING) break;
    far_sleep(far), far_lose(far);
    if (c->margin_seen >= margin) c->status = c->margin >= margin ? CART_REACHED : CART_PLATEAU;
    for (; far->log_t >= decade * log(10) && c->status == CART_RUNNING; decade++, decades++) {
      rests = decades >= ENOUGH && past[ENOUGH - 1] - c->log_seen < 1e-5;
      if (decades >= QUIET && past[QUIET - 1] - c->log_seen < 1e-6) c->status = CART_PLATEAU;
      memmove(past + 1, past, sizeof(double) * (QUIET - 1));
      past[0] = before;
    }
  }
  far->short_of = c->status != CART_PLATEAU && rests;
  if (c->status == CART_RUNNING) c->status = CART_UNFINISHED;
  if (rests && (c->status == CART_UNFINISHED || c->status == CART_DEPENDENT)) c->status = CART_PLATEAU;
  return c->status;
}

#endif
