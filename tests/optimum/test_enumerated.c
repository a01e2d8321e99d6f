/* The literal convex program over all arrangement patterns (WP eq. (14)/(7), leaky version) as a second
 * method:
 *
 *     min sum_j |u_j|  s.t.  y_i sum_j s_j h_ji x_i.u_j >= 1,   (2 D_j - I) X u_j >= 0,
 *
 * one block per pattern and sign, patterns found by sampling until their known number is complete, solved by
 * a primal barrier method with block elimination. Nothing is shared with the library's solver. */
#include "rf_test.h"
#include "la/la.h"

enum { max_n = 8, max_d = 3, max_blocks = 256 };

typedef long double real;

typedef struct Program {
  int n, d, blocks;
  double leak;
  const double *X, *y;
  signed char side[max_blocks][max_n]; /* +-1 */
  real sign[max_blocks];
  real u[max_blocks][max_d], t[max_blocks]; /* iterate: |u_j| < t_j */
  real xi;                                  /* slack of the margins, cost `big` */
  real big;
} Program;

static real dot(const double *a, const real *b, int d) {
  real sum = 0;
  for (int k = 0; k < d; k++) sum += a[k] * b[k];
  return sum;
}

static real length(const real *a, int d) {
  real sum = 0;
  for (int k = 0; k < d; k++) sum += a[k] * a[k];
  return sqrtl(sum);
}

/* Regions of n hyperplanes through the origin in general position: 2 sum_{k<d} C(n-1,k). */
static int region_count(int n, int d) {
  real sum = 0, term = 1;
  for (int k = 0; k < d && k < n; k++) {
    sum += term;
    term = term * (n - 1 - k) / (k + 1);
  }
  return 2 * (int)(sum + 0.5);
}

/* All patterns with an interior point each, as blocks of both signs. False when sampling misses a thin one.
 */
static bool enumerate(Program *p, RfRandom *random) {
  int want = region_count(p->n, p->d), found = 0;
  for (long draw = 0; draw < 400000 && found < want; draw++) {
    double w[max_d];
    signed char side[max_n];
    rf_random_direction(random, w, p->d);
    for (int i = 0; i < p->n; i++) side[i] = rf_la_dot(w, p->X + i * p->d, p->d) > 0 ? 1 : -1;
    int seen = 0;
    while (seen < found && memcmp(p->side[2 * seen], side, (size_t)p->n)) seen++;
    if (seen < found) continue;
    for (int s = 0; s < 2; s++) {
      memcpy(p->side[2 * found + s], side, (size_t)p->n);
      for (int k = 0; k < p->d; k++) p->u[2 * found + s][k] = w[k];
      p->sign[2 * found + s] = s ? -1 : 1;
    }
    found++;
  }
  p->blocks = 2 * found;
  return found == want;
}

static real weight(const Program *p, int j, int i) {
  return p->y[i] * p->sign[j] * (p->side[j][i] > 0 ? 1 : p->leak);
}

static real margin(const Program *p, int i) {
  real sum = p->xi - 1;
  for (int j = 0; j < p->blocks; j++) sum += weight(p, j, i) * dot(p->X + i * p->d, p->u[j], p->d);
  return sum;
}

/* Barrier value; infinity outside. */
static real barrier(const Program *p, real tau) {
  real value = tau * p->big * p->xi - logl(p->xi);
  if (!(p->xi > 0)) return INFINITY;
  for (int i = 0; i < p->n; i++) {
    real m = margin(p, i);
    if (!(m > 0)) return INFINITY;
    value -= logl(m);
  }
  for (int j = 0; j < p->blocks; j++) {
    real size = length(p->u[j], p->d), gap = (p->t[j] - size) * (p->t[j] + size);
    if (!(p->t[j] > size)) return INFINITY;
    value += tau * p->t[j] - logl(gap);
    for (int i = 0; i < p->n; i++) {
      real z = p->side[j][i] * dot(p->X + i * p->d, p->u[j], p->d);
      if (!(z > 0)) return INFINITY;
      value -= logl(z);
    }
  }
  return value;
}

/* In place Cholesky solve of a small symmetric system with several right-hand sides (columns of B, row stride
 * w). */
static void small_solve(real *A, real *B, int n, int w) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      real sum = A[i * n + j];
      for (int k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
      A[i * n + j] = i == j ? sqrtl(fmaxl(sum, 1e-300)) : sum / A[j * n + j];
    }
  for (int c = 0; c < w; c++) {
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < i; k++) B[i * w + c] -= A[i * n + k] * B[k * w + c];
      B[i * w + c] /= A[i * n + i];
    }
    for (int i = n; i-- > 0;) {
      for (int k = i + 1; k < n; k++) B[i * w + c] -= A[k * n + i] * B[k * w + c];
      B[i * w + c] /= A[i * n + i];
    }
  }
}

/* One damped Newton step; returns the squared decrement. */
static real step(Program *p, real tau) {
  static real sol[max_blocks][(max_d + 1) * (max_n + 1)]; /* block Hessian^{-1} (gradient | margin columns) */
  static real gradient[max_blocks][max_d + 1];
  int n = p->n, d = p->d, e = d + 1, w = n + 1;
  real m[max_n], S[max_n * max_n] = {0}, zeta[max_n] = {0};
  for (int i = 0; i < n; i++) m[i] = margin(p, i);
  for (int j = 0; j < p->blocks; j++) {
    real H[(max_d + 1) * (max_d + 1)] = {0}, *u = p->u[j], t = p->t[j], *B = sol[j];
    real size = length(u, d), gap = (t - size) * (t + size);
    memset(B, 0, sizeof sol[j]);
    /* -logl(t^2-|u|^2) */
    H[0] = 2 * (t * t + size * size) / (gap * gap), B[0] = tau - 2 * t / gap;
    for (int a = 0; a < d; a++) {
      H[(a + 1) * e] = H[a + 1] = -4 * t * u[a] / (gap * gap);
      B[(a + 1) * w] = 2 * u[a] / gap;
      for (int b = 0; b < d; b++)
        H[(a + 1) * e + b + 1] = (a == b ? 2 / gap : 0) + 4 * u[a] * u[b] / (gap * gap);
    }
    for (int i = 0; i < n; i++) {
      const double *x = p->X + i * d;
      real z = dot(x, u, d);
      for (int a = 0; a < d; a++) {
        B[(a + 1) * w] -= x[a] / z + weight(p, j, i) * x[a] / m[i];
        B[(a + 1) * w + 1 + i] = weight(p, j, i) * x[a];
        for (int b = 0; b < d; b++) H[(a + 1) * e + b + 1] += x[a] * x[b] / (z * z);
      }
    }
    real columns[(max_d + 1) * (max_n + 1)];
    memcpy(columns, B, sizeof columns);
    small_solve(H, B, e, w);
    for (int a = 0; a < e; a++) gradient[j][a] = columns[a * w];
    for (int i = 0; i < n; i++)
      for (int a = 0; a < e; a++) {
        zeta[i] += columns[a * w + 1 + i] * B[a * w];
        for (int k = 0; k < n; k++) S[i * n + k] += columns[a * w + 1 + i] * B[a * w + 1 + k];
      }
  }
  real gx = tau * p->big - 1 / p->xi, hx = 1 / (p->xi * p->xi);
  for (int i = 0; i < n; i++) gx -= 1 / m[i];
  for (int i = 0; i < n; i++) {
    zeta[i] += gx / hx;
    for (int k = 0; k < n; k++) S[i * n + k] += 1 / hx;
    S[i * n + i] += m[i] * m[i];
  }
  small_solve(S, zeta, n, 1); /* direction = -Hb^{-1}(g - A^T zeta) */
  real dx = -gx / hx;
  for (int i = 0; i < n; i++) dx += zeta[i] / hx;
  real decrement = -gx * dx;
  for (int j = 0; j < p->blocks; j++)
    for (int a = 0; a < e; a++) {
      real move = -sol[j][a * w];
      for (int i = 0; i < n; i++) move += zeta[i] * sol[j][a * w + 1 + i];
      sol[j][a * w] = move; /* now the direction */
      decrement -= gradient[j][a] * move;
    }
  real t =
      decrement > 0.06 ? 1 / (1 + sqrtl(decrement)) : 1; /* stays inside: the barrier is self-concordant */
  for (real done = 0;; t *= 0.5) {                       /* halve when rounding led outside */
    p->xi += (t - done) * dx;
    for (int j = 0; j < p->blocks; j++) {
      p->t[j] += (t - done) * sol[j][0];
      for (int a = 1; a < e; a++) p->u[j][a - 1] += (t - done) * sol[j][a * w];
    }
    if (barrier(p, tau) < INFINITY || t < 1e-12) break;
    done = t;
  }
  return decrement;
}

/* The optimum, extrapolated from three points of the central path. */
static real second_method(Program *p) {
  p->big = 1e4, p->xi = 2;
  for (int j = 0; j < p->blocks; j++) {
    for (int k = 0; k < p->d; k++) p->u[j][k] *= 1e-2;
    p->t[j] = 1e-1;
  }
  real least = INFINITY;
  for (int i = 0; i < p->n; i++) least = fminl(least, margin(p, i));
  if (least < 1) p->xi += 1 - least;
  real terms = 2.0L * p->blocks + p->n + (real)p->blocks * p->n + 1, last[3] = {0, 0, 0}, xi = 1;
  for (real tau = 1e-2L;; tau *= 4) {
    real decrement = 1;
    for (int k = 0; k < 3000 && decrement > 1e-12L; k++) decrement = step(p, tau);
    if (!(decrement < 1e-6L && decrement > -1e-6L)) { /* out of digits: what was reached must do */
      assert_true(4 * terms / tau < 1e-5L * last[2]);
      break;
    }
    last[0] = last[1], last[1] = last[2], last[2] = p->big * p->xi, xi = p->xi;
    for (int j = 0; j < p->blocks; j++) last[2] += p->t[j];
    if (terms / tau < 1e-6L * last[2]) break;
  }
  assert_true(xi < 1e-6L); /* the cost of the slack was high enough */
  /* the central path is analytic in 1/tau: value + a/tau + b/tau^2 + ... */
  real first = (4 * last[1] - last[0]) / 3, second = (4 * last[2] - last[1]) / 3;
  return (16 * second - first) / 15;
}

static void test_agreement(void **state) {
  (void)state;
  static const double leaks[] = {0, 0.1, 0.5, 0.9};
  Program *p = malloc(sizeof *p);
  assert_non_null(p);
  rf_index checked = 0;
  for (rf_index k = 0; k < rf_test_iterations(24); k++) {
    RfRandom random;
    rf_random_init(&random, 1000 + (uint64_t)k, 0);
    p->n = 3 + (int)rf_random_below(&random, max_n - 3), p->d = 2 + (int)(k % 2);
    p->leak = leaks[(k / 2) % 4];
    double X[max_n * max_d], y[max_n];
    for (int i = 0; i < p->n * p->d; i++) X[i] = rf_random_gaussian(&random);
    for (int i = 0; i < p->n; i++) y[i] = rf_random_sign(&random);
    p->X = X, p->y = y;
    RfContext context;
    rf_context_init(&context);
    RfOptimumSettings settings;
    rf_optimum_settings_init(&settings);
    settings.leak = p->leak;
    RfOptimum o;
    assert_ok(&context, rf_optimum_solve(&context, &o, X, y, p->n, p->d, &settings));
    assert_int_equal(o.status, RF_OPTIMUM_PROVED);
    if (o.objective < 200 &&
        enumerate(p, &random)) { /* the dense method is not made for badly scaled optima */
      double value = (double)second_method(p);
      if (!(fabs(value - o.objective) <= 1e-8 * value)) {
        fprintf(stderr, "problem %lld: leak %g, enumerated %.15g, library %.15g\n", (long long)k, p->leak,
                value, o.objective);
        rf_test_print_matrix("X", X, p->n, p->d);
        rf_test_print_matrix("y", y, 1, p->n);
      }
      assert_relative(o.objective, value, 1e-8);
      checked++;
    }
    rf_optimum_free(&o);
  }
  free(p);
  print_message("%lld problems agree\n", (long long)checked);
  assert_true(checked > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agreement)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
