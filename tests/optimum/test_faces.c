/* Every bracket against an exhaustive enumeration of faces in rational arithmetic, for d <= 3 and n <= 25.
 *
 * The maximum of F(u) = s sum lambda_i y_i phi(u.x_i) over unit u lies on some face of the arrangement of the
 * planes u.x_i = 0, at the projection of the gradient g of a neighbouring cell on the span of that face: M is
 * the largest F(c)/|c| over c = g, c = g off one plane, and c = the rays. Every cell and every edge touches a
 * ray, so their gradients are found at the rays by giving every sign to the samples that vanish there; signs
 * that no cell has do no harm, as F(c)/|c| <= M for every c. Squares are rational: nothing is rounded. */
#include "rf_test.h"
#include "reluflow/optimum.h"

#include <gmp.h>
#include <string.h>

enum { most = 25, most_zero = 10 };

typedef struct Exact {
  rf_index n, d;
  int y[most], sign;
  mpq_t x[most][3], lambda[most], leak, best; /* best = largest F(c)^2/|c|^2 with F(c) > 0 */
  mpq_t z[most], c[3], f, t, s;
} Exact;

static void dot(Exact *e, mpq_t out, const mpq_t *a, const mpq_t *b) {
  mpq_set_ui(out, 0, 1);
  for (rf_index k = 0; k < e->d; k++) {
    mpq_mul(e->t, a[k], b[k]);
    mpq_add(out, out, e->t);
  }
}

/* F(c)^2/|c|^2 enters the maximum. */
static void offer(Exact *e) {
  mpq_set_ui(e->f, 0, 1);
  for (rf_index i = 0; i < e->n; i++) {
    dot(e, e->s, (const mpq_t *)e->x[i], (const mpq_t *)e->c);
    if (mpq_sgn(e->s) < 0) mpq_mul(e->s, e->s, e->leak);
    mpq_mul(e->s, e->s, e->lambda[i]);
    if (e->y[i] * e->sign > 0)
      mpq_add(e->f, e->f, e->s);
    else
      mpq_sub(e->f, e->f, e->s);
  }
  if (mpq_sgn(e->f) <= 0) return;
  dot(e, e->s, (const mpq_t *)e->c, (const mpq_t *)e->c);
  mpq_mul(e->f, e->f, e->f);
  mpq_div(e->f, e->f, e->s);
  if (mpq_cmp(e->f, e->best) > 0) mpq_set(e->best, e->f);
}

/* c -= (c.x/x.x) x. */
static void project(Exact *e, rf_index i) {
  mpq_t factor;
  mpq_init(factor);
  dot(e, factor, (const mpq_t *)e->c, (const mpq_t *)e->x[i]);
  dot(e, e->s, (const mpq_t *)e->x[i], (const mpq_t *)e->x[i]);
  mpq_div(factor, factor, e->s);
  for (rf_index k = 0; k < e->d; k++) {
    mpq_mul(e->t, factor, e->x[i][k]);
    mpq_sub(e->c[k], e->c[k], e->t);
  }
  mpq_clear(factor);
}

/* c = g for the signs of z, those of the zero samples given by bits. */
static void gradient(Exact *e, const rf_index *zero, rf_index zeros, unsigned bits) {
  for (rf_index k = 0; k < e->d; k++) mpq_set_ui(e->c[k], 0, 1);
  for (rf_index i = 0; i < e->n; i++) {
    int side = mpq_sgn(e->z[i]);
    for (rf_index a = 0; a < zeros; a++)
      if (zero[a] == i) side = bits >> a & 1 ? 1 : -1;
    for (rf_index k = 0; k < e->d; k++) {
      mpq_mul(e->s, e->lambda[i], e->x[i][k]);
      if (side < 0) mpq_mul(e->s, e->s, e->leak);
      if (e->y[i] * e->sign > 0)
        mpq_add(e->c[k], e->c[k], e->s);
      else
        mpq_sub(e->c[k], e->c[k], e->s);
    }
  }
}

static bool is_zero(const Exact *e) {
  for (rf_index k = 0; k < e->d; k++)
    if (mpq_sgn(e->c[k])) return false;
  return true;
}

/* Everything that touches the ray in c. */
static void at_ray(Exact *e) {
  rf_index zero[most], zeros = 0;
  if (is_zero(e)) return;
  for (rf_index i = 0; i < e->n; i++) {
    dot(e, e->z[i], (const mpq_t *)e->x[i], (const mpq_t *)e->c);
    if (mpq_sgn(e->z[i]) == 0) zero[zeros++] = i;
  }
  offer(e);
  assert_true(zeros <= most_zero);
  for (unsigned bits = 0; bits < 1u << zeros; bits++) {
    gradient(e, zero, zeros, bits);
    if (!is_zero(e)) offer(e);
    for (rf_index a = 0; a < zeros; a++) {
      gradient(e, zero, zeros, bits);
      project(e, zero[a]);
      if (!is_zero(e)) offer(e);
    }
  }
}

/* The rays: +-1 in R^1, +-(x orthogonal) in R^2, +-x_i x x_j in R^3. */
static void ray(Exact *e, rf_index i, rf_index j, int side) {
  for (rf_index k = 0; k < e->d; k++) mpq_set_ui(e->c[k], 0, 1);
  if (e->d == 1) mpq_set_ui(e->c[0], 1, 1);
  if (e->d == 2) mpq_neg(e->c[0], e->x[i][1]), mpq_set(e->c[1], e->x[i][0]);
  for (int k = 0; k < 3 && e->d == 3; k++) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    mpq_mul(e->t, e->x[i][a], e->x[j][b]);
    mpq_mul(e->s, e->x[i][b], e->x[j][a]);
    mpq_sub(e->c[k], e->t, e->s);
  }
  for (rf_index k = 0; k < e->d && side < 0; k++) mpq_neg(e->c[k], e->c[k]);
}

static void exact_new(Exact *e, const double *X, const double *y, const double *lambda, rf_index n,
                      rf_index d, double leak) {
  e->n = n, e->d = d;
  mpq_inits(e->leak, e->best, e->f, e->t, e->s, NULL);
  mpq_set_d(e->leak, leak);
  for (int k = 0; k < 3; k++) mpq_init(e->c[k]);
  for (rf_index i = 0; i < n; i++) {
    e->y[i] = y[i] > 0 ? 1 : -1;
    mpq_inits(e->lambda[i], e->z[i], NULL);
    mpq_set_d(e->lambda[i], lambda[i]);
    for (rf_index k = 0; k < 3; k++) mpq_init(e->x[i][k]);
    for (rf_index k = 0; k < d; k++) mpq_set_d(e->x[i][k], X[i * d + k]);
  }
}

static void exact_free(Exact *e) {
  mpq_clears(e->leak, e->best, e->f, e->t, e->s, NULL);
  for (int k = 0; k < 3; k++) mpq_clear(e->c[k]);
  for (rf_index i = 0; i < e->n; i++) {
    mpq_clears(e->lambda[i], e->z[i], NULL);
    for (rf_index k = 0; k < 3; k++) mpq_clear(e->x[i][k]);
  }
}

/* M(lambda)^2, both signs. */
static void enumerate(Exact *e) {
  for (e->sign = -1; e->sign <= 1; e->sign += 2)
    for (rf_index i = 0; i < e->n; i++)
      for (rf_index j = e->d == 3 ? i + 1 : i; j < (e->d == 3 ? e->n : i + 1); j++)
        for (int side = -1; side <= 1; side += 2) {
          ray(e, i, j, side);
          at_ray(e);
        }
}

/* Lower: (sum lambda)^2 >= lower^2 M^2. Upper: the network's margins, exactly. */
static void check_bracket(Exact *e, const RfOptimum *o) {
  mpq_t sum, lower;
  mpq_inits(sum, lower, NULL);
  for (rf_index i = 0; i < e->n; i++) mpq_add(sum, sum, e->lambda[i]);
  mpq_set_d(lower, o->lower);
  mpq_mul(sum, sum, sum), mpq_mul(lower, lower, lower), mpq_mul(lower, lower, e->best);
  assert_true(mpq_cmp(sum, lower) >= 0);
  /* and it is no weak bound: M is 1 to 1e-8 */
  assert_true(mpq_get_d(e->best) <= 1 && mpq_get_d(e->best) >= 1 - 1e-7);
  mpq_t f, z, least;
  mpq_inits(f, z, least, NULL);
  for (rf_index i = 0; i < e->n; i++) {
    mpq_set_ui(f, 0, 1);
    for (rf_index k = 0; k < o->neurons; k++) {
      for (rf_index j = 0; j < e->d; j++) mpq_set_d(e->c[j], o->U[k * e->d + j]);
      dot(e, z, (const mpq_t *)e->x[i], (const mpq_t *)e->c);
      if (mpq_sgn(z) < 0) mpq_mul(z, z, e->leak);
      if (o->sign[k] * e->y[i] > 0)
        mpq_add(f, f, z);
      else
        mpq_sub(f, f, z);
    }
    if (i == 0 || mpq_cmp(f, least) < 0) mpq_set(least, f);
  }
  long double size = 0; /* objective >= sum |u| / least, to the rounding of a square root */
  for (rf_index k = 0; k < o->neurons; k++) {
    long double square = 0;
    for (rf_index j = 0; j < e->d; j++)
      square += (long double)o->U[k * e->d + j] * (long double)o->U[k * e->d + j];
    size += sqrtl(square);
  }
  assert_true((long double)o->objective * (long double)mpq_get_d(least) >= size * (1 - 1e-15L));
  mpq_clears(sum, lower, f, z, least, NULL);
}

static void test_brackets(void **state) {
  (void)state;
  rf_index proved = 0;
  for (rf_index k = 0; k < rf_test_iterations(24); k++) {
    RfRandom random;
    rf_random_init(&random, (uint64_t)k, 31);
    rf_index d = 1 + k % 3, n = 2 + rf_random_below(&random, k % 8 == 7 ? 24 : 9);
    double X[most * 3], y[most], leak = (double)(k % 4) * 0.25;
    for (rf_index i = 0; i < n * d; i++) {
      X[i] = rf_random_gaussian(&random);
      if (k % 5 == 4) X[i] = round(2 * X[i]) / 2; /* ties */
    }
    for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random);
    RfContext context;
    rf_context_init(&context);
    RfOptimumSettings settings;
    rf_optimum_settings_init(&settings);
    settings.leak = leak;
    RfOptimum o;
    assert_ok(&context, rf_optimum_solve(&context, &o, X, y, n, d, &settings));
    if (o.status == RF_OPTIMUM_PROVED) {
      Exact e = {0};
      exact_new(&e, X, y, o.lambda, n, d, leak);
      enumerate(&e);
      check_bracket(&e, &o);
      exact_free(&e);
      proved++;
    }
    rf_optimum_free(&o);
  }
  assert_true(proved > rf_test_iterations(24) / 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_brackets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
