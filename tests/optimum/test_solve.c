/* The global max margin against reference results, planted answers, a second method and degenerate input. */
#include "rf_test.h"
#include "reluflow/optimum.h"
#include "core/core.h"
#include "la/la.h"

#include <jansson.h>

static double phi(double z, double leak) { return z > 0 ? z : leak * z; }

/* Everything a result claims, recomputed from its fields. */
static void check_result(RfContext *context, const RfOptimum *o, const double *X, const double *y,
                         double gap) {
  double least = INFINITY, sum = 0, total = 0;
  for (rf_index i = 0; i < o->n; i++) {
    long double f = 0;
    for (rf_index k = 0; k < o->neurons; k++) {
      long double z = 0;
      for (rf_index j = 0; j < o->d; j++) z += (long double)o->U[k * o->d + j] * (long double)X[i * o->d + j];
      f += (long double)o->sign[k] * (z > 0 ? z : (long double)o->leak * z);
    }
    least = fmin(least, (double)((long double)y[i] * f));
    assert_true(o->lambda[i] >= 0);
    total += o->lambda[i];
  }
  for (rf_index k = 0; k < o->neurons; k++) sum += rf_la_norm(o->U + k * o->d, o->d);
  if (!(fabs(least - 1) <= 1e-12) || !(o->gap <= gap)) {
    fprintf(stderr, "leak %.17g, smallest margin %.17g, gap %.3g, status %s\n", o->leak, least, o->gap,
            rf_optimum_status_name(o->status));
    rf_test_print_matrix("X", X, o->n, o->d);
    rf_test_print_matrix("y", y, 1, o->n);
  }
  assert_close(least, 1, 1e-12);
  assert_relative(o->objective, sum / least, 1e-14);
  assert_relative(o->lower, total, 1e-14);
  assert_true(o->gap <= gap);
  assert_true(o->lower <= o->objective && o->gap >= 0);
  assert_int_equal(o->width_needed, o->neurons);
  assert_true(o->neurons <= o->n);
  RfDualNorm norm;
  assert_ok(context, rf_optimum_dual_norm(context, &norm, X, y, o->lambda, o->n, o->d, o->leak, 0));
  assert_true(norm.value <= 1 + 1e-12);
  assert_true(norm.upper <= 1 + 1e-10);
  assert_true(norm.value <= norm.upper);
  rf_dual_norm_free(&norm);
}

static double solve(const double *X, const double *y, rf_index n, rf_index d, double leak, double gap) {
  RfContext context;
  rf_context_init(&context);
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = leak;
  RfOptimum o;
  assert_ok(&context, rf_optimum_solve(&context, &o, X, y, n, d, &settings));
  if (o.status != RF_OPTIMUM_PROVED) {
    fprintf(stderr, "status %s, gap %.3g, leak %.17g\n", rf_optimum_status_name(o.status), o.gap, leak);
    rf_test_print_matrix("X", X, n, d);
    rf_test_print_matrix("y", y, 1, n);
  }
  assert_int_equal(o.status, RF_OPTIMUM_PROVED);
  check_result(&context, &o, X, y, gap);
  double value = o.objective;
  rf_optimum_free(&o);
  return value;
}

/* ---- reference results ------------------------------------------------------------------------ */

static double *read_matrix(const json_t *rows, rf_index *n, rf_index *d) {
  *n = (rf_index)json_array_size(rows);
  *d = json_is_array(json_array_get(rows, 0)) ? (rf_index)json_array_size(json_array_get(rows, 0)) : 1;
  double *X = RF_NEW(double, *n **d);
  for (rf_index i = 0; i < *n; i++)
    for (rf_index k = 0; k < *d; k++) {
      const json_t *row = json_array_get(rows, (size_t)i);
      X[i * *d + k] = json_number_value(json_is_array(row) ? json_array_get(row, (size_t)k) : row);
    }
  return X;
}

static json_t *golden(const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/convex/%s.json", rf_test_golden(), name);
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  if (!root) fail_msg("%s: %s", path, error.text);
  return root;
}

static void test_golden(void **state) {
  (void)state;
  static const char *const names[] = {"global_rand20x3", "global_rand20x5", "wang_F1", "wang_F2"};
  for (size_t k = 0; k < 4; k++) {
    json_t *root = golden(names[k]);
    rf_index n, d, one;
    double *X = read_matrix(json_object_get(root, "X"), &n, &d),
           *y = read_matrix(json_object_get(root, "y"), &n, &one);
    double leak = json_number_value(json_object_get(root, "alpha"));
    double value = solve(X, y, n, d, leak, 1e-10);
    assert_relative(value, json_number_value(json_object_get(root, "value")), 1e-11);
    rf_free(X), rf_free(y);
    json_decref(root);
  }
}

static void test_golden_networks(void **state) {
  (void)state;
  static const char *const names[] = {"lyu_left_alpha0", "lyu_left_alpha0.5", "phuong_lemC1", "vardi_thm32",
                                      "vardi_thm422"};
  for (size_t k = 0; k < 5; k++) {
    json_t *root = golden(names[k]);
    const json_t *want = json_object_get(root, "global");
    rf_index n, d, one;
    double *X = read_matrix(json_object_get(root, "X"), &n, &d),
           *y = read_matrix(json_object_get(root, "y"), &n, &one);
    double value = solve(X, y, n, d, json_number_value(json_object_get(root, "alpha")), 1e-10);
    if (json_is_number(want)) assert_relative(value, json_number_value(want), 1e-9);
    rf_free(X), rf_free(y);
    json_decref(root);
  }
}

/* ---- planted and known answers ---------------------------------------------------------------- */

static void test_small(void **state) {
  (void)state;
  double one[] = {3, 4}, plus[] = {1}, minus[] = {-1};
  assert_relative(solve(one, plus, 1, 2, 0, 1e-11), 0.2, 1e-12); /* n = 1: 1/|x| */
  assert_relative(solve(one, minus, 1, 2, 0.5, 1e-11), 0.2, 1e-12);
  double line[] = {2, -4, 0.5, -1}, y[] = {1, -1, 1, -1};
  assert_relative(solve(line, y, 4, 1, 0, 1e-11), 3, 1e-12); /* d = 1: 1/0.5 + 1/1 */
  double same[] = {1, 0, 1, 0, 2, 0, 0, 1}, three[] = {1, 1, 1, -1};
  assert_relative(solve(same, three, 4, 2, 0, 1e-11), 2, 1e-12); /* duplicates, exact zero inner products */
  double collinear[] = {1, 1, 1, 2, 2, 2, 3, 3, 3}, all[] = {1, 1, 1};
  assert_relative(solve(collinear, all, 3, 3, 0, 1e-11), 1 / sqrt(3), 1e-12);
  double axes[] = {1, 0, 0, 1}, mixed[] = {1, -1};
  assert_relative(solve(axes, mixed, 2, 2, 0, 1e-11), 2, 1e-12);
  double pair[] = {1, 0.25, -1, 0.25}, both[] = {1, 1};
  assert_relative(solve(pair, both, 2, 2, 0, 1e-11), 1.9402850002906638, 1e-11);
}

/* Powers of two in the data change the optimum by exactly their inverse; orthogonal maps and extra zero
 * columns do not change it; more samples cannot lower it. */
static void test_invariance(void **state) {
  (void)state;
  RfRandom random;
  for (rf_index k = 0; k < rf_test_iterations(12); k++) {
    rf_random_init(&random, (uint64_t)k, 40);
    enum { n = 9, d = 3 };
    double X[n * d], Y[n * d], Z[n * (d + 2)] = {0}, y[n], leak = (double)(k % 3) * 0.3;
    for (int i = 0; i < n * d; i++) X[i] = rf_random_gaussian(&random), Y[i] = ldexp(X[i], 300);
    for (int i = 0; i < n; i++) y[i] = rf_random_sign(&random);
    double c = cos(1.0), s = sin(1.0);
    for (int i = 0; i < n; i++) {
      const double *x = X + i * d;
      double *z = Z + i * (d + 2);
      z[0] = c * x[0] - s * x[1], z[2] = s * x[0] + c * x[1], z[4] = x[2];
    }
    double value = solve(X, y, n, d, leak, 1e-9);
    assert_relative(ldexp(solve(Y, y, n, d, leak, 1e-9), 300), value, 1e-11);
    assert_relative(solve(Z, y, n, d + 2, leak, 1e-9), value, 1e-9);
    assert_true(solve(X, y, n - 1, d, leak, 1e-9) <= value * (1 + 1e-9));
  }
}

/* Leak 1 is the linear hard margin; leak 0 <= ... every leak has both bounds checked by check_result. */
static void test_linear(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfDataset data;
  assert_ok(&context, rf_data_generate(&context, &data, "teacher,n=30,d=4,seed=3"));
  RfLinearMargin linear;
  assert_ok(&context, rf_margin_linear(&context, &linear, data.X, data.y, data.n, data.d));
  assert_relative(solve(data.X, data.y, data.n, data.d, 1, 1e-11), 1 / linear.margin, 1e-12);
  rf_linear_margin_free(&linear);
  rf_dataset_free(&data);
}

/* ---- nothing fits ----------------------------------------------------------------------------- */

static void refused(const double *X, const double *y, rf_index n, rf_index d, double leak, int signs,
                    double slack) {
  RfContext context;
  rf_context_init(&context);
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = leak, settings.signs = signs;
  RfOptimum o;
  assert_ok(&context, rf_optimum_solve(&context, &o, X, y, n, d, &settings));
  assert_int_equal(o.status, RF_OPTIMUM_INFEASIBLE);
  assert_non_null(o.farkas);
  double sum = 0, longest = 0;
  for (rf_index i = 0; i < n; i++) {
    assert_true(o.farkas[i] >= 0);
    sum += o.farkas[i];
    longest = fmax(longest, rf_la_norm(X + i * d, d));
  }
  assert_close(sum, 1, 1e-12);
  RfRandom random;
  rf_random_init(&random, 1, 1);
  for (int k = 0; k < 2000; k++) { /* the weighted outputs of any neuron cancel */
    double u[8], output = 0;
    rf_random_direction(&random, u, d);
    for (rf_index i = 0; i < n; i++) output += o.farkas[i] * y[i] * phi(rf_la_dot(u, X + i * d, d), leak);
    if (signs == 0)
      assert_true(fabs(output) <= 1e-13 * longest);
    else
      assert_true(signs * output <= slack * longest);
  }
  rf_optimum_free(&o);
}

static void test_infeasible(void **state) {
  (void)state;
  double zero[] = {0, 0, 1, 2}, ray[] = {1, 2, 3, 1, 2, 4}, y2[] = {1, -1}, y3[] = {1, 1, -1};
  refused(zero, y2, 2, 2, 0, 0, 0);
  refused(ray, y3, 3, 2, 0.5, 0, 0);
  /* antipodal pairs: 0, 60, 120 degrees with labels + - + and the opposite at the opposite points */
  double hexagon[] = {2, 0, 1, 1, -1, 1, -2, 0, -1, -1, 1, -1}, y6[] = {1, -1, 1, -1, 1, -1};
  for (int i = 0; i < 6; i++) hexagon[2 * i + 1] *= sqrt(3);
  refused(hexagon, y6, 6, 2, 0, 0, 0);
  refused(hexagon, y6, 6, 2, 0.7, 0, 0);
  double cross[] = {1, 1, -1, -1, 1, -1, -1, 1}, y4[] = {1, 1, -1, -1};
  refused(cross, y4, 4, 2, 1, 0, 0); /* leak 1: not linearly separable */
  /* one sign: f convex cannot be negative at x1, x2 and positive between */
  double between[] = {1, 2, -1, -2.5, 2, 1}, yb[] = {-1, -1, 1};
  refused(between, yb, 3, 2, 0.5, 1, 1e-5);
  double any[] = {1, 0, 0, 1}, ya[] = {1, -1};
  refused(any, ya, 2, 2, 0, 1, 1e-15);
}

/* ---- limits and bad input --------------------------------------------------------------------- */

static void count_records(void *user, const RfOptimumRecord *record) {
  double *last = user; /* count, lower, objective: bounds only improve */
  last[0]++;
  assert_true(record->lower >= last[1] && record->objective <= last[2]);
  last[1] = record->lower, last[2] = record->objective;
}

static void test_interrupted(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfDataset data;
  assert_ok(&context, rf_data_generate(&context, &data, "gaussian,n=60,d=8,seed=1"));
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  double last[3] = {0, 0, INFINITY};
  settings.on_record = count_records, settings.user = last;
  static const double limits[] = {1e-6, 1e-3, 1e-2, 5e-2};
  for (int k = 0; k < 4; k++) {
    last[1] = 0, last[2] = INFINITY;
    settings.time_limit = limits[k];
    RfOptimum o;
    RfStatus status = rf_optimum_solve(&context, &o, data.X, data.y, data.n, data.d, &settings);
    assert_true(status == RF_OK || status == RF_INTERRUPTED);
    if (status == RF_INTERRUPTED) assert_int_equal(o.status, RF_OPTIMUM_INTERRUPTED);
    assert_true(o.lower <= o.objective && o.lower >= 0 && o.gap >= 0 && o.gap <= 1);
    rf_optimum_free(&o);
  }
  settings.time_limit = 0, settings.on_record = NULL;
  volatile int cancel = 1;
  context.cancel = &cancel;
  RfOptimum o;
  assert_int_equal(rf_optimum_solve(&context, &o, data.X, data.y, data.n, data.d, &settings), RF_INTERRUPTED);
  rf_optimum_free(&o);
  rf_dataset_free(&data);
}

static void test_bad_input(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  double X[] = {1, NAN, 2, 3}, good[] = {1, 2}, y[] = {1, -1}, odd[] = {1, 0};
  RfOptimum o;
  assert_int_equal(rf_optimum_solve(&context, &o, X, y, 2, 2, &settings), RF_ERR_USAGE);
  assert_int_equal(rf_optimum_solve(&context, &o, good, odd, 2, 1, &settings), RF_ERR_USAGE);
  assert_int_equal(rf_optimum_solve(&context, &o, good, y, 0, 1, &settings), RF_ERR_USAGE);
  settings.leak = 1.5;
  assert_int_equal(rf_optimum_solve(&context, &o, good, y, 1, 2, &settings), RF_ERR_USAGE);
  settings.leak = 0, settings.width = 1;
  double pair[] = {1, 0.25, -1, 0.25}, both[] = {1, 1};
  assert_ok(&context, rf_optimum_solve(&context, &o, pair, both, 2, 2, &settings));
  assert_int_equal(o.width_needed, 2);
  assert_false(o.width_enough);
  RfNet net;
  assert_ok(&context, rf_optimum_net(&context, &net, &o));
  assert_relative(rf_net_norm2(&net) / 2, o.objective, 1e-14);
  double margin;
  assert_ok(&context, rf_net_margin(&context, &margin, NULL, &net, pair, both, 2));
  assert_relative(margin, 0.5 / o.objective, 1e-12);
  rf_net_free(&net);
  rf_optimum_free(&o);
}

/* Random small problems of many kinds: lattices (ties everywhere), positive data, antipodes, one class. */
static void test_random(void **state) {
  (void)state;
  static const double leaks[] = {0, 0, 0.1, 0.5, 0.9, 0.01};
  for (rf_index k = 0; k < rf_test_iterations(300); k++) {
    RfRandom random;
    rf_random_init(&random, (uint64_t)k, 0);
    rf_index n = 1 + rf_random_below(&random, 14), d = 1 + rf_random_below(&random, 6);
    double leak = leaks[rf_random_below(&random, 6)], X[14 * 6], y[14];
    int kind = (int)rf_random_below(&random, 6);
    for (rf_index i = 0; i < n * d; i++) {
      double g = rf_random_gaussian(&random);
      X[i] = kind == 1   ? (double)rf_random_below(&random, 3) - 1
             : kind == 2 ? round(2 * g) / 2
             : kind == 3 ? fabs(g)
                         : g;
    }
    for (rf_index i = 0; i < n; i++) y[i] = kind == 4 ? 1 : rf_random_sign(&random);
    for (rf_index i = 0; kind == 5 && i + 1 < n; i += 2) {
      for (rf_index c = 0; c < d; c++) X[(i + 1) * d + c] = -X[i * d + c];
      y[i + 1] = rf_random_below(&random, 2) ? -y[i] : y[i];
    }
    RfContext context;
    rf_context_init(&context);
    RfOptimumSettings settings;
    rf_optimum_settings_init(&settings);
    settings.leak = leak;
    RfOptimum o;
    assert_ok(&context, rf_optimum_solve(&context, &o, X, y, n, d, &settings));
    if (o.status != RF_OPTIMUM_INFEASIBLE) {
      if (o.status != RF_OPTIMUM_PROVED) fprintf(stderr, "problem %lld: gap %.3g\n", (long long)k, o.gap);
      check_result(&context, &o, X, y, 1e-8);
    }
    rf_optimum_free(&o);
  }
}

/* An exact search of seconds says how far it is, in the thread of the call, and ends with the same bounds for
 * any number of threads. */
static void watch(void *user, const RfOptimumRecord *record) {
  double *seen = user; /* records of a search, largest share, nodes */
  if (record->searched == -1) return;
  assert_true(record->searched > 0 && record->searched <= 1 && record->nodes >= 0);
  seen[0]++, seen[1] = fmax(seen[1], record->searched), seen[2] = fmax(seen[2], (double)record->nodes);
}

static void test_search_is_watched(void **state) {
  (void)state;
  RfContext context;
  RfDataset data;
  rf_context_init(&context);
  assert_ok(&context, rf_data_generate(&context, &data, "gaussian,n=60,d=10"));
  double lower[2];
  for (int k = 0; k < 2; k++) {
    RfOptimumSettings settings;
    RfOptimum o;
    double seen[3] = {0};
    rf_optimum_settings_init(&settings);
    settings.on_record = watch, settings.user = seen, settings.every_record = true, context.threads = k + 1;
    assert_ok(&context, rf_optimum_solve(&context, &o, data.X, data.y, data.n, data.d, &settings));
    assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
    lower[k] = o.lower;
    rf_optimum_free(&o);
  }
  assert_true(lower[0] == lower[1]);
  rf_dataset_free(&data);
}

/* Stopped after its k-th record, for every k up to the last: the bound is one of neurons of both signs. */
typedef struct Stop {
  volatile int cancel;
  int left;
} Stop;

static void count_down(void *user, const RfOptimumRecord *record) {
  Stop *stop = user;
  (void)record;
  if (--stop->left <= 0) stop->cancel = 1;
}

static void test_stopped_anywhere(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 77, 0);
  enum { n = 24, d = 4 };
  for (int c = 0; c < 6; c++) {
    double X[n * d], y[n], best = INFINITY;
    for (rf_index i = 0; i < n; i++) { /* far more of one class, so that the signs of a differ */
      y[i] = rf_random_uniform(&random) < 0.8 ? 1 : -1;
      for (rf_index j = 0; j < d; j++) X[i * d + j] = rf_random_gaussian(&random) + 1;
    }
    for (int k = 1000; k > 0; k = k == 1000 ? 40 : k - 1) {
      Stop stop = {.left = k};
      RfContext context;
      RfOptimum o;
      RfOptimumSettings settings;
      rf_context_init(&context);
      rf_optimum_settings_init(&settings);
      context.cancel = &stop.cancel, settings.on_record = count_down, settings.user = &stop;
      assert_true(rf_optimum_solve(&context, &o, X, y, n, d, &settings) >= 0);
      if (k == 1000) {
        best = o.objective;
        assert_int_equal(o.status, RF_OPTIMUM_PROVED);
      }
      assert_true(o.lower <= best * (1 + 1e-12) && o.objective >= best * (1 - 1e-9));
      rf_optimum_free(&o);
    }
  }
}

/* Neither a slow machine nor a listener that takes its time changes an answer: what is done is counted. One
 * that is stopped after the gap has closed is optimal, and says that it was stopped. */
typedef struct Slow {
  volatile int cancel;
  double seconds, gap; /* to wait at a record, once; bounds so near cancel, 0 = never */
} Slow;

static void dawdle(void *user, const RfOptimumRecord *record) {
  Slow *slow = user;
  double end = rf_clock_seconds() + slow->seconds;
  while (rf_clock_seconds() < end) continue;
  slow->seconds = 0;
  if (record->objective - record->lower < slow->gap * record->objective) slow->cancel = 1;
}

static void test_slow_is_the_same(void **state) {
  (void)state;
  static const Slow cases[] = {{0}, {.seconds = 0.6}, {.gap = 1e-8}};
  RfOptimum o[3];
  RfDataset data;
  RfContext context;
  rf_context_init(&context);
  assert_ok(&context, rf_data_generate(&context, &data, "teacher,n=30,d=6"));
  for (int k = 0; k < 3; k++) {
    Slow slow = cases[k];
    RfOptimumSettings settings;
    rf_optimum_settings_init(&settings);
    settings.on_record = dawdle, settings.user = &slow, context.cancel = &slow.cancel;
    assert_true(rf_optimum_solve(&context, &o[k], data.X, data.y, data.n, data.d, &settings) >= 0);
    assert_int_equal(o[k].status, RF_OPTIMUM_PROVED);
    assert_int_equal(o[k].stopped, slow.gap > 0);
  }
  assert_true(o[0].objective == o[1].objective && o[0].lower == o[1].lower);
  assert_int_equal(o[0].nodes, o[1].nodes);
  assert_int_equal(o[0].searches, o[1].searches);
  for (int k = 0; k < 3; k++) rf_optimum_free(&o[k]);
  rf_dataset_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),
      cmocka_unit_test(test_golden_networks),
      cmocka_unit_test(test_small),
      cmocka_unit_test(test_invariance),
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_infeasible),
      cmocka_unit_test(test_interrupted),
      cmocka_unit_test(test_bad_input),
      cmocka_unit_test(test_stopped_anywhere),
      cmocka_unit_test(test_search_is_watched),
      cmocka_unit_test(test_slow_is_the_same),
      cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
