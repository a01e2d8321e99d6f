/* Convolutions by the vector kernel: against the same network with every matrix entry written out as a shared
 * pattern, over channels, kernels, strides and borders that leave remainders everywhere; outputs, gradients,
 * float against double. */
#include "layers/layers.h"
#include "rf_test.h"

static rf_index pick(RfRandom *random, rf_index low, rf_index high) {
  return low + (rf_index)((double)(high - low + 1) * rf_random_uniform(random));
}

/* The layer as a pattern of its matrix; false when strides and borders leave a weight unused. */
static bool add_twin(RfContext *c, RfLayeredNet *twin, const RfLayeredNet *net, rf_index l) {
  const RfLayer *layer = &net->layers[l];
  int32_t *pattern = RF_NEW(int32_t, layer->inputs * layer->outputs);
  bool *used = RF_NEW(bool, layer->parameters), all = true;
  for (rf_index o = 0; o < layer->outputs; o++)
    for (rf_index i = 0; i < layer->inputs; i++) {
      rf_index entry = rf_layers_entry(net, l, o, i);
      pattern[o * layer->inputs + i] = entry < 0 ? -1 : (int32_t)(entry - layer->offset);
      if (entry >= 0) used[entry - layer->offset] = true;
    }
  for (rf_index p = 0; p < layer->parameters; p++) all = all && used[p];
  if (all) assert_ok(c, rf_layers_add_shared(c, twin, pattern, layer->inputs, layer->outputs));
  rf_free(pattern), rf_free(used);
  return all;
}

/* Kernels that use all their taps: otherwise the twin has fewer parameters. */
static bool every_tap_used(const RfConvShape *s) {
  return s->height >= s->kernel_h && s->width >= s->kernel_w && s->padding < s->kernel_h &&
         s->padding < s->kernel_w;
}

static RfConvShape draw_shape(RfRandom *random, rf_index channels, rf_index height, rf_index width) {
  RfConvShape s;
  do {
    s = (RfConvShape){.channels_in = channels,
                      .height = height,
                      .width = width,
                      .channels_out = pick(random, 4, 37),
                      .kernel_h = pick(random, 1, 5),
                      .kernel_w = pick(random, 1, 5),
                      .stride = pick(random, 1, 3),
                      .padding = pick(random, 0, 3)};
  } while (!every_tap_used(&s));
  return s;
}

static void twins(void **state) {
  (void)state;
  RfRandom random;
  RfContext context, *c = &context;
  rf_context_init(c);
  rf_random_init(&random, 91, 0);
  rf_index compared = 0, draws = rf_test_iterations(60);
  for (rf_index draw = 0; draw < draws; draw++) {
    RfLayeredNet net, twin;
    rf_index channels = pick(&random, 1, 19), n = pick(&random, 1, 11);
    assert_ok(c, rf_layers_new(c, &net, draw % 2 ? 0.2 : 0));
    assert_ok(c, rf_layers_new(c, &twin, draw % 2 ? 0.2 : 0));
    RfConvShape first = draw_shape(&random, channels, pick(&random, 5, 10), pick(&random, 5, 10));
    assert_ok(c, rf_layers_add_conv(c, &net, first));
    first = net.layers[0].conv;
    RfConvShape second = {.channels_in = first.channels_out,
                          .height = first.height_out,
                          .width = first.width_out,
                          .channels_out = pick(&random, 4, 20),
                          .kernel_h = 1,
                          .kernel_w = 1,
                          .stride = 1};
    if (first.height_out >= 5 && first.width_out >= 5)
      second = draw_shape(&random, first.channels_out, first.height_out, first.width_out);
    assert_ok(c, rf_layers_add_conv(c, &net, second));
    if (add_twin(c, &twin, &net, 0) && add_twin(c, &twin, &net, 1)) {
      compared++;
      assert_ok(c, rf_layers_add_dense(c, &net, net.layers[1].outputs, 1));
      assert_ok(c, rf_layers_add_dense(c, &twin, net.layers[1].outputs, 1));
      rf_index P = net.n_parameters, d = net.layers[0].inputs, hidden = rf_layers_hidden(&net);
      double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n), *out = RF_NEW(double, n),
             *want = RF_NEW(double, n), *g = RF_NEW(double, P), *gw = RF_NEW(double, P),
             *h = RF_NEW(double, n *hidden), *hw = RF_NEW(double, n *hidden);
      float *Xf = RF_NEW(float, n *d), *yf = RF_NEW(float, n), *qf = RF_NEW(float, n), *gf = RF_NEW(float, P),
            *thetaf = RF_NEW(float, P);
      for (rf_index p = 0; p < P; p++) {
        net.theta[p] = twin.theta[p] = 0.3 * rf_random_gaussian(&random);
        thetaf[p] = (float)net.theta[p];
      }
      for (rf_index k = 0; k < n * d; k++) Xf[k] = (float)(X[k] = rf_random_gaussian(&random));
      for (rf_index i = 0; i < n; i++) yf[i] = (float)(y[i] = rf_random_sign(&random));
      assert_ok(c, rf_layers_evaluate(c, out, h, &net, X, n));
      assert_ok(c, rf_layers_evaluate(c, want, hw, &twin, X, n));
      double size = rf_la_norm(hw, n * hidden);
      for (rf_index i = 0; i < n; i++) assert_close(out[i], want[i], 1e-12 * (1 + fabs(want[i])) * size);
      for (rf_index k = 0; k < n * hidden; k++) assert_close(h[k], hw[k], 1e-12 * size);
      assert_ok(c, rf_layers_gradient(c, g, NULL, &net, X, y, n));
      assert_ok(c, rf_layers_gradient(c, gw, NULL, &twin, X, y, n));
      size = rf_la_norm(gw, P);
      for (rf_index p = 0; p < P; p++) assert_close(g[p], gw[p], 1e-12 * size);
      RfLossWork *work;
      assert_ok(c, rf_layers_loss_work_new(c, &work, &net, RF_FLOAT, n));
      rf_layers_loss_gradient_float(c, work, gf, qf, thetaf, Xf, yf, RF_LOSS_LOGISTIC, 0, n);
      rf_layers_loss_work_free(work);
      for (rf_index i = 0; i < n; i++) {
        assert_close((double)qf[i], y[i] * out[i], 1e-3 * (1 + fabs(out[i])));
        y[i] *= -exp(rf_loss_log_slope(RF_LOSS_LOGISTIC, y[i] * out[i]));
      }
      assert_ok(c, rf_layers_gradient(c, gw, NULL, &twin, X, y, n));
      size = rf_la_norm(gw, P) + 1e-3;
      for (rf_index p = 0; p < P; p++) assert_close((double)gf[p], gw[p], 2e-3 * size);
      rf_free(X), rf_free(y), rf_free(out), rf_free(want), rf_free(g), rf_free(gw), rf_free(h), rf_free(hw);
      rf_free(Xf), rf_free(yf), rf_free(qf), rf_free(gf), rf_free(thetaf);
    }
    rf_layers_free(&net), rf_layers_free(&twin);
  }
  assert_true(draws < 8 || compared > draws / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(twins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
