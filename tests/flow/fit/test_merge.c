/* Neurons that start with |a| != |w|: once they have grown they are balanced and become one unit, and when
 * the network is followed at a finite size again each has the a^2 - |w|^2 it started with. */
#include "rf_test.h"

#include <math.h>

#include "flow/fit/apart.h"

enum { D = 2, M = 2 };

static void balanced_by_growth(void **state) {
  (void)state;
  static const double X[] = {1, 0.3, 0.2, 1}, y[] = {1, 1};
  double W[] = {0.6, 0.7, 0.6 + 1e-6, 0.7 - 2e-6}, a[] = {1.3, 0.5};
  RfNet net = {.m = M, .d = D, .W = W, .a = a};
  RfContext context;
  RfFlowStart start;
  RfFlowSettings settings;
  RfRun run;
  rf_index merged;
  bool parted;
  rf_context_init(&context);
  rf_flow_settings_init(&settings);
  assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
  RfFlowProblem problem = {.X = X, .y = y, .n = 2, .d = D, .loss = RF_LOSS_EXP, .start = &start};
  assert_ok(&context, rf_run_new(&context, &run, &problem, &settings));
  assert_ok(&context, rf_run_start(&run));
  RfSystem *system = &run.system;
  assert_ok(&context, rf_apart_keep(system));
  assert_ok(&context, rf_system_balance(system, 1e-4, &parted));
  assert_false(system->balanced[0] || system->balanced[1]); /* not yet */
  system->kappa = 12;                                       /* the scale has been frozen for long, */
  double *first = system->y, *second = system->y + D;
  for (rf_index k = 0; k < M; k++) { /* and both turn to one direction */
    double *w = system->y + k * D;
    system->y[M * D + k] = sqrt(0.5);
    w[0] = 0.5 + (k == 0 ? 0 : 1e-6), w[1] = 0.5 - (k == 0 ? 0 : 1e-6);
  }
  assert_ok(&context, rf_system_balance(system, 1e-4, &parted));
  assert_true(system->balanced[0] && system->balanced[1] && !parted);
  rf_system_fields(system, system->y);
  rf_system_planes(system, system->y);
  assert_ok(&context, rf_system_merge(system, &merged, 1e-4));
  assert_true(merged == 1 && system->units == 1);
  assert_ok(&context, rf_system_balance(system, 1e-4, &parted));
  assert_true(!parted && system->units == 1);
  assert_ok(&context, rf_system_balance(system, 0, &parted));
  assert_true(parted && system->units == M && !system->balanced[0] && !system->balanced[1]);
  assert_close(second[0] - first[0], 1e-6, 1e-9);
  for (rf_index k = 0; k < M; k++) {
    double v[D + 1], rho;
    rf_system_neuron(system, k, v, v + D, &rho);
    double now = v[D] * v[D] - v[0] * v[0] - v[1] * v[1];
    double was = a[k] * a[k] - W[k * D] * W[k * D] - W[k * D + 1] * W[k * D + 1];
    assert_relative(now * exp(2 * (rho + system->kappa)), was, 1e-4); /* |w|^2 itself keeps 1e-16 of e^2k */
  }
  rf_run_free(&run);
  rf_flow_start_free(&start);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(balanced_by_growth)};
  return cmocka_run_group_tests_name("flow/fit/merge", tests, NULL, NULL);
}
