/* Implicit steps that end at events (src/flow/fit/shorten.c): where, and after how many trials. */
#include "flow/flow_internal.h"
#include "rf_test.h"
#include "catalogue_flow.h"

#include <math.h>

/* A thousand events, half of them met by implicit steps. A trial that ends near a hyperplane is led on to it
 * by a straight line, and is not repeated until it ends nearer than what counts as beyond; at 54,755
 * evaluations every event had taken two trials more, and some thirty; at 47,208 explicit steps cut by events
 * were of order 8. The limit is that of all. */
static void few_trials(void **state) {
  (void)state;
  CatalogueFlow c;
  RfFlowResult result;
  catalogue_flow_new(&c, "gaussian,n=30,d=5,seed=1", 25, 1e-2);
  c.problem.located = true;
  c.settings.with_alignment = false, c.settings.check_direction = false;
  assert_ok(&c.context, rf_flow_run(&c.context, &result, &c.problem, &c.settings));
  print_message("margin %.12g, %lld events, %lld evaluations\n", result.limit.margin,
                (long long)result.n_events, (long long)result.monitors.evaluations);
  assert_int_equal(result.limit.outcome, RF_FLOW_CONVERGED);
  assert_relative(result.limit.margin, 0.0207919146342, 1e-10);
  assert_true(result.audit.passed && result.audit.points > 3);
  assert_true(result.monitors.evaluations < 45500);
  rf_flow_result_free(&result);
  catalogue_flow_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(few_trials)};
  return cmocka_run_group_tests_name("flow/fit/shorten", tests, NULL, NULL);
}
