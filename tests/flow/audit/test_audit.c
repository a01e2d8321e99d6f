/* The audit: it leaves the run as it is, to the bit; it finds nothing in runs that are right; and it finds
 * each of the things it looks for when they are put there. */
#include "rf_test.h"

#include <string.h>

#include "core/core.h"
#include "flow/audit/audit.h"
#include "flow/audit/audit_tolerances.h"

typedef struct Case {
  RfContext context;
  RfDataset data;
  RfNet net;
  RfFlowStart start;
  RfFlowProblem problem;
  RfFlowSettings settings;
} Case;

static void case_new(Case *c, const char *name, RfInit init, rf_index m, double leak, double scale) {
  rf_context_init(&c->context);
  assert_ok(&c->context, rf_data_generate(&c->context, &c->data, name));
  assert_ok(&c->context, rf_net_init(&c->context, &c->net, init, m, c->data.d, leak, 3, 1));
  assert_ok(&c->context, rf_flow_start_from_net(&c->context, &c->start, &c->net));
  c->problem = (RfFlowProblem){.X = c->data.X,
                               .y = c->data.y,
                               .n = c->data.n,
                               .d = c->data.d,
                               .leak = leak,
                               .start = &c->start,
                               .log_scale = log(scale)};
  rf_flow_settings_init(&c->settings);
}

static void case_free(Case *c) {
  rf_flow_start_free(&c->start);
  rf_net_free(&c->net);
  rf_dataset_free(&c->data);
}

static const struct {
  const char *name;
  RfInit init;
  double leak, scale;
} runs[] = {{"planar", RF_INIT_BALANCED, 0, 1e-2},    {"xor", RF_INIT_GAUSSIAN, 0, 1},
            {"orthant,n=20,d=4", RF_INIT_HE, 0.1, 1}, {"cross", RF_INIT_BALANCED, 0.5, 1e-6},
            {"DS-PL2", RF_INIT_BALANCED, 0, 1e-4},    {"symmetric", RF_INIT_BALANCED, 0.1, 1e-3}};

/* Runs that are right pass, with numbers near rounding; without the audit they are the same to the bit. */
static void right_runs(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
    Case c;
    RfFlowResult with, without;
    case_new(&c, runs[k].name, runs[k].init, 8, runs[k].leak, runs[k].scale);
    assert_true(rf_flow_run(&c.context, &with, &c.problem, &c.settings) >= 0);
    c.settings.audit = false;
    assert_true(rf_flow_run(&c.context, &without, &c.problem, &c.settings) >= 0);
    print_message("%-18s %-14s %4d points: velocity %.1e energy %.1e balance %.1e sides %.1e events %.1e\n",
                  runs[k].name, rf_flow_outcome_name(with.limit.outcome), (int)with.audit.points,
                  with.audit.velocity, with.audit.energy, with.audit.balance, with.audit.sides,
                  with.audit.events);
    assert_true(with.audit.points > 3);
    assert_true(with.audit.passed);
    assert_int_equal(without.audit.points, 0);
    assert_false(without.audit.passed);
    assert_int_equal(with.n_events, without.n_events);
    assert_int_equal(with.monitors.evaluations, without.monitors.evaluations);
    assert_memory_equal(&with.log_t_end, &without.log_t_end, sizeof(double));
    assert_memory_equal(with.limit.net.W, without.limit.net.W, (size_t)(c.net.m * c.net.d) * sizeof(double));
    assert_memory_equal(with.limit.net.a, without.limit.net.a, (size_t)c.net.m * sizeof(double));
    rf_flow_result_free(&with), rf_flow_result_free(&without);
    case_free(&c);
  }
}

/* A run at its start, audited once. */
typedef struct Bench {
  Case c;
  RfRun run;
} Bench;

static void bench_new(Bench *b, double leak) {
  case_new(&b->c, "gaussian,n=8,d=3,seed=5", RF_INIT_GAUSSIAN, 4, leak, 1);
  assert_ok(&b->c.context, rf_run_new(&b->c.context, &b->run, &b->c.problem, &b->c.settings));
  b->run.recording = true;
  assert_ok(&b->c.context, rf_audit_new(&b->c.context, &b->run.audit, &b->run));
  assert_ok(&b->c.context, rf_run_start(&b->run));
}

static RfFlowAudit looked(Bench *b) {
  assert_ok(&b->c.context, rf_audit_look(b->run.audit, &b->run));
  return rf_audit_result(b->run.audit);
}

static void bench_free(Bench *b) {
  rf_run_free(&b->run);
  case_free(&b->c);
}

static void untouched(void **state) {
  (void)state;
  Bench b;
  bench_new(&b, 0.1);
  RfFlowAudit found = looked(&b);
  assert_true(found.passed);
  assert_true(found.velocity < 1e-13 && found.balance < 1e-13 && found.sides == 0);
  bench_free(&b);
}

/* A neuron on the wrong side of a hyperplane. */
static void wrong_side(void **state) {
  (void)state;
  Bench b;
  bench_new(&b, 0.1);
  b.run.system.sigma[2] = (int8_t)-b.run.system.sigma[2];
  assert_ok(&b.c.context, rf_system_refresh_unit(&b.run.system, 0));
  b.run.system.classes_known = false;
  RfFlowAudit found = looked(&b);
  assert_false(found.passed);
  assert_true(found.sides > RF_AUDIT_SIDES);
  bench_free(&b);
}

/* A slide that is not one: the neuron is put on the hyperplane, and held there though it wants to leave. */
static void illegal_slide(void **state) {
  (void)state;
  rf_index caught = 0, legal = 0;
  for (rf_index i = 0; i < 8; i++) {
    Bench b;
    bench_new(&b, 0.1);
    rf_index d = b.c.data.d, n = b.c.data.n;
    double *w = b.run.system.y, *x = b.c.data.X + i * d, slope;
    rf_la_axpy(w, -rf_la_dot(w, x, d) / rf_la_dot(x, x, d), x, d);
    rf_system_normalise(&b.run.system, b.run.system.y);
    for (rf_index j = 0; j < n; j++) /* sides of the moved neuron */
      b.run.system.sigma[j] = j == i ? 0 : rf_la_dot(w, b.c.data.X + j * d, d) > 0 ? 1 : -1;
    assert_ok(&b.c.context, rf_system_refresh_unit(&b.run.system, 0));
    b.run.system.classes_known = false;
    rf_system_fields(&b.run.system, b.run.system.y);
    rf_system_slide_slopes(&b.run.system, 0, &slope);
    RfFlowAudit found = looked(&b);
    bool holds = slope >= 0.1 && slope <= 1;
    if (holds) assert_true(found.velocity < 1e-12);
    if (slope < 0.1 - 1e-3 || slope > 1 + 1e-3) assert_true(found.velocity > 1e-6);
    caught += !holds, legal += holds;
    bench_free(&b);
  }
  assert_true(caught > 0);
}

/* Output and input weight out of balance. */
static void lost_balance(void **state) {
  (void)state;
  Bench b;
  bench_new(&b, 0.1);
  b.run.system.y[b.run.system.units * b.run.system.d] *= 1.001;
  RfFlowAudit found = looked(&b);
  assert_true(found.balance > RF_AUDIT_BALANCE);
  assert_false(found.passed);
  bench_free(&b);
}

/* A crossing from which the field drives the neuron back. */
static void event_backwards(void **state) {
  (void)state;
  rf_index caught = 0;
  for (rf_index i = 0; i < 8; i++)
    for (int side = -1; side <= 1; side += 2) {
      Bench b;
      bench_new(&b, 0.1);
      rf_index d = b.c.data.d, n = b.c.data.n;
      double *w = b.run.system.y, *x = b.c.data.X + i * d;
      rf_la_axpy(w, -rf_la_dot(w, x, d) / rf_la_dot(x, x, d), x, d);
      rf_system_normalise(&b.run.system, b.run.system.y);
      for (rf_index j = 0; j < n; j++)
        b.run.system.sigma[j] = j == i ? (int8_t)side : rf_la_dot(w, b.c.data.X + j * d, d) > 0 ? 1 : -1;
      assert_ok(&b.c.context, rf_system_refresh_unit(&b.run.system, 0));
      b.run.system.classes_known = false;
      rf_system_fields(&b.run.system, b.run.system.y);
      double push = b.run.system.y[b.run.system.units * d] * rf_la_dot(rf_system_g(&b.run.system, 0), x, d);
      assert_ok(&b.c.context, rf_events_log(&b.run, 0, i, RF_EVENT_CROSS));
      RfFlowAudit found = looked(&b);
      if (push * side > 0) assert_true(found.events == 0);
      if (push * side < -1e-3) assert_true(found.events > RF_AUDIT_EVENTS);
      caught += push * side < -1e-3;
      bench_free(&b);
    }
  assert_true(caught > 0);
}

static void says_why(void **state) {
  (void)state;
  char why[160];
  RfFlowAudit found = {.velocity = 1e-9, .energy = 1e-3, .balance = 1e-12, .points = 9};
  rf_audit_why(&found, why, sizeof why);
  assert_string_equal(why, "the audit of the run found energy off by 0.001");
}

/* A sample that nobody saw comes into sight of a network with margins of 79: its loss falls by tens of
 * e-folds within a step that is right, and the integral over it needs more points. */
static void loss_falls_at_once(void **state) {
  (void)state;
  double X[16] = {1.89,  -0.54, -1.36, 0.26,  0.04, 0.62, -0.19, 0.82,
                  -1.19, -1.27, -0.78, -1.66, 1.69, 0.36, 1.21,  0.38};
  double y[4] = {-1, -1, 1, 1}, a[3] = {0, 0.44, 0};
  double W[12] = {-0.63, -1.23, -0.62, 0.63, -1.28, 0.75, 0.84, 0.63, -1.11, 0.62, 1.1, -0.57};
  RfContext context;
  RfNet net;
  RfFlowStart start;
  RfFlowSettings settings;
  RfFlowResult result;
  rf_context_init(&context);
  assert_ok(&context, rf_net_new(&context, &net, 3, 4, 0));
  memcpy(net.W, W, sizeof W);
  memcpy(net.a, a, sizeof a);
  assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
  RfFlowProblem problem = {.X = X, .y = y, .n = 4, .d = 4, .start = &start};
  rf_flow_settings_init(&settings);
  settings.audit = true;
  assert_int_equal(rf_flow_run(&context, &result, &problem, &settings), RF_NOT_SEPARABLE);
  assert_int_equal(result.limit.outcome, RF_FLOW_NOT_SEPARATED);
  assert_true(result.audit.passed);
  rf_flow_result_free(&result);
  rf_flow_start_free(&start);
  rf_net_free(&net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(right_runs),   cmocka_unit_test(untouched),
                                     cmocka_unit_test(wrong_side),   cmocka_unit_test(illegal_slide),
                                     cmocka_unit_test(lost_balance), cmocka_unit_test(event_backwards),
                                     cmocka_unit_test(says_why),     cmocka_unit_test(loss_falls_at_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
