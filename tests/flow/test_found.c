/* Problems on which the flow once said something that was not so, each by its family, seed and number (as
 * bench/random_flow.c draws them): the status that is right, an audit that passes, and a limit that a run at
 * a hundredth of the tolerance confirms. */
#include "rf_test.h"

#include <math.h>

#include "families.h"
#include "flow/flow_internal.h"

typedef struct Found {
  Family family;
  uint64_t seed;
  rf_index number;
  bool small_net;
  RfFlowOutcome outcome;
} Found;

static const Found found[] = {
    /* antipodal and parallel rows had a slope each: velocity off by 4e-3 to 7e-2 */
    {FAMILY_SYMMETRIC, 2, 12, true, RF_FLOW_NOT_SEPARATED},
    {FAMILY_SYMMETRIC, 2, 74, true, RF_FLOW_CONVERGED},
    {FAMILY_CUBE, 2, 13, true, RF_FLOW_NOT_SEPARATED},
    {FAMILY_CUBE, 2, 59, true, RF_FLOW_NOT_SEPARATED},
    {FAMILY_MIXED, 1, 30, true, RF_FLOW_NOT_SEPARATED},
    {FAMILY_MIXED, 4, 150, true, RF_FLOW_NOT_SEPARATED},
    /* restored norms moved the margins: slopes of slides at 1.2, weights of 1e-40, velocity off by 0.6 */
    {FAMILY_GAUSSIAN, 9001, 0, false, RF_FLOW_CONVERGED},
    {FAMILY_GAUSSIAN, 9001, 41, false, RF_FLOW_CONVERGED},
    {FAMILY_GAUSSIAN, 9001, 83, false, RF_FLOW_CONVERGED},
    {FAMILY_GAUSSIAN, 9001, 86, false, RF_FLOW_CONVERGED},
};

static double again(const FamilyProblem *p, const RfFlowLimit *limit) {
  RfContext context;
  RfFlowSettings settings;
  RfFlowResult other;
  rf_context_init(&context);
  context.tol.ode *= 0.01;
  rf_flow_settings_init(&settings);
  settings.check_direction = settings.with_alignment = settings.audit = false;
  assert_true(rf_flow_run(&context, &other, &p->flow, &settings) >= 0);
  double distance =
      other.limit.outcome == RF_FLOW_CONVERGED ? rf_net_distance(&limit->net, &other.limit.net) : 2;
  rf_flow_result_free(&other);
  return distance;
}

static void found_before(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
    const Found *f = &found[k];
    RfContext context;
    FamilyProblem p;
    RfFlowSettings settings;
    RfFlowResult result;
    rf_context_init(&context);
    assert_ok(&context, family_problem_new(&context, &p, f->family, f->seed, f->number, f->small_net));
    rf_flow_settings_init(&settings);
    assert_true(rf_flow_run(&context, &result, &p.flow, &settings) >= 0);
    print_message("%-10s %llu/%lld: %s %s velocity %.1e events %.1e\n", family_names[f->family],
                  (unsigned long long)f->seed, (long long)f->number,
                  rf_flow_outcome_name(result.limit.outcome), result.limit.why, result.audit.velocity,
                  result.audit.events);
    assert_true(result.audit.passed);
    assert_int_equal(result.limit.outcome, f->outcome);
    if (f->outcome == RF_FLOW_CONVERGED)
      assert_true(again(&p, &result.limit) <= fmax(1e-6, 10 * result.limit.direction_error));
    rf_flow_result_free(&result);
    family_problem_free(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(found_before)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
