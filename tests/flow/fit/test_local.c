/* Large networks take steps with crossings inside (src/flow/fit/local.c); a run that is watched locates every
 * event and restarts there. Both must see the same events at the same times, and the same limit. */
#include "rf_test.h"

static void watch(void *user, const RfFlowMoment *moment) {
  (void)moment;
  ++*(rf_index *)user;
}

typedef struct Flow {
  RfDataset data;
  RfNet net;
  RfFlowStart start;
  RfFlowResult result;
} Flow;

static void run(RfContext *context, Flow *flow, const char *spec, rf_index width, double leak, double scale,
                uint64_t seed, bool watched) {
  RfFlowSettings settings;
  rf_index seen = 0;
  assert_ok(context, rf_data_generate(context, &flow->data, spec));
  assert_ok(context, rf_net_init(context, &flow->net, RF_INIT_BALANCED, width, flow->data.d, leak, seed, 1));
  assert_ok(context, rf_flow_start_from_net(context, &flow->start, &flow->net));
  RfFlowProblem problem = {.X = flow->data.X,
                           .y = flow->data.y,
                           .n = flow->data.n,
                           .d = flow->data.d,
                           .leak = leak,
                           .loss = RF_LOSS_LOGISTIC,
                           .start = &flow->start,
                           .log_scale = log(scale)};
  rf_flow_settings_init(&settings);
  settings.with_alignment = settings.check_direction = false;
  settings.until = RF_UNTIL_LOSS, settings.until_value = 0.05;
  if (watched) settings.observe = watch, settings.observer = &seen;
  assert_ok(context, rf_flow_run(context, &flow->result, &problem, &settings));
  assert_true(!watched || seen > 0);
}

static void release(Flow *flow) {
  rf_flow_result_free(&flow->result);
  rf_flow_start_free(&flow->start);
  rf_net_free(&flow->net);
  rf_dataset_free(&flow->data);
}

static int by_place(const void *left, const void *right) {
  const RfFlowEvent *a = left, *b = right;
  if (a->neuron != b->neuron) return a->neuron < b->neuron ? -1 : 1;
  if (a->sample != b->sample) return a->sample < b->sample ? -1 : 1;
  return a->log_t < b->log_t ? -1 : a->log_t > b->log_t;
}

/* Events of each neuron with each sample in turn. */
static void same_events(RfFlowResult *a, RfFlowResult *b) {
  if (a->n_events != b->n_events)
    print_error("%lld events, %lld when watched\n", (long long)a->n_events, (long long)b->n_events);
  assert_int_equal(a->n_events, b->n_events);
  qsort(a->events, (size_t)a->n_events, sizeof *a->events, by_place);
  qsort(b->events, (size_t)b->n_events, sizeof *b->events, by_place);
  double worst = 0;
  for (rf_index j = 0; j < a->n_events; j++) {
    assert_int_equal(a->events[j].neuron, b->events[j].neuron);
    assert_int_equal(a->events[j].sample, b->events[j].sample);
    assert_int_equal(a->events[j].kind, b->events[j].kind);
    if (a->events[j].log_t > -1e300) worst = fmax(worst, fabs(a->events[j].log_t - b->events[j].log_t));
  }
  if (getenv("RF_TEST_SHOW"))
    fprintf(stderr, "%lld events, times within %.2g\n", (long long)a->n_events, worst);
  if (!(worst < 1e-3)) print_error("times differ by %g\n", worst);
  assert_true(worst < 1e-3);
}

static void same_as_exact(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    rf_index width;
    double leak, scale;
  } cases[] = {{"orthant,n=80,d=5", 60, 0, 0.1},
               {"orthant,n=80,d=5", 60, 0.2, 0.05},
               {"separated,n=60,d=4,sep=1", 80, 0.3, 0.1},
               {"orthant,n=80,d=5", 60, 0, 1e-3}};
  RfContext context;
  rf_context_init(&context);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (rf_index seed = 0; seed < rf_test_iterations(1); seed++) {
      Flow fast = {0}, exact = {0};
      run(&context, &fast, cases[k].spec, cases[k].width, cases[k].leak, cases[k].scale, (uint64_t)seed,
          false);
      run(&context, &exact, cases[k].spec, cases[k].width, cases[k].leak, cases[k].scale, (uint64_t)seed,
          true);
      if (getenv("RF_TEST_SHOW"))
        fprintf(stderr, "%s: steps %lld and %lld\n", cases[k].spec,
                (long long)fast.result.monitors.steps_explicit,
                (long long)exact.result.monitors.steps_explicit);
      same_events(&fast.result, &exact.result);
      double far = 0;
      for (rf_index j = 0; j < fast.net.m * fast.net.d; j++)
        far = fmax(far, fabs(fast.result.net_end.W[j] - exact.result.net_end.W[j]));
      if (getenv("RF_TEST_SHOW"))
        fprintf(stderr, "weights within %.2g, log t within %.2g\n", far,
                fabs(fast.result.log_t_end - exact.result.log_t_end));
      assert_true(far < 1e-5);
      assert_close(fast.result.log_t_end, exact.result.log_t_end, 1e-5);
      release(&fast);
      release(&exact);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_exact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
