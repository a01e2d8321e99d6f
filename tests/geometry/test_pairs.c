/* Pairwise facts against a plain double loop, planted duplicates and symmetry, and the catalogue's values. */
#include "geometry_test.h"

static void against_double_loop(const RfPairFacts *facts, const double *X, const double *y, rf_index n,
                                rf_index d) {
  double same = INFINITY, cross = -INFINITY, sep = 1;
  bool separable = true;
  for (rf_index i = 0; i < n; i++)
    for (rf_index j = 0; j < n; j++) {
      double dot = 0, a = 0, b = 0;
      for (rf_index k = 0; k < d; k++) {
        dot += X[i * d + k] * X[j * d + k];
        a += X[i * d + k] * X[i * d + k];
        b += X[j * d + k] * X[j * d + k];
      }
      sep = fmin(sep, y[i] * y[j] * dot / sqrt(a * b));
      separable &= y[i] == y[j] ? dot > 0 : dot <= 0;
      if (i == j) continue;
      if (y[i] == y[j])
        same = fmin(same, dot);
      else
        cross = fmax(cross, dot);
    }
  assert_close(facts->sep, sep, 1e-13);
  assert_int_equal(facts->orthogonal_separable, separable);
  if (isfinite(same))
    assert_close(facts->min_same, same, 1e-12);
  else
    assert_true(isnan(facts->min_same));
  if (isfinite(cross))
    assert_close(facts->max_cross, cross, 1e-12);
  else
    assert_true(isnan(facts->max_cross));
}

static void random_sets(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 11, 0);
  for (rf_index k = 0; k < rf_test_iterations(60); k++) {
    rf_index n = 1 + rf_random_below(&random, k % 10 == 0 ? 700 : 12), d = 1 + rf_random_below(&random, 6);
    double *X = random_rows(&random, n, d), *y = random_labels(&random, n);
    if (k % 2) random_orthant(&random, X, y, n, d);
    RfPairFacts facts;
    assert_ok(&context, rf_geometry_pairs(&context, &facts, X, y, n, d));
    against_double_loop(&facts, X, y, n, d);
    RfPairFacts threaded;
    context.threads = 3;
    assert_ok(&context, rf_geometry_pairs(&context, &threaded, X, y, n, d));
    context.threads = 1;
    assert_true(threaded.sep == facts.sep &&
                (n < 2 || threaded.min_same == facts.min_same || threaded.max_cross == facts.max_cross));
    assert_int_equal(facts.rank, n < d ? n : d);
    assert_int_equal(facts.n_pos + facts.n_neg, n);
    rf_free(X);
    rf_free(y);
  }
}

static void planted_duplicates_and_symmetry(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 12, 0);
  for (rf_index k = 0; k < rf_test_iterations(40); k++) {
    rf_index half = 1 + rf_random_below(&random, 20), n = 2 * half, d = 1 + rf_random_below(&random, 4);
    double *X = random_rows(&random, n, d), *y = random_labels(&random, n);
    for (rf_index i = 0; i < half; i++) {
      for (rf_index j = 0; j < d; j++) X[(half + i) * d + j] = -X[i * d + j] * (1 + 1e-15);
      y[half + i] = -y[i];
    }
    RfPairFacts facts;
    assert_ok(&context, rf_geometry_pairs(&context, &facts, X, y, n, d));
    assert_true(facts.symmetric);
    assert_int_equal(facts.duplicates, 0);
    y[rf_random_below(&random, n)] *= -1;
    assert_ok(&context, rf_geometry_pairs(&context, &facts, X, y, n, d));
    assert_false(facts.symmetric);
    memcpy(X + d, X, (size_t)d * sizeof *X); /* row 1 = row 0 */
    memset(X + (n - 1) * d, 0, (size_t)d * sizeof *X);
    assert_ok(&context, rf_geometry_pairs(&context, &facts, X, y, n, d));
    assert_int_equal(facts.duplicates, n > 2 ? 1 : 0);
    assert_int_equal(facts.zeros, 1);
    assert_false(facts.symmetric && n > 2);
    assert_false(facts.orthogonal_separable);
    rf_free(X);
    rf_free(y);
  }
}

static void small_and_catalogue(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfPairFacts facts;
  double x[2] = {3, 4}, one[1] = {1}, zero[2] = {0, 0};
  assert_ok(&context, rf_geometry_pairs(&context, &facts, x, one, 0, 2));
  assert_true(isnan(facts.sep) && isnan(facts.norm_min) && facts.rank == 0 && !facts.orthogonal_separable);
  assert_ok(&context, rf_geometry_pairs(&context, &facts, x, one, 1, 2));
  assert_true(facts.sep == 1 && facts.orthogonal_separable && isnan(facts.min_same) && facts.norm_max == 5);
  assert_ok(&context, rf_geometry_pairs(&context, &facts, zero, one, 1, 2));
  assert_true(isnan(facts.sep) && !facts.orthogonal_separable && facts.zeros == 1 && facts.rank == 0);
  assert_ok(&context, rf_geometry_pairs(&context, &facts, pl2_X, pl2_y, 5, 2));
  assert_true(facts.orthogonal_separable);
  assert_close(facts.sep, 0.1414213562373095, 1e-12);
  assert_ok(&context, rf_geometry_pairs(&context, &facts, pl2_X, NULL, 5, 2));
  assert_true(isnan(facts.sep) && !facts.orthogonal_separable && !facts.symmetric && facts.rank == 2);
  double cross[4] = {1, 0, 0, -1}, labels[2] = {1, -1}; /* exact zero products are allowed across classes */
  assert_ok(&context, rf_geometry_pairs(&context, &facts, cross, labels, 2, 2));
  assert_true(facts.orthogonal_separable && facts.max_cross == 0 && facts.sep == 0);
  labels[1] = 1;
  assert_ok(&context, rf_geometry_pairs(&context, &facts, cross, labels, 2, 2));
  assert_false(facts.orthogonal_separable);
  assert_int_equal(rf_geometry_pairs(&context, &facts, x, one, 1, 0), RF_ERR_USAGE);
}

/* PL-01: orthogonally separable iff every sample, with its label, separates the data up to ties across
 * classes. */
static void samples_are_separators(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 13, 0);
  for (rf_index k = 0; k < rf_test_iterations(200); k++) {
    rf_index n = 2 + rf_random_below(&random, 5), d = 2 + rf_random_below(&random, 2);
    double *X = random_integers(&random, n, d, 2), *y = random_labels(&random, n);
    bool separators = true;
    for (rf_index i = 0; i < n; i++)
      for (rf_index j = 0; j < n; j++) {
        double value = y[i] * y[j] * rf_la_dot(X + i * d, X + j * d, d);
        separators &= y[i] == y[j] ? value > 0 : value >= 0;
      }
    RfPairFacts facts;
    assert_ok(&context, rf_geometry_pairs(&context, &facts, X, y, n, d));
    assert_int_equal(facts.orthogonal_separable, separators);
    rf_free(X);
    rf_free(y);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_sets),
      cmocka_unit_test(planted_duplicates_and_symmetry),
      cmocka_unit_test(small_and_catalogue),
      cmocka_unit_test(samples_are_separators),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
