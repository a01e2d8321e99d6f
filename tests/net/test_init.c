/* Initialisers: balance where it is promised, moments, determinism, nested widths, sizes 0 and 1, names. */
#include "rf_test.h"

static double norm2(const double *w, rf_index d) {
  double sum = 0;
  for (rf_index j = 0; j < d; j++) sum += w[j] * w[j];
  return sum;
}

static void balance(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfInit kinds[] = {RF_INIT_BALANCED, RF_INIT_BALANCED_GAUSSIAN, RF_INIT_MMV};
  for (int k = 0; k < 3; k++) {
    RfNet net;
    assert_ok(&context, rf_net_init(&context, &net, kinds[k], 200, 7, 0.1, 5, 1));
    int positive = 0;
    for (rf_index i = 0; i < 200; i++) {
      assert_relative(fabs(net.a[i]), sqrt(norm2(net.W + 7 * i, 7)), 2e-15);
      positive += net.a[i] > 0;
    }
    assert_in_range(positive, 60, 140);
    assert_close(net.leak, 0.1, 0);
    rf_net_free(&net);
  }
}

/* E|w|^2/d and E a^2 against the definition, six standard errors. */
static void moments(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  rf_index m = 20000, d = 5;
  struct {
    RfInit init;
    double w2, a2, ca;
  } rows[] = {
      {RF_INIT_BALANCED, 0.2, 1, 1},      {RF_INIT_BALANCED_GAUSSIAN, 1, 5, 1},
      {RF_INIT_GAUSSIAN, 1, 9, 3},        {RF_INIT_MMV, 0.2, 1, 1},
      {RF_INIT_UNBALANCED, 1, 1, 1},      {RF_INIT_XAVIER, 2 / ((double)(d + m)), 2 / (double)(m + 1), 1},
      {RF_INIT_HE, 0.4, 2 / (double)m, 1}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    RfNet net;
    assert_ok(&context, rf_net_init(&context, &net, rows[r].init, m, d, 0, 1, rows[r].ca));
    double w2 = norm2(net.W, m * d) / (double)(m * d), a2 = norm2(net.a, m) / (double)m;
    assert_relative(w2, rows[r].w2, 6 * sqrt(2.0 / (double)(m * d)));
    assert_relative(a2, rows[r].a2, 6 * sqrt(2.0 / (double)m));
    rf_net_free(&net);
  }
}

static void repeats_and_nests(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfNet small, large, other;
  assert_ok(&context, rf_net_init(&context, &small, RF_INIT_GAUSSIAN, 3, 4, 0, 9, 1));
  assert_ok(&context, rf_net_init(&context, &large, RF_INIT_GAUSSIAN, 30, 4, 0, 9, 1));
  assert_ok(&context, rf_net_init(&context, &other, RF_INIT_GAUSSIAN, 3, 4, 0, 10, 1));
  assert_memory_equal(small.W, large.W, 12 * sizeof(double));
  assert_memory_equal(small.a, large.a, 3 * sizeof(double));
  assert_true(memcmp(small.W, other.W, 12 * sizeof(double)) != 0);
  rf_net_free(&small), rf_net_free(&large), rf_net_free(&other);
}

static void names_and_edges(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (int k = 0; k <= RF_INIT_HE; k++) {
    RfInit init;
    assert_ok(&context, rf_init_from_name(&context, &init, rf_init_name((RfInit)k)));
    assert_int_equal(init, k);
    RfNet net;
    assert_ok(&context, rf_net_init(&context, &net, init, 0, 3, 0, 0, 1));
    rf_net_free(&net);
    assert_ok(&context, rf_net_init(&context, &net, init, 1, 1, 0, 0, 1));
    assert_true(isfinite(net.W[0]) && isfinite(net.a[0]));
    rf_net_free(&net);
    assert_ok(&context, rf_net_init(&context, &net, init, 2, 0, 0, 0, 1));
    rf_net_free(&net);
  }
  RfInit init;
  RfNet net;
  assert_int_equal(rf_init_from_name(&context, &init, "nonsense"), RF_ERR_USAGE);
  assert_int_equal(rf_net_init(&context, &net, RF_INIT_HE, -1, 2, 0, 0, 1), RF_ERR_USAGE);
  assert_int_equal(rf_net_init(&context, &net, RF_INIT_GAUSSIAN, 1, 2, 0, 0, NAN), RF_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balance),
      cmocka_unit_test(moments),
      cmocka_unit_test(repeats_and_nests),
      cmocka_unit_test(names_and_edges),
  };
  return cmocka_run_group_tests_name("net/init", tests, NULL, NULL);
}
