/* Which points the polish accepts. */
#include "flow/flow_internal.h"
#include "rf_test.h"

#include <math.h>

enum { N = 3, D = 2 };

/* A neuron for (1,0) and one against (-1/2,1) and (-1e-4, 5/4 height), which the first one sees by a cosine
 * of some 1e-4 and will not see in the limit. Whether the limit is found. */
static bool accepted(double height) {
  RfContext context;
  RfNet net;
  RfFlowStart start;
  RfSystem system;
  RfPolish polish;
  double X[N * D] = {1, 0, -0.5, 1, -1e-4, 1.25 * height}, y[N] = {1, -1, -1};
  rf_context_init(&context);
  assert_ok(&context, rf_net_new(&context, &net, 2, D, 0));
  net.W[0] = 10, net.W[1] = 4e-3, net.W[2] = -4, net.W[3] = 8.001;
  net.a[0] = rf_la_norm(net.W, D), net.a[1] = -rf_la_norm(net.W + D, D);
  assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
  RfFlowProblem problem = {.X = X, .y = y, .n = N, .d = D, .loss = RF_LOSS_EXP, .start = &start};
  assert_ok(&context, rf_system_new(&context, &system, &problem));
  for (rf_index u = 0; u < system.units; u++) assert_ok(&context, rf_system_refresh_unit(&system, u));
  assert_int_equal(system.sigma[2], 1);
  assert_ok(&context, rf_polish(&context, &polish, &system, 1e-9));
  bool ok = polish.ok;
  print_message("height %g: %s, distance %.2g\n", height, ok ? "a limit" : "none", polish.distance);
  if (ok) {
    assert_int_equal(polish.n_groups, 2);
    assert_relative(polish.beta[0], 1, 1e-12);
    assert_true(fabs(polish.beta[1]) < 1e-12);
  }
  rf_polish_free(&polish);
  rf_system_free(&system);
  rf_flow_start_free(&start);
  rf_net_free(&net);
  return ok;
}

/* The state is O(1/q) from the limit, and the hyperplane of a sample without weight may lie between them:
 * digits 3/4 had no limit in its second run for 1.5e-7. Not where the sample comes to have a margin below the
 * others when it is no longer seen. */
static void weightless_between(void **state) {
  (void)state;
  assert_true(accepted(5));
  assert_true(accepted(1 + 2e-5));
  assert_false(accepted(1 - 5e-5));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(weightless_between)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
