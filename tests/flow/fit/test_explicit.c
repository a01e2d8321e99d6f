/* The explicit method on flows with a known solution: order 8 of its steps, order 7 of the dense output
 * inside them, an error estimate that is not below the error, and ends of the interpolant that are the
 * step's; orders 5 and 4 of its steps for events that are near. */
#include "known_flow.h"

enum { PROBLEMS = 25 };

/* y at tau = length after `steps` equal steps; the largest estimate seen is in *estimate. */
static void integrate(KnownFlow *k, double *y, double length, int steps, bool low, double *estimate) {
  const double tol = 1e-3;
  RfExplicit method;
  rf_index size = rf_system_size(&k->system);
  assert_ok(&k->context, rf_explicit_new(&k->context, &method, size));
  method.low = low;
  memcpy(k->system.y, k->first, sizeof k->first);
  k->system.y[size - 1] = 0;
  rf_system_rhs(&k->system, k->system.y, method.stage[0]);
  *estimate = 0;
  for (int s = 0; s < steps; s++) {
    k->system.log_S_step = k->system.log_S;
    *estimate = fmax(*estimate, tol * rf_explicit_try(&method, &k->system, length / steps, tol));
    rf_explicit_end(&method, &k->system);
    memcpy(k->system.y, method.end, (size_t)size * sizeof(double));
    memcpy(method.stage[0], method.stage[12], (size_t)size * sizeof(double));
  }
  memcpy(y, k->system.y, KNOWN_SIZE * sizeof(double));
  rf_explicit_free(&method);
}

static void check_order(bool low, double expected, int steps, int enough) {
  double slopes[PROBLEMS], exact[KNOWN_SIZE], y[KNOWN_SIZE], estimate;
  for (int p = 0; p < PROBLEMS; p++) {
    KnownFlow k;
    known_flow_new(&k, 100 + (uint64_t)p);
    known_flow_at(&k, exact, 2);
    integrate(&k, y, 2, steps, low, &estimate);
    double coarse = known_flow_error(y, exact);
    integrate(&k, y, 2, 2 * steps, low, &estimate);
    double fine = known_flow_error(y, exact);
    slopes[p] = log2(coarse / fine);
    integrate(&k, y, 2, enough, low, &estimate);
    assert_true(known_flow_error(y, exact) < 1e-13);
    known_flow_free(&k);
  }
  double order = known_flow_order(slopes, PROBLEMS);
  print_message("observed order %.2f (from %.2f to %.2f)\n", order, slopes[0], slopes[PROBLEMS - 1]);
  assert_close(order, expected, 1);
}

static void order_of_steps(void **state) {
  (void)state;
  check_order(false, 8, 4, 40);
  check_order(true, 5, 16, 1000);
}

/* The estimate of a step bounds its error: it is that of a solution of lower order. */
static void estimate_is_no_promise_too_much(void **state) {
  (void)state;
  double exact[KNOWN_SIZE], y[KNOWN_SIZE], estimate;
  for (int p = 0; p < 2 * PROBLEMS; p++)
    for (double h = p < PROBLEMS ? 2 : 0.25; h > 0.03; h /= 2) {
      KnownFlow k;
      known_flow_new(&k, 200 + (uint64_t)p);
      known_flow_at(&k, exact, h);
      integrate(&k, y, h, 1, p >= PROBLEMS, &estimate);
      double error = known_flow_error(y, exact);
      if (error > estimate + 1e-14)
        fail_msg("seed %d, h %g: error %g, estimate %g", 200 + p, h, error, estimate);
      known_flow_free(&k);
    }
}

/* Largest error of the interpolant inside a step of length h; its ends are the step's ends. */
static double dense_error(KnownFlow *k, double h, bool low) {
  RfExplicit method;
  rf_index size = rf_system_size(&k->system);
  double exact[KNOWN_SIZE], y[KNOWN_SIZE + 1], worst = 0;
  assert_int_equal(size, KNOWN_SIZE + 1);
  assert_ok(&k->context, rf_explicit_new(&k->context, &method, size));
  method.low = low;
  memcpy(k->system.y, k->first, sizeof k->first);
  k->system.y[size - 1] = 0;
  rf_system_rhs(&k->system, k->system.y, method.stage[0]);
  k->system.log_S_step = k->system.log_S;
  rf_explicit_try(&method, &k->system, h, 1e-3);
  rf_explicit_end(&method, &k->system);
  rf_explicit_dense(&method, &k->system, h);
  for (int s = 0; s <= 16; s++) {
    rf_explicit_at(&method, y, s / 16.0, size);
    known_flow_at(k, exact, h * s / 16);
    worst = fmax(worst, known_flow_error(y, exact));
    if (s == 0) assert_true(known_flow_error(y, k->first) == 0);
    if (s == 16) assert_true(known_flow_error(y, method.end) < 1e-15);
  }
  rf_explicit_free(&method);
  return worst;
}

static void check_inside(double h, bool low, double expected) {
  double slopes[PROBLEMS];
  for (int p = 0; p < PROBLEMS; p++) {
    KnownFlow k;
    known_flow_new(&k, 300 + (uint64_t)p);
    slopes[p] = log2(dense_error(&k, h, low) / dense_error(&k, 0.5 * h, low));
    known_flow_free(&k);
  }
  double order = known_flow_order(slopes, PROBLEMS); /* of one step: one more than that of the interpolant */
  print_message("observed order %.2f of one step (from %.2f to %.2f)\n", order, slopes[0],
                slopes[PROBLEMS - 1]);
  assert_close(order, expected, 1);
}

static void order_inside_a_step(void **state) {
  (void)state;
  check_inside(0.8, false, 8);
  check_inside(0.4, true, 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(order_of_steps),
                                     cmocka_unit_test(estimate_is_no_promise_too_much),
                                     cmocka_unit_test(order_inside_a_step)};
  return cmocka_run_group_tests_name("flow/fit/explicit", tests, NULL, NULL);
}
