/* The global max margin against reference results, planted answers, a second method and degenerate input. */
#include "rf_test.h"
#include "reluflow/optimum.h"
#include "reluflow/la.h"

#include <jansson.h>

static double phi(double z, double leak) { return z > 0 ? z : leak * z; }

/* Everything a result claims, recomputed from its fields. */
static void check_result(RfContext *context, const RfOptimum *o, const double *X, const double *y,
                         double gap) {
  double least = INFINITY, sum = 0, total = 0;
  for (rf_index i = 0; i < o->n; i++) {
    double f = 0;
    for (rf_index k = 0; k < o->neurons; k++)
      f += o->sign[k] * phi(rf_la_dot(o->U + k * o->d, X + i * o->d, o->d), o->leak);
    least = fmin(least, y[i] * f);
    assert_true(o->lambda[i] >= 0);
    total += o->lambda[i];
  }
  for (rf_index k = 0; k < o->neurons; k++) sum += rf_la_norm(o->U + k * o->d, o->d);
  if (!(fabs(least - 1) <= 1e-12) || !(o->gap <= gap)) {
    fprintf(stderr, "leak %.17g, smallest margin %.17g, gap %.3g, status %s\n", o->leak, least, o->gap,
            rf_optimum_status_text(o->status));
    rf_test_print_matrix("X", X, o->n, o->d);
    rf_test_print_matrix("y", y, 1, o->n);
  }
  assert_close(least, 1, 1e-12);
  assert_relative(o->objective, sum, 1e-14);
  assert_relative(o->lower, total, 1e-14);
  assert_true(o->gap <= gap);
  assert_true(o->lower <= o->objective * (1 + 1e-12));
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
    fprintf(stderr, "status %s, gap %.3g, leak %.17g\n", rf_optimum_status_text(o.status), o.gap, leak);
    rf_test_print_matrix("X", X, n, d);
    rf_test_print_matrix("y", y, 1, n);
  }
  assert_int_equal(o.status, RF_OPTIMUM_PROVED);
  check_result(&context, &o, X, y, gap);
  double value = o.objective;
  rf_optimum_free(&o);
  return value;
}

/* ---- reference results ------------------------------------------------------------------------------------
 */

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
  snprintf(path, sizeof path, "%s/golden/convex/%s.json", rf_test_shared(), name);
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden), cmocka_unit_test(test_golden_networks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
