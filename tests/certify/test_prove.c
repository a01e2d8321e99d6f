/* Exact KKT points enclosed in balls: closed forms, optima with proved brackets, groups on one ray, and the
 * cases where no proof is possible and none may be claimed. */
#include "rf_test.h"

static RfCertificate prove(RfContext *context, const RfNet *net, const double *X, const double *y,
                           rf_index n) {
  RfCertificate c;
  RfCertifySettings settings;
  rf_certify_settings_init(&settings);
  settings.global = false, settings.prove = true;
  RfStatus status = rf_certify_net(context, &c, net, X, y, n, &settings);
  if (status < 0) fail_msg("%s", context->error);
  assert_true(c.proved.asked);
  assert_non_null(c.proved.why);
  if (!c.proved.proved) assert_true(isnan(c.proved.slack));
  return c;
}

/* One sample x = 4, one neuron: w = a = 1/2, margin 4/2; given at another size and 1e-9 beside it. */
static void one_sample(void **state) {
  (void)state;
  double X[] = {4}, y[] = {1}, W[] = {3 * (1 + 1e-9)}, a[] = {3};
  RfNet net = {.m = 1, .d = 1, .W = W, .a = a};
  RfContext context;
  rf_context_init(&context);
  RfCertificate c = prove(&context, &net, X, y, 1);
  assert_true(c.proved.proved);
  assert_true(c.proved.margin_lower <= 2 && c.proved.margin_upper >= 2);
  assert_relative(c.proved.margin_lower, 2, 1e-15);
  assert_true(c.proved.distance > 1e-10 && c.proved.distance < 1e-9);
  rf_certificate_free(&c);
}

/* The network is the point itself: its distance is an interval around 0, and 0 or hardly more is the answer.
 */
static void the_point_itself(void **state) {
  (void)state;
  double X[] = {1, 0.25, -1, 0.25}, y[] = {1, 1}, W[] = {0, 2, 0, 0}, a[] = {2, 0};
  RfNet net = {.m = 2, .d = 2, .W = W, .a = a};
  RfContext context;
  rf_context_init(&context);
  RfCertificate c = prove(&context, &net, X, y, 2);
  if (!c.proved.proved) fail_msg("%s", c.proved.why);
  assert_true(c.proved.distance >= 0 && c.proved.distance < 1e-30);
  rf_certificate_free(&c);
}

/* The same neuron split in three unequal parts, and a neuron of no size: the equations of the parts alone are
 * singular. At leak 1 a part may also point the other way. */
static void shares_of_one_ray(void **state) {
  (void)state;
  double X[] = {1, 2, 3, -1}, y[] = {1, -1}, W[8] = {0}, a[4] = {0}, shares[] = {0.6, 0.48, 0.64};
  RfContext context;
  rf_context_init(&context);
  for (int linear = 0; linear < 2; linear++) {
    RfOptimum optimum;
    RfOptimumSettings settings;
    RfNet best = {0};
    rf_optimum_settings_init(&settings);
    settings.leak = linear ? 1 : 0.2;
    assert_ok(&context, rf_optimum_solve(&context, &optimum, X, y, linear ? 2 : 1, 2, &settings));
    assert_ok(&context, rf_optimum_net(&context, &best, &optimum));
    assert_int_equal(best.m, 1);
    for (int k = 0; k < 3; k++) {
      double share = linear && k == 1 ? -shares[k] : shares[k];
      W[2 * k] = share * best.W[0], W[2 * k + 1] = share * best.W[1], a[k] = share * best.a[0];
    }
    RfNet net = {.m = 4, .d = 2, .W = W, .a = a, .leak = settings.leak};
    RfCertificate c = prove(&context, &net, X, y, linear ? 2 : 1);
    if (!c.proved.proved) fail_msg("%s", c.proved.why);
    assert_int_equal(c.proved.equations, 3 + c.proved.tight);
    assert_true(c.proved.distance < 1e-14);
    rf_certificate_free(&c);
    rf_net_free(&best);
    rf_optimum_free(&optimum);
  }
}

/* A network of margin 1/(2 V): the enclosed margin lies in the bracket that the optimum proves by other
 * means. */
static void optima(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 77, 0);
  rf_index proved = 0, found = 0;
  for (rf_index trial = 0; trial < rf_test_iterations(40); trial++) {
    rf_index n = 8, d = 2 + trial % 3;
    double X[32], y[8], leaks[] = {0, 0.3, 1}, size = trial % 2 ? 3e-8 : 0;
    RfOptimum optimum = {0};
    RfOptimumSettings settings;
    RfNet net = {0};
    rf_optimum_settings_init(&settings);
    settings.leak = leaks[trial % 3];
    for (rf_index i = 0; i < n * d; i++) X[i] = rf_random_gaussian(&random);
    for (rf_index i = 0; i < n; i++)
      y[i] = settings.leak < 1 ? rf_random_sign(&random) : X[i * d] + 0.3 * X[i * d + 1] > 0 ? 1 : -1;
    RfStatus status = rf_optimum_solve(&context, &optimum, X, y, n, d, &settings);
    assert_true(status >= 0);
    if (optimum.status == RF_OPTIMUM_PROVED && optimum.neurons > 0) {
      assert_ok(&context, rf_optimum_net(&context, &net, &optimum));
      for (rf_index i = 0; i < net.m * net.d; i++) net.W[i] *= 1 + size * rf_random_gaussian(&random);
      RfCertificate c = prove(&context, &net, X, y, n);
      found += c.nearest.found, proved += c.proved.proved;
      if (c.proved.proved) {
        assert_true(c.proved.margin_lower <= c.proved.margin_upper);
        assert_true(c.proved.margin_lower <= 0.5 / optimum.lower);
        assert_true(c.proved.margin_upper >= 0.5 / optimum.objective * (1 - 1e-14));
        assert_true(c.proved.distance <= 1e-5);
        assert_true(c.proved.distance >= 0.999 * c.nearest.distance - 1e-14);
      }
      rf_certificate_free(&c);
    }
    rf_net_free(&net);
    rf_optimum_free(&optimum);
  }
  print_message("[          ] %lld of %lld enclosed\n", (long long)proved, (long long)found);
  assert_true(found > 0 && 10 * proved >= 9 * found);
}

/* Where an inequality is an equality no ball can decide it: a sample given twice (one of the two carries no
 * multiplier), and XOR, whose inputs are 0 with slopes at the end. A network that does not separate. */
static void not_proved(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double twice[] = {4, 4}, plus[] = {1, 1}, W1[] = {0.5}, a1[] = {0.5};
  RfNet one = {.m = 1, .d = 1, .W = W1, .a = a1};
  RfCertificate c = prove(&context, &one, twice, plus, 2);
  assert_true(c.kkt.holds && !c.proved.proved);
  rf_certificate_free(&c);
  double xor [] = {1, 1, -1, -1, 1, -1, -1, 1}, signs[] = {1, 1, -1, -1};
  double r = sqrt(0.5) / sqrt(sqrt(2)), W4[] = {r, r, -r, -r, r, -r, -r, r};
  double a4[] = {1, 1, -1, -1};
  for (int k = 0; k < 4; k++) a4[k] *= r * sqrt(2);
  RfNet four = {.m = 4, .d = 2, .W = W4, .a = a4};
  c = prove(&context, &four, xor, signs, 4);
  assert_true(c.kkt.holds && !c.proved.proved);
  rf_certificate_free(&c);
  double far[] = {4, 1}, minus[] = {-1};
  double W2[] = {1, 1}, a2[] = {1};
  RfNet off = {.m = 1, .d = 2, .W = W2, .a = a2};
  c = prove(&context, &off, far, minus, 1);
  assert_false(c.proved.proved);
  rf_certificate_free(&c);
}

/* Far from the only KKT point, (x/|x|, 1)/sqrt|x|: the distance is as it is. */
static void far_away(void **state) {
  (void)state;
  double X[] = {4, 1}, y[] = {1}, W[] = {1, 1}, a[] = {1}, root = pow(17, 0.25);
  RfNet net = {.m = 1, .d = 2, .W = W, .a = a};
  RfContext context;
  rf_context_init(&context);
  RfCertificate c = prove(&context, &net, X, y, 1);
  if (c.proved.proved) {
    double given[] = {1 / sqrt(5), 1 / sqrt(5), 1 / sqrt(5)},
           exact[] = {4 / sqrt(17) / root, 1 / sqrt(17) / root, 1 / root};
    double square = 0, norm = 0;
    for (int j = 0; j < 3; j++)
      square += (given[j] - exact[j]) * (given[j] - exact[j]), norm += given[j] * given[j];
    assert_close(c.proved.distance, sqrt(square / norm), 1e-14);
  }
  rf_certificate_free(&c);
}

/* 60 parts of each neuron in 5 dimensions: more weights than are solved for one by one. */
static void wide_network(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  RfOptimum optimum;
  RfOptimumSettings settings;
  RfNet best = {0}, wide = {0};
  double X[20], y[] = {1, -1, 1, -1};
  rf_context_init(&context);
  rf_random_init(&random, 78, 0);
  for (int k = 0; k < 20; k++) X[k] = rf_random_gaussian(&random);
  rf_optimum_settings_init(&settings);
  settings.leak = 0.1;
  assert_ok(&context, rf_optimum_solve(&context, &optimum, X, y, 4, 5, &settings));
  assert_ok(&context, rf_optimum_net(&context, &best, &optimum));
  assert_ok(&context, rf_net_new(&context, &wide, 60 * best.m, 5, 0.1));
  for (rf_index k = 0; k < wide.m; k++) {
    rf_index from = k % best.m;
    double share = 1 / sqrt(60);
    for (rf_index j = 0; j < 5; j++) wide.W[k * 5 + j] = share * best.W[from * 5 + j];
    wide.a[k] = share * best.a[from];
  }
  RfCertificate c = prove(&context, &wide, X, y, 4);
  if (!c.proved.proved) fail_msg("%s", c.proved.why);
  assert_true(c.proved.distance < 1e-13);
  assert_int_equal(c.proved.equations, best.m * 6 + c.proved.tight + c.proved.kinks);
  rf_certificate_free(&c);
  rf_net_free(&wide);
  rf_net_free(&best);
  rf_optimum_free(&optimum);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_sample),   cmocka_unit_test(the_point_itself), cmocka_unit_test(shares_of_one_ray),
      cmocka_unit_test(optima),       cmocka_unit_test(not_proved),       cmocka_unit_test(far_away),
      cmocka_unit_test(wide_network),
  };
  return cmocka_run_group_tests_name("prove", tests, NULL, NULL);
}
