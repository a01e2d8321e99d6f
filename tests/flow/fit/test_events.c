/* Events: sides are state. Along random runs every slide has legal slopes (recomputed here from margins and
 * weights), every side agrees with the sign of w.x, nothing happens twice at one moment; a sign change of a
 * inside a slide is a branching point and not a row of releases. */
#include "golden.h"

typedef struct Watcher {
  const RfFlowProblem *problem;
  double worst_side, worst_slope;
  rf_index slides, moments;
} Watcher;

/* s with base + c s x orthogonal to x, for a neuron on the hyperplane of sample i alone. */
static double slope_on(const RfFlowProblem *p, const double *c, const int8_t *sides, rf_index i) {
  const double *x = p->X + i * p->d;
  double along = 0;
  for (rf_index j = 0; j < p->n; j++)
    if (j != i) along += c[j] * (sides[j] > 0 ? 1 : p->leak) * rf_la_dot(p->X + j * p->d, x, p->d);
  return -along / (c[i] * rf_la_dot(x, x, p->d));
}

static void look(void *observer, const RfFlowMoment *moment) {
  Watcher *watcher = observer;
  const RfFlowProblem *p = watcher->problem;
  double c[16], top = -INFINITY;
  if (moment->scale_frozen || moment->log_loss < -30) return;
  for (rf_index i = 0; i < p->n; i++) top = fmax(top, c[i] = rf_loss_log_slope(p->loss, moment->q[i]));
  for (rf_index i = 0; i < p->n; i++) c[i] = p->y[i] * exp(c[i] - top);
  watcher->moments++;
  for (rf_index k = 0; k < moment->m; k++) {
    const double *w = moment->directions + k * (p->d + 1);
    const int8_t *sides = moment->sides + k * p->n;
    rf_index on = 0, at = 0, active = 0;
    for (rf_index i = 0; i < p->n; i++) {
      double h = rf_la_dot(w, p->X + i * p->d, p->d) / rf_la_norm(p->X + i * p->d, p->d);
      watcher->worst_side = fmax(watcher->worst_side, sides[i] == 0 ? fabs(h) : -sides[i] * h);
      on += sides[i] == 0, active += sides[i] > 0;
      if (sides[i] == 0) at = i;
    }
    if (on != 1 || (p->leak == 0 && active == 0)) continue;
    if (fabs(c[at]) < 1e-2) continue; /* its slope is a ratio of small numbers */
    double s = slope_on(p, c, sides, at);
    watcher->slides++;
    watcher->worst_slope = fmax(watcher->worst_slope, fmax(p->leak - s, s - 1));
  }
}

static void no_event_twice(const RfFlowResult *result, rf_index number) {
  for (rf_index e = 1; e < result->n_events; e++)
    for (rf_index f = e - 1; f >= 0 && result->events[f].log_t == result->events[e].log_t; f--) {
      const RfFlowEvent *a = &result->events[e], *b = &result->events[f];
      if (fabs(a->log_t) > 50) continue; /* moments too close for ln t, or t = 0 */
      if (a->neuron != b->neuron || a->sample != b->sample || a->kind != b->kind) continue;
      fail_msg("problem %d: neuron %d %s sample %d twice at log t = %.17g", (int)number, (int)a->neuron,
               rf_event_kind_name(a->kind), (int)a->sample, a->log_t);
    }
}

static void slides_are_legal(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  rf_index slides = 0, count = rf_test_iterations(200);
  for (rf_index round = 0; round <= count; round++) {
    rf_index number = round < count ? round : 957; /* there a crossing used to be found twice */
    enum { N = 8, D = 3, M = 4 };
    RfRandom random;
    double X[N * D], y[N];
    rf_random_init(&random, 1071, (uint64_t)number);
    for (rf_index j = 0; j < N * D; j++) X[j] = rf_random_gaussian(&random);
    for (rf_index i = 0; i < N; i++) y[i] = rf_random_sign(&random);
    RfNet net;
    RfFlowStart start;
    RfFlowResult result;
    RfFlowSettings settings;
    assert_ok(&context, rf_net_init(&context, &net, number % 2 ? RF_INIT_GAUSSIAN : RF_INIT_BALANCED, M, D,
                                    number % 3 ? 0 : 0.1, (uint64_t)number, 1));
    assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
    RfFlowProblem problem = {.X = X, .y = y, .n = N, .d = D, .leak = net.leak, .start = &start};
    problem.log_scale = number % 5 < 3 ? 0 : log(1e-2);
    Watcher watcher = {.problem = &problem};
    rf_flow_settings_init(&settings);
    settings.check_direction = settings.with_alignment = false;
    settings.branches = RF_BRANCHES_FOLLOW;
    settings.observe = look, settings.observer = &watcher, settings.observe_inside = 2;
    settings.until = RF_UNTIL_LOSS, settings.until_value = 1e-6;
    RfStatus status = rf_flow_run(&context, &result, &problem, &settings);
    assert_true(status >= 0);
    no_event_twice(&result, number);
    if (watcher.worst_side > 1e-8 || watcher.worst_slope > 1e-4)
      fail_msg("problem %d: side off by %.3g, slope by %.3g", (int)number, watcher.worst_side,
               watcher.worst_slope);
    slides += watcher.slides;
    rf_flow_result_free(&result);
    rf_flow_start_free(&start);
    rf_net_free(&net);
  }
  assert_true(slides > 100);
}

/* Four points in a plane with a constant column, a network of order one: a of an unbalanced neuron passes 0
 * while it slides. The valley becomes a ridge there, with two continuations. */
static void sign_change_is_a_branch(void **state) {
  (void)state;
  double X[12] = {1, -0.8, -0.5, 1, -0.4, -0.5, 1, 0.15, 0.3, 1, 0.5, -0.8}, y[4] = {1, -1, 1, -1};
  RfContext context;
  RfNet net;
  RfFlowStart start;
  RfFlowResult result;
  RfFlowSettings settings;
  rf_context_init(&context);
  assert_ok(&context, rf_net_init(&context, &net, RF_INIT_GAUSSIAN, 20, 3, 0, 0, 1));
  assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
  RfFlowProblem problem = {.X = X, .y = y, .n = 4, .d = 3, .loss = RF_LOSS_EXP, .start = &start};
  rf_flow_settings_init(&settings);
  assert_int_equal(rf_flow_run(&context, &result, &problem, &settings), RF_BRANCHED);
  no_event_twice(&result, 0);
  assert_true(result.n_events <= 20);
  assert_int_equal(result.events[result.n_events - 1].kind, RF_EVENT_BRANCH);
  assert_close(result.events[result.n_events - 1].log_t, 34.2180, 1e-3);
  rf_flow_result_free(&result);
  rf_flow_start_free(&start);
  rf_net_free(&net);
}

typedef struct Given {
  rf_index n, d, m;
  const double *X, *y, *W, *a;
} Given;

/* The flow of a network given by its numbers; leak 0, logistic loss. */
static RfStatus run_given(RfContext *context, RfFlowResult *result, const Given *given) {
  RfNet net;
  RfFlowStart start;
  RfFlowSettings settings;
  rf_context_init(context);
  assert_ok(context, rf_net_new(context, &net, given->m, given->d, 0));
  memcpy(net.W, given->W, (size_t)(given->m * given->d) * sizeof(double));
  memcpy(net.a, given->a, (size_t)given->m * sizeof(double));
  assert_ok(context, rf_flow_start_from_net(context, &start, &net));
  RfFlowProblem problem = {.X = given->X, .y = given->y, .n = given->n, .d = given->d, .start = &start};
  rf_flow_settings_init(&settings);
  settings.audit = true;
  RfStatus status = rf_flow_run(context, result, &problem, &settings);
  rf_flow_start_free(&start);
  rf_net_free(&net);
  return status;
}

/* Samples on a line: neuron 0 is driven to w = 0 from both sides, and as the negative half comes to rest its
 * slope tends to an end. Let go there without being moved, it was let go again at every step ("events
 * accumulate"). */
static void held_at_the_origin(void **state) {
  (void)state;
  double X[4] = {-0.8, 0.3, -0.7, 0.9}, y[4] = {1, 1, -1, 1};
  double W[4] = {0.1, -0.1, 0.6, 0.1}, a[4] = {-0.5, 0.4, 1.3, 0.9};
  RfContext context;
  RfFlowResult result;
  assert_int_equal(run_given(&context, &result, &(Given){4, 1, 4, X, y, W, a}), RF_NOT_SEPARABLE);
  assert_int_equal(result.limit.outcome, RF_FLOW_NOT_SEPARATED);
  assert_int_equal(result.n_events, 4);
  assert_true(result.audit.passed);
  rf_flow_result_free(&result);
}

/* A neuron that slides into w = 0 and dies there was left in a direction of rounding, in which it would see a
 * sample. */
static void dies_at_the_origin(void **state) {
  (void)state;
  double X[6] = {-0.5761349533738837, -0.842274081678565, -1.1226078957315813,
                 1.6100752499947402,  1.3882082345709414, -0.9694590112249774};
  double W[12] = {1.1499613564341649, 0.3395279579748644, -0.1279628735874562,  1.0499564008073574,
                  1.668207306476642,  0.4616503592025529, 1.1672686195217206,   -0.06986691319558495,
                  -0.952516866290129, 0.4685954213012458, -0.26525621901712043, 0.671947811361916};
  double y[3] = {-1, -1, -1}, a[6] = {0.2757319997342249,  0.5882920748565903,   0.7087521791354169,
                                      -0.2586162058363856, -0.09917973516457314, 1.7912759868072796};
  RfContext context;
  RfFlowResult result;
  assert_ok(&context, run_given(&context, &result, &(Given){3, 2, 6, X, y, W, a}));
  assert_int_equal(result.limit.outcome, RF_FLOW_CONVERGED);
  assert_true(result.audit.passed);
  assert_int_equal(result.limit.n_dead, 1);
  rf_flow_result_free(&result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slides_are_legal), cmocka_unit_test(sign_change_is_a_branch),
      cmocka_unit_test(held_at_the_origin), cmocka_unit_test(dies_at_the_origin)};
  return cmocka_run_group_tests_name("flow/fit/events", tests, NULL, NULL);
}
