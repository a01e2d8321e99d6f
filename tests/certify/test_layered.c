/* Certificates of layered networks: exact KKT points of Vardi, Shamir and Srebro, agreement with the
 * two-layer projection, and points that are not optimal. */
#include "rf_test.h"

/* VSS Theorem 5.1: diagonal depth 3 on (1,1), all entries 2^{-1/3}: a KKT point whose layers are each
 * optimal. */
static void diagonal_depth_three(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net;
  RfLayeredKkt kkt;
  RfLayerVerdict layers[3];
  rf_context_init(&context);
  const double x[] = {1, 1}, y[] = {1};
  assert_ok(&context, rf_layers_new(&context, &net, 0));
  assert_ok(&context, rf_layers_add_diagonal(&context, &net, 2));
  assert_ok(&context, rf_layers_add_diagonal(&context, &net, 2));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 2, 1));
  for (rf_index p = 0; p < 6; p++) net.theta[p] = 3 * pow(2, -1.0 / 3); /* any scale */
  assert_ok(&context, rf_certify_layered_kkt(&context, &kkt, &net, x, y, 1));
  assert_true(kkt.holds);
  assert_close(kkt.stationarity, 0, 1e-14);
  assert_close(kkt.objective, 3 * pow(2, -2.0 / 3), 1e-13); /* |theta|^2/2 = 6 * 2^{-2/3} / 2 */
  assert_int_equal(kkt.kinks, 0);
  rf_layered_kkt_free(&kkt);
  assert_ok(&context, rf_certify_each_layer(&context, layers, &net, x, y, 1));
  for (int l = 0; l < 3; l++) assert_close(layers[l].gap, 0, 1e-13);
  net.theta[0] = 5; /* not a KKT point, and its first layer is not optimal */
  assert_ok(&context, rf_certify_layered_kkt(&context, &kkt, &net, x, y, 1));
  assert_false(kkt.holds);
  assert_true(kkt.stationarity > 0.05);
  rf_layered_kkt_free(&kkt);
  assert_ok(&context, rf_certify_each_layer(&context, layers, &net, x, y, 1));
  assert_true(layers[0].gap > 0.01);
  net.theta[3] = net.theta[0] = -5, net.theta[1] = -1;
  assert_int_equal(rf_certify_layered_kkt(&context, &kkt, &net, x, y, 1), RF_NOT_SEPARABLE);
  assert_false(kkt.holds);
  rf_layered_kkt_free(&kkt);
  rf_layers_free(&net);
}

/* Random two-layer networks without kinks: the same figures as rf_certify_kkt. */
static void agrees_with_the_two_layer_projection(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 51, 0);
  rf_index compared = 0;
  for (rf_index trial = 0; trial < rf_test_iterations(60); trial++) {
    enum { n = 6, d = 3, m = 4 };
    double X[n * d], y[n], f[n];
    RfNet net;
    RfLayeredNet layered;
    RfKkt kkt;
    RfLayeredKkt other;
    assert_ok(&context, rf_net_new(&context, &net, m, d, trial % 2 ? 0 : 0.4));
    for (int k = 0; k < m * d; k++) net.W[k] = rf_random_gaussian(&random);
    for (int k = 0; k < m; k++) net.a[k] = rf_random_gaussian(&random);
    for (int k = 0; k < n * d; k++) X[k] = rf_random_gaussian(&random);
    assert_ok(&context, rf_net_outputs(&context, f, &net, X, n));
    for (int i = 0; i < n; i++) y[i] = f[i] > 0 ? 1 : -1;
    assert_ok(&context, rf_train_from_net(&context, &layered, &net));
    RfStatus status = rf_certify_kkt(&context, &kkt, &net, X, y, n);
    RfStatus second = rf_certify_layered_kkt(&context, &other, &layered, X, y, n);
    assert_int_equal(status == RF_NOT_SEPARABLE, second == RF_NOT_SEPARABLE);
    if (status == RF_OK && second == RF_OK) {
      compared++;
      assert_relative(other.objective, kkt.objective, 1e-10);
      assert_close(other.margin, kkt.margin, 1e-12);
      double ours = hypot(other.stationarity, other.complementarity),
             theirs = hypot(kkt.stationarity, kkt.complementarity);
      assert_close(ours, theirs, 1e-8);
    }
    rf_kkt_free(&kkt);
    rf_layered_kkt_free(&other);
    rf_net_free(&net);
    rf_layers_free(&layered);
  }
  assert_true(compared > 0);
}

static void residual_nets_are_refused(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net;
  RfLayeredKkt kkt;
  rf_context_init(&context);
  const double x[] = {1, 1}, y[] = {1};
  assert_ok(&context, rf_layers_new(&context, &net, 0));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 2, 2));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 2, 2));
  assert_ok(&context, rf_layers_set_residual(&context, &net));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 2, 1));
  assert_int_equal(rf_certify_layered_kkt(&context, &kkt, &net, x, y, 1), RF_ERR_USAGE);
  rf_layered_kkt_free(NULL);
  rf_layers_free(&net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(diagonal_depth_three),
                                     cmocka_unit_test(agrees_with_the_two_layer_projection),
                                     cmocka_unit_test(residual_nets_are_refused)};
  return cmocka_run_group_tests_name("certify/layered", tests, NULL, NULL);
}
