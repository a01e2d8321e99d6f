/* Factorisations: planted ranks and solutions, products of the factors, singular and empty input. */
#include "rf_test.h"

static void gaussian(RfRandom *random, double *out, rf_index count) {
  for (rf_index i = 0; i < count; i++) out[i] = rf_random_gaussian(random);
}

static void planted_rank(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 1, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(50); trial++) {
    rf_index n = 1 + rf_random_below(&random, 12), d = 1 + rf_random_below(&random, 12),
             least = n < d ? n : d;
    rf_index planted = rf_random_below(&random, least + 1), found;
    double L[144], R[144], A[144], values[12], right[144];
    gaussian(&random, L, n * planted);
    gaussian(&random, R, planted * d);
    rf_la_product_nn(A, L, R, n, d, planted);
    assert_ok(&context, rf_la_rank(&context, &found, values, A, n, d, 1e-12));
    assert_int_equal(found, planted);
    assert_ok(&context, rf_la_singular(&context, values, right, A, n, d));
    double square = 0;
    for (rf_index k = 0; k < least; k++) { /* right singular vectors: |A v| = value, orthonormal */
      double image[12];
      rf_la_apply(image, A, right + k * d, n, d, d);
      assert_close(rf_la_norm(image, n), values[k], 1e-13 * (1 + values[0]));
      for (rf_index l = 0; l < least; l++)
        assert_close(rf_la_dot(right + k * d, right + l * d, d), k == l, 1e-13);
      square += values[k] * values[k];
    }
    assert_close(square, rf_la_dot(A, A, n * d), 1e-12 * (1 + square));
  }
  rf_index none;
  assert_ok(&context, rf_la_rank(&context, &none, NULL, NULL, 0, 3, 1e-12));
  assert_int_equal(none, 0);
}

static void solves(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 2, 0);
  for (rf_index n = 0; n <= 10; n++) {
    double A[100] = {0}, copy[100], x[10], b[10], G[100], c[10];
    gaussian(&random, A, n * n);
    for (rf_index i = 0; i < n; i++) A[i * n + i] += 4;
    gaussian(&random, x, n);
    rf_la_apply(b, A, x, n, n, n);
    memcpy(copy, A, sizeof A);
    assert_ok(&context, rf_la_solve(&context, copy, b, n));
    for (rf_index i = 0; i < n; i++) assert_close(b[i], x[i], 1e-12);
    int32_t pivot[10];
    rf_la_apply(b, A, x, n, n, n);
    memcpy(copy, A, sizeof A);
    assert_true(rf_la_lu(copy, pivot, n));
    rf_la_lu_solve(copy, pivot, b, n);
    for (rf_index i = 0; i < n; i++) assert_close(b[i], x[i], 1e-12);
    rf_la_gram(G, A, n, n);
    rf_la_apply(c, G, x, n, n, n);
    assert_ok(&context, rf_la_cholesky(&context, G, n));
    rf_la_cholesky_solve(G, c, n);
    for (rf_index i = 0; i < n; i++) assert_close(c[i], x[i], 1e-10);
  }
  int32_t pivot[2];
  double zero[] = {1, 2, 2, 4};
  assert_false(rf_la_lu(zero, pivot, 2));
  double singular[] = {1, 2, 2, 4}, b[] = {1, 1}, indefinite[] = {1, 0, 0, -1};
  assert_int_equal(rf_la_solve(&context, singular, b, 2), RF_ERR_NUMERIC);
  assert_int_equal(rf_la_cholesky(&context, indefinite, 2), RF_ERR_NUMERIC);
}

/* A x = b with fewer or more rows than unknowns, full or deficient rank: the residual is orthogonal to the
 * columns, and the solution is orthogonal to the null space. */
static void minimum_norm(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 3, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(60); trial++) {
    rf_index n = 1 + rf_random_below(&random, 8), d = 1 + rf_random_below(&random, 8), least = n < d ? n : d;
    rf_index planted = 1 + rf_random_below(&random, least), rank;
    double L[64], R[64], A[64] = {0}, copy[64], b[8] = {0}, x[8], image[8], gradient[8], right[64], values[8];
    gaussian(&random, L, n * planted);
    gaussian(&random, R, planted * d);
    rf_la_product_nn(A, L, R, n, d, planted);
    gaussian(&random, b, n);
    memcpy(x, b, sizeof b);
    memcpy(copy, A, sizeof A);
    assert_ok(&context, rf_la_least_squares(&context, copy, x, n, d, 1e-11, &rank));
    assert_int_equal(rank, planted);
    rf_la_apply(image, A, x, n, d, d);
    for (rf_index i = 0; i < n; i++) image[i] -= b[i];
    rf_la_combine(gradient, A, image, n, d, d);
    double size = 1 + rf_la_norm(x, d) * rf_la_dot(A, A, n * d);
    assert_close(rf_la_norm(gradient, d), 0, 1e-12 * size);
    assert_ok(&context, rf_la_singular(&context, values, right, A, n, d));
    double inside = 0; /* x lies in the row space */
    for (rf_index k = 0; k < planted; k++) inside += pow(rf_la_dot(right + k * d, x, d), 2);
    assert_close(inside, rf_la_dot(x, x, d), 1e-10 * (1 + inside));
  }
  double x[2] = {5, 5};
  rf_index rank = 7;
  assert_ok(&context, rf_la_least_squares(&context, NULL, x, 0, 2, 1e-12, &rank));
  assert_true(x[0] == 0 && x[1] == 0 && rank == 0);
}

static void eigenvalues(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 4, 0);
  for (rf_index n = 0; n <= 9; n++) {
    double B[81], A[81] = {0}, V[81], values[9];
    gaussian(&random, B, n * n);
    for (rf_index i = 0; i < n * n; i++) A[i] = B[i] + B[i % (n ? n : 1) * n + i / (n ? n : 1)];
    memcpy(V, A, sizeof A);
    assert_ok(&context, rf_la_symmetric_eigen(&context, values, V, n));
    for (rf_index k = 0; k < n; k++) {
      double image[9];
      rf_la_apply(image, A, V + k * n, n, n, n);
      for (rf_index i = 0; i < n; i++)
        assert_close(image[i], values[k] * V[k * n + i], 1e-13 * (double)(n + 5));
      if (k > 0) assert_true(values[k - 1] <= values[k]);
    }
  }
}

static void bad_numbers(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double A[] = {1, NAN, 0, 1}, b[] = {1, 1}, values[2];
  assert_int_equal(rf_la_singular(&context, values, NULL, A, 2, 2), RF_ERR_USAGE);
  assert_int_equal(rf_la_solve(&context, A, b, 2), RF_ERR_USAGE);
  assert_true(strlen(context.error) > 0);
  assert_int_equal(rf_la_solve(&context, A, b, -1), RF_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(planted_rank), cmocka_unit_test(solves),
                                     cmocka_unit_test(minimum_norm), cmocka_unit_test(eigenvalues),
                                     cmocka_unit_test(bad_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
