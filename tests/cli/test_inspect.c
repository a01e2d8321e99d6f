/* What `inspect --json` says about small, often degenerate data, recomputed here from the data alone: one
 * sample, one dimension, one class, zero and repeated rows, integer grids on which everything is tied. */
#include "rf_test.h"

#include <jansson.h>
#include <libgen.h>
#include <unistd.h>

enum { MOST_N = 12, MOST_D = 4 };

typedef struct Case {
  rf_index n, d;
  double X[MOST_N * MOST_D], y[MOST_N];
} Case;

static char program[1024], folder[] = "/tmp/rf_inspect_XXXXXX", file[64];

static int set_up(void **state) {
  (void)state;
  char self[900];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0 || !mkdtemp(folder)) return 1;
  self[length] = '\0';
  snprintf(program, sizeof program, "%s/reluflow", dirname(self));
  snprintf(file, sizeof file, "%s/data.csv", folder);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  unlink(file);
  return rmdir(folder);
}

static json_t *inspect(const Case *c, const char *flags) {
  FILE *out = fopen(file, "w");
  for (rf_index i = 0; i < c->n; i++) {
    for (rf_index j = 0; j < c->d; j++) fprintf(out, "%.17g,", c->X[i * c->d + j]);
    fprintf(out, "%g\n", c->y[i]);
  }
  fclose(out);
  char command[1200];
  snprintf(command, sizeof command, "'%s' inspect %s --json %s", program, file, flags);
  FILE *pipe = popen(command, "r");
  json_error_t error;
  json_t *root = json_loadf(pipe, 0, &error);
  int status = pclose(pipe) >> 8;
  if (!root || status != 0) {
    rf_test_print_matrix("X", c->X, c->n, c->d);
    rf_test_print_matrix("y", c->y, 1, c->n);
    fail_msg("%s: exit %d, %s", command, status, root ? "" : error.text);
  }
  return root;
}

static bool flag(const json_t *object, const char *key) { return json_is_true(json_object_get(object, key)); }

static double number(const json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static void vector(double *out, const json_t *object, const char *key, rf_index count) {
  json_t *array = json_object_get(object, key);
  assert_true(json_is_array(array));
  assert_int_equal(json_array_size(array), count);
  for (rf_index i = 0; i < count; i++) out[i] = json_number_value(json_array_get(array, (size_t)i));
}

static double product(const double *a, const double *b, rf_index d) {
  double sum = 0;
  for (rf_index j = 0; j < d; j++) sum += a[j] * b[j];
  return sum;
}

static double longest(const Case *c) {
  double most = 0;
  for (rf_index i = 0; i < c->n; i++)
    most = fmax(most, sqrt(product(c->X + i * c->d, c->X + i * c->d, c->d)));
  return most;
}

/* |sum_i weights_i s_i x_i - target|, s_i = y_i or 1. */
static double gap(const Case *c, const double *weights, bool signs, const double *target) {
  double total = 0;
  for (rf_index j = 0; j < c->d; j++) {
    double sum = target ? -target[j] : 0;
    for (rf_index i = 0; i < c->n; i++) sum += weights[i] * (signs ? c->y[i] : 1) * c->X[i * c->d + j];
    total += sum * sum;
  }
  return sqrt(total);
}

static void check_farkas(const Case *c, const json_t *object, bool signs) {
  double f[MOST_N], sum = 0;
  vector(f, object, "farkas", c->n);
  for (rf_index i = 0; i < c->n; i++) {
    assert_true(f[i] >= 0);
    sum += f[i];
  }
  assert_close(sum, 1, 1e-12);
  assert_close(gap(c, f, signs, NULL), 0, 1e-11 * longest(c));
}

static bool check_linear(const Case *c, const json_t *root) {
  const json_t *linear = json_object_get(root, "linear");
  if (!flag(linear, "separable")) {
    assert_true(json_is_false(json_object_get(linear, "separable")));
    check_farkas(c, linear, true);
    return false;
  }
  double w[MOST_D], mu[MOST_N], margin = number(linear, "margin"), least = INFINITY;
  vector(w, linear, "w", c->d);
  vector(mu, linear, "multipliers", c->n);
  assert_close(product(w, w, c->d), 1, 1e-12);
  for (rf_index i = 0; i < c->n; i++) {
    double q = c->y[i] * product(w, c->X + i * c->d, c->d);
    least = fmin(least, q);
    assert_true(mu[i] >= 0);
    if (mu[i] > 0) assert_relative(q, margin, 1e-9);
  }
  assert_relative(least, margin, 1e-10);
  for (rf_index j = 0; j < c->d; j++) w[j] /= margin;
  assert_close(gap(c, mu, true, w) * margin, 0, 1e-11);
  return true;
}

static void check_class(const Case *c, const json_t *root, const char *key, double sign, rf_index size) {
  const json_t *object = json_object_get(root, key);
  if (size == 0) {
    assert_true(json_is_null(object));
    return;
  }
  if (json_is_null(json_object_get(object, "w"))) {
    check_farkas(c, object, false);
    return;
  }
  double w[MOST_D], mu[MOST_N];
  vector(w, object, "w", c->d);
  vector(mu, object, "multipliers", c->n);
  double norm = sqrt(product(w, w, c->d));
  assert_relative(number(object, "norm"), norm, 1e-12);
  for (rf_index i = 0; i < c->n; i++) {
    double q = product(w, c->X + i * c->d, c->d);
    if (c->y[i] * sign > 0) assert_true(q >= 1 - 1e-10);
    assert_true(mu[i] >= 0 && (mu[i] == 0 || (c->y[i] * sign > 0 && fabs(q - 1) < 1e-9)));
  }
  assert_close(gap(c, mu, false, w) / norm, 0, 1e-11);
}

/* Witnesses satisfy the definition; an empty S+ or S- on data with a separator inside would be caught by the
 * witness. */
static void check_cones(const Case *c, const json_t *root) {
  static const char *const names[] = {"s_plus", "s_minus", "s_dead"};
  for (int k = 0; k < 3; k++) {
    const json_t *cone = json_object_get(json_object_get(root, "cones"), names[k]);
    if (!flag(cone, "nonempty")) continue;
    double w[MOST_D];
    vector(w, cone, "witness", c->d);
    assert_close(product(w, w, c->d), 1, 1e-12);
    for (rf_index i = 0; i < c->n; i++) {
      const double *x = c->X + i * c->d;
      double q = product(w, x, c->d), size = sqrt(product(x, x, c->d));
      bool active = k == 0 ? c->y[i] > 0 : k == 1 ? c->y[i] < 0 : false;
      if (size == 0) continue;
      if (active)
        assert_true(q > 0);
      else
        assert_true(q <= 1e-12 * size);
    }
  }
}

static void check_pairs(const Case *c, const json_t *root) {
  double min_same = INFINITY, max_cross = -INFINITY;
  bool holds = true;
  rf_index zeros = 0, duplicates = 0;
  for (rf_index i = 0; i < c->n; i++) {
    bool repeats = false;
    for (rf_index j = 0; j <= i; j++) {
      double p = product(c->X + i * c->d, c->X + j * c->d, c->d);
      bool same = c->y[i] == c->y[j];
      if (same ? p <= 0 : p > 0) holds = false;
      if (i == j) continue;
      repeats = repeats || memcmp(c->X + i * c->d, c->X + j * c->d, (size_t)c->d * sizeof(double)) == 0;
      if (same)
        min_same = fmin(min_same, p);
      else
        max_cross = fmax(max_cross, p);
    }
    duplicates += repeats;
    zeros += product(c->X + i * c->d, c->X + i * c->d, c->d) == 0;
  }
  const json_t *orthogonal = json_object_get(root, "orthogonal");
  assert_int_equal(flag(orthogonal, "separable"), holds);
  if (isfinite(min_same))
    assert_close(number(orthogonal, "min_same"), min_same, 1e-12);
  else
    assert_true(json_is_null(json_object_get(orthogonal, "min_same")));
  if (isfinite(max_cross))
    assert_close(number(orthogonal, "max_cross"), max_cross, 1e-12);
  else
    assert_true(json_is_null(json_object_get(orthogonal, "max_cross")));
  assert_int_equal(json_integer_value(json_object_get(root, "zeros")), zeros);
  assert_int_equal(json_integer_value(json_object_get(root, "duplicates")), duplicates);
}

/* Open sectors by brute force over many random directions: a lower bound; exact for d = 1 and 2. */
static rf_index sectors(const Case *c) {
  rf_index lines = 0;
  for (rf_index i = 0; i < c->n; i++) {
    const double *x = c->X + i * c->d;
    bool fresh = product(x, x, c->d) > 0;
    for (rf_index j = 0; j < i && fresh; j++) {
      const double *u = c->X + j * c->d;
      bool zero = product(u, u, c->d) == 0, parallel = c->d == 1 || x[0] * u[1] == x[1] * u[0];
      if (!zero && parallel) fresh = false;
    }
    lines += fresh;
  }
  if (lines == 0) return 1;
  return c->d == 1 ? 2 : 2 * lines;
}

static double potential(const Case *c, const double *w, double leak) {
  double sum = 0;
  for (rf_index i = 0; i < c->n; i++) {
    double q = product(w, c->X + i * c->d, c->d);
    sum += c->y[i] * (q > 0 ? q : leak * q) / 2;
  }
  return sum;
}

/* Unit, with the value and the sector that are claimed, and better than every direction tried nearby. */
static void check_extremal(const Case *c, const json_t *root, double leak, RfRandom *random) {
  static const char *const names[] = {"positive", "negative"};
  for (int side = 0; side < 2; side++) {
    json_t *list = json_object_get(json_object_get(root, "extremal"), names[side]), *item;
    size_t index;
    json_array_foreach(list, index, item) {
      double u[MOST_D], sign = side == 0 ? 1 : -1, G = number(item, "G"), scale = longest(c) * (double)c->n;
      vector(u, item, "direction", c->d);
      assert_close(product(u, u, c->d), 1, 1e-12);
      assert_close(G, potential(c, u, leak), 1e-12 * scale);
      const char *sector = json_string_value(json_object_get(item, "sector"));
      assert_int_equal(strlen(sector), c->n);
      double step = 1e-4; /* stay on this side of the hyperplanes that the direction is not on */
      for (rf_index i = 0; i < c->n; i++) {
        const double *x = c->X + i * c->d;
        double q = product(u, x, c->d), size = sqrt(product(x, x, c->d));
        if (sector[i] != '0') step = fmin(step, 0.1 * fabs(q) / size);
        assert_int_equal(sector[i], fabs(q) <= 1e-10 * size ? '0' : q > 0 ? '+' : '-');
      }
      for (int k = 0; k < 40 && c->d > 1; k++) {
        double v[MOST_D], norm = 0;
        for (rf_index j = 0; j < c->d; j++) v[j] = u[j] + step * rf_random_gaussian(random);
        norm = sqrt(product(v, v, c->d));
        for (rf_index j = 0; j < c->d; j++) v[j] /= norm;
        if (sign * potential(c, v, leak) <= sign * G + 1e-12 * scale) continue;
        rf_test_print_matrix("X", c->X, c->n, c->d);
        rf_test_print_matrix("y", c->y, 1, c->n);
        rf_test_print_matrix("direction", u, 1, c->d);
        rf_test_print_matrix("better", v, 1, c->d);
        fail_msg("%s direction %zu is not extremal: G %.17g, leak %g", names[side], index, G, leak);
      }
    }
  }
}

static void check(const Case *c, double leak, RfRandom *random) {
  char flags[32];
  snprintf(flags, sizeof flags, "--leak %g", leak);
  json_t *root = inspect(c, flags);
  rf_index n_pos = 0;
  for (rf_index i = 0; i < c->n; i++) n_pos += c->y[i] > 0;
  assert_int_equal(json_integer_value(json_object_get(root, "n")), c->n);
  assert_int_equal(json_integer_value(json_object_get(root, "d")), c->d);
  assert_int_equal(json_integer_value(json_object_get(root, "n_pos")), n_pos);
  assert_int_equal(json_integer_value(json_object_get(root, "n_neg")), c->n - n_pos);
  assert_string_equal(json_string_value(json_object_get(root, "status")), "done");
  check_linear(c, root);
  check_class(c, root, "positive", 1, n_pos);
  check_class(c, root, "negative", -1, c->n - n_pos);
  check_cones(c, root);
  check_pairs(c, root);
  if (c->d <= 2) {
    json_t *count = json_object_get(json_object_get(root, "arrangements"), "count");
    assert_int_equal(json_integer_value(count), sectors(c));
  }
  check_extremal(c, root, leak, random);
  json_decref(root);
}

static void hand_made(void **state) {
  (void)state;
  static const Case cases[] = {
      {1, 1, {3}, {1}},
      {1, 1, {-3}, {-1}},
      {1, 1, {0}, {1}},
      {1, 2, {0, 0}, {-1}},
      {2, 1, {1, -2}, {1, -1}},
      {2, 1, {1, 2}, {1, -1}},
      {2, 1, {1, 1}, {1, -1}},
      {3, 1, {0, 0, 0}, {1, -1, 1}},
      {2, 2, {1, 2, 1, 2}, {1, 1}},
      {2, 2, {1, 2, 1, 2}, {1, -1}},
      {2, 2, {1, 2, -1, -2}, {1, -1}},
      {2, 2, {1, 2, -1, -2}, {1, 1}},
      {2, 2, {1, 0, 0, 1}, {1, -1}},
      {3, 2, {1, 0, 0, 0, -1, 1}, {1, -1, -1}},
      {4, 2, {1, 1, 2, 2, 3, 3, -1, -1}, {1, 1, 1, -1}},
      {4, 2, {1e150, 0, 0, 1e150, -1e150, 1e149, 1, 1}, {1, 1, -1, 1}},
      {3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, -1, 1}},
      {3, 3, {1, 0, 0, 2, 0, 0, -1, 0, 0}, {1, 1, -1}},
      {4, 3, {1, 1, 0, 1, -1, 0, -1, 1, 0, -1, -1, 0}, {1, -1, -1, 1}},
  };
  RfRandom random;
  rf_random_init(&random, 11, 0);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check(&cases[i], 0, &random);
    check(&cases[i], 0.5, &random);
  }
}

static void random_grids(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 12, 0);
  for (rf_index k = 0; k < rf_test_iterations(60); k++) {
    Case c = {.n = 1 + rf_random_below(&random, 9), .d = 1 + rf_random_below(&random, 3)};
    bool one_class = rf_random_below(&random, 6) == 0, smooth = rf_random_below(&random, 3) == 0;
    for (rf_index i = 0; i < c.n * c.d; i++)
      c.X[i] = smooth ? rf_random_gaussian(&random) : (double)(rf_random_below(&random, 5) - 2);
    for (rf_index i = 0; i < c.n; i++) c.y[i] = one_class ? 1 : rf_random_sign(&random);
    check(&c, rf_random_below(&random, 2) ? 0 : 0.25, &random);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(hand_made), cmocka_unit_test(random_grids)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
