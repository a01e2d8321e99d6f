/* The second run: what it differs in is told, and a limit that it had no time to confirm is not converged. */
#include "golden.h"

static volatile int stop;

/* Stops as soon as the second run begins. */
static void at_second_run(void *user, const char *phase, double fraction, const char *detail) {
  (void)user, (void)fraction, (void)detail;
  if (strncmp(phase, "again", 5) == 0) stop = 1;
}

static void stopped_in_the_second_run(void **state) {
  (void)state;
  RfContext context;
  Golden golden;
  RfFlowSettings settings;
  RfFlowResult whole, part, rest;
  rf_context_init(&context);
  golden_load(&context, &golden, "hinted_d2");
  rf_flow_settings_init(&settings);
  assert_ok(&context, rf_flow_run(&context, &whole, &golden.problem, &settings));
  context.on_progress = at_second_run;
  context.cancel = &stop;
  assert_int_equal(rf_flow_run(&context, &part, &golden.problem, &settings), RF_INTERRUPTED);
  assert_int_equal(part.limit.outcome, RF_FLOW_INTERRUPTED);
  assert_true(isnan(part.limit.direction_error));
  assert_true(part.checkpoint.count > 0);
  assert_close(part.limit.margin, whole.limit.margin, 1e-12);
  context.on_progress = NULL;
  context.cancel = NULL;
  settings.resume = &part.checkpoint;
  assert_ok(&context, rf_flow_run(&context, &rest, &golden.problem, &settings));
  assert_int_equal(rest.limit.outcome, RF_FLOW_CONVERGED);
  assert_int_equal(rest.n_events, whole.n_events);
  assert_close(rest.limit.margin, whole.limit.margin, 1e-12);
  rf_flow_result_free(&whole);
  rf_flow_result_free(&part);
  rf_flow_result_free(&rest);
  golden_free(&golden);
}

static void differs_in_everything(void **state) {
  (void)state;
  RfContext context;
  Golden golden;
  RfFlowSettings settings;
  RfFlowResult result;
  rf_context_init(&context);
  golden_load(&context, &golden, "xor_d2");
  rf_flow_settings_init(&settings);
  assert_ok(&context, rf_flow_run(&context, &result, &golden.problem, &settings));
  const RfFlowCompared *compared = &result.limit.compared;
  assert_true(compared->made && compared->from_start && compared->by_steps);
  assert_true(compared->tolerance != 1 && compared->frozen_at < 1e6 && compared->merging < 3e-5);
  assert_true(compared->disagreed == 0 && result.limit.direction_error < 1e-8);
  rf_flow_result_free(&result);
  context.tol.ode = 1e-7; /* two coarse runs may miss the same crossing and agree (gen:hinted, width 50) */
  assert_ok(&context, rf_flow_run(&context, &result, &golden.problem, &settings));
  assert_true(result.limit.compared.tolerance * context.tol.ode <= 1.0001e-10);
  rf_flow_result_free(&result);
  settings.check_direction = false;
  assert_ok(&context, rf_flow_run(&context, &result, &golden.problem, &settings));
  assert_true(!result.limit.compared.made && isnan(result.limit.direction_error));
  rf_flow_result_free(&result);
  golden_free(&golden);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stopped_in_the_second_run),
                                     cmocka_unit_test(differs_in_everything)};
  return cmocka_run_group_tests_name("flow/second_run", tests, NULL, NULL);
}
