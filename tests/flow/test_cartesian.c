/* The flow at finite times against an integrator that shares no code with it (cartesian.h), and that
 * integrator against what is known in closed form. The random problems come from the clock;
 * RF_CARTESIAN_SEED=S repeats one draw. bench/run statuses runs larger ones by the family. */
#include <stdlib.h>
#include <time.h>

#include "rf_test.h"
#include "opinion.h"

static Cart cart;

/* One linear neuron, d = 1, exponential loss, a = w = u: q = u^2, du/dt = u e^{-u^2}; with v = u^2,
 * dv/dt = 2 v e^{-v}, so that Ei(v) - Ei(v0) = 2 t; the integral of e^v/v by Simpson. */
static void one_neuron(void **state) {
  (void)state;
  double x = 1, y = 1, w = 0.5, a = 0.5, sum = 0;
  assert_true(cart_begin(&cart, &x, &y, 1, 1, &w, &a, 1, 1, 1, 2, false, false, 1e-13));
  assert_int_equal(cart_to_time(&cart, 7), CART_REACHED);
  double v0 = 0.25, v1 = cart.theta[0] * cart.theta[0];
  enum { PARTS = 4000 };
  for (int j = 0; j <= PARTS; j++) {
    double v = v0 + (v1 - v0) * j / PARTS;
    sum += (j == 0 || j == PARTS ? 1 : j % 2 ? 4 : 2) * exp(v) / v;
  }
  assert_close(sum * (v1 - v0) / (3 * PARTS), 14, 1e-9);
  assert_close(cart.theta[0], cart.theta[1], 1e-12);
}

/* A valley: samples e1 (label +) and (1,1) (label -), one positive neuron on the plane of the second, which
 * pulls it back from one side while the first pushes it there from the other: it slides, and w stays on the
 * plane. */
static void slides(void **state) {
  (void)state;
  double X[] = {1, 0, 1, 1}, y[] = {1, -1}, W[] = {1, -1}, a = 1.5;
  assert_true(cart_begin(&cart, X, y, 2, 2, W, &a, 1, 1, 0, 0, false, false, 1e-12));
  assert_int_equal(cart.slides[0], 1);
  assert_int_equal(cart_to_time(&cart, 3), CART_REACHED);
  assert_int_equal(cart.slides[0], 1);
  assert_true(fabs(cart.theta[0] + cart.theta[1]) < 1e-14);
  double balance = cart.theta[2] * cart.theta[2] - 2 * cart.theta[0] * cart.theta[0];
  assert_close(balance, 1.5 * 1.5 - 2, 1e-10); /* a^2 - |w|^2 is conserved on slides, too */
  double u = cart.theta[0] * cart.theta[2];    /* only e1 is felt, along (1,-1)/2 */
  assert_close(cart.q[0], u, 1e-12);
  assert_true(cart.q[0] > 1.5);
}

/* Mirrored samples with opposite labels are one plane: both sides push the same way, and the neuron crosses.
 */
static void crosses_mirrored(void **state) {
  (void)state;
  double X[] = {1, 0, -1, 0}, y[] = {-1, 1}, W[] = {0.2, 1}, a = 1;
  assert_true(cart_begin(&cart, X, y, 2, 2, W, &a, 1, 1, 0, 2, false, false, 1e-12));
  assert_int_equal(cart_to_time(&cart, 3), CART_REACHED);
  assert_int_equal(cart.events, 1);
  assert_true(cart.theta[0] < -0.5);
}

/* Times, losses and leaks from the clock; small problems in general position. */
static void finite_times(void **state) {
  (void)state;
  const char *text = getenv("RF_CARTESIAN_SEED");
  uint64_t seed = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
  print_message("finite times: seed %llu\n", (unsigned long long)seed);
  rf_index given = 0, count = rf_test_iterations(20), wrong = 0;
  for (rf_index j = 0; j < count; j++) {
    RfContext context;
    FamilyProblem p;
    RfFlowSettings settings;
    RfFlowResult result;
    RfRandom random;
    rf_context_init(&context);
    rf_random_init(&random, seed, (uint64_t)j);
    assert_ok(&context, family_problem_new(&context, &p, FAMILY_GAUSSIAN, seed, j, true));
    if (p.n > 12) p.n = p.flow.n = 2 + p.n % 11; /* the first rows */
    p.scale = 1, p.flow.log_scale = 0;
    context.tol.ode = 1e-12;
    rf_flow_settings_init(&settings);
    settings.until = RF_UNTIL_TIME, settings.until_value = 0.5 + 4 * rf_random_uniform(&random);
    RfStatus status = rf_flow_run(&context, &result, &p.flow, &settings);
    assert_true(status >= 0);
    if (result.limit.outcome == RF_FLOW_STOPPED) {
      Opinion opinion = opinion_at_time(&p, &result, settings.until_value);
      given += opinion.given, wrong += opinion.contradicts;
      if (opinion.contradicts) {
        char flags[64];
        snprintf(flags, sizeof flags, " --until time=%.17g", settings.until_value);
        print_message("problem %d: %s\n", (int)j, opinion.text);
        family_problem_print(stderr, &p, flags);
      }
    }
    rf_flow_result_free(&result);
    family_problem_free(&p);
  }
  assert_int_equal(wrong, 0);
  assert_true(2 * given > count);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_neuron), cmocka_unit_test(slides),
                                     cmocka_unit_test(crosses_mirrored), cmocka_unit_test(finite_times)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
