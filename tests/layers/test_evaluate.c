/* Layered networks: outputs and gradients against explicit matrices built entry by entry (rf_layers_entry),
 * gradients against central differences, Euler's identity <df/dtheta, theta> = D f, threads, structure
 * errors. */
#include "rf_test.h"
#include "layers/layers.h"

typedef void (*Builder)(RfContext *context, RfLayeredNet *net);

static void build_dense(RfContext *c, RfLayeredNet *net) {
  assert_ok(c, rf_layers_new(c, net, 0));
  assert_ok(c, rf_layers_add_dense(c, net, 6, 7));
  assert_ok(c, rf_layers_add_dense(c, net, 7, 5));
  assert_ok(c, rf_layers_add_dense(c, net, 5, 1));
}

static void build_linear(RfContext *c, RfLayeredNet *net) {
  build_dense(c, net);
  net->leak = 1;
}

static void build_diagonal(RfContext *c, RfLayeredNet *net) {
  assert_ok(c, rf_layers_new(c, net, 0.3));
  assert_ok(c, rf_layers_add_diagonal(c, net, 6));
  assert_ok(c, rf_layers_add_diagonal(c, net, 6));
  assert_ok(c, rf_layers_add_dense(c, net, 6, 1));
}

/* Overlapping patches, stride 1 with padding, then stride 2, two channels. */
static void build_conv(RfContext *c, RfLayeredNet *net) {
  assert_ok(c, rf_layers_new(c, net, 0.1));
  RfConvShape first = {.channels_in = 1,
                       .height = 5,
                       .width = 4,
                       .channels_out = 2,
                       .kernel_h = 3,
                       .kernel_w = 3,
                       .stride = 1,
                       .padding = 1};
  RfConvShape second = {.channels_in = 2,
                        .height = 5,
                        .width = 4,
                        .channels_out = 3,
                        .kernel_h = 3,
                        .kernel_w = 2,
                        .stride = 2,
                        .padding = 1};
  assert_ok(c, rf_layers_add_conv(c, net, first));
  assert_ok(c, rf_layers_add_conv(c, net, second));
  assert_ok(c, rf_layers_add_dense(c, net, net->layers[1].outputs, 1));
}

/* Two patches of two coordinates that share one filter (Vardi, Shamir, Srebro, Theorem 4.4), then a sparse
 * layer. */
static void build_shared(RfContext *c, RfLayeredNet *net) {
  const int32_t filter[] = {0, 1, -1, -1, -1, -1, 0, 1}, sparse[] = {0, -1, 1, 0, -1, 2}, top[] = {0, 1, 2};
  assert_ok(c, rf_layers_new(c, net, 0));
  assert_ok(c, rf_layers_add_shared(c, net, filter, 4, 2));
  assert_ok(c, rf_layers_add_shared(c, net, sparse, 2, 3));
  assert_ok(c, rf_layers_add_shared(c, net, top, 3, 1));
}

/* Phuong and Lampert (30): f1 = W1 x, fl = f(l-1) + Wl phi(f(l-1)), out = W4 phi(f3). */
static void build_residual(RfContext *c, RfLayeredNet *net) {
  assert_ok(c, rf_layers_new(c, net, 0));
  assert_ok(c, rf_layers_add_dense(c, net, 4, 6));
  assert_ok(c, rf_layers_add_dense(c, net, 6, 6));
  assert_ok(c, rf_layers_set_residual(c, net));
  assert_ok(c, rf_layers_add_dense(c, net, 6, 6));
  assert_ok(c, rf_layers_set_residual(c, net));
  assert_ok(c, rf_layers_add_dense(c, net, 6, 1));
}

static const Builder builders[] = {build_dense, build_linear, build_diagonal,
                                   build_conv,  build_shared, build_residual};
enum { n_builders = sizeof builders / sizeof builders[0], widest = 64 };

static void fill(RfRandom *random, double *x, rf_index n) {
  for (rf_index k = 0; k < n; k++) x[k] = rf_random_gaussian(random);
}

/* f(x) with every layer as an explicit matrix. */
static double explicit_output(const RfLayeredNet *net, const double *x) {
  double z[widest], before[widest];
  for (rf_index l = 0; l < net->n_layers; l++) {
    const RfLayer *layer = &net->layers[l];
    for (rf_index o = 0; o < layer->outputs; o++) {
      double sum = layer->residual ? before[o] : 0;
      for (rf_index i = 0; i < layer->inputs; i++) {
        rf_index entry = rf_layers_entry(net, l, o, i);
        double input = l == 0 ? x[i] : fmax(before[i], net->leak * before[i]);
        if (entry >= 0) sum += net->theta[entry] * input;
      }
      z[o] = sum;
    }
    memcpy(before, z, sizeof before);
  }
  return z[0];
}

static void outputs_and_gradients(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 21, 0);
  for (int b = 0; b < n_builders; b++) {
    RfLayeredNet net;
    builders[b](&context, &net);
    rf_index in = rf_layers_inputs(&net), n = 1500, P = net.n_parameters;
    double *X = RF_NEW(double, n *in), *out = RF_NEW(double, n), *r = RF_NEW(double, n);
    double *gradient = RF_NEW(double, P), *again = RF_NEW(double, P), *J = RF_NEW(double, n *P);
    fill(&random, X, n * in), fill(&random, r, n), fill(&random, net.theta, P);
    assert_ok(&context, rf_layers_gradient(&context, gradient, out, &net, X, r, n));
    for (rf_index i = 0; i < n; i++) {
      double want = explicit_output(&net, X + i * in);
      assert_close(out[i], want, 1e-12 * (1 + fabs(want)));
    }
    context.threads = 3;
    assert_ok(&context, rf_layers_gradient(&context, again, NULL, &net, X, r, n));
    context.threads = 1;
    assert_memory_equal(gradient, again, (size_t)P * sizeof *gradient);
    assert_ok(&context, rf_layers_jacobian(&context, J, &net, X, n));
    for (rf_index p = 0; p < P; p++) {
      double sum = 0, h = 1e-6, keep = net.theta[p], plus = 0, minus = 0;
      for (rf_index i = 0; i < n; i++) sum += r[i] * J[i * P + p];
      assert_close(gradient[p], sum, 1e-10 * (1 + fabs(sum)));
      net.theta[p] = keep + h, plus = explicit_output(&net, X);
      net.theta[p] = keep - h, minus = explicit_output(&net, X);
      net.theta[p] = keep;
      assert_close(J[p], (plus - minus) / (2 * h), 1e-6 * (1 + fabs(J[p])));
    }
    rf_index degree = rf_layers_homogeneity(&net);
    assert_int_equal(degree, builders[b] == build_residual ? 0 : net.n_layers);
    for (rf_index i = 0; degree && i < n; i++) {
      double euler = 0;
      for (rf_index p = 0; p < P; p++) euler += J[i * P + p] * net.theta[p];
      assert_close(euler, (double)degree * out[i], 1e-10 * (1 + fabs(euler)));
    }
    rf_free(X), rf_free(out), rf_free(r), rf_free(gradient), rf_free(again), rf_free(J);
    rf_layers_free(&net);
  }
}

/* Per layer, <df/du^(l), u^(l)> = f: the identity behind the conserved layer differences (VSS Lemma C.1). */
static void each_layer_is_homogeneous(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 22, 0);
  for (int b = 0; b < n_builders - 1; b++) {
    RfLayeredNet net, copy;
    builders[b](&context, &net);
    double x[widest], out, *J = RF_NEW(double, net.n_parameters);
    fill(&random, x, rf_layers_inputs(&net)), fill(&random, net.theta, net.n_parameters);
    assert_ok(&context, rf_layers_evaluate(&context, &out, NULL, &net, x, 1));
    assert_ok(&context, rf_layers_jacobian(&context, J, &net, x, 1));
    for (rf_index l = 0; l < net.n_layers; l++) {
      double sum = 0;
      for (rf_index p = 0; p < net.layers[l].parameters; p++)
        sum += J[net.layers[l].offset + p] * rf_layers_weights(&net, l)[p];
      assert_close(sum, out, 1e-11 * (1 + fabs(out)));
    }
    assert_ok(&context, rf_layers_copy(&context, &copy, &net));
    double again;
    assert_ok(&context, rf_layers_evaluate(&context, &again, NULL, &copy, x, 1));
    assert_true(again == out);
    rf_layers_free(&copy);
    rf_free(J);
    rf_layers_free(&net);
  }
}

static void fixed_layers_get_no_gradient(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 23, 0);
  build_dense(&context, &net);
  fill(&random, net.theta, net.n_parameters);
  net.layers[2].fixed = true;
  double x[6], one = 1, gradient[128];
  fill(&random, x, 6);
  assert_in_range(net.n_parameters, 1, 128);
  assert_ok(&context, rf_layers_gradient(&context, gradient, NULL, &net, x, &one, 1));
  for (rf_index p = 0; p < 5; p++) assert_true(gradient[net.layers[2].offset + p] == 0);
  double hidden[12], out;
  assert_ok(&context, rf_layers_evaluate(&context, &out, hidden, &net, x, 1));
  double sum = 0;
  for (rf_index k = 0; k < 5; k++) sum += fmax(hidden[7 + k], 0) * rf_layers_weights(&net, 2)[k];
  assert_close(sum, out, 1e-12 * (1 + fabs(out)));
  rf_layers_free(&net);
}

/* The shapes of Phuong and Lampert, Table 1 (claim PL-20): 28, 28, 14, 14, 14, 7 and 64*7*7 = 3136. */
static void table_of_shapes(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net;
  rf_context_init(&context);
  assert_ok(&context, rf_layers_new(&context, &net, 0));
  const rf_index rows[6][4] = {{32, 3, 1, 1}, {32, 3, 1, 1}, {32, 5, 2, 2},
                               {64, 3, 1, 1}, {64, 3, 1, 1}, {64, 5, 2, 2}};
  const rf_index side[6] = {28, 28, 14, 14, 14, 7};
  rf_index channels = 1, size = 28;
  for (int l = 0; l < 6; l++) {
    RfConvShape shape = {.channels_in = channels,
                         .height = size,
                         .width = size,
                         .channels_out = rows[l][0],
                         .kernel_h = rows[l][1],
                         .kernel_w = rows[l][1],
                         .stride = rows[l][2],
                         .padding = rows[l][3]};
    assert_ok(&context, rf_layers_add_conv(&context, &net, shape));
    channels = rows[l][0], size = net.layers[l].conv.height_out;
    assert_int_equal(size, side[l]);
    assert_int_equal(net.layers[l].conv.width_out, side[l]);
  }
  assert_int_equal(net.layers[5].outputs, 3136);
  assert_ok(&context, rf_layers_add_dense(&context, &net, 3136, 128));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 128, 1));
  rf_layers_free(&net);
}

static void structure_errors(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net;
  rf_context_init(&context);
  assert_int_equal(rf_layers_new(&context, &net, -0.1), RF_ERR_USAGE);
  assert_ok(&context, rf_layers_new(&context, &net, 0));
  double out, x[4] = {0};
  assert_int_equal(rf_layers_evaluate(&context, &out, NULL, &net, x, 1), RF_ERR_USAGE);
  assert_int_equal(rf_layers_set_residual(&context, &net), RF_ERR_USAGE);
  assert_int_equal(rf_layers_add_dense(&context, &net, 0, 3), RF_ERR_USAGE);
  assert_int_equal(rf_layers_add_dense(&context, &net, -2, 3), RF_ERR_USAGE);
  assert_ok(&context, rf_layers_add_dense(&context, &net, 4, 3));
  assert_int_equal(rf_layers_add_dense(&context, &net, 4, 1), RF_ERR_USAGE);
  assert_int_equal(rf_layers_add_diagonal(&context, &net, 2), RF_ERR_USAGE);
  const int32_t hole[] = {0, 2, -1}, low[] = {-2, 0, 1}, none[] = {-1, -1, -1};
  assert_int_equal(rf_layers_add_shared(&context, &net, hole, 3, 1), RF_ERR_USAGE);
  assert_int_equal(rf_layers_add_shared(&context, &net, low, 3, 1), RF_ERR_USAGE);
  assert_int_equal(rf_layers_add_shared(&context, &net, none, 3, 1), RF_ERR_USAGE);
  RfConvShape shape = {.channels_in = 1,
                       .height = 3,
                       .width = 1,
                       .channels_out = 1,
                       .kernel_h = 5,
                       .kernel_w = 1,
                       .stride = 1};
  assert_int_equal(rf_layers_add_conv(&context, &net, shape), RF_ERR_USAGE);
  shape.kernel_h = 1, shape.stride = 0;
  assert_int_equal(rf_layers_add_conv(&context, &net, shape), RF_ERR_USAGE);
  shape.stride = 1, shape.padding = 1;
  assert_int_equal(rf_layers_add_conv(&context, &net, shape), RF_ERR_USAGE);
  assert_int_equal(net.n_layers, 1); /* nothing was half added */
  assert_int_equal(rf_layers_jacobian(&context, &out, &net, x, 1), RF_ERR_USAGE);
  rf_layers_free(&net);
  rf_layers_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_and_gradients),
      cmocka_unit_test(each_layer_is_homogeneous),
      cmocka_unit_test(fixed_layers_get_no_gradient),
      cmocka_unit_test(table_of_shapes),
      cmocka_unit_test(structure_errors),
  };
  return cmocka_run_group_tests_name("layers/evaluate", tests, NULL, NULL);
}
