/* The flow of layered networks: against exact solutions, conserved layer differences, clocks that agree, and
 * limits that the theorems of Vardi, Shamir and Srebro give. */
#include "flow/layered/flow.h"
#include "rf_test.h"

static void start(RfContext *context) { rf_context_init(context); }

/* Depth-2 diagonal net on one sample (1,2) from w1 = w2 = (1,0): beta = w1*w2 stays on the first axis
 * (Theorem 4.1), and w = w1[0] solves dw/dt = w e^{-w^2}, whose time is (Ei(w^2) - Ei(1))/2. */
static double exponential_integral(double x) {
  double sum = 0.57721566490153286061 + log(x), term = 1;
  for (int k = 1; k < 500; k++) {
    term *= x / k;
    sum += term / k;
  }
  return sum;
}

static void diagonal_against_exact_solution(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net;
  RfLayeredFlow flow;
  start(&context);
  const double x[] = {1, 2}, y[] = {1};
  assert_ok(&context, rf_layers_new(&context, &net, 1));
  assert_ok(&context, rf_layers_add_diagonal(&context, &net, 2));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 2, 1));
  net.theta[0] = net.theta[2] = 1;
  assert_ok(&context, rf_layered_flow_new(&context, &flow, &net, x, y, 1, RF_LOSS_EXP));
  assert_ok(&context, rf_layered_flow_to_time(&context, &flow, 5));
  double w = flow.net.theta[0];
  assert_close((exponential_integral(w * w) - exponential_integral(1)) / 2, 5, 1e-8);
  assert_true(flow.net.theta[1] == 0 && flow.net.theta[3] == 0);
  assert_ok(&context, rf_layered_flow_to_smargin(&context, &flow, 20)); /* the late clock carries t */
  w = flow.net.theta[0];
  assert_close(w * w, flow.smargin, 1e-10 * w * w);
  assert_relative(exp(flow.log_t), (exponential_integral(w * w) - exponential_integral(1)) / 2, 1e-5);
  assert_true(flow.drift < 1e-12);
  rf_layered_flow_free(&flow);
  rf_layers_free(&net);
}

/* VSS Lemma C.1 on random dense, ReLU and linear nets: |W_j|^2 - |W_{j+1}|^2 does not change; and one
 * velocity against central differences of the loss. */
static void layer_differences_are_conserved(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  start(&context);
  rf_random_init(&random, 41, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(6); trial++) {
    double X[8 * 3], y[8];
    for (int i = 0; i < 8; i++) {
      y[i] = rf_random_sign(&random);
      for (int j = 0; j < 3; j++) X[i * 3 + j] = 0.3 * rf_random_gaussian(&random) + (j == 0 ? y[i] : 0);
    }
    RfLayeredNet net;
    RfLayeredFlow flow;
    assert_ok(&context, rf_layers_new(&context, &net, trial % 2 ? 0 : 1));
    assert_ok(&context, rf_layers_add_dense(&context, &net, 3, 4));
    if (trial % 3) assert_ok(&context, rf_layers_add_dense(&context, &net, 4, 4));
    assert_ok(&context, rf_layers_add_dense(&context, &net, 4, 1));
    for (rf_index p = 0; p < net.n_parameters; p++) net.theta[p] = 0.7 * rf_random_gaussian(&random);
    assert_ok(&context, rf_layered_flow_new(&context, &flow, &net, X, y, 8, RF_LOSS_LOGISTIC));
    double before = flow.log_loss;
    assert_ok(&context, rf_layered_flow_to_time(&context, &flow, 20));
    assert_true(flow.drift < 1e-8);
    assert_true(flow.log_loss < before);
    rf_layered_flow_free(&flow);
    rf_layers_free(&net);
  }
}

/* VSS Theorem 3.1: a deep linear net ends at v_l v_{l-1}^T with the max-margin vector first; the direction of
 * the product is the linear separator of rf_margin_linear. */
static void deep_linear_net_finds_the_linear_separator(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  start(&context);
  rf_random_init(&random, 42, 0);
  for (int depth = 2; depth <= 3; depth++) {
    enum { n = 10, d = 3 };
    double X[n * d], y[n];
    for (int i = 0; i < n; i++) {
      y[i] = i % 2 ? 1 : -1;
      for (int j = 0; j < d; j++) X[i * d + j] = 0.3 * rf_random_gaussian(&random) + (j == 0 ? y[i] : 0);
    }
    RfLayeredNet net;
    RfLayeredFlow flow;
    RfLinearMargin linear;
    assert_ok(&context, rf_margin_linear(&context, &linear, X, y, n, d));
    assert_ok(&context, rf_layers_new(&context, &net, 1));
    assert_ok(&context, rf_layers_add_dense(&context, &net, d, 5));
    if (depth == 3) assert_ok(&context, rf_layers_add_dense(&context, &net, 5, 5));
    assert_ok(&context, rf_layers_add_dense(&context, &net, 5, 1));
    for (rf_index p = 0; p < net.n_parameters; p++) net.theta[p] = 0.05 * rf_random_gaussian(&random);
    context.tol.ode = 1e-8;
    assert_ok(&context, rf_layered_flow_new(&context, &flow, &net, X, y, n, RF_LOSS_LOGISTIC));
    assert_ok(&context, rf_layered_flow_to_smargin(&context, &flow, 1000));
    assert_ok(&context, rf_layered_flow_far(&context, &flow, 10));
    double value[d], size = 0, along = 0;
    for (int j = 0; j < d; j++) {
      double unit[d] = {0};
      unit[j] = 1;
      assert_ok(&context, rf_layers_evaluate(&context, &value[j], NULL, &flow.net, unit, 1));
      size += value[j] * value[j], along += value[j] * linear.w[j];
    }
    assert_close(along / sqrt(size), 1, 1e-5);
    double best = linear.margin / pow(depth, depth / 2.0); /* |theta|^2 = D C^2, C^D = 1/margin */
    assert_relative(flow.min_q / pow(flow.norm, depth), best, 5e-3);
    rf_linear_margin_free(&linear);
    rf_layered_flow_free(&flow);
    rf_layers_free(&net);
  }
}

/* Data with conflicting labels: the loss stops falling above ln 4, and the flow says so. */
static void never_separated(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net;
  RfLayeredFlow flow;
  start(&context);
  const double X[] = {1, 0.5, 1, 0.5}, y[] = {1, -1};
  assert_ok(&context, rf_layers_new(&context, &net, 0));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 2, 2));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 2, 1));
  for (rf_index p = 0; p < net.n_parameters; p++) net.theta[p] = 0.4 - 0.1 * (double)p;
  assert_ok(&context, rf_layered_flow_new(&context, &flow, &net, X, y, 2, RF_LOSS_LOGISTIC));
  flow.max_steps = 20000;
  RfStatus status = rf_layered_flow_to_smargin(&context, &flow, 10);
  assert_true(status == RF_NOT_SEPARABLE || status == RF_UNDECIDED);
  assert_true(flow.log_loss >= log(2 * log(2)) - 1e-9);
  assert_int_equal(rf_layered_flow_far(&context, &flow, 1), RF_ERR_USAGE);
  rf_layered_flow_free(&flow);
  rf_layered_flow_free(NULL);
  rf_layers_free(&net);
}

/* Ten samples a hundred times: too large to be followed by sides, and the same flow as that of the ten at a
 * hundred times the time. Linear, since without sides every kink costs steps. */
static void too_large_for_sides(void **state) {
  (void)state;
  enum { few = 10, copies = 100, d = 64, m = 64 };
  RfContext context;
  RfRandom random;
  RfLayeredNet net;
  RfLayeredFlow small, large;
  start(&context);
  rf_random_init(&random, 5, 0);
  double *X = RF_NEW(double, few *copies *d), y[few * copies];
  assert_non_null(X);
  for (int i = 0; i < few * copies; i++) {
    y[i] = i % 2 ? 1 : -1;
    for (int j = 0; j < d; j++) X[i * d + j] = i < few ? rf_random_gaussian(&random) : X[i % few * d + j];
  }
  assert_ok(&context, rf_layers_new(&context, &net, 1));
  assert_ok(&context, rf_layers_add_dense(&context, &net, d, m));
  assert_ok(&context, rf_layers_add_dense(&context, &net, m, 1));
  for (rf_index p = 0; p < net.n_parameters; p++) net.theta[p] = 0.1 * rf_random_gaussian(&random);
  assert_ok(&context, rf_layered_flow_new(&context, &small, &net, X, y, few, RF_LOSS_LOGISTIC));
  assert_ok(&context, rf_layered_flow_new(&context, &large, &net, X, y, few * copies, RF_LOSS_LOGISTIC));
  assert_ok(&context, rf_layered_flow_to_time(&context, &small, 0.1));
  assert_ok(&context, rf_layered_flow_to_time(&context, &large, 0.1 / copies));
  assert_true(large.drift < 1e-8);
  assert_close(large.log_loss, small.log_loss + log(copies), 1e-6);
  for (rf_index p = 0; p < net.n_parameters; p++) assert_close(large.net.theta[p], small.net.theta[p], 1e-6);
  rf_layered_flow_free(&small);
  rf_layered_flow_free(&large);
  rf_layers_free(&net);
  rf_free(X);
}

/* Every sample twice: large enough for units to change sides many to a step, and the same flow as that of the
 * samples once, whose events are found one by one, at twice the time. */
static void sides_late(void **state) {
  (void)state;
  enum { few = 40, d = 8 };
  RfContext context;
  RfRandom random;
  RfLayeredNet net;
  RfLayeredFlow small, large;
  double X[2 * few * d], y[2 * few];
  start(&context);
  rf_random_init(&random, 6, 0);
  for (int i = 0; i < few; i++) {
    y[i] = y[few + i] = i % 2 ? 1 : -1;
    for (int j = 0; j < d; j++) X[i * d + j] = X[(few + i) * d + j] = rf_random_gaussian(&random);
  }
  assert_ok(&context, rf_layers_new(&context, &net, 0));
  assert_ok(&context, rf_layers_add_dense(&context, &net, d, 16));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 16, 16));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 16, 1));
  for (rf_index p = 0; p < net.n_parameters; p++) net.theta[p] = 0.3 * rf_random_gaussian(&random);
  assert_ok(&context, rf_layered_flow_new(&context, &small, &net, X, y, few, RF_LOSS_LOGISTIC));
  assert_ok(&context, rf_layered_flow_new(&context, &large, &net, X, y, 2 * few, RF_LOSS_LOGISTIC));
  rf_layered_late_sides(&large);
  assert_ok(&context, rf_layered_flow_to_time(&context, &small, 0.1));
  assert_ok(&context, rf_layered_flow_to_time(&context, &large, 0.05));
  double gap = 0;
  for (rf_index p = 0; p < net.n_parameters; p++)
    gap = fmax(gap, fabs(large.net.theta[p] - small.net.theta[p]));
  print_message("%d steps and %d, ln loss %.6f, apart %.1e, drift %.1e\n", (int)small.steps, (int)large.steps,
                small.log_loss, gap, large.drift);
  assert_true(large.steps < small.steps);
  assert_true(gap < 1e-3 && large.drift < 1e-5);
  assert_close(large.log_loss, small.log_loss + log(2), 1e-3);
  rf_layered_flow_free(&small);
  rf_layered_flow_free(&large);
  rf_layers_free(&net);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(diagonal_against_exact_solution),
      cmocka_unit_test(layer_differences_are_conserved),
      cmocka_unit_test(deep_linear_net_finds_the_linear_separator),
      cmocka_unit_test(never_separated),
      cmocka_unit_test(too_large_for_sides),
      cmocka_unit_test(sides_late),
  };
  return cmocka_run_group_tests_name("flow/layered/layered", tests, NULL, NULL);
}
