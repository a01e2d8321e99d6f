/* Distances to the decision boundary: against all linear pieces one by one, closed forms, random
 * perturbations, and brackets when the pieces are too many. */
#include "rf_test.h"

#include "geometry/geometry.h"
#include "reluflow/certify.h"
#include "la/la.h"

enum { most_m = 8, most_d = 4 };

static double output(const RfNet *net, const double *x) {
  double f = 0;
  for (rf_index k = 0; k < net->m; k++) {
    double t = rf_la_dot(net->W + k * net->d, x, net->d);
    f += net->a[k] * (t > 0 ? t : net->leak * t);
  }
  return f;
}

/* In the plane: the boundary consists of rays; each is where a linear piece vanishes, or the edge of a piece.
 */
static double by_rays(const RfNet *net, const double *x, double y) {
  double best = rf_la_norm(x, 2), pi = acos(-1.0);
  enum { steps = 40000 };
  for (int k = 0; k < steps; k++) {
    double low = 2 * pi * k / steps, high = 2 * pi * (k + 1) / steps, p[2] = {cos(low), sin(low)};
    double q[2] = {cos(high), sin(high)};
    if (!(y * output(net, p) > 0) || !(y * output(net, q) > 0)) { /* a ray with y f <= 0 in between */
      for (int turn = 0; turn < 50 && (y * output(net, p) > 0) != (y * output(net, q) > 0); turn++) {
        double middle = (low + high) / 2, r[2] = {cos(middle), sin(middle)};
        if ((y * output(net, r) > 0) == (y * output(net, p) > 0))
          low = middle, p[0] = r[0], p[1] = r[1];
        else
          high = middle, q[0] = r[0], q[1] = r[1];
      }
      double *edge = y * output(net, p) > 0 ? q : p, along = fmax(0, rf_la_dot(edge, x, 2));
      best = fmin(best, sqrt(fmax(0, rf_la_dot(x, x, 2) - along * along)));
    }
  }
  return best;
}

static void plane(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 20261, 1);
  for (rf_index round = 0; round < rf_test_iterations(40); round++) {
    double W[most_m * 2], a[most_m], X[6], y[3];
    RfNet net = {.m = 1 + rf_random_below(&random, most_m), .d = 2, .W = W, .a = a};
    net.leak = round % 2 ? 0 : rf_random_uniform(&random);
    for (rf_index p = 0; p < net.m * 2; p++) W[p] = rf_random_gaussian(&random);
    for (rf_index k = 0; k < net.m; k++) a[k] = rf_random_gaussian(&random);
    for (int p = 0; p < 6; p++) X[p] = rf_random_gaussian(&random);
    for (int i = 0; i < 3; i++) y[i] = output(&net, X + 2 * i) > 0 ? 1 : -1;
    RfRobustness r;
    assert_ok(&context, rf_certify_robustness(&context, &r, &net, X, y, 3, 0));
    assert_true(r.exact);
    for (int i = 0; i < 3; i++) {
      double want = y[i] * output(&net, X + 2 * i) > 0 ? by_rays(&net, X + 2 * i, y[i]) : 0;
      if (fabs(r.distance[i] - want) > 1e-6 * rf_la_norm(X + 2 * i, 2))
        fail_msg("round %lld: %.12g, by rays %.12g", (long long)round, r.distance[i], want);
      assert_true(y[i] * output(&net, r.nearest + 2 * i) < 1e-9);
    }
    rf_robustness_free(&r);
  }
}

/* More dimensions: nothing shorter flips a sample, and what is found does. */
static void draws(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 20261, 2);
  for (rf_index round = 0; round < rf_test_iterations(20); round++) {
    enum { d = 4, m = 6 };
    double W[m * d], a[m], x[d], z[d], step[d];
    RfNet net = {.m = m, .d = d, .W = W, .a = a, .leak = (double)(round % 3) * 0.3};
    for (int p = 0; p < m * d; p++) W[p] = rf_random_gaussian(&random);
    for (int k = 0; k < m; k++) a[k] = rf_random_gaussian(&random);
    for (int j = 0; j < d; j++) x[j] = rf_random_gaussian(&random);
    double y = output(&net, x) > 0 ? 1 : -1;
    if (output(&net, x) == 0) continue;
    RfRobustness r, few;
    assert_ok(&context, rf_certify_robustness(&context, &r, &net, x, &y, 1, 0));
    assert_true(r.exact && r.distance[0] == r.lower[0] && r.distance[0] <= rf_la_norm(x, d) * (1 + 1e-12));
    for (int j = 0; j < d; j++) step[j] = r.nearest[j] - x[j];
    assert_close(rf_la_norm(step, d), r.distance[0], 1e-9 * (1 + r.distance[0]));
    assert_true(y * output(&net, r.nearest) < 1e-9);
    for (int k = 0; k < 2000; k++) {
      rf_random_direction(&random, step, d);
      for (int j = 0; j < d; j++) z[j] = x[j] + 0.9999 * r.distance[0] * step[j];
      assert_true(y * output(&net, z) > -1e-12);
    }
    assert_ok(&context, rf_certify_robustness(&context, &few, &net, x, &y, 1, 1)); /* one node: a bracket */
    assert_true(few.lower[0] <= r.distance[0] * (1 + 1e-9) && few.distance[0] >= r.distance[0] * (1 - 1e-9));
    rf_robustness_free(&few), rf_robustness_free(&r);
  }
}

/* A linear network: |<w,x>|/|w|, and -y w flips all at the largest of them. Orthonormal samples, NB-04:
 * 1/sqrt n. */
static void closed_forms(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double W[] = {3, 4, -3, -4}, a[] = {1, -1}, X[] = {1, 0, 0, 1, -2, 0}, y[] = {1, 1, -1};
  RfNet linear = {.m = 2, .d = 2, .W = W, .a = a, .leak = 0};
  RfRobustness r;
  assert_ok(&context, rf_certify_robustness(&context, &r, &linear, X, y, 3, 0));
  double want[] = {0.6, 0.8, 1.2};
  for (int i = 0; i < 3; i++) assert_close(r.distance[i], want[i], 1e-12);
  assert_true(r.universal >= 1.2 - 1e-9 && r.universal < 1.6);
  rf_robustness_free(&r);
  for (int n = 3; n <= 6; n++) {
    double I[36] = {0}, label[6], V[12] = {0}, b[] = {1, -1};
    for (int i = 0; i < n; i++) {
      I[i * n + i] = 1, label[i] = i % 2 ? -1 : 1;
      V[(i % 2) * n + i] = 1;
    }
    RfNet net = {.m = 2, .d = n, .W = V, .a = b};
    assert_ok(&context, rf_certify_robustness(&context, &r, &net, I, label, n, 0));
    for (int i = 0; i < n; i++) assert_close(r.distance[i], 1 / sqrt(n), 1e-12);
    assert_close(r.universal, 1 / sqrt(n), 1e-6);
    rf_robustness_free(&r);
  }
}

/* A network that is wrong has distance 0; a dead one is 0 everywhere. */
static void edges(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double W[] = {1, 0}, a[] = {1}, X[] = {1, 0, -1, 0}, y[] = {1, 1};
  RfNet net = {.m = 1, .d = 2, .W = W, .a = a};
  RfRobustness r;
  assert_ok(&context, rf_certify_robustness(&context, &r, &net, X, y, 2, 0));
  assert_close(r.distance[0], 1, 1e-12);
  assert_close(r.distance[1], 0, 0);
  rf_robustness_free(&r);
  a[0] = 0;
  assert_ok(&context, rf_certify_robustness(&context, &r, &net, X, y, 2, 0));
  assert_close(r.distance[0] + r.distance[1], 0, 0);
  assert_true(isnan(r.universal));
  rf_robustness_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(plane), cmocka_unit_test(draws),
                                     cmocka_unit_test(closed_forms), cmocka_unit_test(edges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
