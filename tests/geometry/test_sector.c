/* Sector strings and the potential, and Lemma A.2 of Phuong & Lampert: G is linear along small steps inside
 * the closure of a sector (PL-04). */
#include "geometry_test.h"

static void strings(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  char sector[6];
  double w[2] = {2, -1}, null[2] = {0, 0};
  rf_geometry_sector(&context, sector, w, pl2_X, 5, 2);
  assert_string_equal(sector, "+0+-0");
  rf_geometry_sector(&context, sector, null, pl2_X, 5, 2);
  assert_string_equal(sector, "00000");
  rf_geometry_sector(&context, sector, w, pl2_X, 0, 2);
  assert_string_equal(sector, "");
  double tiny[2] = {2e-300, -1e-300};
  rf_geometry_sector(&context, sector, tiny, pl2_X, 5, 2);
  assert_string_equal(sector, "+0+-0");
}

static void potential_is_linear_in_a_sector(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 21, 0);
  for (rf_index k = 0; k < rf_test_iterations(200); k++) {
    rf_index n = 1 + rf_random_below(&random, 8), d = 2 + rf_random_below(&random, 3);
    double *X = random_rows(&random, n, d), *y = random_labels(&random, n), w[8], v[8], g[8] = {0}, step = 1;
    double leak = rf_random_uniform(&random);
    rf_random_direction(&random, w, d);
    rf_random_direction(&random, v, d);
    if (k % 2) rf_la_axpy(w, -rf_la_dot(w, X, d) / rf_la_dot(X, X, d), X, d); /* on the first hyperplane */
    for (rf_index i = 0; i < n; i++) {
      double at = rf_la_dot(w, X + i * d, d), along = rf_la_dot(v, X + i * d, d);
      bool on = fabs(at) < 1e-14 * rf_la_norm(X + i * d, d);
      double slope = (on ? along : at) > 0 ? 1 : leak;
      rf_la_axpy(g, 0.5 * y[i] * slope, X + i * d, d);
      if (!on) step = fmin(step, 0.9 * fabs(at / along));
    }
    double moved[8];
    for (rf_index j = 0; j < d; j++) moved[j] = w[j] + step * v[j];
    double want = rf_geometry_potential(w, X, y, n, d, leak, 0.5) + step * rf_la_dot(g, v, d);
    assert_close(rf_geometry_potential(moved, X, y, n, d, leak, 0.5), want, 1e-12);
    assert_close(rf_la_dot(w, g, d), rf_geometry_potential(w, X, y, n, d, leak, 0.5), 1e-12);
    rf_free(X);
    rf_free(y);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(strings),
                                     cmocka_unit_test(potential_is_linear_in_a_sector)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
