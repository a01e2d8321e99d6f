/* The polish in the multipliers finds planted solutions of  rows z = 1,  z_g/|z_g| = (rows^T lambda)_g again.
 */
#include "flow/far/polish_dual.h"
#include "rf_test.h"

#include <math.h>
#include <string.h>

enum { R = 4, GROUPS = 3, D = 6, N = GROUPS * D };

/* Largest violation of rows z = 1 and of z_g/|z_g| = (rows^T lambda)_g. */
static double violation(const double *z, const double *lambda, const double *rows) {
  double worst = 0, v[N];
  for (int k = 0; k < R; k++) worst = fmax(worst, fabs(rf_la_dot(rows + k * N, z, N) - 1));
  rf_la_combine(v, rows, lambda, R, N, N);
  for (int g = 0; g < GROUPS; g++) {
    double norm = rf_la_norm(z + g * D, D);
    for (int j = 0; j < D; j++) worst = fmax(worst, fabs(z[g * D + j] / norm - v[g * D + j]));
  }
  return worst;
}

/* rows, z and lambda that solve the equations; false: some row of z has the wrong sign. */
static bool plant(RfRandom *random, double *rows, double *z, double *lambda) {
  for (int k = 0; k < R * N; k++) rows[k] = rf_random_gaussian(random);
  for (int k = 0; k < R; k++) lambda[k] = 0.2 + rf_random_uniform(random);
  for (int g = 0; g < GROUPS; g++) { /* |v_g| = 1 by the scale of the group's columns */
    double v[D] = {0}, norm, b = 0.2 + rf_random_uniform(random);
    for (int k = 0; k < R; k++) rf_la_axpy(v, lambda[k], rows + k * N + g * D, D);
    norm = rf_la_norm(v, D);
    for (int k = 0; k < R; k++) rf_la_scale(rows + k * N + g * D, 1 / norm, D);
    for (int j = 0; j < D; j++) z[g * D + j] = b * v[j] / norm;
  }
  for (int k = 0; k < R; k++) { /* rows z = 1 by the scale of the rows */
    double t = rf_la_dot(rows + k * N, z, N);
    if (!(t > 0.05)) return false;
    rf_la_scale(rows + k * N, 1 / t, N);
    lambda[k] *= t;
  }
  return true;
}

static void finds_planted(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  int tried = 0, wanted = (int)rf_test_iterations(60);
  rf_context_init(&context);
  for (uint64_t trial = 0; tried < wanted && trial < 4000; trial++) {
    double rows[R * N], z[N], lambda[R], z0[N], far = 0;
    rf_random_init(&random, trial, 7);
    if (!plant(&random, rows, z, lambda)) continue;
    tried++;
    memcpy(z0, z, sizeof z);
    assert_true(violation(z, lambda, rows) < 1e-13);
    for (int j = 0; j < N; j++) z[j] += 0.01 * rf_random_gaussian(&random);
    for (int k = 0; k < R; k++) lambda[k] *= 1 + 0.01 * rf_random_gaussian(&random);
    assert_ok(&context, rf_polish_dual(&context, z, lambda, rows, R, GROUPS, D));
    assert_true(violation(z, lambda, rows) < 1e-11);
    for (int j = 0; j < N; j++) far = fmax(far, fabs(z[j] - z0[j]));
    assert_true(far < 1e-9);
  }
  assert_int_equal(tried, wanted);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(finds_planted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
