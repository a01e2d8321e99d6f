/* Gradients of the summed logistic loss against PyTorch (tests/net/make_reference.py), for every kind of
 * layer, through the three ways the library has: weighted sums, the Jacobian and the inner loop of training.
 */
#include <jansson.h>

#include "rf_test.h"

static rf_index take(double *out, const json_t *list) {
  rf_index count = 0;
  for (size_t k = 0; k < json_array_size(list); k++) {
    const json_t *item = json_array_get(list, k);
    if (json_is_array(item))
      count += take(out + count, item);
    else
      out[count++] = json_number_value(item);
  }
  return count;
}

static RfConvShape conv(rf_index in, rf_index out, rf_index kernel_h, rf_index kernel_w, rf_index stride) {
  return (RfConvShape){.channels_in = in,
                       .height = 5,
                       .width = 4,
                       .channels_out = out,
                       .kernel_h = kernel_h,
                       .kernel_w = kernel_w,
                       .stride = stride,
                       .padding = 1};
}

/* The shapes of make_reference.py. */
static void build(RfContext *c, RfLayeredNet *net, const char *kind, double leak) {
  const int32_t filter[] = {0, 1, -1, -1, -1, -1, 0, 1};
  assert_ok(c, rf_layers_new(c, net, leak));
  if (strcmp(kind, "dense") == 0) {
    assert_ok(c, rf_layers_add_dense(c, net, 4, 6));
    assert_ok(c, rf_layers_add_dense(c, net, 6, 5));
    assert_ok(c, rf_layers_add_dense(c, net, 5, 1));
  } else if (strcmp(kind, "diagonal") == 0) {
    assert_ok(c, rf_layers_add_diagonal(c, net, 4));
    assert_ok(c, rf_layers_add_diagonal(c, net, 4));
    assert_ok(c, rf_layers_add_dense(c, net, 4, 1));
  } else if (strcmp(kind, "conv") == 0) {
    assert_ok(c, rf_layers_add_conv(c, net, conv(1, 2, 3, 3, 1)));
    assert_ok(c, rf_layers_add_conv(c, net, conv(2, 3, 3, 2, 2)));
    assert_ok(c, rf_layers_add_dense(c, net, 27, 1));
  } else if (strcmp(kind, "shared") == 0) {
    assert_ok(c, rf_layers_add_shared(c, net, filter, 4, 2));
    assert_ok(c, rf_layers_add_dense(c, net, 2, 1));
  } else {
    assert_string_equal(kind, "residual");
    assert_ok(c, rf_layers_add_dense(c, net, 4, 5));
    for (int l = 0; l < 2; l++) {
      assert_ok(c, rf_layers_add_dense(c, net, 5, 5));
      assert_ok(c, rf_layers_set_residual(c, net));
    }
    assert_ok(c, rf_layers_add_dense(c, net, 5, 1));
  }
}

static void compare(RfContext *context, const RfLayeredNet *net, const double *X, const double *y, rf_index n,
                    const double *want) {
  rf_index P = net->n_parameters;
  double q[16], weights[16], *got = RF_NEW(double, P), *J = RF_NEW(double, n *P);
  RfLossWork *work;
  assert_in_range(n, 1, 16);
  assert_ok(context, rf_layers_loss_work_new(context, &work, net, RF_DOUBLE, n));
  rf_layers_loss_gradient(context, work, got, q, net->theta, X, y, RF_LOSS_LOGISTIC, 0, n);
  double scale = 0;
  for (rf_index p = 0; p < P; p++) scale = fmax(scale, fabs(want[p]));
  for (rf_index p = 0; p < P; p++) assert_close(got[p], want[p], 1e-12 * scale);
  for (rf_index i = 0; i < n; i++) weights[i] = -y[i] / (1 + exp(q[i]));
  assert_ok(context, rf_layers_gradient(context, got, NULL, net, X, weights, n));
  for (rf_index p = 0; p < P; p++) assert_close(got[p], want[p], 1e-12 * scale);
  assert_ok(context, rf_layers_jacobian(context, J, net, X, n));
  for (rf_index p = 0; p < P; p++) {
    double sum = 0;
    for (rf_index i = 0; i < n; i++) sum += weights[i] * J[i * P + p];
    assert_close(sum, want[p], 1e-12 * scale);
  }
  rf_layers_loss_work_free(work);
  rf_free(got), rf_free(J);
}

static void every_kind_as_pytorch(void **state) {
  (void)state;
  json_error_t error;
  json_t *root = json_load_file(RF_SOURCE_DIR "/tests/layers/data/gradients.json", 0, &error), *record;
  size_t k;
  int seen = 0;
  assert_non_null(root);
  json_array_foreach(json_object_get(root, "records"), k, record) {
    RfContext context;
    RfLayeredNet net;
    double X[256], y[16], want[256];
    rf_context_init(&context);
    build(&context, &net, json_string_value(json_object_get(record, "kind")),
          json_number_value(json_object_get(record, "leak")));
    rf_index n = take(y, json_object_get(record, "y"));
    assert_int_equal(take(X, json_object_get(record, "X")), n * rf_layers_inputs(&net));
    assert_int_equal(json_array_size(json_object_get(record, "theta")), net.n_parameters);
    take(net.theta, json_object_get(record, "theta"));
    assert_int_equal(take(want, json_object_get(record, "gradient")), net.n_parameters);
    compare(&context, &net, X, y, n, want);
    rf_layers_free(&net);
    seen++;
  }
  assert_int_equal(seen, 5);
  json_decref(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_as_pytorch)};
  return cmocka_run_group_tests_name("layers/reference", tests, NULL, NULL);
}
