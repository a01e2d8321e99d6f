/* What the change of coordinates costs is bounded in doubles where 113 bits would take long: that bound is
 * never below the other one, and costs next to nothing; asked for more than it can give, it is the other. */
#include "rf_test.h"
#include "optimum/enclose.h"
#include "optimum/optimum_tolerances.h"

enum { n = 150, rank = 80, d = 900 };

/* Rows of rank 80 in 900 dimensions, of lengths from 1e-3 to 1e3. */
static void rows_of_low_rank(double *X, double *y, double *lambda) {
  RfRandom random;
  rf_random_init(&random, 5, 0);
  double *basis = RF_NEW(double, rank *d);
  for (rf_index k = 0; k < rank * d; k++) basis[k] = rf_random_gaussian(&random);
  for (rf_index i = 0; i < n; i++) {
    double size = pow(10, 6 * rf_random_uniform(&random) - 3);
    for (rf_index k = 0; k < rank; k++) {
      double c = size * rf_random_gaussian(&random);
      for (rf_index j = 0; j < d; j++) X[i * d + j] += c * basis[k * d + j];
    }
    y[i] = i % 2 ? 1 : -1, lambda[i] = i % 3 ? rf_random_uniform(&random) / size : 0;
  }
  rf_free(basis);
}

static void doubles_are_above_113_bits(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n), *lambda = RF_NEW(double, n),
         *farkas = RF_NEW(double, n), quick, wide;
  rows_of_low_rank(X, y, lambda);
  RfReduced p;
  assert_ok(&context, rf_reduced_new(&context, &p, farkas, X, y, n, d, 0, 0));
  assert_true(p.basis && p.n == n && (double)p.n * (double)p.r * (double)p.d > rf_wide_work);
  assert_ok(&context, rf_enclose_norm(&context, &quick, &p, lambda, X, 1e3));
  context.tol.gap = 0;
  assert_ok(&context, rf_enclose_norm(&context, &wide, &p, lambda, X, 1e3));
  assert_true(wide > 1e3 && quick > wide);
  assert_true(quick - wide < 1e-10 * 1e3);
  rf_reduced_free(&p);
  rf_free(X), rf_free(y), rf_free(lambda), rf_free(farkas);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(doubles_are_above_113_bits)};
  return cmocka_run_group_tests_name("optimum/enclose", tests, NULL, NULL);
}
