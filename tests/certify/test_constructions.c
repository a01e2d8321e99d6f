/* Networks that the papers write down, certified: their margins, multipliers, verdicts and the printed
 * ratios. LLWA-34 (App. I.1.1), LLWA-35's optimum, PL-17 is in test_kkt.c, VSS-07, VSS-09, VSS-14, WP-04,
 * WP-05, WP-06. */
#include "rf_test.h"

static void certify(RfCertificate *c, const RfNet *net, const double *X, const double *y, rf_index n) {
  RfContext context;
  rf_context_init(&context);
  assert_ok(&context, rf_certify_net(&context, c, net, X, y, n, NULL));
}

/* (1, t), (1, 0), (1, -t) against their mirror images; three neurons of equal margin, two of them turned by
 * beta. */
static void lyu_three_neurons(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double leaks[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9};
  double margins[] = {0.2071068, 0.2377884, 0.2827609, 0.3561072, 0.4283576, 0.4713976};
  for (int l = 0; l < 6; l++) {
    double leak = leaks[l];
    char spec[64];
    RfDataset data;
    snprintf(spec, sizeof spec, "DS-LL1(%g)", leak);
    assert_ok(&context, rf_data_generate(&context, &data, spec));
    assert_int_equal(data.n, 6);
    /* the middle sample of each class is (+-1, 0); the angle follows from the outer ones being tight */
    double t = 0;
    for (rf_index i = 0; i < 6; i++) t = fmax(t, fabs(data.X[2 * i + 1]));
    double beta = atan(1 / t); /* w1 stands on the hyperplane of (1, -t) */
    RfNet net;
    assert_ok(&context, rf_net_new(&context, &net, 3, 2, leak));
    double size = pow(2 * (1 + leak) * cos(beta), -0.5), last = pow(1 + leak, -0.5);
    net.W[0] = net.W[2] = size * cos(beta);
    net.W[1] = size * sin(beta);
    net.W[3] = -net.W[1];
    net.W[4] = -last;
    net.a[0] = net.a[1] = size;
    net.a[2] = -last;
    RfCertificate c;
    certify(&c, &net, data.X, data.y, data.n);
    assert_close(c.kkt.margin, margins[l], 5e-8);
    for (rf_index i = 0; i < 6; i++) assert_close(c.kkt.margins[i], 1, 1e-14);
    if (!(c.kkt.stationarity <= 1e-10)) fail_msg("leak %g: stationarity %.3g", leak, c.kkt.stationarity);
    assert_true(c.kkt.holds);
    assert_relative(1 / (2 * c.best), (1 + leak) / 4, 1e-8); /* the optimum is linear */
    assert_int_equal(c.local, RF_VERDICT_NOT_OPTIMUM);
    assert_int_equal(c.global, RF_VERDICT_NOT_OPTIMUM);
    rf_certificate_free(&c);
    rf_net_free(&net);
    rf_dataset_free(&data);
  }
}

/* (1, s), (-1, s): one neuron upwards; |theta_KKT|/|theta_opt| = sqrt(sqrt(1+s^2)/(2s)). */
static void vardi_ratio(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double heights[] = {0.25, 0.1, 0.05, 0.01}, ratios[] = {1.43581, 2.24164, 3.16425, 7.07124};
  for (int h = 0; h < 4; h++) {
    double s = heights[h], X[] = {1, s, -1, s}, y[] = {1, 1};
    RfNet net;
    RfCertificate c;
    assert_ok(&context, rf_net_new(&context, &net, 2, 2, 0));
    net.W[1] = net.a[0] = 1 / sqrt(s);
    certify(&c, &net, X, y, 2);
    assert_true(c.kkt.holds && c.kkt.stationarity <= 1e-14);
    assert_relative(c.kkt.lambda[0], 1 / (2 * s), 1e-12);
    assert_relative(sqrt(c.kkt.objective / c.best), ratios[h], 1e-5);
    assert_relative(sqrt(c.kkt.objective / c.best), sqrt(sqrt(1 + s * s) / (2 * s)), 1e-9);
    assert_int_equal(c.local, RF_VERDICT_NOT_OPTIMUM);
    assert_int_equal(c.dual_feasible, RF_NO);
    assert_relative(1 + c.violation, sqrt(1 + s * s) / (2 * s), 1e-9); /* WP (16): 2.0616 at s = 1/4 */
    rf_certificate_free(&c);
    rf_net_free(&net);
  }
}

/* VSS-07's own witness is feasible and shorter, so the verdict must not be "optimum"; same for the rotation
 * of VSS-14. */
static void vardi_witnesses(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double X[] = {1, 0.25, -1, 0.25}, y[] = {1, 1, 1, 1}, steps[] = {0.9, 0.1, 1e-2, 1e-3}, q[4], margin;
  for (int k = 0; k < 4; k++) {
    double e = steps[k] * steps[k] / 9;
    RfNet net;
    assert_ok(&context, rf_net_new(&context, &net, 2, 2, 0));
    net.W[0] = e / 2, net.W[1] = 2 - 2 * e, net.W[2] = -sqrt(2 * e), net.a[0] = 2, net.a[1] = sqrt(2 * e);
    assert_ok(&context, rf_net_margin(&context, &margin, q, &net, X, y, 2));
    assert_close(q[0], 1, 1e-12);
    assert_close(q[1], 1, 1e-12);
    assert_close(rf_net_norm2(&net), 8 - 4 * e + 17 * e * e / 4, 1e-12);
    rf_net_free(&net);
  }
  double cross[] = {0, 1, 1, 0, 0, -1, -1, 0};
  for (int k = 0; k < 4; k++) {
    double e = steps[k] / (2 * sqrt(2));
    RfNet net;
    RfCertificate c;
    assert_ok(&context, rf_net_new(&context, &net, 4, 2, 0));
    double W[] = {e, 1 - e, 1 - e, -e, -e, -1 + e, -1 + e, e};
    memcpy(net.W, W, sizeof W);
    for (int j = 0; j < 4; j++) net.a[j] = 1;
    assert_ok(&context, rf_net_margin(&context, &margin, q, &net, cross, y, 4));
    for (int i = 0; i < 4; i++) assert_close(q[i], 1, 1e-14);
    assert_close(rf_net_norm2(&net), 8 + 8 * e * (e - 1), 1e-12);
    certify(&c, &net, cross, y, 4);
    assert_int_equal(c.local, RF_VERDICT_NOT_OPTIMUM);
    assert_relative(2 * c.best, 4 * sqrt(2), 1e-8);
    rf_certificate_free(&c);
    rf_net_free(&net);
  }
}

/* Orthogonally separable data: the KKT point of w+ and w- has masks that cover the classes, unit vectors
 * X^T D_k lambda (WP Prop. 3), dual feasible multipliers (WP Prop. 4), and is the global optimum. */
static void orthogonal_data(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (rf_index seed = 0; seed < rf_test_iterations(10); seed++) {
    char spec[64];
    RfDataset data;
    snprintf(spec, sizeof spec, "orthant,n=20,d=4,seed=%lld", (long long)seed);
    assert_ok(&context, rf_data_generate(&context, &data, spec));
    RfNet net;
    RfCertificate c;
    RfClassMargin classes[2];
    assert_ok(&context, rf_net_new(&context, &net, 2, data.d, 0));
    for (int k = 0; k < 2; k++) {
      assert_ok(&context, rf_margin_class(&context, &classes[k], data.X, data.y, data.n, data.d, k ? -1 : 1));
      for (rf_index j = 0; j < data.d; j++) net.W[k * data.d + j] = classes[k].w[j] / sqrt(classes[k].norm);
      net.a[k] = (k ? -1 : 1) * sqrt(classes[k].norm);
    }
    certify(&c, &net, data.X, data.y, data.n);
    assert_true(c.kkt.stationarity <= 1e-13);
    assert_int_equal(c.dual_feasible, RF_YES);
    assert_int_equal(c.local, RF_VERDICT_OPTIMUM);
    assert_int_equal(c.global, RF_VERDICT_OPTIMUM);
    assert_relative(c.lower, classes[0].norm + classes[1].norm, 1e-8);
    for (int k = 0; k < 2; k++) {
      double sum[4] = {0};
      for (rf_index i = 0; i < data.n; i++)
        if (rf_la_dot(net.W + k * data.d, data.X + i * data.d, data.d) > 0)
          rf_la_axpy(sum, data.y[i] * c.kkt.lambda[i], data.X + i * data.d, data.d);
      assert_close(rf_la_norm(sum, data.d), 1, 1e-12);
      rf_class_margin_free(&classes[k]);
    }
    rf_certificate_free(&c);
    rf_net_free(&net);
    rf_dataset_free(&data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lyu_three_neurons), cmocka_unit_test(vardi_ratio),
                                     cmocka_unit_test(vardi_witnesses), cmocka_unit_test(orthogonal_data)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
