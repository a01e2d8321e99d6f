/* The gradient of the loss: against rf_layers_gradient with weights computed here, float against double,
 * threads, shift. */
#include "rf_test.h"
#include "layers/layers.h"

static void make(RfContext *c, RfLayeredNet *net, RfRandom *random, rf_index d, rf_index m) {
  assert_ok(c, rf_layers_new(c, net, 0.2));
  assert_ok(c, rf_layers_add_dense(c, net, d, m));
  assert_ok(c, rf_layers_add_dense(c, net, m, m));
  assert_ok(c, rf_layers_set_residual(c, net));
  assert_ok(c, rf_layers_add_dense(c, net, m, 1));
  for (rf_index p = 0; p < net->n_parameters; p++) net->theta[p] = 0.3 * rf_random_gaussian(random);
}

static void matches_weighted_gradient(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 31, 0);
  const rf_index sizes[][3] = {{1, 1, 1}, {7, 3, 5}, {5000, 6, 40}};
  for (int s = 0; s < 3; s++)
    for (int loss = 0; loss < 3; loss++) {
      rf_index n = sizes[s][0], d = sizes[s][1];
      RfLayeredNet net;
      make(&context, &net, &random, d, sizes[s][2]);
      rf_index P = net.n_parameters;
      double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n), *q = RF_NEW(double, n),
             *r = RF_NEW(double, n);
      double *g = RF_NEW(double, P), *want = RF_NEW(double, P), *threaded = RF_NEW(double, P);
      float *Xf = RF_NEW(float, n *d), *yf = RF_NEW(float, n), *qf = RF_NEW(float, n), *gf = RF_NEW(float, P),
            *tf = RF_NEW(float, P);
      for (rf_index k = 0; k < n * d; k++) X[k] = rf_random_gaussian(&random), Xf[k] = (float)X[k];
      for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random), yf[i] = (float)y[i];
      for (rf_index p = 0; p < P; p++) tf[p] = (float)net.theta[p];
      RfLossWork *work, *work_float;
      context.threads = 3;
      assert_ok(&context, rf_layers_loss_work_new(&context, &work, &net, RF_DOUBLE, n));
      assert_ok(&context, rf_layers_loss_work_new(&context, &work_float, &net, RF_FLOAT, n));
      rf_layers_loss_gradient(&context, work, threaded, q, net.theta, X, y, (RfLoss)loss, 0, n);
      context.threads = 1;
      rf_layers_loss_gradient(&context, work, g, q, net.theta, X, y, (RfLoss)loss, 0, n);
      assert_memory_equal(g, threaded, (size_t)P * sizeof *g);
      for (rf_index i = 0; i < n; i++) r[i] = -y[i] * exp(rf_loss_log_slope((RfLoss)loss, q[i]));
      assert_ok(&context, rf_layers_gradient(&context, want, NULL, &net, X, r, n));
      rf_layers_loss_gradient_float(&context, work_float, gf, qf, tf, Xf, yf, (RfLoss)loss, 0, n);
      double size = rf_la_norm(want, P);
      for (rf_index p = 0; p < P; p++) {
        assert_close(g[p], want[p], 1e-11 * size);
        assert_close((double)gf[p], want[p], 1e-4 * size);
      }
      rf_layers_loss_gradient(&context, work, g, q, net.theta, X, y, (RfLoss)loss, -2, n);
      for (rf_index p = 0; p < P; p++) assert_close(g[p], exp(2) * want[p], 1e-10 * size);
      rf_layers_loss_work_free(work), rf_layers_loss_work_free(work_float);
      rf_free(X), rf_free(y), rf_free(q), rf_free(r), rf_free(g), rf_free(want), rf_free(threaded);
      rf_free(Xf), rf_free(yf), rf_free(qf), rf_free(gf), rf_free(tf);
      rf_layers_free(&net);
    }
}

static void two_outputs_are_refused(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net;
  RfLossWork *work;
  rf_context_init(&context);
  assert_ok(&context, rf_layers_new(&context, &net, 0));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 2, 2));
  assert_int_equal(rf_layers_loss_work_new(&context, &work, &net, RF_DOUBLE, 5), RF_ERR_USAGE);
  assert_null(work);
  rf_layers_loss_work_free(NULL);
  rf_layers_free(&net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(matches_weighted_gradient),
                                     cmocka_unit_test(two_outputs_are_refused)};
  return cmocka_run_group_tests_name("layers/loss", tests, NULL, NULL);
}
