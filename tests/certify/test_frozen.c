/* Verdicts with a frozen second layer: the one KKT point of orthogonal samples is global; a bound is never
 * above what a search finds; points that are not stationary are refused; own-class kinks are left open. */
#include "rf_test.h"

#include "certify/certify.h"

enum { n = 4, d = 4, m = 4 };

/* w_k = a_k sum_i lam_i y_i s_ik x_i with lam_i = 1/K_i, K_i = |x_i|^2 sum_k a_k^2 s_ik^2, on orthogonal
 * samples. */
static void orthogonal_point(double *X, double *y, double *W, double *a, double leak, RfRandom *random) {
  memset(X, 0, n * d * sizeof *X), memset(W, 0, m * d * sizeof *W);
  for (int k = 0; k < m; k++) a[k] = (k % 2 ? -1 : 1) * (0.5 + rf_random_uniform(random));
  for (int i = 0; i < n; i++) {
    double K = 0;
    X[i * d + i] = 0.5 + rf_random_uniform(random), y[i] = i % 2 ? -1 : 1;
    for (int k = 0; k < m; k++) K += pow(X[i * d + i] * a[k] * (a[k] * y[i] > 0 ? 1 : leak), 2);
    for (int k = 0; k < m; k++) W[k * d + i] += a[k] * y[i] * (a[k] * y[i] > 0 ? 1 : leak) * X[i * d + i] / K;
  }
}

static void orthogonal(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 77, 0);
  for (rf_index round = 0; round < rf_test_iterations(20); round++) {
    double X[n * d], y[n], W[m * d], a[m], leak = 0.1 + 0.8 * rf_random_uniform(&random);
    orthogonal_point(X, y, W, a, leak, &random);
    RfNet net = {.m = m, .d = d, .W = W, .a = a, .leak = leak};
    RfFrozenVerdict v;
    assert_ok(&context, rf_certify_frozen(&context, &v, &net, X, y, n));
    assert_true(v.kkt.holds);
    assert_int_equal(v.local, RF_VERDICT_OPTIMUM);
    assert_int_equal(v.global, RF_VERDICT_OPTIMUM);
    assert_close(v.kkt.objective, rf_la_dot(W, W, m * d) / 2, 1e-9 * v.kkt.objective);
    assert_relative(v.lower, v.kkt.objective, 1e-7);
    rf_frozen_verdict_free(&v);
    W[0] += 0.3; /* not stationary */
    assert_ok(&context, rf_certify_frozen(&context, &v, &net, X, y, n));
    assert_int_equal(v.local, RF_VERDICT_NOT_OPTIMUM);
    rf_frozen_verdict_free(&v);
  }
}

/* Random problems: no feasible first layer that is drawn is below `lower`. */
static void bounds(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 78, 0);
  rf_index separated = 0;
  for (rf_index round = 0; round < rf_test_iterations(200); round++) {
    double X[5 * 2], y[5], W[3 * 2], a[] = {1, -1, 0.5}, q[5], V[3 * 2];
    RfNet net = {.m = 3, .d = 2, .W = W, .a = a, .leak = round % 2 ? 0.3 : 0}, other = net;
    other.W = V;
    for (int p = 0; p < 10; p++) X[p] = rf_random_gaussian(&random);
    for (int p = 0; p < 6; p++) W[p] = rf_random_gaussian(&random);
    assert_ok(&context, rf_net_outputs(&context, q, &net, X, 5));
    for (int i = 0; i < 5; i++) y[i] = q[i] > 0 ? 1 : -1;
    RfFrozenVerdict v;
    RfStatus status = rf_certify_frozen(&context, &v, &net, X, y, 5);
    assert_true(status >= 0);
    if (status == RF_OK && v.kkt.lambda) {
      separated++;
      assert_true(v.lower <= v.kkt.objective * (1 + 1e-9));
      for (int draw = 0; draw < 200; draw++) {
        double least = INFINITY;
        for (int p = 0; p < 6; p++)
          V[p] = draw % 2 ? rf_random_gaussian(&random) : W[p] + 0.1 * rf_random_gaussian(&random);
        assert_ok(&context, rf_net_outputs(&context, q, &other, X, 5));
        for (int i = 0; i < 5; i++) least = fmin(least, y[i] * q[i]);
        if (least > 0) assert_true(rf_la_dot(V, V, 6) / 2 / (least * least) >= v.lower * (1 - 1e-9));
      }
    }
    rf_frozen_verdict_free(&v);
  }
  assert_true(separated > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(orthogonal), cmocka_unit_test(bounds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
