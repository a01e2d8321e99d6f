/* Networks: outputs against a plain double loop, homogeneity, margins, copies, sizes 0 and 1, bad arguments.
 */
#include "rf_test.h"

static double plain_output(const RfNet *net, const double *x) {
  double sum = 0;
  for (rf_index k = 0; k < net->m; k++) {
    double z = 0;
    for (rf_index j = 0; j < net->d; j++) z += net->W[k * net->d + j] * x[j];
    sum += net->a[k] * fmax(z, net->leak * z);
  }
  return sum;
}

static void random_net(RfContext *context, RfNet *net, RfRandom *random, rf_index m, rf_index d,
                       double leak) {
  assert_ok(context, rf_net_new(context, net, m, d, leak));
  for (rf_index k = 0; k < m * d; k++) net->W[k] = rf_random_gaussian(random);
  for (rf_index k = 0; k < m; k++) net->a[k] = rf_random_gaussian(random);
}

static void outputs_match_a_plain_loop(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 1, 0);
  const rf_index sizes[][3] = {{1, 1, 1}, {0, 3, 4}, {5, 3, 0}, {7, 20, 130}, {100, 5, 65}};
  for (int s = 0; s < 5; s++) {
    rf_index m = sizes[s][0], d = sizes[s][1], n = sizes[s][2];
    RfNet net, copy;
    random_net(&context, &net, &random, m, d, 0.1 * s);
    double *X = RF_NEW(double, n *d), *out = RF_NEW(double, n), *y = RF_NEW(double, n);
    for (rf_index i = 0; i < n * d; i++) X[i] = rf_random_gaussian(&random);
    for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random);
    assert_ok(&context, rf_net_outputs(&context, out, &net, X, n));
    double least = INFINITY, margin = 0;
    for (rf_index i = 0; i < n; i++) {
      double want = plain_output(&net, X + i * d);
      assert_close(out[i], want, 1e-12 * (1 + fabs(want)));
      least = fmin(least, y[i] * want);
    }
    assert_ok(&context, rf_net_margin(&context, &margin, NULL, &net, X, y, n));
    if (n > 0 && m > 0) assert_close(margin, least / rf_net_norm2(&net), 1e-12);
    if (m == 0 || n == 0) assert_close(margin, 0, 0);
    assert_ok(&context, rf_net_copy(&context, &copy, &net));
    for (rf_index k = 0; k < m * d; k++) copy.W[k] *= 3; /* degree 1 in W, 2 in theta */
    for (rf_index k = 0; k < m; k++) copy.a[k] *= 3;
    double scaled = 0;
    assert_ok(&context, rf_net_margin(&context, &scaled, out, &copy, X, y, n));
    assert_close(scaled, margin, 1e-12 * (1 + fabs(margin)));
    rf_net_free(&copy);
    rf_net_free(&net);
    rf_free(X), rf_free(out), rf_free(y);
  }
}

static void bad_arguments_are_refused(void **state) {
  (void)state;
  RfContext context;
  RfNet net;
  rf_context_init(&context);
  assert_int_equal(rf_net_new(&context, &net, -1, 2, 0), RF_ERR_USAGE);
  assert_int_equal(rf_net_new(&context, &net, 1, 2, 1.5), RF_ERR_USAGE);
  assert_int_equal(rf_net_new(&context, &net, 1, 2, NAN), RF_ERR_USAGE);
  assert_int_equal(rf_net_new(&context, &net, INT64_MAX / 2, 8, 0), RF_ERR_MEMORY);
  rf_net_free(&net);
  rf_net_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_match_a_plain_loop),
                                     cmocka_unit_test(bad_arguments_are_refused)};
  return cmocka_run_group_tests_name("net/net", tests, NULL, NULL);
}
