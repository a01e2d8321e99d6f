/* Theorems on fresh random data: where the flow must go is known from convex problems solved elsewhere.
 *   Phuong and Lampert, Theorem 1: orthogonally separable data, small balanced start: all live neurons align
 * with w+ or w-. Vardi, Shamir, Srebro, Theorem 3.2 and its leaky variant: a KKT point that is left again.
 *   Lyu, Li, Wang, Arora: symmetric data with small start end at the linear max-margin direction. */
#include "rf_test.h"

static void random_start(RfContext *context, RfFlowStart *start, RfRandom *random, rf_index m, rf_index d) {
  assert_ok(context, rf_flow_start_new(context, start, m, d));
  for (rf_index k = 0; k < m; k++) {
    double *v = start->directions + k * (d + 1);
    rf_random_direction(random, v, d);
    for (rf_index j = 0; j < d; j++) v[j] *= sqrt(0.5);
    v[d] = (k % 2 ? 1 : -1) * sqrt(0.5);
    start->log_norms[k] = 0.3 * rf_random_gaussian(random);
  }
}

static double correlation(const double *a, const double *b, rf_index d) {
  return rf_la_dot(a, b, d) / (rf_la_norm(a, d) * rf_la_norm(b, d));
}

static void orthogonally_separable(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  rf_la_serial_blas();
  for (rf_index seed = 0; seed < rf_test_iterations(12); seed++) {
    RfRandom random;
    rf_random_init(&random, (uint64_t)seed, 5);
    rf_index d = 2 + rf_random_below(&random, 6), n = 4 + rf_random_below(&random, 30), m = 12;
    double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n);
    for (rf_index i = 0; i < n; i++) { /* positive samples in the orthant, negative ones in its opposite */
      y[i] = i % 2 ? 1 : -1;
      for (rf_index j = 0; j < d; j++) X[i * d + j] = y[i] * (0.05 + fabs(rf_random_gaussian(&random)));
    }
    RfFlowStart start;
    random_start(&context, &start, &random, m, d);
    double scales[3] = {log(1e-4), -690, -1e5};
    RfFlowProblem problem = {.X = X, .y = y, .n = n, .d = d, .start = &start, .log_scale = scales[seed % 3]};
    RfFlowSettings settings;
    RfFlowResult result;
    RfClassMargin plus, minus;
    rf_flow_settings_init(&settings);
    RfStatus status = rf_flow_run(&context, &result, &problem, &settings);
    if (status) print_error("seed %d: %s %s\n", (int)seed, rf_status_text(status), result.limit.why);
    assert_int_equal(status, RF_OK);
    assert_ok(&context, rf_margin_class(&context, &plus, X, y, n, d, 1));
    assert_ok(&context, rf_margin_class(&context, &minus, X, y, n, d, -1));
    bool lives[2] = {false, false};
    for (rf_index k = 0; k < m; k++) {
      const double *w = result.limit.net.W + k * d, a = result.limit.net.a[k];
      if (rf_la_norm(w, d) < 1e-100) continue;
      lives[a > 0] = true;
      assert_true(correlation(w, a > 0 ? plus.w : minus.w, d) >= 1 - 1e-9);
    }
    double total = (lives[1] ? rf_la_norm(plus.w, d) : 0) + (lives[0] ? rf_la_norm(minus.w, d) : 0);
    assert_relative(result.limit.margin, 1 / (2 * total), 1e-9);
    rf_class_margin_free(&plus);
    rf_class_margin_free(&minus);
    rf_flow_result_free(&result);
    rf_flow_start_free(&start);
    rf_free(X);
    rf_free(y);
  }
}

/* (+-1, 1/4) with leak 0.1: the flow comes within 2e-6 of a KKT point of margin 0.125 and leaves it again. */
static void leaves_a_kkt_point(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double X[4] = {1, 0.25, -1, 0.25}, y[2] = {1, 1};
  rf_index escapes = 0;
  for (rf_index seed = 0; seed < rf_test_iterations(10) + 10; seed++) {
    RfRandom random;
    rf_random_init(&random, (uint64_t)seed, 6);
    double W[4] = {0.2 * rf_random_uniform(&random), 1, 0.02 + 0.1 * rf_random_uniform(&random), -1};
    double a[2] = {hypot(W[0], W[1]), hypot(W[2], W[3])};
    RfNet net = {.m = 2, .d = 2, .W = W, .a = a, .leak = 0.1};
    RfFlowStart start;
    RfFlowSettings settings;
    RfFlowResult result;
    assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
    RfFlowProblem problem = {
        .X = X, .y = y, .n = 2, .d = 2, .leak = 0.1, .start = &start, .log_scale = log(0.01)};
    rf_flow_settings_init(&settings);
    assert_int_equal(rf_flow_run(&context, &result, &problem, &settings), RF_OK);
    assert_close(result.limit.margin, 0.235269127808984, 1e-11);
    escapes += result.monitors.escapes;
    rf_flow_result_free(&result);
    rf_flow_start_free(&start);
  }
  assert_true(escapes > 0);
}

/* x and -x with opposite labels, leaky: f = (1+leak)/2 times a linear map in the limit; its direction is that
 * of the hard-margin separator, and the margin is (1+leak)/4 times the linear one. */
static void symmetric_data_end_linear(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (rf_index seed = 0; seed < rf_test_iterations(10); seed++) {
    RfRandom random;
    rf_random_init(&random, (uint64_t)seed, 7);
    rf_index d = 2 + rf_random_below(&random, 3), half = 2 + rf_random_below(&random, 4), n = 2 * half, m = 6;
    double X[80], y[20], teacher[5], leak = 0.1 + 0.4 * rf_random_uniform(&random);
    rf_random_direction(&random, teacher, d);
    for (rf_index i = 0; i < half; i++) {
      double *x = X + i * d, *mirror = X + (half + i) * d;
      for (rf_index j = 0; j < d; j++) x[j] = 0.6 * rf_random_gaussian(&random) + teacher[j];
      if (rf_la_dot(x, teacher, d) < 0.3) rf_la_axpy(x, 1, teacher, d);
      for (rf_index j = 0; j < d; j++) mirror[j] = -x[j];
      y[i] = rf_la_dot(x, teacher, d) > 0 ? 1 : -1;
      y[half + i] = -y[i];
    }
    RfFlowStart start;
    RfFlowSettings settings;
    RfFlowResult result;
    RfLinearMargin linear;
    random_start(&context, &start, &random, m, d);
    RfFlowProblem problem = {
        .X = X, .y = y, .n = n, .d = d, .leak = leak, .start = &start, .log_scale = log(1e-6)};
    rf_flow_settings_init(&settings);
    RfStatus status = rf_flow_run(&context, &result, &problem, &settings);
    if (status) print_error("seed %d: %s %s\n", (int)seed, rf_status_text(status), result.limit.why);
    assert_int_equal(status, RF_OK);
    assert_ok(&context, rf_margin_linear(&context, &linear, X, y, n, d));
    assert_relative(result.limit.margin, (1 + leak) / 4 * linear.margin, 1e-9);
    for (rf_index g = 0; g < result.limit.n_groups; g++)
      assert_close(correlation(result.limit.groups[g].beta, linear.w, d), result.limit.groups[g].sign, 1e-9);
    rf_linear_margin_free(&linear);
    rf_flow_result_free(&result);
    rf_flow_start_free(&start);
  }
}

/* A frozen second layer: the limit of W is the minimum-norm W with margins 1 for the final pattern; with one
 * positive neuron active on everything it is the hard-margin separator. */
static void frozen_second_layer(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (rf_index seed = 0; seed < rf_test_iterations(10); seed++) {
    RfRandom random;
    rf_random_init(&random, (uint64_t)seed, 8);
    rf_index d = 3, n = 6;
    double X[18], y[6], W[6], a[2] = {0.7, 1.3};
    for (rf_index i = 0; i < n; i++) {
      y[i] = 1;
      for (rf_index j = 0; j < d; j++) X[i * d + j] = 0.2 + fabs(rf_random_gaussian(&random));
    }
    for (rf_index j = 0; j < 2 * d; j++) W[j] = 0.1 + rf_random_uniform(&random);
    RfNet net = {.m = 2, .d = d, .W = W, .a = a, .leak = 0};
    RfFlowStart start;
    RfFlowSettings settings;
    RfFlowResult result;
    RfLinearMargin linear;
    assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
    RfFlowProblem problem = {.X = X, .y = y, .n = n, .d = d, .start = &start, .freeze_second = true};
    rf_flow_settings_init(&settings);
    assert_int_equal(rf_flow_run(&context, &result, &problem, &settings), RF_OK);
    assert_ok(&context, rf_margin_linear(&context, &linear, X, y, n, d));
    for (rf_index k = 0; k < 2; k++) {
      assert_close(correlation(result.limit.net.W + k * d, linear.w, d), 1, 1e-9);
      assert_close(result.limit.net.a[k], a[k], 1e-12);
    }
    assert_relative(result.limit.margin, linear.margin * hypot(a[0], a[1]), 1e-9);
    rf_linear_margin_free(&linear);
    rf_flow_result_free(&result);
    rf_flow_start_free(&start);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orthogonally_separable),
      cmocka_unit_test(leaves_a_kkt_point),
      cmocka_unit_test(symmetric_data_end_linear),
      cmocka_unit_test(frozen_second_layer),
  };
  return cmocka_run_group_tests_name("flow/theorems", tests, NULL, NULL);
}
