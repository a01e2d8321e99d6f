/* Hard margins against the reference result, a least-squares formulation, brute force over supports, and the
 * certificates recomputed here. */
#include "rf_test.h"
#include "margin_check.h"

#include <jansson.h>

static void gaussian(RfRandom *random, double *out, rf_index n) {
  for (rf_index i = 0; i < n; i++) out[i] = rf_random_gaussian(random);
}

/* ---- reference -------------------------------------------------------------------------------------- */

static void golden(void **state) {
  (void)state;
  char path[4096];
  snprintf(path, sizeof path, "%s/convex/svm_hardmargin.json", rf_test_golden());
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error), *rows = json_object_get(root, "X");
  assert_non_null(root);
  rf_index n = (rf_index)json_array_size(rows), d = (rf_index)json_array_size(json_array_get(rows, 0));
  double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n);
  for (rf_index i = 0; i < n; i++) {
    y[i] = json_number_value(json_array_get(json_object_get(root, "y"), (size_t)i));
    for (rf_index j = 0; j < d; j++)
      X[i * d + j] = json_number_value(json_array_get(json_array_get(rows, (size_t)i), (size_t)j));
  }
  RfContext context;
  RfLinearMargin m;
  rf_context_init(&context);
  assert_ok(&context, rf_margin_linear(&context, &m, X, y, n, d));
  check_certificate(&m, X, y, n, d, 1e-13);
  double norm = json_number_value(json_object_get(root, "norm"));
  assert_relative(1 / m.margin, norm, 3e-16);
  for (rf_index j = 0; j < d; j++) {
    double want = json_number_value(json_array_get(json_object_get(root, "w"), (size_t)j));
    assert_close(m.w[j] / m.margin, want, 1e-15 * norm);
  }
  json_t *support = json_object_get(root, "support"), *mu = json_object_get(root, "mu");
  assert_int_equal(m.n_support, json_array_size(support));
  for (size_t k = 0; k < json_array_size(support); k++) {
    rf_index i = (rf_index)json_integer_value(json_array_get(support, k));
    assert_int_equal(m.support[k], i);
    assert_relative(m.multipliers[i], json_number_value(json_array_get(mu, k)), 2e-15);
  }
  rf_linear_margin_free(&m);
  json_decref(root);
  rf_free(X);
  rf_free(y);
}

/* ---- second methods --------------------------------------------------------------------------------- */

/* The least-distance formulation of Lawson and Hanson: NNLS on (z_i, 1) with right-hand side e_{d+1}. */
static double margin_by_least_squares(const double *X, const double *y, rf_index n, rf_index d) {
  RfContext context;
  rf_context_init(&context);
  double *E = RF_NEW(double, n *(d + 1)), *f = RF_NEW(double, d + 1), *u = RF_NEW(double, n),
         *r = RF_NEW(double, d + 1);
  for (rf_index i = 0; i < n; i++) {
    for (rf_index j = 0; j < d; j++) E[i * (d + 1) + j] = y[i] * X[i * d + j];
    E[i * (d + 1) + d] = 1;
  }
  f[d] = 1;
  RfLeastSquaresInfo info;
  assert_ok(&context, rf_la_nnls(&context, u, r, &info, E, f, d + 1, n, d + 1, NULL));
  double margin = info.residual < 1e-9 ? 0 : r[d] / rf_la_norm(r, d);
  rf_free(E);
  rf_free(f);
  rf_free(u);
  rf_free(r);
  return margin;
}

/* Shortest v over all supports of at most d rows that satisfies every row; infinity when there is none. */
static double length_by_brute_force(const double *X, const double *y, rf_index n, rf_index d) {
  RfContext context;
  rf_context_init(&context);
  double best = INFINITY;
  for (rf_index set = 1; set < (rf_index)1 << n; set++) {
    double A[64], b[16];
    rf_index size = 0, rank;
    for (rf_index i = 0; i < n; i++)
      if (set >> i & 1) {
        if (size == d) {
          size = d + 1;
          break;
        }
        for (rf_index j = 0; j < d; j++) A[size * d + j] = y[i] * X[i * d + j];
        b[size++] = 1;
      }
    if (size > d) continue;
    rf_la_least_squares(&context, A, b, size, d, 1e-12, &rank);
    bool ok = true;
    for (rf_index i = 0; i < n; i++) ok = ok && y[i] * rf_la_dot(X + i * d, b, d) >= 1 - 1e-11;
    if (ok) best = fmin(best, rf_la_norm(b, d));
  }
  return best;
}

/* Small integers: duplicates, zero rows, conflicting labels, degenerate supports. */
static void agrees_with_brute_force(void **state) {
  (void)state;
  RfRandom random;
  RfContext context;
  rf_random_init(&random, 21, 0);
  rf_context_init(&context);
  for (rf_index trial = 0; trial < rf_test_iterations(1500); trial++) {
    rf_index n = 1 + rf_random_below(&random, 7), d = 1 + rf_random_below(&random, 4);
    double X[32], y[8], w[4];
    gaussian(&random, w, d);
    for (rf_index i = 0; i < n * d; i++)
      X[i] = trial % 2 ? rf_random_gaussian(&random) : (double)(rf_random_below(&random, 5) - 2);
    for (rf_index i = 0; i < n; i++)
      y[i] = trial % 3 ? (rf_la_dot(w, X + i * d, d) > 0 ? 1 : -1) : rf_random_sign(&random);
    RfLinearMargin m;
    RfStatus status = rf_margin_linear(&context, &m, X, y, n, d);
    check_certificate(&m, X, y, n, d, 1e-12);
    double length = length_by_brute_force(X, y, n, d);
    if (status == RF_OK ? !(fabs(1 / m.margin / length - 1) <= 1e-10)
                        : !(status == RF_NOT_SEPARABLE && length > 1e9)) {
      print_error("status %d, 1/margin %.17g, brute force %.17g\n", status, 1 / m.margin, length);
      fail_with("brute force disagrees", X, y, n, d);
    }
    rf_linear_margin_free(&m);
  }
}

static void agrees_with_least_squares(void **state) {
  (void)state;
  RfRandom random;
  RfContext context;
  rf_random_init(&random, 22, 0);
  rf_context_init(&context);
  for (rf_index trial = 0; trial < rf_test_iterations(150); trial++) {
    rf_index n = 1 + rf_random_below(&random, 400), d = 1 + rf_random_below(&random, 40);
    double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n), *w = RF_NEW(double, d);
    gaussian(&random, X, n * d);
    gaussian(&random, w, d);
    for (rf_index i = 0; i < n; i++)
      y[i] = trial % 4 ? (rf_la_dot(w, X + i * d, d) > 0 ? 1 : -1) : rf_random_sign(&random);
    RfLinearMargin m;
    RfStatus status = rf_margin_linear(&context, &m, X, y, n, d);
    check_certificate(&m, X, y, n, d, 1e-10);
    double margin = margin_by_least_squares(X, y, n, d);
    if (status != (margin > 0 ? RF_OK : RF_NOT_SEPARABLE) && !(status == RF_OK && m.margin < 1e-8))
      fail_with("least squares disagrees about separability", X, y, n, d);
    if (status == RF_OK && m.margin > 1e-4) assert_relative(margin, m.margin, 1e-7);
    rf_linear_margin_free(&m);
    rf_free(X);
    rf_free(y);
    rf_free(w);
  }
}

/* ---- planted ---------------------------------------------------------------------------------------- */

/* Support rows z_k = v/|v|^2 + (orthogonal to v) with a positive combination equal to v; other rows beyond 1.
 */
static void planted(void **state) {
  (void)state;
  RfRandom random;
  RfContext context;
  rf_random_init(&random, 23, 0);
  rf_context_init(&context);
  for (rf_index trial = 0; trial < rf_test_iterations(200); trial++) {
    rf_index d = 2 + rf_random_below(&random, 20), k = 1 + rf_random_below(&random, d),
             n = k + rf_random_below(&random, 300);
    double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n), *v = RF_NEW(double, d),
           *mean = RF_NEW(double, d);
    rf_random_direction(&random, v, d);
    for (rf_index i = 0; i < k; i++) {
      double *z = X + i * d;
      gaussian(&random, z, d);
      rf_la_axpy(z, -rf_la_dot(z, v, d), v, d);
      for (rf_index j = 0; j < d; j++) mean[j] += z[j] / (double)k;
    }
    for (rf_index i = 0; i < k; i++) { /* the centred rows sum to zero, so v is their mean */
      rf_la_axpy(X + i * d, -1, mean, d);
      rf_la_axpy(X + i * d, 1, v, d);
    }
    for (rf_index i = k; i < n; i++) {
      gaussian(&random, X + i * d, d);
      rf_la_axpy(X + i * d, 1.001 + rf_random_uniform(&random) - rf_la_dot(X + i * d, v, d), v, d);
    }
    for (rf_index i = 0; i < n; i++) {
      y[i] = rf_random_sign(&random);
      rf_la_scale(X + i * d, y[i], d);
    }
    RfLinearMargin m;
    assert_ok(&context, rf_margin_linear(&context, &m, X, y, n, d));
    check_certificate(&m, X, y, n, d, 1e-12);
    assert_relative(m.margin, 1, 1e-13);
    for (rf_index j = 0; j < d; j++) assert_close(m.w[j], v[j], 1e-12);
    assert_int_equal(m.n_support, k);
    rf_linear_margin_free(&m);
    rf_free(X);
    rf_free(y);
    rf_free(v);
    rf_free(mean);
  }
}

static void scaled_data_give_scaled_answers(void **state) {
  (void)state;
  RfRandom random;
  RfContext context;
  rf_random_init(&random, 24, 0);
  rf_context_init(&context);
  double scales[] = {1e-150, 1e-30, 1e30, 1e150};
  for (rf_index trial = 0; trial < rf_test_iterations(100); trial++) {
    double X[150], Y[150], y[30], scale = exp2(round(log2(scales[trial % 4])));
    gaussian(&random, X, 150);
    for (int i = 0; i < 30; i++)
      y[i] = trial % 3 ? (X[5 * i] + X[5 * i + 1] > 0 ? 1 : -1) : rf_random_sign(&random);
    for (int i = 0; i < 150; i++) Y[i] = X[i] * scale;
    RfLinearMargin a, b;
    RfStatus first = trial % 2 ? rf_margin_linear(&context, &a, X, y, 30, 5)
                               : rf_margin_linear_intercept(&context, &a, X, y, 30, 5);
    RfStatus second = trial % 2 ? rf_margin_linear(&context, &b, Y, y, 30, 5)
                                : rf_margin_linear_intercept(&context, &b, Y, y, 30, 5);
    assert_int_equal(first, second);
    if (first == RF_OK) {
      assert_relative(b.margin / scale, a.margin, 1e-13);
      for (int j = 0; j < 5; j++) assert_close(b.w[j], a.w[j], 1e-12);
    } else {
      for (int i = 0; i < 30; i++) assert_close(b.farkas[i], a.farkas[i], 1e-12);
    }
    rf_linear_margin_free(&a);
    rf_linear_margin_free(&b);
  }
}

/* Tiny margins: two opposite fans that miss each other by `gap`. */
static void thin_margins(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (int power = 0; power <= 14; power++) {
    double gap = pow(10, -power), X[] = {1, gap, -1, gap, 0.5, 1, 2, 2 * gap}, y[] = {1, 1, 1, 1};
    RfLinearMargin m;
    RfStatus status = rf_margin_linear(&context, &m, X, y, 4, 2);
    assert_int_equal(status, RF_OK);
    assert_relative(m.margin, gap, 1e-14);
    assert_close(m.w[0], 0, 1e-15);
    rf_linear_margin_free(&m);
  }
  double closed[] = {1, 0, -1, 0, 0.5, 1}, y[] = {1, 1, 1};
  RfLinearMargin m;
  assert_int_equal(rf_margin_linear(&context, &m, closed, y, 3, 2), RF_NOT_SEPARABLE);
  assert_true(m.farkas[0] == 0.5 && m.farkas[1] == 0.5 && m.farkas[2] == 0 && m.farkas_residual == 0);
  rf_linear_margin_free(&m);
}

/* ---- corner cases ----------------------------------------------------------------------------------- */

static void small_sizes(void **state) {
  (void)state;
  RfContext context;
  RfLinearMargin m;
  rf_context_init(&context);
  double one[] = {-3}, minus[] = {-1}, plus[] = {1}, zero[] = {0, 0, 1, 0}, two[] = {1, -1},
         same[] = {2, 5, 2, 5};
  assert_ok(&context, rf_margin_linear(&context, &m, one, minus, 1, 1));
  assert_true(m.margin == 3 && m.w[0] == 1 && m.multipliers[0] == 1.0 / 9 && m.n_support == 1);
  rf_linear_margin_free(&m);
  assert_ok(&context, rf_margin_linear(&context, &m, one, plus, 1, 1));
  assert_true(m.margin == 3 && m.w[0] == -1);
  rf_linear_margin_free(&m);
  assert_ok(&context, rf_margin_linear(&context, &m, NULL, NULL, 0, 3));
  assert_true(isinf(m.margin) && m.w[0] == 0);
  rf_linear_margin_free(&m);
  assert_int_equal(rf_margin_linear(&context, &m, zero, two, 2, 2), RF_NOT_SEPARABLE);
  assert_true(m.farkas[0] == 1 && m.farkas[1] == 0);
  rf_linear_margin_free(&m);
  assert_int_equal(rf_margin_linear(&context, &m, same, two, 2, 2), RF_NOT_SEPARABLE);
  assert_close(m.farkas[0], 0.5, 1e-16);
  rf_linear_margin_free(&m);
  assert_int_equal(rf_margin_linear_intercept(&context, &m, same, two, 2, 2), RF_NOT_SEPARABLE);
  assert_close(m.farkas[0], 0.5, 1e-16);
  rf_linear_margin_free(&m);
  assert_int_equal(rf_margin_linear(&context, &m, NULL, two, 2, 0), RF_NOT_SEPARABLE);
  rf_linear_margin_free(&m);
  double bad[] = {NAN};
  assert_int_equal(rf_margin_linear(&context, &m, bad, plus, 1, 1), RF_ERR_USAGE);
  assert_int_equal(rf_margin_linear(&context, &m, one, bad, 1, 1), RF_ERR_USAGE);
}

/* More dimensions than rows: w = Z^T (Z Z^T)^-1 1 when the solution is positive, always separable. */
static void wide_data(void **state) {
  (void)state;
  RfRandom random;
  RfContext context;
  rf_random_init(&random, 25, 0);
  rf_context_init(&context);
  rf_index n = 20, d = 3000;
  double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n);
  gaussian(&random, X, n * d);
  for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random);
  memcpy(X + d, X, (size_t)d * sizeof *X); /* a duplicate */
  y[1] = y[0];
  RfLinearMargin m;
  assert_ok(&context, rf_margin_linear(&context, &m, X, y, n, d));
  check_certificate(&m, X, y, n, d, 1e-13);
  assert_int_equal(m.n_support, n);
  rf_linear_margin_free(&m);
  rf_free(X);
  rf_free(y);
}

/* ---- intercept -------------------------------------------------------------------------------------- */

/* Second method: nearest points of the two hulls, by enumerating the supports of the dual with equality sum
 * mu y = 0. */
static double hull_distance(const double *X, const double *y, rf_index n, rf_index d) {
  RfContext context;
  rf_context_init(&context);
  double best = INFINITY;
  for (rf_index set = 1; set < (rf_index)1 << n; set++) {
    /* minimum-norm (v) with y_i (v.x_i + c) = 1 on the set: v in the row space, eliminate c by Lagrange. */
    rf_index index[8], size = 0;
    double K[100] = {0}, b[10] = {0};
    for (rf_index i = 0; i < n; i++)
      if (set >> i & 1) index[size++] = i;
    rf_index total = size + 1, rank;
    for (rf_index p = 0; p < size; p++) {
      for (rf_index q = 0; q < size; q++)
        K[p * total + q] = y[index[p]] * y[index[q]] * rf_la_dot(X + index[p] * d, X + index[q] * d, d);
      K[p * total + size] = K[size * total + p] = y[index[p]];
      b[p] = 1;
    }
    rf_la_least_squares(&context, K, b, total, total, 1e-11, &rank);
    double v[8] = {0}, c = b[size], balance = 0;
    for (rf_index p = 0; p < size; p++) {
      rf_la_axpy(v, b[p] * y[index[p]], X + index[p] * d, d);
      balance += b[p] * y[index[p]];
    }
    bool ok = fabs(balance) < 1e-9;
    for (rf_index i = 0; i < n; i++) ok = ok && y[i] * (rf_la_dot(X + i * d, v, d) + c) >= 1 - 1e-9;
    if (ok) best = fmin(best, rf_la_norm(v, d));
  }
  return 1 / best;
}

static void intercept_against_enumeration(void **state) {
  (void)state;
  RfRandom random;
  RfContext context;
  rf_random_init(&random, 26, 0);
  rf_context_init(&context);
  for (rf_index trial = 0; trial < rf_test_iterations(300); trial++) {
    rf_index n = 2 + rf_random_below(&random, 6), d = 1 + rf_random_below(&random, 3);
    double X[32], y[8], w[4];
    gaussian(&random, X, n * d);
    gaussian(&random, w, 4);
    for (rf_index i = 0; i < n; i++)
      y[i] = trial % 3 ? (rf_la_dot(w, X + i * d, d) > 0.3 * w[3] ? 1 : -1) : rf_random_sign(&random);
    for (rf_index i = 0; i < n * d; i++) X[i] += trial % 5 == 0 ? 100 : 0;
    y[0] = 1;
    y[n - 1] = -1;
    RfLinearMargin m;
    RfStatus status = rf_margin_linear_intercept(&context, &m, X, y, n, d);
    check_certificate(&m, X, y, n, d, 1e-10);
    if (status == RF_UNDECIDED) fail_with("undecided", X, y, n, d);
    double near[32]; /* the distance does not depend on the origin, the enumeration's accuracy does */
    for (rf_index i = 0; i < n * d; i++) near[i] = X[i] - X[i % d];
    double margin = hull_distance(near, y, n, d), sum = 0, largest = 0;
    for (rf_index i = 0; i < n; i++) {
      double f = status == RF_OK ? m.multipliers[i] : m.farkas[i];
      sum += f * y[i];
      largest = fmax(largest, f);
    }
    assert_close(sum, 0, 1e-13 * largest);
    if (status == RF_OK ? !(fabs(margin / m.margin - 1) <= 1e-6) : margin > 1e-7)
      fail_with("enumeration disagrees", X, y, n, d);
    rf_linear_margin_free(&m);
  }
}

static void intercept_of_one_class(void **state) {
  (void)state;
  RfContext context;
  RfLinearMargin m;
  rf_context_init(&context);
  double X[] = {1, 2, 3, 4}, y[] = {-1, -1};
  assert_ok(&context, rf_margin_linear_intercept(&context, &m, X, y, 2, 2));
  assert_true(isinf(m.margin) && m.w[0] == 0 && m.w[1] == 0 && m.b == -1);
  rf_linear_margin_free(&m);
}

/* ---- classes ---------------------------------------------------------------------------------------- */

static void class_vectors(void **state) {
  (void)state;
  RfRandom random;
  RfContext context;
  rf_random_init(&random, 27, 0);
  rf_context_init(&context);
  for (rf_index trial = 0; trial < rf_test_iterations(200); trial++) {
    rf_index n = 1 + rf_random_below(&random, 30), d = 1 + rf_random_below(&random, 5), members = 0;
    double X[150], y[30], rows[150], ones[30];
    gaussian(&random, X, n * d);
    int sign = trial % 2 ? 1 : -1;
    for (rf_index i = 0; i < n; i++) {
      y[i] = rf_random_sign(&random);
      if (trial % 3) X[i * d] = fabs(X[i * d]);
      if (y[i] * sign > 0) {
        memcpy(rows + members * d, X + i * d, (size_t)d * sizeof *X);
        ones[members++] = 1;
      }
    }
    RfClassMargin c;
    RfLinearMargin m;
    RfStatus status = rf_margin_class(&context, &c, X, y, n, d, sign);
    assert_true(c.empty == (members == 0));
    if (members > 0) {
      assert_int_equal(rf_margin_linear(&context, &m, rows, ones, members, d), status);
      assert_true(c.exists == m.separable);
      if (status == RF_OK) {
        assert_relative(c.norm * m.margin, 1, 1e-14);
        assert_int_equal(c.n_support, m.n_support);
        double *sum = RF_NEW(double, d);
        for (rf_index i = 0; i < n; i++) rf_la_axpy(sum, c.multipliers[i], X + i * d, d);
        for (rf_index j = 0; j < d; j++) assert_close(sum[j], c.w[j], 1e-12 * c.norm * (1 + c.norm));
        for (rf_index k = 0; k < c.n_support; k++)
          assert_close(rf_la_dot(X + c.support[k] * d, c.w, d), 1, 1e-9 * (1 + c.norm));
        assert_true(c.spans == (c.n_support >= d)); /* general position */
        rf_free(sum);
      }
      rf_linear_margin_free(&m);
    }
    rf_class_margin_free(&c);
  }
}

static void class_that_does_not_span(void **state) {
  (void)state;
  RfContext context;
  RfClassMargin c;
  rf_context_init(&context);
  double X[] = {1, 1, 1, -1, 5, 5, -1, 0}, y[] = {1, 1, 1, -1};
  assert_ok(&context, rf_margin_class(&context, &c, X, y, 4, 2, 1));
  assert_true(c.spans && c.n_support == 2);
  rf_class_margin_free(&c);
  assert_ok(&context, rf_margin_class(&context, &c, X, y, 4, 2, -1));
  assert_true(!c.spans && c.n_support == 1 && c.w[0] == -1 && c.w[1] == 0 && c.support[0] == 3);
  rf_class_margin_free(&c);
}

static void weighted_copies(void **state) {
  (void)state;
  RfRandom random;
  RfContext context;
  rf_random_init(&random, 28, 0);
  rf_context_init(&context);
  for (rf_index trial = 0; trial < rf_test_iterations(50); trial++) {
    double X[60], Z[60], y[20], factor[20], ones[20];
    gaussian(&random, X, 60);
    for (int i = 0; i < 20; i++) {
      y[i] = X[3 * i] - X[3 * i + 2] > 0 ? 1 : -1;
      factor[i] = y[i] > 0 ? 1 : -0.25;
      ones[i] = 1;
      for (int j = 0; j < 3; j++) Z[3 * i + j] = factor[i] * X[3 * i + j];
    }
    RfLinearMargin a, b;
    assert_ok(&context, rf_margin_weighted(&context, &a, X, factor, 20, 3));
    assert_ok(&context, rf_margin_linear(&context, &b, Z, ones, 20, 3));
    check_certificate(&a, X, factor, 20, 3, 1e-12);
    assert_relative(a.margin, b.margin, 1e-14);
    rf_linear_margin_free(&a);
    rf_linear_margin_free(&b);
  }
}

/* Features of very different size, and nearly dependent ones: always decided, with certificates. */
static void ill_conditioned_features(void **state) {
  (void)state;
  RfRandom random;
  RfContext context;
  rf_random_init(&random, 30, 0);
  rf_context_init(&context);
  for (rf_index trial = 0; trial < rf_test_iterations(200); trial++) {
    rf_index n = 2 + rf_random_below(&random, 100), d = 1 + rf_random_below(&random, 12);
    double X[102 * 12], y[102], w[12];
    gaussian(&random, X, n * d);
    gaussian(&random, w, d);
    for (rf_index i = 0; i < n * d; i++) {
      rf_index j = i % d;
      if (trial % 2)
        X[i] *= pow(10, (double)(j % 7) - 3);
      else if (j % 2)
        X[i] = X[i - 1] + 1e-7 * X[i];
    }
    for (rf_index i = 0; i < n; i++)
      y[i] = trial % 3 ? rf_random_sign(&random) : (rf_la_dot(w, X + i * d, d) > 0 ? 1 : -1);
    for (int intercept = 0; intercept < 2; intercept++) {
      RfLinearMargin m;
      RfStatus status = intercept ? rf_margin_linear_intercept(&context, &m, X, y, n, d)
                                  : rf_margin_linear(&context, &m, X, y, n, d);
      if (status != RF_OK && status != RF_NOT_SEPARABLE) fail_with("not decided", X, y, n, d);
      if (status == RF_NOT_SEPARABLE) check_certificate(&m, X, y, n, d, intercept ? 1e-11 : 1e-12);
      if (status == RF_OK && isfinite(m.margin))
        for (rf_index i = 0; i < n; i++) assert_true(y[i] * (rf_la_dot(X + i * d, m.w, d) + m.b) > 0);
      rf_linear_margin_free(&m);
    }
  }
}

static void interrupted(void **state) {
  (void)state;
  RfRandom random;
  RfContext context;
  int cancel = 1;
  rf_random_init(&random, 29, 0);
  rf_context_init(&context);
  context.cancel = &cancel;
  double *X = RF_NEW(double, 400 * 50), *y = RF_NEW(double, 400);
  gaussian(&random, X, 400 * 50);
  for (int i = 0; i < 400; i++) y[i] = X[50 * i] > 0 ? 1 : -1;
  RfLinearMargin m, whole;
  assert_int_equal(rf_margin_linear(&context, &m, X, y, 400, 50), RF_INTERRUPTED);
  assert_null(m.w);
  cancel = 0;
  assert_ok(&context, rf_margin_linear(&context, &whole, X, y, 400, 50));
  assert_true(whole.margin <= m.margin_upper);
  rf_linear_margin_free(&m);
  rf_linear_margin_free(&whole);
  rf_free(X);
  rf_free(y);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden),
      cmocka_unit_test(agrees_with_brute_force),
      cmocka_unit_test(agrees_with_least_squares),
      cmocka_unit_test(planted),
      cmocka_unit_test(scaled_data_give_scaled_answers),
      cmocka_unit_test(thin_margins),
      cmocka_unit_test(small_sizes),
      cmocka_unit_test(wide_data),

      cmocka_unit_test(intercept_against_enumeration),
      cmocka_unit_test(intercept_of_one_class),
      cmocka_unit_test(class_vectors),
      cmocka_unit_test(class_that_does_not_span),
      cmocka_unit_test(weighted_copies),
      cmocka_unit_test(ill_conditioned_features),
      cmocka_unit_test(interrupted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
