/* Theorems on fresh random data (theorem.h): where the flow must go is known from convex problems solved
 * elsewhere.
 *   Phuong and Lampert, Theorem 1 and Corollary 1: orthogonally separable data, small balanced start: all
 * live neurons align with w+ or w-, and the margin is 1/(2(|w+| + |w-|)). Vardi, Shamir, Srebro, Theorem 3.2,
 * and its leaky variant: a KKT point that is left again. A frozen second layer: the hard-margin separator. */
#include "theorem.h"

/* Positive samples in the orthant, negative ones in its opposite. */
static void orthant_data(Case *c, RfRandom *random) {
  rf_index d = 2 + rf_random_below(random, 6), n = 4 + rf_random_below(random, 30);
  double X[34 * 8], y[34];
  for (rf_index i = 0; i < n; i++) {
    y[i] = i % 2 ? 1 : -1;
    for (rf_index j = 0; j < d; j++) X[i * d + j] = y[i] * (0.05 + fabs(rf_random_gaussian(random)));
  }
  case_new(c, NULL, X, y, n, d);
}

static void orthogonally_separable(void **state) {
  (void)state;
  Count count = {0};
  for (rf_index t = 0; t < rf_test_iterations(12); t++) {
    RfRandom random = theorem_random(5, t);
    Case c;
    RfClassMargin plus, minus;
    orthant_data(&c, &random);
    rf_index d = c.data.d, n = c.data.n, m = 12;
    double scales[3] = {log(1e-4), -690, -1e5};
    case_init(&c, RF_INIT_BALANCED_GAUSSIAN, m, theorem_seed() + 3 * (uint64_t)t, scales[t % 3]);
    if (case_run(&c, &count)) {
      assert_ok(&c.context, rf_margin_class(&c.context, &plus, c.data.X, c.data.y, n, d, 1));
      assert_ok(&c.context, rf_margin_class(&c.context, &minus, c.data.X, c.data.y, n, d, -1));
      bool lives[2] = {false, false};
      for (rf_index k = 0; k < m; k++) {
        const double *w = c.result.limit.net.W + k * d, a = c.result.limit.net.a[k];
        if (rf_la_norm(w, d) < 1e-100) continue;
        lives[a > 0] = true;
        case_assert(&c, theorem_cosine(w, a > 0 ? plus.w : minus.w, d) >= 1 - 1e-9);
      }
      double total = (lives[1] ? rf_la_norm(plus.w, d) : 0) + (lives[0] ? rf_la_norm(minus.w, d) : 0);
      assert_relative(c.result.limit.margin, 1 / (2 * total), 1e-9);
      case_event_bound(&c);
      rf_class_margin_free(&plus);
      rf_class_margin_free(&minus);
    }
    case_free(&c);
  }
  count_check(&count);
}

/* What the second neuron and the first coordinate of the first one do on the way. */
typedef struct Dead {
  double before, worst; /* |w_11| at the last moment, largest growth of it over |w_1| */
  double w2[3];
  bool moved, seen;
} Dead;

static void watch_dead(void *observer, const RfFlowMoment *moment) {
  Dead *dead = observer;
  if (moment->scale_frozen) return;
  double first = fabs(moment->directions[0]) * exp(moment->log_norms[0]);
  const double *other = moment->directions + 3;
  if (dead->seen) {
    dead->worst = fmax(dead->worst, (first - dead->before) * exp(-moment->log_norms[0]));
    dead->moved = dead->moved || memcmp(dead->w2, other, sizeof dead->w2) != 0;
  }
  dead->before = first;
  memcpy(dead->w2, other, sizeof dead->w2);
  dead->seen = true;
}

/* (+-1, s), both positive, ReLU, two neurons: the first active on both samples with v1 > 0, the second on
 * none. The flow ends at w1 = (0,1), which is a KKT point but no local optimum; the best network is smaller
 * by sqrt(sqrt(1+s^2)/(2s)). */
static void vss_theorem_3_2(void **state) {
  (void)state;
  Count count = {0};
  for (rf_index t = 0; t < rf_test_iterations(12); t++) {
    RfRandom random = theorem_random(32, t);
    double s = 0.02 + 0.28 * rf_random_uniform(&random), X[4] = {1, s, -1, s}, y[2] = {1, 1};
    Case c;
    Dead dead = {0};
    case_new(&c, NULL, X, y, 2, 2);
    assert_ok(&c.context, rf_net_new(&c.context, &c.net, 2, 2, 0));
    for (int k = 0; k < 2; k++) { /* |w_1| < s |w_2|: on the same side of both samples */
      double height = 0.3 + 2 * rf_random_uniform(&random);
      c.net.W[2 * k] = 0.95 * s * height * (2 * rf_random_uniform(&random) - 1);
      c.net.W[2 * k + 1] = k ? -height : height;
    }
    c.net.a[0] = 0.05 + rf_random_uniform(&random), c.net.a[1] = rf_random_gaussian(&random);
    assert_ok(&c.context, rf_flow_start_from_net(&c.context, &c.start, &c.net));
    c.problem.loss = (RfLoss)(t % 3);
    c.settings.observe = watch_dead, c.settings.observer = &dead;
    case_assert(&c, case_run(&c, &count));
    const RfNet *net = &c.result.limit.net;
    const double want[2] = {0, sqrt(0.5)};
    for (int j = 0; j < 2; j++) case_assert(&c, fabs(net->W[j] - want[j]) < 1e-9 && net->W[2 + j] == 0);
    case_assert(&c, fabs(net->a[0] - sqrt(0.5)) < 1e-9 && net->a[1] == 0);
    case_assert(&c, c.result.limit.n_dead == 1 && c.result.limit.dead[0] == 1);
    case_assert(&c, dead.seen && !dead.moved && dead.worst < 1e-7);
    assert_relative(c.result.limit.margin, s / 2, 1e-9);
    RfCertificate certificate;
    assert_ok(&c.context, rf_certify_net(&c.context, &certificate, net, X, y, 2, NULL));
    case_assert(&c,
                certificate.local == RF_VERDICT_NOT_OPTIMUM && certificate.global == RF_VERDICT_NOT_OPTIMUM);
    assert_relative(certificate.kkt.objective / certificate.best, sqrt(1 + s * s) / (2 * s), 1e-7);
    rf_certificate_free(&certificate);
    case_free(&c);
  }
  count_check(&count);
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
    random = theorem_random(6, seed);
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

/* A frozen second layer: the limit of W is the minimum-norm W with margins 1 for the final pattern; with one
 * positive neuron active on everything it is the hard-margin separator. */
static void frozen_second_layer(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (rf_index seed = 0; seed < rf_test_iterations(10); seed++) {
    RfRandom random;
    random = theorem_random(8, seed);
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
      assert_close(theorem_cosine(result.limit.net.W + k * d, linear.w, d), 1, 1e-9);
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
      cmocka_unit_test(vss_theorem_3_2),
      cmocka_unit_test(leaves_a_kkt_point),
      cmocka_unit_test(frozen_second_layer),
  };
  return cmocka_run_group_tests_name("flow/theorems", tests, NULL, NULL);
}
