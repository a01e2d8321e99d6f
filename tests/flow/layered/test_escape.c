/* The escape test of layered networks: where it says that a KKT point repels, against the dual norm in closed
 * form; and flows that start next to a point that repels, which must not be called converged there. */
#include <math.h>
#include <string.h>

#include "flow/flow.h"
#include "flow/layered/escape.h"
#include "rf_test.h"

/* f = sum_j a_j w_j x_j: a diagonal layer and a dense one. */
static RfLayeredNet pairs(RfContext *context, rf_index d) {
  RfLayeredNet net;
  assert_ok(context, rf_layers_new(context, &net, 1));
  assert_ok(context, rf_layers_add_diagonal(context, &net, d));
  assert_ok(context, rf_layers_add_dense(context, &net, d, 1));
  return net;
}

/* One sample x = (1, r): all weight on the first coordinate is a KKT point with lambda = 1, and the dual norm
 * of the other pair is r. It repels exactly when r > 1. */
static void dual_norm(void **state) {
  (void)state;
  RfContext context;
  const double ratios[] = {0.3, 0.999, 1.001, 1.033, 5, -0.9, -1.2};
  rf_context_init(&context);
  for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++) {
    double x[] = {1, ratios[k]}, y[] = {1}, lambda[] = {1};
    double point[] = {1, 0, 1, 0}, near[] = {1, 1e-5, 1, 2e-5}, exact[] = {1, 0, 1, 0};
    RfLayeredNet net = pairs(&context, 2);
    RfSided *sided;
    bool repels;
    memcpy(net.theta, near, sizeof near);
    assert_ok(&context, rf_sided_new(&context, &sided, &net, x, y, 1, RF_LOSS_EXP));
    assert_ok(&context, rf_layered_repels(&context, &repels, sided, point, lambda, near, y, 1, 4));
    assert_int_equal(repels, fabs(ratios[k]) > 1);
    /* a flow that is exactly zero there stays */
    assert_ok(&context, rf_layered_repels(&context, &repels, sided, point, lambda, exact, y, 1, 4));
    assert_false(repels);
    rf_sided_free(sided);
    rf_layers_free(&net);
  }
}

/* Three layers: a path of three zero weights grows slower than the network, whatever its data. */
static void deeper_paths_stay(void **state) {
  (void)state;
  RfContext context;
  RfLayeredNet net;
  RfSided *sided;
  bool repels;
  double x[] = {1, 50}, y[] = {1}, r = sqrt(1 / sqrt(3.0)), lambda[] = {1};
  double point[] = {r, 0, r, 0, r, 0}, near[] = {r, 1e-5, r, 1e-5, r, 1e-5};
  rf_context_init(&context);
  assert_ok(&context, rf_layers_new(&context, &net, 1));
  assert_ok(&context, rf_layers_add_diagonal(&context, &net, 2));
  assert_ok(&context, rf_layers_add_diagonal(&context, &net, 2));
  assert_ok(&context, rf_layers_add_dense(&context, &net, 2, 1));
  memcpy(net.theta, near, sizeof near);
  assert_ok(&context, rf_sided_new(&context, &sided, &net, x, y, 1, RF_LOSS_EXP));
  assert_ok(&context, rf_layered_repels(&context, &repels, sided, point, lambda, near, y, 1, 6));
  assert_false(repels);
  rf_sided_free(sided);
  rf_layers_free(&net);
}

/* The flow from next to the repelling point: it is at 1e-9 of it when margins are 400, and ends at the other.
 */
static void leaves(void **state) {
  (void)state;
  RfContext context;
  const double ratios[] = {1.033, 1.2};
  rf_context_init(&context);
  for (int k = 0; k < 2; k++) {
    double x[] = {1, ratios[k]}, y[] = {1}, start[] = {1, 1e-9, 1, 1e-9};
    RfLayeredNet net = pairs(&context, 2);
    RfLayeredLimit limit;
    RfFlowSettings settings;
    memcpy(net.theta, start, sizeof start);
    rf_flow_settings_init(&settings);
    RfStatus status = rf_flow_run_layered(&context, &limit, &net, x, y, 1, RF_LOSS_EXP, false, &settings);
    assert_true(status >= 0);
    print_message("ratio %g: %s %s, margin %.12g\n", ratios[k], rf_flow_outcome_name(limit.outcome),
                  limit.why, limit.margin);
    /* u_1 alone has margin 1/2, u_2 alone r/2 */
    if (limit.outcome == RF_FLOW_CONVERGED) assert_close(limit.margin, ratios[k] / 2, 1e-9);
    assert_int_equal(limit.outcome, RF_FLOW_CONVERGED);
    rf_layered_limit_free(&limit);
    rf_layers_free(&net);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(dual_norm), cmocka_unit_test(deeper_paths_stay),
                                     cmocka_unit_test(leaves)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
