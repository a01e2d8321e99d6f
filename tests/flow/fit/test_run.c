/* Along the way: invariants of the flow on random problems, stopping at a loss or a time, checkpoints taken
 * up again to the last bit, refusals, and a failing memory at every place. */
#include "golden.h"

typedef struct Case {
  rf_index n, d, m;
  double X[48], y[12];
  RfNet net;
  RfFlowStart start;
  RfFlowProblem problem;
} Case;

static void case_new(RfContext *context, Case *c, uint64_t seed, bool balanced) {
  RfRandom random;
  rf_random_init(&random, seed, 17);
  memset(c, 0, sizeof *c);
  c->n = 2 + rf_random_below(&random, 8), c->d = 1 + rf_random_below(&random, 4);
  c->m = 2 + rf_random_below(&random, 5);
  double leaks[4] = {0, 0.1, 0.5, 1};
  double leak = leaks[rf_random_below(&random, 4)];
  for (rf_index j = 0; j < c->n * c->d; j++) c->X[j] = rf_random_gaussian(&random);
  for (rf_index i = 0; i < c->n; i++) c->y[i] = rf_random_sign(&random);
  assert_ok(context, rf_net_new(context, &c->net, c->m, c->d, leak));
  for (rf_index j = 0; j < c->m * c->d; j++) c->net.W[j] = rf_random_gaussian(&random);
  for (rf_index k = 0; k < c->m; k++)
    c->net.a[k] = balanced ? rf_random_sign(&random) * rf_la_norm(c->net.W + k * c->d, c->d)
                           : rf_random_gaussian(&random);
  assert_ok(context, rf_flow_start_from_net(context, &c->start, &c->net));
  c->problem = (RfFlowProblem){.X = c->X, .y = c->y, .n = c->n, .d = c->d, .leak = leak, .start = &c->start};
  c->problem.loss = (RfLoss)rf_random_below(&random, 3);
  c->problem.log_scale = log(1e-2) * (double)rf_random_below(&random, 4);
}

static void case_free(Case *c) {
  rf_net_free(&c->net);
  rf_flow_start_free(&c->start);
}

static RfFlowSettings follow(void) {
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.branches = RF_BRANCHES_FOLLOW;
  settings.check_direction = false;
  settings.with_alignment = false;
  return settings;
}

static void invariants(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  rf_index converged = 0, undecided = 0, count = rf_test_iterations(150);
  for (rf_index seed = 0; seed < count; seed++) {
    Case c;
    RfFlowResult result;
    RfFlowSettings settings = follow();
    settings.trace = 40;
    case_new(&context, &c, (uint64_t)seed, seed % 2 == 0);
    RfStatus status = rf_flow_run(&context, &result, &c.problem, &settings);
    if (status < 0) print_error("seed %d: %s\n", (int)seed, context.error);
    assert_true(status >= 0);
    if (result.monitors.energy_error > 1e-5 || result.monitors.balance_error > 1e-7)
      print_error("seed %d: energy %.3g balance %.3g\n", (int)seed, result.monitors.energy_error,
                  result.monitors.balance_error);
    assert_true(result.monitors.energy_error <= 1e-5);
    assert_true(result.monitors.balance_error <= 1e-7);
    if (!result.monitors.smoothed_margin_monotone) print_error("seed %d: smoothed margin falls\n", (int)seed);
    assert_true(result.monitors.smoothed_margin_monotone);
    for (rf_index r = 1; r < result.n_trace; r++) {
      assert_true(result.trace[r].log_t >= result.trace[r - 1].log_t);
      assert_true(result.trace[r].log_loss <= result.trace[r - 1].log_loss + 1e-8);
    }
    converged += result.limit.outcome == RF_FLOW_CONVERGED;
    undecided += result.limit.outcome == RF_FLOW_UNDECIDED;
    if (result.limit.outcome == RF_FLOW_CONVERGED) {
      assert_true(result.limit.stationarity <= 1e-8 && result.limit.complementarity <= 1e-8);
      double sum = 0;
      for (rf_index i = 0; i < c.n; i++) sum += result.limit.lambda[i];
      assert_relative(result.limit.margin, 1 / (2 * sum), 1e-8); /* sum lambda = |theta|^2/2 at margin 1 */
    }
    rf_flow_result_free(&result);
    case_free(&c);
  }
  assert_true(converged > count / 4);
  assert_true(undecided * 20 <= count);
}

/* The time at which a loss is reached, given back as a time, must give the loss back. */
static void until_loss_and_time(void **state) {
  (void)state;
  RfContext context;
  Golden golden;
  rf_context_init(&context);
  golden_load(&context, &golden, "orthsep_d2");
  for (int mean = 0; mean < 2; mean++)
    for (double loss = 0.5; loss > 1e-40; loss *= 1e-7) {
      RfFlowSettings settings = follow();
      RfFlowResult first, second;
      golden.problem.mean = mean == 1;
      settings.until = RF_UNTIL_LOSS, settings.until_value = loss;
      assert_int_equal(rf_flow_run(&context, &first, &golden.problem, &settings), RF_OK);
      assert_int_equal(first.limit.outcome, RF_FLOW_STOPPED);
      assert_close(first.log_loss_end, log(loss), 1e-8 * fmax(1, fabs(log(loss))));
      settings.until = RF_UNTIL_TIME, settings.until_value = exp(first.log_t_end);
      assert_int_equal(rf_flow_run(&context, &second, &golden.problem, &settings), RF_OK);
      assert_close(second.log_t_end, first.log_t_end, 1e-9 * fmax(1, fabs(first.log_t_end)));
      assert_close(second.log_loss_end, log(loss), 1e-6 * fmax(1, fabs(log(loss))));
      rf_flow_result_free(&first);
      rf_flow_result_free(&second);
    }
  golden_free(&golden);
}

/* A time before the network matters lies inside the exact alignment. */
static void until_time_during_alignment(void **state) {
  (void)state;
  RfContext context;
  Golden golden;
  RfFlowResult result;
  RfFlowSettings settings = follow();
  rf_context_init(&context);
  golden_load(&context, &golden, "orthsep_d2");
  golden.problem.log_scale = -690;
  settings.until = RF_UNTIL_TIME, settings.until_value = 1.0;
  assert_int_equal(rf_flow_run(&context, &result, &golden.problem, &settings), RF_OK);
  assert_close(result.log_t_end, 0, 1e-12);
  json_t *crossings = json_object_get(json_object_get(golden.root, "alignment_eps0"), "crossings");
  rf_index expected = 0;
  for (size_t k = 0; k < json_array_size(crossings); k++)
    for (size_t c = 0; c < json_array_size(json_array_get(crossings, k)); c++) {
      json_t *crossing = json_array_get(json_array_get(crossings, k), c);
      if (json_number_value(json_array_get(crossing, 0)) < 1)
        expected += (rf_index)json_array_size(json_array_get(crossing, 1));
    }
  assert_int_equal(result.n_events, expected);
  rf_flow_result_free(&result);
  golden_free(&golden);
}

typedef struct Saver {
  rf_index calls, wanted;
  RfFlowCheckpoint copy;
} Saver;

static bool want(void *user) {
  Saver *saver = user;
  return ++saver->calls == saver->wanted;
}

static void save(void *user, const RfFlowCheckpoint *checkpoint) {
  Saver *saver = user;
  saver->copy.count = checkpoint->count;
  saver->copy.values = rf_copy_doubles(checkpoint->values, checkpoint->count);
}

static void resumes_bit_identically(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  const char *names[] = {"xor_d2", "gauss_d3_leaky", "vardi32_leaky", "symmetric_d3_unbal"};
  rf_index after[] = {1, 40, 97, 150, 400};
  for (size_t c = 0; c < sizeof names / sizeof *names; c++)
    for (size_t a = 0; a < sizeof after / sizeof *after; a++) {
      Golden golden;
      RfFlowResult whole, rest;
      Saver saver = {.wanted = after[a]};
      RfFlowSettings settings = follow();
      settings.trace = 30;
      golden_load(&context, &golden, names[c]);
      settings.want_checkpoint = want, settings.save = save, settings.user = &saver;
      assert_ok(&context, rf_flow_run(&context, &whole, &golden.problem, &settings));
      if (saver.copy.values) {
        settings.want_checkpoint = NULL;
        settings.resume = &saver.copy;
        assert_ok(&context, rf_flow_run(&context, &rest, &golden.problem, &settings));
        assert_int_equal(whole.n_events, rest.n_events);
        assert_int_equal(whole.n_trace, rest.n_trace);
        assert_int_equal(whole.monitors.steps_implicit, rest.monitors.steps_implicit);
        for (rf_index e = 0; e < whole.n_events; e++)
          assert_true(whole.events[e].log_t == rest.events[e].log_t);
        assert_memory_equal(whole.trace, rest.trace, (size_t)whole.n_trace * sizeof *whole.trace);
        assert_memory_equal(whole.limit.net.W, rest.limit.net.W,
                            (size_t)(whole.m * whole.d) * sizeof(double));
        assert_memory_equal(whole.limit.net.a, rest.limit.net.a, (size_t)whole.m * sizeof(double));
        rf_flow_result_free(&rest);
        saver.copy.count--; /* a damaged checkpoint is refused */
        assert_int_equal(rf_flow_run(&context, &rest, &golden.problem, &settings), RF_ERR_INPUT);
        rf_flow_result_free(&rest);
      }
      rf_flow_checkpoint_free(&saver.copy);
      rf_flow_result_free(&whole);
      golden_free(&golden);
    }
}

static void refusals(void **state) {
  (void)state;
  RfContext context;
  Case c;
  RfFlowResult result;
  RfFlowSettings settings = follow();
  rf_context_init(&context);
  case_new(&context, &c, 3, true);
  RfFlowProblem bad = c.problem;
  bad.leak = 1.5;
  assert_int_equal(rf_flow_run(&context, &result, &bad, &settings), RF_ERR_USAGE);
  bad = c.problem, bad.log_scale = NAN;
  assert_int_equal(rf_flow_run(&context, &result, &bad, &settings), RF_ERR_USAGE);
  bad = c.problem, bad.n = 0;
  assert_int_equal(rf_flow_run(&context, &result, &bad, &settings), RF_ERR_USAGE);
  c.y[0] = 0.5;
  assert_int_equal(rf_flow_run(&context, &result, &c.problem, &settings), RF_ERR_USAGE);
  case_free(&c);
}

/* Statuses that are not a limit: all dead, conflicting labels, too few neurons for XOR, interrupted. */
static void ends_without_a_limit(void **state) {
  (void)state;
  RfContext context;
  RfFlowResult result;
  RfFlowSettings settings = follow();
  rf_context_init(&context);
  double X[8] = {1, 1, 1, -1, -1, 1, -1, -1}, y[4] = {1, -1, -1, 1}, W[4] = {0.3, 0.4, -0.2, 0.7},
         a[2] = {0.5, 0.7};
  RfNet net = {.m = 2, .d = 2, .W = W, .a = a, .leak = 0};
  RfFlowStart start;
  assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
  RfFlowProblem problem = {.X = X, .y = y, .n = 4, .d = 2, .leak = 0, .start = &start, .log_scale = -3};
  assert_int_equal(rf_flow_run(&context, &result, &problem, &settings), RF_NOT_SEPARABLE);
  assert_int_equal(result.limit.outcome, RF_FLOW_NOT_SEPARATED);
  rf_flow_result_free(&result);
  double twice[4] = {1, 2, 1, 2}, both[2] = {1, -1};
  problem.X = twice, problem.y = both, problem.n = 2;
  assert_int_equal(rf_flow_run(&context, &result, &problem, &settings), RF_NOT_SEPARABLE);
  rf_flow_result_free(&result);
  double away[2] = {-1, -1}, one[1] = {1}; /* no neuron sees it: all dead */
  W[0] = W[1] = W[2] = W[3] = 1;
  rf_flow_start_free(&start);
  assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
  problem.X = away, problem.y = one, problem.n = 1;
  assert_int_equal(rf_flow_run(&context, &result, &problem, &settings), RF_NOT_SEPARABLE);
  assert_int_equal(result.limit.n_dead, 2);
  rf_flow_result_free(&result);
  volatile int cancel = 1;
  context.cancel = &cancel;
  double here[2] = {1, 1};
  problem.X = here;
  assert_int_equal(rf_flow_run(&context, &result, &problem, &settings), RF_INTERRUPTED);
  assert_true(result.checkpoint.count > 0);
  rf_flow_result_free(&result);
  rf_flow_start_free(&start);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(invariants),
      cmocka_unit_test(until_loss_and_time),
      cmocka_unit_test(until_time_during_alignment),
      cmocka_unit_test(resumes_bit_identically),
      cmocka_unit_test(refusals),
      cmocka_unit_test(ends_without_a_limit),
  };
  return cmocka_run_group_tests_name("flow/fit/run", tests, NULL, NULL);
}
