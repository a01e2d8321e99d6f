/* The flow at finite times against an integrator that shares no code with it (cartesian.h), and that
 * integrator against what is known in closed form. The random problems are the same in
 * every run; RF_CARTESIAN_SEED=S or `clock` draws others, and bench/run statuses more of them by the family.
 */

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

/* The same neuron carried to margin 400: Ei(v) = e^v/v (1 + 1/v + 2/v^2 + 6/v^3 ...), so that ln t is known
 * there; the time is booked by an exponential over each step, and is good to a few per cent. */
static void far_one_neuron(void **state) {
  (void)state;
  static CartFar far;
  double x = 1, y = 1, w = 0.5, a = 0.5;
  assert_true(cart_begin(&far.cart, &x, &y, 1, 1, &w, &a, 1, 1, 1, 2, false, false, 1e-10));
  assert_int_equal(far_to_end(&far, 400), CART_REACHED);
  double v = far.cart.q[0];
  assert_close(far.log_t, v - log(2 * v) + log(1 + 1 / v + 2 / (v * v)), 0.1);
  assert_close(far.cart.theta[0], far.cart.theta[1], 1e-12);
  assert_true(far.trust < 1e-10);
  assert_close(far.cart.log_loss, -v, 1e-12 * v);
}

/* The stiff method and the extrapolation are two methods: the same margins at the same place of the path,
 * which |w| tells, with a slide on the way. */
static void far_is_the_same_flow(void **state) {
  (void)state;
  static CartFar far;
  double X[] = {1, 0, 1, 1, 0.3, -1}, y[] = {1, -1, 1}, W[] = {1, -1, -0.4, 0.8}, a[] = {1.5, -0.7};
  assert_true(cart_begin(&far.cart, X, y, 3, 2, W, a, 2, 1, 0, 0, false, false, 1e-11));
  assert_int_equal(far_to_end(&far, 5), CART_REACHED);
  assert_true(cart_begin(&cart, X, y, 3, 2, W, a, 2, 1, 0, 0, false, false, 1e-13));
  double low = 0, high = 1e6, sum = 0; /* the time at which the norm is the same */
  for (int e = 0; e < 6; e++) sum += far.cart.theta[e] * far.cart.theta[e];
  for (int round = 0; round < 60; round++) {
    double t = sqrt(fmax(low, 1e-3) * high), own = 0;
    assert_true(cart_begin(&cart, X, y, 3, 2, W, a, 2, 1, 0, 0, false, false, 1e-13));
    assert_int_equal(cart_to_time(&cart, t), CART_REACHED);
    for (int e = 0; e < 6; e++) own += cart.theta[e] * cart.theta[e];
    if (own < sum)
      low = t;
    else
      high = t;
  }
  for (int e = 0; e < 6; e++) assert_close(cart.theta[e], far.cart.theta[e], 1e-7);
}

/* Two pairs of samples are seen by nobody until ln t = 35.2, when a neuron that the others turn comes to see
 * them: the loss stays at 4 for thirteen decades of time, and is no plateau. */
static void far_wakes(void **state) {
  (void)state;
  static CartFar far;
  RfContext context;
  FamilyProblem p;
  rf_context_init(&context);
  assert_ok(&context, family_problem_new(&context, &p, FAMILY_SYMMETRIC, 1, 150, true));
  assert_true(opinion_begin(&far.cart, &p, 1e-8));
  assert_int_equal(far_to_end(&far, 400), CART_REACHED);
  family_problem_free(&p);
}

typedef struct Told {
  Family family;
  uint64_t seed;
  rf_index number;
  bool given; /* the integrator has an opinion */
} Told;

/* Statuses that were once contradicted, and by whose fault. */
static void told_before(void **state) {
  (void)state;
  static const Told list[] = {
      /* the flow: units that drift like ln t were called at rest, and crossed a hyperplane later */
      {FAMILY_LINE, 103, 60, true},
      {FAMILY_GRID, 1794801473, 890, true},
      /* the flow: a small unit beside one that comes to rest was turned by what was left of its field */
      {FAMILY_LINE, 104, 60, true},
      /* the flow: at rest for rows of 1e5 before rows of 1e-2 had their time */
      {FAMILY_LENGTHS, 111, 54, true},
      /* the integrator: every a decays to 0, and came back with a sign that rounding gave it */
      {FAMILY_CUBE, 110, 19, false},
      /* the integrator stops before a sample is seen */
      {FAMILY_ORTHONORMAL, 105, 29, false}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    RfContext context;
    FamilyProblem p;
    RfFlowSettings settings;
    RfFlowResult result;
    rf_context_init(&context);
    assert_ok(&context, family_problem_new(&context, &p, list[k].family, list[k].seed, list[k].number, true));
    rf_flow_settings_init(&settings);
    assert_true(rf_flow_run(&context, &result, &p.flow, &settings) >= 0);
    Opinion opinion = opinion_on_status(&p, &result);
    print_message("%s %d: %s %s\n", family_names[list[k].family], (int)list[k].number,
                  rf_flow_outcome_name(result.limit.outcome), opinion.text);
    assert_true(result.limit.outcome == RF_FLOW_CONVERGED || result.limit.outcome == RF_FLOW_NOT_SEPARATED);
    assert_false(opinion.contradicts);
    assert_int_equal(opinion.given, list[k].given);
    rf_flow_result_free(&result);
    family_problem_free(&p);
  }
}

/* Rows of 1e-3 to 1e5: their pulls are all or nothing, and a first step of 1e-6 saw nothing of it; under the
 * exponential loss a margin of -500 may not move by more than 1. */
static void first_steps(void **state) {
  (void)state;
  const uint64_t seeds[] = {1794801473, 103};
  for (int k = 0; k < 2; k++) {
    RfContext context;
    FamilyProblem p;
    RfFlowSettings settings;
    RfFlowResult result;
    rf_context_init(&context);
    assert_ok(&context, family_problem_new(&context, &p, FAMILY_LENGTHS, seeds[k], 14, true));
    p.scale = 1, p.flow.log_scale = 0;
    rf_flow_settings_init(&settings);
    settings.until = RF_UNTIL_TIME, settings.until_value = k == 0 ? 29 : 1e-3;
    assert_ok(&context, rf_flow_run(&context, &result, &p.flow, &settings));
    Opinion opinion = opinion_at_time(&p, &result, settings.until_value);
    assert_true(opinion.given && !opinion.contradicts);
    rf_flow_result_free(&result);
    family_problem_free(&p);
  }
}

/* What the flow says about random small problems is not contradicted; bench/run statuses for many. */
static void statuses(void **state) {
  (void)state;
  uint64_t seed = rf_test_seed("RF_CARTESIAN_SEED", 1);
  rf_index given = 0, count = rf_test_iterations(40), wrong = 0;
  for (rf_index j = 0; j < count; j++) {
    RfContext context;
    FamilyProblem p;
    RfFlowSettings settings;
    RfFlowResult result;
    rf_context_init(&context);
    assert_ok(&context, family_problem_new(&context, &p, (Family)(j % FAMILY_COUNT), seed, j, true));
    rf_flow_settings_init(&settings);
    assert_true(rf_flow_run(&context, &result, &p.flow, &settings) >= 0);
    if (result.limit.outcome == RF_FLOW_CONVERGED || result.limit.outcome == RF_FLOW_NOT_SEPARATED) {
      Opinion opinion = opinion_on_status(&p, &result);
      given += opinion.given, wrong += opinion.contradicts;
      if (opinion.contradicts) print_message("problem %d: %s\n", (int)j, opinion.text);
      if (opinion.contradicts) family_problem_print(stderr, &p, "");
    }
    rf_flow_result_free(&result);
    family_problem_free(&p);
  }
  assert_int_equal(wrong, 0);
  assert_true(2 * given > count);
}

/* Times, losses and leaks at random; small problems in general position. */
static void finite_times(void **state) {
  (void)state;
  uint64_t seed = rf_test_seed("RF_CARTESIAN_SEED", 1);
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_neuron),       cmocka_unit_test(slides),
      cmocka_unit_test(crosses_mirrored), cmocka_unit_test(finite_times),
      cmocka_unit_test(far_one_neuron),   cmocka_unit_test(far_is_the_same_flow),
      cmocka_unit_test(far_wakes),        cmocka_unit_test(told_before),
      cmocka_unit_test(first_steps),      cmocka_unit_test(statuses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
