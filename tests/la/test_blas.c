/* Kernels against plain loops in extended precision, over all small shapes and some large ones. */
#include "rf_test.h"

static double *gaussian(RfRandom *random, rf_index count) {
  double *out = RF_NEW(double, count);
  for (rf_index i = 0; i < count; i++) out[i] = rf_random_gaussian(random);
  return out;
}

static void check(const double *got, const long double *want, rf_index count, double scale, const char *what,
                  rf_index rows, rf_index cols) {
  for (rf_index i = 0; i < count; i++)
    if (!(fabsl((long double)got[i] - want[i]) <= 1e-15L * (long double)scale))
      fail_msg("%s, %lld x %lld, entry %lld: %.17g, plain %.17Lg", what, (long long)rows, (long long)cols,
               (long long)i, got[i], want[i]);
}

static void vectors(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 1, 0);
  for (rf_index n = 0; n < 200; n += n < 40 ? 1 : 37) {
    double *x = gaussian(&random, n), *y = gaussian(&random, n), *z = rf_copy_doubles(y, n), largest = 0;
    long double dot = 0, square = 0;
    for (rf_index i = 0; i < n; i++) {
      dot += (long double)x[i] * y[i];
      square += (long double)x[i] * x[i];
      largest = fmax(largest, fabs(x[i]));
    }
    assert_close(rf_la_dot(x, y, n), (double)dot, 1e-15 * (double)(n + 1));
    assert_close(rf_la_norm(x, n), (double)sqrtl(square), 1e-15 * (double)(n + 1));
    assert_true(rf_la_max_abs(x, n) == largest);
    rf_la_axpy(z, 2.5, x, n);
    for (rf_index i = 0; i < n; i++) assert_true(z[i] == y[i] + 2.5 * x[i]);
    rf_la_scale(z, -2, n);
    for (rf_index i = 0; i < n; i++) assert_true(z[i] == -2 * (y[i] + 2.5 * x[i]));
    rf_free(x);
    rf_free(y);
    rf_free(z);
  }
}

static void norms_of_extreme_numbers(void **state) {
  (void)state;
  double large[] = {3e200, 4e200}, small[] = {3e-200, 4e-200}, none[] = {0, 0}, infinite[] = {1, -INFINITY};
  double bad[] = {NAN, 1}, only_bad[] = {NAN}, tiny[] = {3e-320, 0};
  assert_relative(rf_la_norm(large, 2), 5e200, 1e-15);
  assert_relative(rf_la_norm(small, 2), 5e-200, 1e-15);
  assert_true(rf_la_norm(none, 2) == 0 && rf_la_norm(none, 0) == 0);
  assert_true(isinf(rf_la_norm(infinite, 2)));
  assert_true(isnan(rf_la_norm(bad, 2)) && isnan(rf_la_norm(only_bad, 1)));
  assert_relative(rf_la_norm(tiny, 2), 3e-320, 1e-3);
}

/* out = A x and A^T x, with rows further apart than they are long. */
static void matrix_times_vector(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 2, 0);
  rf_index sizes[] = {0, 1, 2, 3, 7, 8, 9, 31, 64, 130};
  for (int p = 0; p < 10; p++)
    for (int q = 0; q < 10; q++) {
      rf_index rows = sizes[p], cols = sizes[q], stride = cols + 3;
      double *A = gaussian(&random, rows * stride), *x = gaussian(&random, cols),
             *u = gaussian(&random, rows);
      double *out = gaussian(&random, rows), *sum = gaussian(&random, cols),
             *more = rf_copy_doubles(sum, cols);
      long double *want = calloc((size_t)rows + 1, sizeof *want),
                  *want_sum = calloc((size_t)cols + 1, sizeof *want);
      for (rf_index i = 0; i < rows; i++)
        for (rf_index j = 0; j < cols; j++) {
          want[i] += (long double)A[i * stride + j] * x[j];
          want_sum[j] += (long double)A[i * stride + j] * u[i];
        }
      double scale = 10 * (double)(rows + cols + 1);
      rf_la_apply(out, A, x, rows, cols, stride);
      check(out, want, rows, scale, "apply", rows, cols);
      rf_la_combine(sum, A, u, rows, cols, stride);
      check(sum, want_sum, cols, scale, "combine", rows, cols);
      for (rf_index j = 0; j < cols; j++) want_sum[j] = more[j] - 0.5L * want_sum[j];
      rf_la_combine_add(more, -0.5, A, u, rows, cols, stride);
      check(more, want_sum, cols, scale, "combine_add", rows, cols);
      void *blocks[] = {A, x, u, out, sum, more};
      for (int b = 0; b < 6; b++) rf_free(blocks[b]);
      free(want);
      free(want_sum);
    }
}

typedef enum Kind { nt, nn, tn } Kind;

static void one_product(RfRandom *random, Kind kind, rf_index m, rf_index n, rf_index k) {
  double *A = gaussian(random, m * k), *B = gaussian(random, n * k), *C = gaussian(random, m * n);
  long double *want = calloc((size_t)(m * n) + 1, sizeof *want);
  for (rf_index i = 0; i < m; i++)
    for (rf_index j = 0; j < n; j++)
      for (rf_index l = 0; l < k; l++) {
        double a = kind == tn ? A[l * m + i] : A[i * k + l], b = kind == nt ? B[j * k + l] : B[l * n + j];
        want[i * n + j] += (long double)a * b;
      }
  if (kind == nt) rf_la_product_nt(C, A, B, m, n, k);
  if (kind == nn) rf_la_product_nn(C, A, B, m, n, k);
  if (kind == tn) rf_la_product_tn(C, A, B, m, n, k);
  check(C, want, m * n, 10 * (double)(k + 1), kind == nt ? "nt" : kind == nn ? "nn" : "tn", m, n);
  rf_free(A);
  rf_free(B);
  rf_free(C);
  free(want);
}

static void products(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 3, 0);
  rf_index sizes[] = {0, 1, 2, 5, 17, 40};
  for (int kind = nt; kind <= tn; kind++)
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++)
        for (int c = 0; c < 6; c++) one_product(&random, (Kind)kind, sizes[a], sizes[b], sizes[c]);
}

static void gram_is_symmetric(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 4, 0);
  for (rf_index n = 0; n < 20; n++)
    for (rf_index d = 0; d < 8; d++) {
      double *A = gaussian(&random, n * d), *G = gaussian(&random, n * n), *P = gaussian(&random, n * n);
      rf_la_gram(G, A, n, d);
      rf_la_product_nt(P, A, A, n, n, d);
      for (rf_index i = 0; i < n; i++)
        for (rf_index j = 0; j < n; j++) {
          assert_true(G[i * n + j] == G[j * n + i]);
          assert_close(G[i * n + j], P[i * n + j], 1e-14);
        }
      rf_free(A);
      rf_free(G);
      rf_free(P);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(vectors), cmocka_unit_test(norms_of_extreme_numbers),
                                     cmocka_unit_test(matrix_times_vector), cmocka_unit_test(products),
                                     cmocka_unit_test(gram_is_symmetric)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
