/* The implicit method on flows with a known solution: order 5, an estimate of the size of the error, and
 * stability: a step of any length stays finite and goes to where the neuron goes. */
#include "known_flow.h"

enum { PROBLEMS = 25 };

static void integrate(KnownFlow *k, double *y, double length, int steps, double *estimate) {
  const double tol = 1e-3;
  RfImplicit *method;
  rf_index size = rf_system_size(&k->system);
  double f[KNOWN_SIZE + 1], end[KNOWN_SIZE + 1];
  assert_int_equal(size, KNOWN_SIZE + 1);
  assert_ok(&k->context, rf_implicit_new(&k->context, &method, 1, 1, KNOWN_D));
  memcpy(k->system.y, k->first, sizeof k->first);
  k->system.y[size - 1] = 0;
  *estimate = 0;
  for (int s = 0; s < steps; s++) {
    double error;
    k->system.log_S_step = k->system.log_S;
    assert_ok(&k->context, rf_implicit_prepare(method, &k->system, f));
    assert_ok(&k->context, rf_implicit_try(method, &k->system, end, &error, length / steps, tol));
    *estimate = fmax(*estimate, tol * error);
    memcpy(k->system.y, end, sizeof k->first);
  }
  memcpy(y, k->system.y, KNOWN_SIZE * sizeof(double));
  rf_implicit_free(method);
}

static void order_of_steps(void **state) {
  (void)state;
  double slopes[PROBLEMS], exact[KNOWN_SIZE], y[KNOWN_SIZE], estimate;
  for (int p = 0; p < PROBLEMS; p++) {
    KnownFlow k;
    known_flow_new(&k, 400 + (uint64_t)p);
    known_flow_at(&k, exact, 2);
    integrate(&k, y, 2, 32, &estimate);
    double coarse = known_flow_error(y, exact);
    integrate(&k, y, 2, 64, &estimate);
    slopes[p] = log2(coarse / known_flow_error(y, exact));
    known_flow_free(&k);
  }
  double order = known_flow_order(slopes, PROBLEMS);
  print_message("observed order %.2f (from %.2f to %.2f)\n", order, slopes[0], slopes[PROBLEMS - 1]);
  assert_close(order, 5, 0.5);
}

/* The estimate of a small step is that of a solution of order 4, so it is not below the error of order 5. */
static void estimate_is_no_promise_too_much(void **state) {
  (void)state;
  double exact[KNOWN_SIZE], y[KNOWN_SIZE], estimate;
  for (int p = 0; p < PROBLEMS; p++)
    for (double h = 0.1; h > 0.01; h /= 2) {
      KnownFlow k;
      known_flow_new(&k, 500 + (uint64_t)p);
      known_flow_at(&k, exact, h);
      integrate(&k, y, h, 1, &estimate);
      double error = known_flow_error(y, exact);
      if (error > estimate + 1e-14)
        fail_msg("seed %d, h %g: error %g, estimate %g", 500 + p, h, error, estimate);
      known_flow_free(&k);
    }
}

/* The neuron turns to (u, 1)/sqrt(2), which attracts like e^(-2 tau), and grows like e^tau there. With that
 * growth taken away (the scale frozen) steps of any length stay. */
static void long_steps_are_stable(void **state) {
  (void)state;
  for (int p = 0; p < PROBLEMS; p++) {
    KnownFlow k;
    double y[KNOWN_SIZE], exact[KNOWN_SIZE], estimate;
    known_flow_new(&k, 600 + (uint64_t)p);
    known_flow_at(&k, exact, 5); /* near the end, and from there steps of 1000 */
    memcpy(k.first, exact, sizeof exact);
    k.first[KNOWN_D + 1] = 2;
    k.system.mu = 1;
    integrate(&k, y, 1e4, 10, &estimate);
    for (int j = 0; j < KNOWN_D; j++) assert_close(y[j], k.x[j] / sqrt(2), 1e-8);
    assert_close(y[KNOWN_D], 1 / sqrt(2), 1e-8);
    assert_close(y[KNOWN_D + 1], 2, 1e-2);
    known_flow_free(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(order_of_steps),
                                     cmocka_unit_test(estimate_is_no_promise_too_much),
                                     cmocka_unit_test(long_steps_are_stable)};
  return cmocka_run_group_tests_name("flow/fit/implicit", tests, NULL, NULL);
}
