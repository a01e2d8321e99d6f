/* Cones: witnesses and certificates are rechecked from the raw rows, existence against a fine search in the
 * plane and against planted witnesses, with degenerate integer data. */
#include "geometry_test.h"

static void recheck(const RfCone *cone, RfConeKind kind, const double *X, const double *y, rf_index n,
                    rf_index d) {
  if (cone->nonempty == RF_YES) {
    assert_close(rf_la_norm(cone->witness, d), 1, 1e-14);
    for (rf_index i = 0; i < n; i++) {
      double value = rf_la_dot(cone->witness, X + i * d, d), scale = 1e-12 * rf_la_norm(X + i * d, d);
      bool own = kind != RF_CONE_DEAD && (kind == RF_CONE_POSITIVE) == (y[i] > 0);
      assert_true(own ? value > 0 : value <= scale);
      if (cone->interior && scale > 0) assert_true(fabs(value) > scale);
    }
    return;
  }
  assert_int_equal(cone->nonempty, RF_NO);
  double sum[8] = {0}, total = 0, own_weight = 0, scale = 0;
  bool any_own = false;
  for (rf_index i = 0; i < n; i++)
    any_own |= kind != RF_CONE_DEAD && (kind == RF_CONE_POSITIVE) == (y[i] > 0);
  for (rf_index i = 0; i < n; i++) {
    double f = cone->certificate[i];
    bool own = any_own && (kind == RF_CONE_POSITIVE) == (y[i] > 0);
    assert_true(f >= 0);
    if (!any_own && rf_la_norm(X + i * d, d) > 0) assert_true(f > 0);
    rf_la_axpy(sum, own || !any_own ? f : -f, X + i * d, d);
    total += f;
    own_weight += own ? f : 0;
    scale += f * rf_la_norm(X + i * d, d);
  }
  assert_close(total, 1, 1e-13);
  assert_true(!any_own || own_weight > 0);
  assert_close(rf_la_norm(sum, d), 0, 1e-11 * scale);
  assert_true(cone->residual <= 1e-11);
}

/* Nonempty in the plane, from the 2n rays on hyperplanes, the 2n bisectors, and the axes. */
static bool exists_in_plane(RfConeKind kind, const double *X, const double *y, rf_index n) {
  double angles[200];
  rf_index count = 0;
  for (rf_index i = 0; i < n; i++)
    for (int side = -1; side <= 1; side += 2)
      angles[count++] = atan2(X[2 * i + 1], X[2 * i]) + side * acos(0.0);
  rf_index rays = count;
  for (rf_index a = 0; a < rays; a++)
    for (rf_index b = 0; b < rays && count < 198; b++) {
      double gap = fmod(angles[b] - angles[a] + 8 * acos(-1.0), 2 * acos(-1.0)); /* next ray after a */
      bool next = gap > 1e-9;
      for (rf_index c = 0; c < rays && next; c++) {
        double other = fmod(angles[c] - angles[a] + 8 * acos(-1.0), 2 * acos(-1.0));
        next = other < 1e-9 || other > gap - 1e-9;
      }
      if (next) angles[count++] = angles[a] + gap / 2;
    }
  if (n == 0) angles[count++] = 0;
  for (rf_index k = 0; k < count; k++) {
    double w[2] = {cos(angles[k]), sin(angles[k])};
    bool inside = true;
    for (rf_index i = 0; i < n; i++) {
      double value = rf_la_dot(w, X + 2 * i, 2);
      bool own = kind != RF_CONE_DEAD && (kind == RF_CONE_POSITIVE) == (y[i] > 0);
      inside &= own ? value > 1e-9 : value < 1e-9;
    }
    if (inside) return true;
  }
  return false;
}

static void plane_integers(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 31, 0);
  rf_index seen[3][2] = {{0}};
  for (rf_index k = 0; k < rf_test_iterations(400); k++) {
    rf_index n = 1 + rf_random_below(&random, 6);
    double *X = random_integers(&random, n, 2, 2), *y = random_labels(&random, n);
    bool zero_row = false;
    for (rf_index i = 0; i < n; i++) zero_row |= X[2 * i] == 0 && X[2 * i + 1] == 0;
    for (int kind = 0; kind < 3; kind++) {
      RfCone cone;
      assert_ok(&context, rf_geometry_cone(&context, &cone, (RfConeKind)kind, X, y, NULL, n, 2));
      recheck(&cone, (RfConeKind)kind, X, y, n, 2);
      if (!zero_row && (cone.nonempty == RF_YES) != exists_in_plane((RfConeKind)kind, X, y, n)) {
        rf_test_print_matrix("X", X, n, 2);
        rf_test_print_matrix("y", y, n, 1);
        fail_msg("cone %d: got %d", kind, (int)cone.nonempty);
      }
      seen[kind][cone.nonempty == RF_YES]++;
      rf_cone_free(&cone);
    }
    rf_free(X);
    rf_free(y);
  }
  for (int kind = 0; kind < 3; kind++) assert_true(seen[kind][0] > 0 && seen[kind][1] > 0);
}

static void planted_witness(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 32, 0);
  for (rf_index k = 0; k < rf_test_iterations(60); k++) {
    rf_index d = 1 + rf_random_below(&random, 6), n = 1 + rf_random_below(&random, 30);
    double *X = random_rows(&random, n, d), *y = random_labels(&random, n), w[8];
    rf_random_direction(&random, w, d);
    for (rf_index i = 0; i < n; i++) { /* move every row to the side of its label */
      if (rf_la_dot(w, X + i * d, d) * y[i] < 0) rf_la_scale(X + i * d, -1, d);
      rf_la_scale(X + i * d, pow(10, (double)(rf_random_below(&random, 9) - 4)), d);
    }
    RfCone cone;
    assert_ok(&context, rf_geometry_cone(&context, &cone, RF_CONE_POSITIVE, X, y, NULL, n, d));
    recheck(&cone, RF_CONE_POSITIVE, X, y, n, d);
    assert_true(cone.nonempty == RF_YES && cone.interior);
    double planted = INFINITY, found = INFINITY; /* largest margin: not worse than the planted one */
    for (rf_index i = 0; i < n; i++) {
      double norm = rf_la_norm(X + i * d, d);
      planted = fmin(planted, fabs(rf_la_dot(w, X + i * d, d)) / norm);
      found = fmin(found, fabs(rf_la_dot(cone.witness, X + i * d, d)) / norm);
    }
    assert_true(found >= planted - 1e-10);
    rf_cone_free(&cone);
    assert_ok(&context,
              rf_geometry_cone(&context, &cone, RF_CONE_POSITIVE, X, y, w, n, d)); /* the hint is taken */
    for (rf_index j = 0; j < d; j++) assert_close(cone.witness[j], w[j], 1e-15);
    rf_cone_free(&cone);
    for (int kind = 1; kind < 3; kind++) {
      assert_ok(&context, rf_geometry_cone(&context, &cone, (RfConeKind)kind, X, y, NULL, n, d));
      recheck(&cone, (RfConeKind)kind, X, y, n, d);
      rf_cone_free(&cone);
    }
    rf_free(X);
    rf_free(y);
  }
}

static void boundaries(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfCone cone;
  /* x and -x, both negative: only the hyperplane itself is dead */
  double opposite[6] = {1, 0, -1, 0, 0, 1}, y[4] = {-1, -1, -1, -1};
  assert_ok(&context, rf_geometry_cone(&context, &cone, RF_CONE_DEAD, opposite, y, NULL, 3, 2));
  assert_true(cone.nonempty == RF_YES && !cone.interior);
  recheck(&cone, RF_CONE_DEAD, opposite, y, 3, 2);
  rf_cone_free(&cone);
  double star[8] = {1, 0, -1, 0, 0, 1, 0, -1};
  assert_ok(&context, rf_geometry_cone(&context, &cone, RF_CONE_DEAD, star, y, NULL, 4, 2));
  recheck(&cone, RF_CONE_DEAD, star, y, 4, 2);
  assert_int_equal(cone.nonempty, RF_NO);
  rf_cone_free(&cone);
  /* rows that do not span: their null direction is dead */
  double line[6] = {1, 1, 0, -1, -1, 0};
  assert_ok(&context, rf_geometry_cone(&context, &cone, RF_CONE_DEAD, line, y, NULL, 2, 3));
  assert_int_equal(cone.nonempty, RF_YES);
  recheck(&cone, RF_CONE_DEAD, line, y, 2, 3);
  rf_cone_free(&cone);
  /* a zero row cannot be active */
  double with_zero[4] = {1, 2, 0, 0}, mixed[2] = {1, 1};
  assert_ok(&context, rf_geometry_cone(&context, &cone, RF_CONE_POSITIVE, with_zero, mixed, NULL, 2, 2));
  assert_true(cone.nonempty == RF_NO && cone.certificate[1] == 1);
  rf_cone_free(&cone);
  /* S+ only on a hyperplane: x_2 = -x_3 are negative samples */
  double ridge[6] = {0, 1, 1, 0, -1, 0}, labels[3] = {1, -1, -1};
  assert_ok(&context, rf_geometry_cone(&context, &cone, RF_CONE_POSITIVE, ridge, labels, NULL, 3, 2));
  assert_true(cone.nonempty == RF_YES && !cone.interior);
  recheck(&cone, RF_CONE_POSITIVE, ridge, labels, 3, 2);
  rf_cone_free(&cone);
  /* no samples, no positive samples */
  assert_ok(&context, rf_geometry_cone(&context, &cone, RF_CONE_DEAD, star, y, NULL, 0, 2));
  assert_int_equal(cone.nonempty, RF_YES);
  rf_cone_free(&cone);
  assert_ok(&context, rf_geometry_cone(&context, &cone, RF_CONE_POSITIVE, star, y, NULL, 4, 2));
  assert_int_equal(cone.nonempty, RF_NO);
  rf_cone_free(&cone);
  rf_cone_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(plane_integers), cmocka_unit_test(planted_witness),
                                     cmocka_unit_test(boundaries)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
