/* Units that are on their kinks together (groups.c), and ridges, which nothing holds. */
#include "rf_test.h"

#include <math.h>

#include "layered_families.h"

static RfLayeredLimit run(const LayeredProblem *p, double looser) {
  RfContext context;
  RfFlowSettings settings;
  RfLayeredLimit limit;
  rf_context_init(&context);
  context.tol.ode *= looser;
  rf_flow_settings_init(&settings);
  settings.check_direction = false;
  assert_true(rf_flow_run_layered(&context, &limit, &p->net, p->X, p->y, p->n, p->loss, false, &settings) >=
              0);
  return limit;
}

/* One diagonal weight w from 0.1, slope 0 below, output weight a, rows 1, -1 and -1 with labels 1, -1 and 1.
 * a > 0: row 1 drives both to infinity, and the others, unseen, keep their loss. a < 0: it drives w to zero,
 * where the two others, whose pushes cancel there, hold it; all three rows are on their kink at once. */
static void one_weight(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    RfContext context;
    LayeredProblem p = {.n = 3, .d = 1, .depth = 2, .kind = 1, .X = {1, -1, -1}, .y = {1, -1, 1}};
    rf_context_init(&context);
    p.loss = RF_LOSS_EXP;
    assert_ok(&context, rf_layers_new(&context, &p.net, 0));
    assert_ok(&context, rf_layers_add_diagonal(&context, &p.net, 1));
    assert_ok(&context, rf_layers_add_dense(&context, &p.net, 1, 1));
    p.net.theta[0] = 0.1, p.net.theta[1] = 0.5 * sign;
    RfLayeredLimit limit = run(&p, 1);
    assert_int_equal(limit.outcome, RF_FLOW_NOT_SEPARATED);
    assert_close(limit.log_loss, log(sign > 0 ? 2 : 3), 1e-6);
    rf_layered_limit_free(&limit);
    rf_layers_free(&p.net);
  }
}

/* What bench/random_flow.c found; limits the same at two tolerances. */
static void found_before(void **state) {
  (void)state;
  static const struct {
    uint64_t seed;
    rf_index number;
    RfFlowOutcome outcome;
  } found[] = {
      {1794851367, 253, RF_FLOW_CONVERGED}, /* a diagonal weight held at zero: let go on sides of both ways,
                                               and called at rest at one tolerance */
      {1794851367, 781, RF_FLOW_CONVERGED}, /* an output weight passed zero inside a step: a slide became a
                                               ridge, and was followed to another limit */
      {1794851367, 548, RF_FLOW_NOT_SEPARATED},  /* without end: units of two layers on one sample */
      {1794851367, 1140, RF_FLOW_CONVERGED},     /* a unit that is the only input of others took them along */
      {1794851367, 1064, RF_FLOW_NOT_SEPARATED}, /* 200,000 steps: a unit whose input was on its kink, too,
                                                    was not with the others */
      {1794848285, 170, RF_FLOW_CONVERGED},
  };
  for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
    RfContext context;
    LayeredProblem p;
    rf_context_init(&context);
    assert_ok(&context, layered_problem_new(&context, &p, found[k].seed, found[k].number));
    bool converges = found[k].outcome == RF_FLOW_CONVERGED;
    RfLayeredLimit one = run(&p, 1), other = {.outcome = found[k].outcome};
    if (converges) other = run(&p, 0.1);
    print_message("%d: %s %s, %d steps\n", (int)found[k].number, rf_flow_outcome_name(one.outcome), one.why,
                  (int)one.steps);
    assert_int_equal(one.outcome, found[k].outcome);
    assert_int_equal(other.outcome, found[k].outcome);
    for (rf_index j = 0; j < p.net.n_parameters && converges; j++)
      assert_close(one.net.theta[j], other.net.theta[j], 1e-5);
    rf_layered_limit_free(&one), rf_layered_limit_free(&other);
    rf_layers_free(&p.net);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_weight), cmocka_unit_test(found_before)};
  return cmocka_run_group_tests_name("flow/layered/groups", tests, NULL, NULL);
}
