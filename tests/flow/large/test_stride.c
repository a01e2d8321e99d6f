/* Long steps with kinks inside (src/flow/large/stride.c) against runs that are watched, which locate every
 * event: the same limits; and against the audit, which reads slopes and sides from scratch. */
#include "catalogue_flow.h"
#include "flow/flow_internal.h"
#include "rf_test.h"

#include <math.h>

static void watch(void *user, const RfFlowMoment *moment) {
  (void)moment;
  ++*(rf_index *)user;
}

static void limit_from(RfContext *context, RfFlowResult *result, const char *spec, rf_index width,
                       bool watched, uint64_t seed, double scale, bool twice) {
  RfDataset data;
  RfNet net;
  RfFlowStart start;
  RfFlowSettings settings;
  rf_index seen = 0;
  assert_ok(context, rf_data_generate(context, &data, spec));
  assert_ok(context, rf_net_init(context, &net, RF_INIT_BALANCED, width, data.d, 0, seed, 1));
  assert_ok(context, rf_flow_start_from_net(context, &start, &net));
  RfFlowProblem problem = {.X = data.X,
                           .y = data.y,
                           .n = data.n,
                           .d = data.d,
                           .loss = RF_LOSS_LOGISTIC,
                           .start = &start,
                           .log_scale = log(scale)};
  rf_flow_settings_init(&settings);
  settings.with_alignment = false, settings.check_direction = twice;
  if (watched) settings.observe = watch, settings.observer = &seen;
  assert_ok(context, rf_flow_run(context, result, &problem, &settings));
  rf_flow_start_free(&start);
  rf_net_free(&net);
  rf_dataset_free(&data);
}

static void limit_of(RfContext *context, RfFlowResult *result, const char *spec, rf_index width,
                     bool watched) {
  limit_from(context, result, spec, width, watched, 3, 1e-4, false);
}

static void same_limit(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    rf_index width;
  } cases[] = {{"orthant,n=60,d=4", 40}, {"orthant,n=45,d=8,seed=4", 45}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RfContext context;
    RfFlowResult strides, events;
    rf_context_init(&context);
    limit_of(&context, &strides, cases[k].spec, cases[k].width, false);
    limit_of(&context, &events, cases[k].spec, cases[k].width, true);
    assert_int_equal(strides.limit.outcome, RF_FLOW_CONVERGED);
    assert_int_equal(events.limit.outcome, RF_FLOW_CONVERGED);
    print_message("%s: margins %.15g and %.15g, %lld and %lld steps\n", cases[k].spec, strides.limit.margin,
                  events.limit.margin, (long long)strides.monitors.steps_implicit,
                  (long long)events.monitors.steps_implicit);
    assert_true(fabs(strides.limit.margin - events.limit.margin) <= 1e-9 * events.limit.margin);
    assert_true(strides.limit.stationarity <= 1e-9);
    assert_true(strides.audit.passed && strides.audit.points > 3);
    rf_flow_result_free(&strides);
    rf_flow_result_free(&events);
  }
}

/* Random labels: hundreds of slides, samples that come to carry weight by thousands of margins at once, and
 * a direction that comes to rest a hundred times slower than the network grows. Every end of a slide is one
 * (the audit), and steps grow where nothing is unstable. */
static void random_labels(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    rf_index width, most;
  } cases[] = {{"gaussian,n=45,d=8", 45, 3000}, {"gaussian,n=30,d=60", 70, 1000}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RfContext context;
    RfFlowResult result;
    rf_context_init(&context);
    limit_of(&context, &result, cases[k].spec, cases[k].width, false);
    print_message("%s: margin %.15g, residual %.2g, %lld steps\n", cases[k].spec, result.limit.margin,
                  result.limit.stationarity, (long long)result.monitors.steps_implicit);
    assert_int_equal(result.limit.outcome, RF_FLOW_CONVERGED);
    assert_true(result.limit.stationarity <= 1e-9);
    assert_true(result.audit.passed && result.audit.points > 3);
    assert_true(result.monitors.steps_implicit < cases[k].most);
    rf_flow_result_free(&result);
  }
}

/* Who crosses a ridge turns the weights, and others on their way to it may turn back, neurons of one merged
 * unit among them. The margins are those of the events located one by one, with units parted at ridges; long
 * steps that crossed several ridges at once, and merged units as one, ended at 0.0480262 and 0.0255410. */
static void ridges_in_order(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    double margin;
  } cases[] = {{"gaussian,n=40,d=6,seed=1", 0.0480281}, {"gaussian,n=40,d=6,seed=20", 0.0259945}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RfContext context;
    RfFlowResult result;
    rf_context_init(&context);
    limit_from(&context, &result, cases[k].spec, 50, false, 0, 1e-6, false);
    print_message("%s: margin %.15g, %lld steps\n", cases[k].spec, result.limit.margin,
                  (long long)result.monitors.steps_implicit);
    assert_int_equal(result.limit.outcome, RF_FLOW_CONVERGED);
    assert_true(fabs(result.limit.margin - cases[k].margin) <= 1e-7);
    assert_true(result.audit.passed);
    rf_flow_result_free(&result);
  }
}

/* Two limits with the same groups are one network, whoever carries them; another length or sign is another.
 */
static void one_network(void **state) {
  (void)state;
  double first[] = {1, 0}, second[] = {0, 2}, longer[] = {0, 2.1};
  RfFlowGroup groups[] = {{.sign = 1, .beta = first}, {.sign = -1, .beta = second}};
  RfFlowGroup turned[] = {groups[1], groups[0]};
  RfFlowLimit a = {.net = {.d = 2}, .n_groups = 2, .groups = groups}, b = a;
  b.groups = turned;
  assert_true(rf_limits_same_network(&a, &b));
  turned[0].beta = longer;
  assert_false(rf_limits_same_network(&a, &b));
  turned[0].beta = second, turned[0].sign = 1;
  assert_false(rf_limits_same_network(&a, &b));
  b.n_groups = 1;
  assert_false(rf_limits_same_network(&a, &b));
}

/* Two runs of long steps differ by more than a second run may, in how the neurons of a group share it: at
 * n = 100, d = 10, width 25 they had ended like that at one network, and both elsewhere than the flow. The
 * flow with its events located decides. */
static void located_decides(void **state) {
  (void)state;
  RfContext context;
  RfFlowResult result;
  rf_context_init(&context);
  limit_from(&context, &result, "gaussian,n=16,d=3,seed=13", 130, false, 0, 1e-2, true);
  print_message("margin %.12g, two runs %.2g, long steps %.2g\n", result.limit.margin,
                result.limit.direction_error, result.limit.compared.disagreed);
  assert_int_equal(result.limit.outcome, RF_FLOW_CONVERGED);
  assert_relative(result.limit.margin, 0.01476930132554378, 1e-9);
  assert_true(result.limit.direction_error <= 1e-4 || result.limit.compared.long_steps);
  rf_flow_result_free(&result);
}

/* A second run made beside the first, on another thread, is the one that would follow it: the same bits. */
static void second_run_beside(void **state) {
  (void)state;
  RfFlowResult one, two;
  for (int threads = 1; threads <= 2; threads++) {
    CatalogueFlow c;
    catalogue_flow_new(&c, "orthant,n=100,d=10", 40, 1e-2);
    c.context.threads = threads;
    c.problem.located = true;
    assert_ok(&c.context, rf_flow_run(&c.context, threads == 1 ? &one : &two, &c.problem, &c.settings));
    catalogue_flow_free(&c);
  }
  assert_int_equal(one.limit.outcome, RF_FLOW_CONVERGED);
  assert_true(one.limit.compared.made && two.limit.compared.made);
  assert_true(one.limit.direction_error == two.limit.direction_error);
  assert_true(one.limit.margin == two.limit.margin);
  assert_true(one.limit.compared.tolerance == two.limit.compared.tolerance);
  rf_flow_result_free(&one);
  rf_flow_result_free(&two);
}

/* Long steps that crossed many hyperplanes end without an opinion where events can be located, and go on
 * where they cannot. */
static void gives_up(void **state) {
  (void)state;
  RfContext context;
  RfFlowSettings settings;
  RfFlowOutcome outcome;
  char why[RF_WHY_SIZE];
  rf_context_init(&context);
  rf_flow_settings_init(&settings);
  RfRun run = {.context = &context, .settings = &settings, .phase = {.crossed = 1000000}};
  assert_false(rf_run_stops(&run, &outcome, why));
  run.may_give_up = true;
  assert_true(rf_run_stops(&run, &outcome, why));
  assert_int_equal(outcome, RF_FLOW_UNDECIDED);
  run.phase.crossed = 10;
  assert_false(rf_run_stops(&run, &outcome, why));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_limit),      cmocka_unit_test(random_labels),
                                     cmocka_unit_test(ridges_in_order), cmocka_unit_test(one_network),
                                     cmocka_unit_test(located_decides), cmocka_unit_test(second_run_beside),
                                     cmocka_unit_test(gives_up)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
