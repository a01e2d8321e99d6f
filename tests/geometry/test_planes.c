/* Hyperplanes of a dataset and their restriction: every row is its plane's normal up to length and side, in
 * row space coordinates; a restriction keeps all inner products. */
#include "geometry_test.h"
#include "geometry/geometry_internal.h"

static void rows_and_planes(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 91, 0);
  for (rf_index k = 0; k < rf_test_iterations(200); k++) {
    rf_index d = 1 + rf_random_below(&random, 5), n = rf_random_below(&random, 12);
    double *X = random_integers(&random, n, d, 2), w[8], low[8];
    for (rf_index i = 0; i < n; i++)
      rf_la_scale(X + i * d, pow(7, (double)(rf_random_below(&random, 40) - 20)), d);
    RfPlanes planes;
    assert_ok(&context, rf_planes_new(&context, &planes, X, n, d));
    assert_false(planes.doubtful);
    rf_random_direction(&random, w, d);
    rf_planes_lower(low, &planes, w);
    for (rf_index i = 0; i < n; i++) {
      double norm = rf_la_norm(X + i * d, d);
      if (norm == 0) {
        assert_int_equal(planes.plane_of[i], -1);
        continue;
      }
      const double *u = planes.planes.normal + planes.plane_of[i] * planes.rank;
      assert_close(rf_la_dot(X + i * d, w, d) / norm, planes.sign_of[i] * rf_la_dot(u, low, planes.rank),
                   1e-13);
    }
    for (rf_index p = 0; p < planes.planes.count; p++) {
      const double *u = planes.planes.normal + p * planes.rank;
      assert_close(rf_la_norm(u, planes.rank), 1, 1e-14);
      for (rf_index q = 0; q < p; q++)
        assert_true(fabs(rf_la_dot(u, planes.planes.normal + q * planes.rank, planes.rank)) < 1 - 1e-9);
    }
    rf_planes_lift(w, &planes, low); /* the part of w in the row space */
    double again[8];
    rf_planes_lower(again, &planes, w);
    for (rf_index j = 0; j < planes.rank; j++) assert_close(again[j], low[j], 1e-14);
    rf_planes_free(&planes);
    rf_free(X);
  }
}

static void restriction_keeps_products(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 92, 0);
  for (rf_index k = 0; k < rf_test_iterations(200); k++) {
    rf_index d = 2 + rf_random_below(&random, 4), n = 2 + rf_random_below(&random, 10);
    double *X = k % 2 ? random_integers(&random, n, d, 1) : random_rows(&random, n, d), w[8], full[8],
           again[8];
    RfPlanes planes;
    RfRestriction work;
    assert_ok(&context, rf_planes_new(&context, &planes, X, n, d));
    rf_index count = planes.planes.count - 1, dim = planes.rank;
    if (dim >= 2) {
      const double *normal = planes.planes.normal;
      assert_ok(&context, rf_restriction_new(&context, &work, planes.planes.count, dim));
      rf_restrict(&work, &planes.planes, count, count, context.tol.zero);
      rf_random_direction(&random, w, dim - 1);
      rf_restriction_lift(full, &work, w);
      assert_close(rf_la_dot(full, normal + count * dim, dim), 0, 1e-14);
      assert_close(rf_la_norm(full, dim), 1, 1e-14);
      rf_restriction_lower(again, &work, full);
      for (rf_index j = 0; j < dim - 1; j++) assert_close(again[j], w[j], 1e-14);
      for (rf_index i = 0; i < count; i++) {
        double child = rf_la_dot(work.child.normal + work.rep[i] * (dim - 1), w, dim - 1);
        assert_close(rf_la_dot(normal + i * dim, full, dim), work.length[i] * work.sign[i] * child, 1e-13);
      }
      if (count > 0) assert_true(work.rep[0] == 0 && work.sign[0] == 1);
      if (k % 2 == 0) assert_false(work.merged && dim > 2);
      rf_restriction_free(&work);
    }
    rf_planes_free(&planes);
    rf_free(X);
  }
}

static void nearly_parallel(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfPlanes planes;
  double X[6] = {1, 0, -1, 0, 1, 1};
  static const struct {
    double angle;
    rf_index planes;
    bool doubtful;
  } cases[] = {{0, 2, false}, {1e-15, 2, false}, {5e-13, 2, true}, {2e-12, 3, true}, {1e-10, 3, false}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    X[3] = cases[k].angle;
    assert_ok(&context, rf_planes_new(&context, &planes, X, 3, 2));
    assert_int_equal(planes.planes.count, cases[k].planes);
    assert_int_equal(planes.doubtful, cases[k].doubtful);
    rf_planes_free(&planes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_and_planes),
                                     cmocka_unit_test(restriction_keeps_products),
                                     cmocka_unit_test(nearly_parallel)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
