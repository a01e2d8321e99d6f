/* KKT residuals against reference points, constructed KKT points, and a projection that lists every vertex.
 */
#include "rf_test.h"

#include <jansson.h>

typedef struct Example {
  json_t *root;
  RfNet net;
  double *X, *y;
  rf_index n;
} Example;

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

static void example_open(Example *e, const char *name) {
  char path[4096];
  json_error_t error;
  rf_index d;
  snprintf(path, sizeof path, "%s/convex/%s.json", rf_test_golden(), name);
  e->root = json_load_file(path, 0, &error);
  if (!e->root) fail_msg("%s: %s", path, error.text);
  e->X = read_rows(json_object_get(e->root, "X"), &e->n, &d);
  e->y = read_vector(json_object_get(e->root, "y"));
  e->net.W = read_rows(json_object_get(e->root, "W"), &e->net.m, &e->net.d);
  e->net.a = read_vector(json_object_get(e->root, "a"));
  e->net.leak = json_number_value(json_object_get(e->root, "alpha"));
}

static void example_close(Example *e) {
  rf_net_free(&e->net);
  rf_free(e->X);
  rf_free(e->y);
  json_decref(e->root);
}

/* Clarke subgradient sum with the given slopes at kinks is not unique; stationarity told must equal
 * |residual|/|theta|. */
static void check_consistent(const RfKkt *kkt) {
  double norm = hypot(rf_la_norm(kkt->residual_W, kkt->m * kkt->d), rf_la_norm(kkt->residual_a, kkt->m));
  assert_close(norm / sqrt(2 * kkt->objective), kkt->stationarity, 1e-14);
  double sum = 0, total = 0;
  for (rf_index i = 0; i < kkt->n; i++) {
    assert_true(kkt->lambda[i] >= 0);
    assert_true(kkt->margins[i] >= 1 - 1e-15);
    sum += kkt->lambda[i] * (kkt->margins[i] - 1);
    total += kkt->lambda[i];
  }
  assert_close(sum / kkt->objective, kkt->complementarity, 1e-14 * (1 + kkt->margins[0]));
  if (kkt->holds) assert_relative(total, kkt->objective, 1e-7);
}

/* Stationarity rebuilt from lambda and the slopes at kinks alone. */
static double rebuilt_stationarity(const RfKkt *kkt, const RfNet *net, const double *X, const double *y) {
  rf_index m = net->m, d = net->d;
  double scale = exp(kkt->log_scale), total = 0, norm2 = 0;
  for (rf_index k = 0; k < m; k++) {
    long double part[8];
    for (rf_index j = 0; j < d; j++) part[j] = (long double)scale * net->W[k * d + j];
    part[d] = (long double)scale * net->a[k];
    for (rf_index j = 0; j <= d; j++) norm2 += (double)(part[j] * part[j]);
    for (rf_index i = 0; i < kkt->n; i++) {
      double z = rf_la_dot(net->W + k * d, X + i * d, d), slope = z > 0 ? 1 : net->leak;
      part[d] -= (long double)kkt->lambda[i] * y[i] * slope * z * scale;
      for (rf_index t = 0; t < kkt->n_kinks; t++)
        if (kkt->kinks[t].neuron == k && kkt->kinks[t].sample == i) slope = kkt->kinks[t].slope;
      for (rf_index j = 0; j < d; j++)
        part[j] -= (long double)kkt->lambda[i] * y[i] * scale * net->a[k] * slope * X[i * d + j];
    }
    for (rf_index j = 0; j <= d; j++) total += (double)(part[j] * part[j]);
  }
  return sqrt(total / norm2);
}

static void golden_points(void **state) {
  (void)state;
  const char *names[] = {"lyu_left_alpha0.5", "lyu_left_alpha0", "phuong_lemC1", "vardi_thm32",
                         "vardi_thm422"};
  RfContext context;
  rf_context_init(&context);
  for (int f = 0; f < 5; f++) {
    Example e;
    RfKkt kkt;
    example_open(&e, names[f]);
    assert_ok(&context, rf_certify_kkt(&context, &kkt, &e.net, e.X, e.y, e.n));
    check_consistent(&kkt);
    if (!(kkt.stationarity <= 2e-15 && kkt.complementarity <= 2e-15))
      fail_msg("%s: stationarity %.3g, complementarity %.3g", names[f], kkt.stationarity,
               kkt.complementarity);
    assert_true(kkt.holds);
    assert_close(rebuilt_stationarity(&kkt, &e.net, e.X, e.y), 0, 1e-14);
    assert_relative(kkt.objective, json_number_value(json_object_get(e.root, "half_norm2")), 1e-14);
    assert_close(kkt.balance_error, 0, 1e-15);
    assert_int_equal(kkt.n_zero, json_integer_value(json_object_get(e.root, "nzero")));
    rf_index kinks = json_integer_value(json_object_get(e.root, "own_kinks")) +
                     json_integer_value(json_object_get(e.root, "opp_kinks")),
             tight = 0;
    for (rf_index k = 0; k < kkt.n_kinks; k++) tight += kkt.margins[kkt.kinks[k].sample] <= 1 + 1e-9;
    assert_int_equal(tight, kinks);
    rf_kkt_free(&kkt);
    example_close(&e);
  }
}

/* Lyu, Li, Wang, Arora: the multipliers of the three-neuron point are unique up to those of the middle
 * samples. */
static void scale_and_order_do_not_matter(void **state) {
  (void)state;
  RfContext context;
  Example e;
  RfKkt plain, changed;
  rf_context_init(&context);
  example_open(&e, "lyu_left_alpha0.5");
  e.net.W[0] += 0.1; /* not a KKT point any more */
  assert_ok(&context, rf_certify_kkt(&context, &plain, &e.net, e.X, e.y, e.n));
  assert_true(!plain.holds && plain.stationarity > 1e-3);
  check_consistent(&plain);
  double scales[] = {1e-150, 1e-3, 1e120};
  for (int s = 0; s < 3; s++) {
    RfNet other;
    assert_ok(&context, rf_net_new(&context, &other, 4, e.net.d, e.net.leak));
    for (int k = 0; k < 3; k++) { /* reversed, the first neuron split in two proportional ones, 3:4 */
      double factor = scales[s] * (k == 0 ? 0.6 : 1);
      rf_index to = 3 - k;
      for (rf_index j = 0; j < e.net.d; j++) other.W[to * e.net.d + j] = factor * e.net.W[k * e.net.d + j];
      other.a[to] = factor * e.net.a[k];
    }
    for (rf_index j = 0; j < e.net.d; j++) other.W[j] = scales[s] * 0.8 * e.net.W[j];
    other.a[0] = scales[s] * 0.8 * e.net.a[0];
    assert_ok(&context, rf_certify_kkt(&context, &changed, &other, e.X, e.y, e.n));
    check_consistent(&changed);
    assert_relative(changed.stationarity, plain.stationarity, 1e-12);
    assert_relative(changed.margin, plain.margin, 1e-13);
    assert_relative(changed.objective, plain.objective, 1e-13);
    rf_kkt_free(&changed);
    rf_net_free(&other);
  }
  rf_kkt_free(&plain);
  example_close(&e);
}

/* Phuong and Lampert, Lemma C.1: neurons u_k w+/|w+| and z_k w-/|w-| on orthogonally separable data are KKT,
 * with multipliers alpha_i/|w+-|. */
static void constructed_points(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 31, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(30); trial++) {
    enum { n = 10, d = 4, m = 5 };
    double X[n * d], y[n], u[m];
    for (int i = 0; i < n; i++) {
      y[i] = i % 2 ? -1 : 1;
      for (int j = 0; j < d; j++) X[i * d + j] = y[i] * (0.05 + fabs(rf_random_gaussian(&random)));
    }
    RfClassMargin plus, minus;
    assert_ok(&context, rf_margin_class(&context, &plus, X, y, n, d, 1));
    assert_ok(&context, rf_margin_class(&context, &minus, X, y, n, d, -1));
    RfNet net;
    RfKkt kkt;
    double sizes[2] = {0, 0};
    assert_ok(&context, rf_net_new(&context, &net, m, d, 0));
    for (int k = 0; k < m; k++) u[k] = 0.2 + rf_random_uniform(&random);
    for (int k = 0; k < m; k++) sizes[k % 2] += u[k] * u[k];
    for (int k = 0; k < m; k++) { /* positive neurons at even places */
      const RfClassMargin *c = k % 2 ? &minus : &plus;
      double size = u[k] / sqrt(sizes[k % 2]) * sqrt(c->norm);
      for (int j = 0; j < d; j++) net.W[k * d + j] = size * c->w[j] / c->norm;
      net.a[k] = k % 2 ? -size : size;
    }
    assert_ok(&context, rf_certify_kkt(&context, &kkt, &net, X, y, n));
    check_consistent(&kkt);
    assert_true(kkt.stationarity <= 1e-14 && kkt.holds);
    assert_relative(kkt.objective, plus.norm + minus.norm, 1e-13);
    for (int i = 0; i < n; i++)
      assert_close(kkt.lambda[i],
                   y[i] > 0 ? plus.multipliers[i] / plus.norm : minus.multipliers[i] / minus.norm, 1e-12);
    rf_kkt_free(&kkt);
    rf_net_free(&net);
    rf_class_margin_free(&plus);
    rf_class_margin_free(&minus);
  }
}

/* Least squares over the listed vertices: 2^kinks columns per sample, and the row for complementarity. */
static double distance_by_vertices(const RfNet *net, const double *X, const double *y, rf_index n,
                                   double scale) {
  RfContext context;
  rf_context_init(&context);
  rf_index m = net->m, d = net->d, height = m * (d + 1) + 1, count = 0, capacity = n << m;
  double *A = RF_NEW(double, capacity *height), *f = RF_NEW(double, height), *x = RF_NEW(double, capacity),
         norm2 = 0;
  for (rf_index k = 0; k < m; k++) {
    for (rf_index j = 0; j < d; j++) f[k * (d + 1) + j] = scale * net->W[k * d + j];
    f[k * (d + 1) + d] = scale * net->a[k];
  }
  norm2 = rf_la_dot(f, f, height);
  for (rf_index i = 0; i < n; i++)
    for (rf_index choice = 0; choice < (rf_index)1 << m; choice++) {
      double *column = A + count * height, q = 0;
      bool repeated = false;
      for (rf_index k = 0; k < m; k++) {
        double z = scale * rf_la_dot(net->W + k * d, X + i * d, d), a = scale * net->a[k];
        double size = scale * rf_la_norm(net->W + k * d, d) * rf_la_norm(X + i * d, d);
        bool kink = fabs(z) <= 1e-9 * size, one = choice >> k & 1;
        double slope = kink ? (one ? 1 : net->leak) : z > 0 ? 1 : net->leak;
        repeated = repeated || (one && !kink);
        for (rf_index j = 0; j < d; j++) column[k * (d + 1) + j] = y[i] * a * slope * X[i * d + j];
        column[k * (d + 1) + d] = y[i] * (z > 0 ? z : net->leak * z);
        q += y[i] * a * (z > 0 ? z : net->leak * z);
      }
      column[height - 1] = 2 / sqrt(norm2) * (q - 1);
      if (!repeated) count++;
    }
  RfLeastSquaresInfo info;
  assert_ok(&context, rf_la_nnls(&context, x, NULL, &info, A, f, height, count, height, NULL));
  rf_free(A);
  rf_free(f);
  rf_free(x);
  return info.residual / sqrt(norm2);
}

/* Integer data and weights: kinks everywhere. */
static void agrees_with_listed_vertices(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 32, 0);
  rf_index tried = 0, with_kinks = 0;
  for (rf_index trial = 0; trial < rf_test_iterations(3000); trial++) {
    rf_index n = 1 + rf_random_below(&random, 4), d = 1 + rf_random_below(&random, 3),
             m = 1 + rf_random_below(&random, 4);
    double X[12], y[4], leaks[] = {0, 0.1, 0.5, 1};
    RfNet net;
    RfKkt kkt;
    assert_ok(&context, rf_net_new(&context, &net, m, d, leaks[trial % 4]));
    for (rf_index i = 0; i < n * d; i++) X[i] = (double)(rf_random_below(&random, 5) - 2);
    for (rf_index i = 0; i < m * d; i++) net.W[i] = (double)(rf_random_below(&random, 3) - 1);
    for (rf_index k = 0; k < m; k++) net.a[k] = (double)(rf_random_below(&random, 5) - 2);
    RfStatus status = RF_NOT_SEPARABLE;
    double f[4];
    assert_ok(&context, rf_net_outputs(&context, f, &net, X, n));
    for (rf_index i = 0; i < n; i++) y[i] = f[i] < 0 ? -1 : 1; /* labels that the network gets right */
    status = rf_certify_kkt(&context, &kkt, &net, X, y, n);
    if (status == RF_OK) {
      check_consistent(&kkt);
      assert_close(rebuilt_stationarity(&kkt, &net, X, y), kkt.stationarity, 1e-12);
      double told = hypot(kkt.stationarity, kkt.complementarity);
      double want = distance_by_vertices(&net, X, y, n, exp(kkt.log_scale));
      if (!(fabs(told - want) <= 1e-12)) {
        rf_test_print_matrix("X", X, n, d);
        rf_test_print_matrix("y", y, 1, n);
        rf_test_print_matrix("W", net.W, m, d);
        rf_test_print_matrix("a", net.a, 1, m);
        fail_msg("leak %g: distance %.17g, all vertices %.17g", net.leak, told, want);
      }
      tried++;
      with_kinks += kkt.n_kinks > 0;
    } else {
      assert_int_equal(status, RF_NOT_SEPARABLE);
      assert_true(!(kkt.margin > 1e-14) && isinf(kkt.objective));
    }
    rf_kkt_free(&kkt);
    rf_net_free(&net);
  }
  assert_true(tried > 100 || rf_test_iterations(1000) < 1000);
  assert_true(with_kinks > 50 || rf_test_iterations(1000) < 1000);
}

static void bad_input(void **state) {
  (void)state;
  RfContext context;
  RfKkt kkt;
  RfNet net;
  rf_context_init(&context);
  assert_ok(&context, rf_net_new(&context, &net, 1, 1, 0));
  double X[] = {1}, y[] = {1}, bad[] = {NAN}, zero[] = {0};
  assert_int_equal(rf_certify_kkt(&context, &kkt, &net, X, y, 1), RF_NOT_SEPARABLE); /* the zero network */
  rf_kkt_free(&kkt);
  net.W[0] = net.a[0] = 1;
  assert_int_equal(rf_certify_kkt(&context, &kkt, &net, bad, y, 1), RF_ERR_USAGE);
  assert_int_equal(rf_certify_kkt(&context, &kkt, &net, X, zero, 1), RF_ERR_USAGE);
  assert_int_equal(rf_certify_kkt(&context, &kkt, &net, X, y, 0), RF_NOT_SEPARABLE);
  rf_kkt_free(&kkt);
  assert_ok(&context, rf_certify_kkt(&context, &kkt, &net, X, y, 1));
  assert_true(kkt.holds);
  assert_close(kkt.objective, 1, 1e-15);
  assert_close(kkt.lambda[0], 1, 1e-15);
  assert_close(kkt.margin, 0.5, 1e-15);
  rf_kkt_free(&kkt);
  net.a[0] = NAN;
  assert_int_equal(rf_certify_kkt(&context, &kkt, &net, X, y, 1), RF_ERR_USAGE);
  rf_net_free(&net);
}

/* Only W moves: for positive a and neurons active on everything f = (sum a_k w_k).x, so the KKT point is w_k
 * = a_k v with |a|^2 v the minimum-norm separator. lambda goes with 1/a^2, and a push off the point is seen.
 */
static void first_layer(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (rf_index seed = 0; seed < rf_test_iterations(50); seed++) {
    RfRandom random;
    RfKkt kkt;
    RfNet net;
    RfLinearMargin linear;
    rf_random_init(&random, (uint64_t)seed, 61);
    rf_index n = 1 + rf_random_below(&random, 6), d = 1 + rf_random_below(&random, 3), m = 3;
    double X[18], y[6], size = seed % 3 == 0 ? 1e-80 : seed % 3 == 1 ? 1 : 1e60, a2 = 0;
    for (rf_index i = 0; i < n * d; i++) X[i] = 0.1 + rf_random_uniform(&random);
    for (rf_index i = 0; i < n; i++) y[i] = 1;
    assert_ok(&context, rf_margin_linear(&context, &linear, X, y, n, d));
    assert_ok(&context, rf_net_new(&context, &net, m, d, 0.2));
    for (rf_index k = 0; k < m; k++) {
      net.a[k] = size * (0.2 + rf_random_uniform(&random));
      a2 += net.a[k] / size * (net.a[k] / size);
      for (rf_index j = 0; j < d; j++) net.W[k * d + j] = 7 * net.a[k] / size * linear.w[j];
    }
    assert_ok(&context, rf_certify_kkt_first_layer(&context, &kkt, &net, X, y, n));
    assert_true(kkt.holds && kkt.stationarity < 1e-14 && fabs(kkt.complementarity) < 1e-13);
    assert_relative(kkt.margin, size * sqrt(a2) * linear.margin, 1e-12);
    double sum = 0;
    for (rf_index i = 0; i < n; i++) sum += kkt.lambda[i];
    assert_relative(sum, 2 * kkt.objective, 1e-10);
    rf_kkt_free(&kkt);
    net.W[0] += 0.01 * rf_la_norm(net.W, m * d); /* may stay a KKT point only for one input */
    RfStatus status = rf_certify_kkt_first_layer(&context, &kkt, &net, X, y, n);
    assert_true(status == RF_OK && kkt.stationarity > 1e-4);
    rf_kkt_free(&kkt);
    rf_net_free(&net);
    rf_linear_margin_free(&linear);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_points),      cmocka_unit_test(scale_and_order_do_not_matter),
      cmocka_unit_test(constructed_points), cmocka_unit_test(agrees_with_listed_vertices),
      cmocka_unit_test(bad_input),          cmocka_unit_test(first_layer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
