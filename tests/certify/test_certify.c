/* Verdicts: reference points, networks at and near kinks, optima from the global solver, degenerate data.
 * Every witness and every claim of optimality is judged again by certify_check.h. */
#include <arb.h>

#include "rf_test.h"
#include "certify_check.h"

#include <jansson.h>

static double *read_rows(const json_t *rows, rf_index *n, rf_index *d) {
  *n = (rf_index)json_array_size(rows);
  *d = (rf_index)json_array_size(json_array_get(rows, 0));
  double *out = RF_NEW(double, *n **d);
  for (rf_index i = 0; i < *n * *d; i++)
    out[i] = json_number_value(json_array_get(json_array_get(rows, (size_t)(i / *d)), (size_t)(i % *d)));
  return out;
}

static double *read_vector(const json_t *vector) {
  rf_index n = (rf_index)json_array_size(vector);
  double *out = RF_NEW(double, n);
  for (rf_index i = 0; i < n; i++) out[i] = json_number_value(json_array_get(vector, (size_t)i));
  return out;
}

static bool any_zero(const RfNet *net) {
  for (rf_index k = 0; k < net->m; k++)
    if (rf_la_norm(net->W + k * net->d, net->d) * fabs(net->a[k]) <= 1e-12 * rf_net_norm2(net)) return true;
  return false;
}

/* What any certificate must satisfy, whatever the network. */
static void judge(const RfCertificate *c, const RfNet *net, const double *X, const double *y, rf_index n) {
  assert_non_null(c->local_why);
  assert_non_null(c->global_why);
  if (c->witness.m > 0) check_witness(c, net, X, y, n);
  if (c->local == RF_VERDICT_NOT_OPTIMUM && c->kkt.status == RF_OK) assert_true(c->witness.m > 0);
  if (c->local == RF_VERDICT_OPTIMUM) {
    assert_true(c->kkt.holds);
    if (c->global != RF_VERDICT_OPTIMUM && net->m * n <= 40 && !any_zero(net))
      check_local_optimum(net, X, y, n);
  }
  if (c->global == RF_VERDICT_OPTIMUM) {
    assert_int_equal(c->local, RF_VERDICT_OPTIMUM);
    assert_true(c->kkt.objective <= c->lower * (1 + 2e-8));
  }
  if (c->local == RF_VERDICT_NOT_OPTIMUM && c->global_why[0] != 'n') /* "not asked for" */
    assert_int_equal(c->global, RF_VERDICT_NOT_OPTIMUM);
  if (!isnan(c->lower) && isfinite(c->kkt.objective)) assert_true(c->lower <= c->kkt.objective * (1 + 1e-9));
}

static void golden_verdicts(void **state) {
  (void)state;
  const char *names[] = {"lyu_left_alpha0.5", "lyu_left_alpha0", "phuong_lemC1", "vardi_thm32",
                         "vardi_thm422"};
  RfContext context;
  rf_context_init(&context);
  for (int f = 0; f < 5; f++) {
    char path[4096];
    json_error_t error;
    snprintf(path, sizeof path, "%s/convex/%s.json", rf_test_golden(), names[f]);
    json_t *root = json_load_file(path, 0, &error);
    if (!root) fail_msg("%s: %s", path, error.text);
    rf_index n, d;
    RfNet net = {.leak = json_number_value(json_object_get(root, "alpha"))};
    double *X = read_rows(json_object_get(root, "X"), &n, &d), *y = read_vector(json_object_get(root, "y"));
    net.W = read_rows(json_object_get(root, "W"), &net.m, &net.d);
    net.a = read_vector(json_object_get(root, "a"));
    RfCertificate c;
    assert_ok(&context, rf_certify_net(&context, &c, &net, X, y, n, NULL));
    judge(&c, &net, X, y, n);
    const char *local = json_string_value(json_object_get(root, "local"));
    assert_string_equal(rf_verdict_name(c.local), strncmp(local, "NOT", 3) == 0 ? "not-optimum" : "optimum");
    bool is_global = json_is_true(json_object_get(root, "is_global"));
    assert_string_equal(rf_verdict_name(c.global), is_global ? "optimum" : "not-optimum");
    assert_relative(c.best, json_number_value(json_object_get(root, "global")), 1e-9);
    assert_relative(c.lower, json_number_value(json_object_get(root, "global")), 1e-8);
    assert_int_equal(c.own_kinks, json_integer_value(json_object_get(root, "own_kinks")));
    if (strcmp(names[f], "vardi_thm32") == 0) { /* multipliers are unique there */
      assert_int_equal(c.dual_feasible, RF_NO);
      assert_relative(c.violation + 1, json_number_value(json_object_get(root, "dualmax")), 1e-9);
    }
    rf_certificate_free(&c);
    rf_net_free(&net);
    rf_free(X);
    rf_free(y);
    json_decref(root);
  }
}

/* Groups of samples in orthogonal coordinate planes, one neuron each: every neuron stands exactly on the
 * hyperplanes of the other groups' samples. For leak 0 these are KKT points: local optima iff no two groups
 * share a class. */
typedef struct Groups {
  rf_index n, d;
  double X[12 * 6], y[12];
  RfNet net;
  bool shared_class;
} Groups;

static void groups_new(Groups *g, RfRandom *random, rf_index spare) {
  RfContext context;
  rf_context_init(&context);
  rf_index count = 1 + rf_random_below(random, 3);
  memset(g, 0, sizeof *g);
  g->d = 2 * count;
  assert_ok(&context, rf_net_new(&context, &g->net, count + spare, g->d, 0));
  double signs[3];
  for (rf_index b = 0; b < count; b++) {
    rf_index samples = 1 + rf_random_below(random, 3);
    double rows[6], ones[3] = {1, 1, 1};
    signs[b] = rf_random_sign(random);
    for (rf_index e = 0; e < b; e++) g->shared_class = g->shared_class || signs[e] == signs[b];
    for (rf_index i = 0; i < samples; i++)
      for (rf_index j = 0; j < 2; j++) {
        rows[2 * i + j] = (double)(1 + rf_random_below(random, 4));
        g->X[(g->n + i) * g->d + 2 * b + j] = rows[2 * i + j];
      }
    for (rf_index i = 0; i < samples; i++) g->y[g->n + i] = signs[b];
    RfLinearMargin m;
    assert_ok(&context, rf_margin_linear(&context, &m, rows, ones, samples, 2));
    double size = sqrt(1 / m.margin);
    for (rf_index j = 0; j < 2; j++) g->net.W[b * g->d + 2 * b + j] = size * m.w[j];
    g->net.a[b] = signs[b] * size;
    g->n += samples;
    rf_linear_margin_free(&m);
  }
}

static void networks_on_kinks(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 51, 0);
  rf_index optima = 0, refuted = 0;
  for (rf_index trial = 0; trial < rf_test_iterations(500); trial++) {
    Groups g;
    RfCertificate c;
    rf_index spare = trial % 4 == 3;
    groups_new(&g, &random, spare);
    assert_ok(&context, rf_certify_net(&context, &c, &g.net, g.X, g.y, g.n, NULL));
    judge(&c, &g.net, g.X, g.y, g.n);
    assert_true(c.kkt.holds && c.kkt.stationarity <= 1e-13);
    if (g.shared_class) assert_int_equal(c.local, RF_VERDICT_NOT_OPTIMUM);
    if (!g.shared_class && !spare) assert_int_equal(c.local, RF_VERDICT_OPTIMUM);
    optima += c.local == RF_VERDICT_OPTIMUM;
    refuted += c.local == RF_VERDICT_NOT_OPTIMUM;
    rf_certificate_free(&c);
    rf_net_free(&g.net);
  }
  assert_true(rf_test_iterations(100) < 100 || (optima > 50 && refuted > 50));
}

static void networks_near_kinks(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 52, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(1000); trial++) {
    Groups g;
    RfCertificate c;
    groups_new(&g, &random, trial % 5 == 4);
    double noise = pow(10, -1 - (double)rf_random_below(&random, 15)), leaks[] = {0, 0, 0.1, 0.5};
    g.net.leak = leaks[trial % 4];
    for (rf_index i = 0; i < g.net.m * g.d; i++) g.net.W[i] += noise * rf_random_gaussian(&random);
    for (rf_index k = 0; k < g.net.m; k++) g.net.a[k] += noise * rf_random_gaussian(&random);
    RfStatus status = rf_certify_net(&context, &c, &g.net, g.X, g.y, g.n, NULL);
    assert_true(status == RF_OK || status == RF_NOT_SEPARABLE);
    judge(&c, &g.net, g.X, g.y, g.n);
    if (noise > 1e-5 && status == RF_OK) assert_int_equal(c.local, RF_VERDICT_NOT_OPTIMUM);
    rf_certificate_free(&c);
    rf_net_free(&g.net);
  }
}

/* Optima of the global solver, with duplicate samples so that multipliers are not unique: never refuted. */
static void optima_are_never_refuted(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 53, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(100); trial++) {
    rf_index n = 2 + rf_random_below(&random, 6), d = 1 + rf_random_below(&random, 3);
    double X[21], y[7], leaks[] = {0, 0.1, 0.5, 0.9};
    for (rf_index i = 0; i < n * d; i++)
      X[i] = trial % 2 ? rf_random_gaussian(&random) : (double)(rf_random_below(&random, 5) - 2);
    for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random);
    memcpy(X + (n - 1) * d, X, (size_t)d * sizeof *X);
    y[n - 1] = y[0];
    RfOptimum optimum;
    RfOptimumSettings settings;
    rf_optimum_settings_init(&settings);
    settings.leak = leaks[trial % 4];
    assert_ok(&context, rf_optimum_solve(&context, &optimum, X, y, n, d, &settings));
    if (optimum.status == RF_OPTIMUM_PROVED && optimum.neurons > 0) {
      RfNet net;
      RfCertificate c;
      RfCertifySettings known;
      rf_certify_settings_init(&known);
      known.optimum = &optimum;
      assert_ok(&context, rf_optimum_net(&context, &net, &optimum));
      assert_ok(&context, rf_certify_net(&context, &c, &net, X, y, n, &known));
      judge(&c, &net, X, y, n);
      if (c.global != RF_VERDICT_OPTIMUM || c.local == RF_VERDICT_NOT_OPTIMUM) {
        print_case(&net, X, y, n);
        fail_msg("the optimum is called %s / %s: %s", rf_verdict_name(c.local), rf_verdict_name(c.global),
                 c.local_why);
      }
      rf_certificate_free(&c);
      rf_net_free(&net);
    }
    rf_optimum_free(&optimum);
  }
}

/* Random integer networks: mostly far from KKT; every refutation comes with a witness. */
static void random_networks(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 54, 0);
  rf_index refuted = 0, tried = 0;
  for (rf_index trial = 0; trial < rf_test_iterations(500); trial++) {
    rf_index n = 1 + rf_random_below(&random, 4), d = 1 + rf_random_below(&random, 3),
             m = 1 + rf_random_below(&random, 3);
    double X[12], y[4], f[4], leaks[] = {0, 0.25, 1};
    RfNet net;
    RfCertificate c;
    assert_ok(&context, rf_net_new(&context, &net, m, d, leaks[trial % 3]));
    for (rf_index i = 0; i < n * d; i++) X[i] = (double)(rf_random_below(&random, 5) - 2);
    for (rf_index i = 0; i < m * d; i++) net.W[i] = (double)(rf_random_below(&random, 3) - 1);
    for (rf_index k = 0; k < m; k++) net.a[k] = (double)(rf_random_below(&random, 5) - 2);
    assert_ok(&context, rf_net_outputs(&context, f, &net, X, n));
    for (rf_index i = 0; i < n; i++) y[i] = f[i] < 0 ? -1 : 1;
    RfStatus status = rf_certify_net(&context, &c, &net, X, y, n, NULL);
    assert_true(status == RF_OK || status == RF_NOT_SEPARABLE);
    judge(&c, &net, X, y, n);
    if (status == RF_OK) {
      tried++;
      if (!c.kkt.holds && c.local != RF_VERDICT_NOT_OPTIMUM) {
        print_case(&net, X, y, n);
        fail_msg("not KKT (%.3g) but no witness: %s", c.kkt.stationarity, c.local_why);
      }
      refuted += c.local == RF_VERDICT_NOT_OPTIMUM;
    }
    rf_certificate_free(&c);
    rf_net_free(&net);
  }
  assert_true(tried == 0 || refuted > 0);
}

/* The optimum of random data, or nothing. */
static bool random_optimum(RfContext *context, RfRandom *random, RfNet *net, RfOptimum *optimum, double *X,
                           double *y, rf_index n, rf_index d, double leak) {
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = leak;
  for (rf_index i = 0; i < n * d; i++) X[i] = rf_random_gaussian(random);
  for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(random);
  assert_ok(context, rf_optimum_solve(context, optimum, X, y, n, d, &settings));
  if (optimum->status != RF_OPTIMUM_PROVED || optimum->neurons == 0) return false;
  assert_ok(context, rf_optimum_net(context, net, optimum));
  return true;
}

/* Optima moved by 1e-9, with kinks: the two verdicts once contradicted each other for 15 of 40. */
static void perturbed_optima(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 55, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(40); trial++) {
    double X[32], y[8], leaks[] = {0, 0, 0.3}, size = pow(10, -(double)(7 + trial % 4));
    RfOptimum optimum = {0};
    RfNet net = {0};
    if (random_optimum(&context, &random, &net, &optimum, X, y, 8, 2 + trial % 3, leaks[trial % 3])) {
      RfCertificate c;
      RfCertifySettings known;
      rf_certify_settings_init(&known);
      known.optimum = &optimum;
      for (rf_index i = 0; i < net.m * net.d; i++) net.W[i] *= 1 + size * rf_random_gaussian(&random);
      for (rf_index k = 0; k < net.m; k++) net.a[k] *= 1 + size * rf_random_gaussian(&random);
      assert_ok(&context, rf_certify_net(&context, &c, &net, X, y, 8, &known));
      judge(&c, &net, X, y, 8);
      rf_certificate_free(&c);
    }
    rf_net_free(&net);
    rf_optimum_free(&optimum);
  }
}

/* At the usual tolerance the rounded optimum is no KKT point, but one is as near as single precision says. */
static void nearest_of_rounded(const RfNet *net, const double *X, const double *y, rf_index n,
                               const RfCertifySettings *known) {
  RfContext usual;
  RfCertificate c;
  rf_context_init(&usual);
  assert_ok(&usual, rf_certify_net(&usual, &c, net, X, y, n, known));
  if (!c.nearest.found || c.nearest.distance > 1e-5) {
    print_case(net, X, y, n);
    fail_msg("nearest %d: distance %.3g, residual %.3g; given %.3g", c.nearest.found, c.nearest.distance,
             c.nearest.stationarity, c.kkt.stationarity);
  }
  judge(&c, net, X, y, n);
  rf_certificate_free(&c);
}

/* An optimum rounded to single precision: at --tol 1e-6 kinks and tight samples are what they were, and it is
 * the optimum to 1e-6. With fixed tolerances its stationarity was of order 1. */
static void single_precision(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  context.tol.kkt = context.tol.gap = 1e-6;
  rf_random_init(&random, 56, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(20); trial++) {
    double X[24], y[8];
    RfOptimum optimum = {0};
    RfNet net = {0};
    if (random_optimum(&context, &random, &net, &optimum, X, y, 8, 3, trial % 2 ? 0 : 0.2)) {
      RfCertificate c;
      RfCertifySettings known;
      rf_certify_settings_init(&known);
      known.optimum = &optimum;
      for (rf_index i = 0; i < net.m * net.d; i++) net.W[i] = (double)(float)net.W[i];
      for (rf_index k = 0; k < net.m; k++) net.a[k] = (double)(float)net.a[k];
      assert_ok(&context, rf_certify_net(&context, &c, &net, X, y, 8, &known));
      assert_true(c.tolerances.kink == 1e-6 && c.tolerances.tight == 1e-6);
      if (!c.kkt.holds) {
        print_case(&net, X, y, 8);
        fail_msg("stationarity %.3g, complementarity %.3g", c.kkt.stationarity, c.kkt.complementarity);
      }
      assert_true(c.local == RF_VERDICT_OPTIMUM && c.global == RF_VERDICT_OPTIMUM);
      rf_certificate_free(&c);
      nearest_of_rounded(&net, X, y, 8, &known);
    }
    rf_net_free(&net);
    rf_optimum_free(&optimum);
  }
}

static void degenerate_data(void **state) {
  (void)state;
  RfContext context;
  RfCertificate c;
  RfNet net;
  rf_context_init(&context);
  assert_ok(&context, rf_net_new(&context, &net, 2, 1, 0));
  double X[] = {1, 1}, y[] = {1, -1}; /* conflicting labels */
  net.W[0] = net.a[0] = 1;
  assert_int_equal(rf_certify_net(&context, &c, &net, X, y, 2, NULL), RF_NOT_SEPARABLE);
  assert_true(c.local == RF_VERDICT_NOT_OPTIMUM && c.global == RF_VERDICT_NOT_OPTIMUM && c.witness.m == 0);
  rf_certificate_free(&c);
  y[1] = 1; /* duplicates, one class, a zero neuron: the global optimum */
  assert_ok(&context, rf_certify_net(&context, &c, &net, X, y, 2, NULL));
  assert_true(c.kkt.holds && c.local == RF_VERDICT_OPTIMUM && c.global == RF_VERDICT_OPTIMUM);
  judge(&c, &net, X, y, 2);
  rf_certificate_free(&c);
  net.W[0] = 2; /* unbalanced */
  assert_ok(&context, rf_certify_net(&context, &c, &net, X, y, 2, NULL));
  assert_true(!c.kkt.holds && c.local == RF_VERDICT_NOT_OPTIMUM);
  assert_close(c.norm2_drop, 0.2, 0.05); /* best is |theta|^2 = 4 against 5 */
  judge(&c, &net, X, y, 2);
  rf_certificate_free(&c);
  rf_net_free(&net);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_verdicts),     cmocka_unit_test(networks_on_kinks),
      cmocka_unit_test(networks_near_kinks), cmocka_unit_test(optima_are_never_refuted),
      cmocka_unit_test(random_networks),     cmocka_unit_test(degenerate_data),
      cmocka_unit_test(perturbed_optima),    cmocka_unit_test(single_precision),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
