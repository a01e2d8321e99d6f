/* Limits of layered flows: deep linear networks end at the max-margin vector, two dense layers where the
 * two-layer engine ends, diagonal ones where Vardi, Shamir and Srebro say. */
#include <math.h>
#include <string.h>

#include "data/data.h"
#include "flow/flow.h"
#include "reluflow/certify.h"
#include "la/la.h"
#include "margin/margin.h"
#include "rf_test.h"
#include "../layered_families.h"

static RfContext context;

static int setup(void **state) {
  (void)state;
  rf_context_init(&context);
  return 0;
}

static RfLayeredNet dense(const rf_index *widths, int depth, double leak, RfRandom *random, double spread) {
  RfLayeredNet net;
  assert_ok(&context, rf_layers_new(&context, &net, leak));
  for (int l = 0; l < depth; l++)
    assert_ok(&context, rf_layers_add_dense(&context, &net, widths[l], widths[l + 1]));
  for (rf_index p = 0; p < net.n_parameters; p++) net.theta[p] = spread * rf_random_gaussian(random);
  return net;
}

static RfFlowSettings usual(void) {
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.trace = 50;
  return settings;
}

/* f(x) = <beta, x>: beta from unit vectors. */
static void linear_map(double *beta, const RfLayeredNet *net, rf_index d) {
  for (rf_index j = 0; j < d; j++) {
    double unit[8] = {0};
    unit[j] = 1;
    assert_ok(&context, rf_layers_evaluate(&context, &beta[j], NULL, net, unit, 1));
  }
}

/* VSS Theorem 3.1: margin gamma / D^{D/2}, beta along the max-margin vector. */
static void deep_linear(void **state) {
  (void)state;
  for (int depth = 2; depth <= 4; depth++) {
    rf_index widths[] = {3, 4, 4, 4, 1};
    RfDataset data;
    RfLinearMargin linear;
    RfLayeredLimit limit;
    RfFlowSettings settings = usual();
    RfRandom random;
    rf_random_init(&random, 17 + (uint64_t)depth, 0);
    widths[depth] = 1;
    assert_ok(&context, rf_data_generate(&context, &data, "separated,np=6,nm=6,d=3,sep=0.1,seed=4"));
    assert_ok(&context, rf_margin_linear(&context, &linear, data.X, data.y, data.n, data.d));
    RfLayeredNet start = dense(widths, depth, 1, &random, 0.3);
    RfLoss loss = depth == 3 ? RF_LOSS_EXP : RF_LOSS_LOGISTIC;
    RfStatus status =
        rf_flow_run_layered(&context, &limit, &start, data.X, data.y, data.n, loss, false, &settings);
    if (status) print_error("depth %d: %s\n", depth, limit.why);
    assert_int_equal(status, RF_OK);
    double best = linear.margin / pow(depth, 0.5 * depth), beta[3];
    assert_close(limit.margin, best, 1e-10 * best);
    linear_map(beta, &limit.net, 3);
    for (int j = 0; j < 3; j++) assert_close(beta[j] / rf_la_norm(beta, 3), linear.w[j], 1e-9);
    assert_true(limit.stationarity < 1e-10 && limit.complementarity < 1e-10);
    assert_true(limit.direction_error < 1e-3);
    assert_true(limit.drift < 1e-6);
    assert_true(limit.n_trace > 10);
    for (rf_index r = 1; r < limit.n_trace; r++)
      assert_true(limit.trace[r].log_loss < limit.trace[r - 1].log_loss);
    rf_layered_limit_free(&limit);
    rf_layers_free(&start);
    rf_linear_margin_free(&linear);
    rf_dataset_free(&data);
  }
}

/* The same network through both engines. */
static void two_dense_layers(void **state) {
  (void)state;
  const rf_index widths[] = {2, 5, 1};
  RfDataset data;
  RfNet net;
  RfFlowStart from;
  RfFlowResult result;
  RfLayeredLimit limit;
  RfFlowSettings settings = usual();
  RfRandom random;
  rf_random_init(&random, 5, 0);
  assert_ok(&context, rf_data_generate(&context, &data, "planar"));
  RfLayeredNet start = dense(widths, 2, 0, &random, 0.1);
  assert_ok(&context, rf_net_new(&context, &net, 5, 2, 0));
  memcpy(net.W, start.theta, 10 * sizeof(double));
  memcpy(net.a, start.theta + 10, 5 * sizeof(double));
  assert_ok(&context, rf_flow_start_from_net(&context, &from, &net));
  RfFlowProblem problem = {.X = data.X, .y = data.y, .n = data.n, .d = data.d, .start = &from};
  assert_ok(&context, rf_flow_run(&context, &result, &problem, &settings));
  assert_ok(&context, rf_flow_run_layered(&context, &limit, &start, data.X, data.y, data.n, RF_LOSS_LOGISTIC,
                                          false, &settings));
  assert_close(limit.margin, result.limit.margin, 1e-10);
  for (int j = 0; j < 10; j++) assert_close(limit.net.theta[j], result.limit.net.W[j], 1e-3);
  for (int k = 0; k < 5; k++) assert_close(limit.net.theta[10 + k], result.limit.net.a[k], 1e-3);
  rf_layered_limit_free(&limit);
  rf_flow_result_free(&result);
  rf_flow_start_free(&from);
  rf_net_free(&net);
  rf_layers_free(&start);
  rf_dataset_free(&data);
}

/* Depth 3, ReLU: units slide on their way and end on kinks. Every start that separates the data has the
 * smoothed margin rise, keeps its layers balanced and ends in a KKT point, rechecked by differences of f. */
static void deep_relu(void **state) {
  (void)state;
  const rf_index widths[] = {2, 5, 4, 1};
  RfDataset data;
  RfFlowSettings settings = usual();
  rf_index arrived = 0, slid = 0, tried = rf_test_iterations(6);
  assert_ok(&context, rf_data_generate(&context, &data, "planar"));
  for (rf_index draw = 0; draw < tried; draw++) {
    RfLayeredLimit limit;
    RfRandom random;
    rf_random_init(&random, 100 + (uint64_t)draw, 0);
    RfLayeredNet start = dense(widths, 3, draw % 2 ? 0 : 0.1, &random, 0.4);
    RfStatus status = rf_flow_run_layered(&context, &limit, &start, data.X, data.y, data.n, RF_LOSS_LOGISTIC,
                                          false, &settings);
    assert_true(status == RF_OK || status == RF_NOT_SEPARABLE || status == RF_UNDECIDED);
    assert_true(limit.drift < 1e-7);
    for (rf_index r = 1; r < limit.n_trace; r++)
      if (limit.trace[r - 1].smoothed_margin > 0)
        assert_true(limit.trace[r].smoothed_margin > limit.trace[r - 1].smoothed_margin - 1e-9);
    if (status == RF_OK) {
      double square = 0, f;
      for (rf_index i = 0; i < data.n; i++) { /* Euler: <theta, d f> = 3 f gives sum lambda_i q_i */
        assert_ok(&context, rf_layers_evaluate(&context, &f, NULL, &limit.net, data.X + i * 2, 1));
        assert_true(data.y[i] * f >= limit.margin * (1 - 1e-9));
        square += 3 * limit.lambda[i];
      }
      assert_close(square, pow(limit.margin, -2.0 / 3), 1e-8); /* |theta|^2 at min margin 1 */
      arrived++, slid += limit.held > 0;
    } else if (status == RF_UNDECIDED) {
      print_message("draw %d: %s\n", (int)draw, limit.why);
    }
    rf_layered_limit_free(&limit);
    rf_layers_free(&start);
  }
  assert_true(2 * arrived >= tried);
  if (tried >= 6) assert_true(slid > 0);
  rf_dataset_free(&data);
}

/* VSS Remark 4.1 (iii): sample (1,2), all ones: the first coordinate dies like a power of the margin. */
static void a_slow_coordinate(void **state) {
  (void)state;
  const double x[] = {1, 2}, y[] = {1};
  RfLayeredNet start;
  RfLayeredLimit limit;
  RfFlowSettings settings = usual();
  assert_ok(&context, rf_layers_new(&context, &start, 1));
  assert_ok(&context, rf_layers_add_diagonal(&context, &start, 2));
  assert_ok(&context, rf_layers_add_dense(&context, &start, 2, 1));
  for (int p = 0; p < 4; p++) start.theta[p] = 1;
  assert_ok(&context, rf_flow_run_layered(&context, &limit, &start, x, y, 1, RF_LOSS_EXP, false, &settings));
  assert_close(limit.margin, 1, 1e-10);
  assert_close(limit.net.theta[0], 0, 1e-9);
  assert_close(limit.net.theta[1], sqrt(0.5), 1e-9);
  rf_layered_limit_free(&limit);
  start.theta[1] = start.theta[3] = 0; /* from (1,0): stays there, a KKT point that is not the optimum */
  assert_ok(&context, rf_flow_run_layered(&context, &limit, &start, x, y, 1, RF_LOSS_EXP, false, &settings));
  assert_close(limit.margin, 0.5, 1e-10);
  rf_layered_limit_free(&limit);
  rf_layers_free(&start);
}

static void other_ends(void **state) {
  (void)state;
  const rf_index widths[] = {2, 3, 3, 1};
  const double X[] = {1, 0.5, 1, 0.5, -1, 2}, y[] = {1, -1, 1};
  RfLayeredLimit limit;
  RfFlowSettings settings = usual();
  RfRandom random;
  rf_random_init(&random, 6, 0);
  RfLayeredNet start = dense(widths, 3, 0.2, &random, 0.5);
  settings.max_steps = 20000;
  RfStatus status = rf_flow_run_layered(&context, &limit, &start, X, y, 3, RF_LOSS_EXP, false, &settings);
  assert_true(status == RF_NOT_SEPARABLE || status == RF_UNDECIDED);
  assert_true(limit.why[0] != 0);
  rf_layered_limit_free(&limit);
  settings.until = RF_UNTIL_TIME, settings.until_value = 2; /* mean: time 2 of the mean loss */
  assert_ok(&context, rf_flow_run_layered(&context, &limit, &start, X, y, 3, RF_LOSS_EXP, true, &settings));
  assert_int_equal(limit.outcome, RF_FLOW_STOPPED);
  assert_close(limit.log_t, log(2), 1e-12);
  rf_layered_limit_free(&limit);
  settings.until = RF_UNTIL_LOSS, settings.until_value = 0.9;
  assert_ok(&context, rf_flow_run_layered(&context, &limit, &start, X, y, 1, RF_LOSS_EXP, true, &settings));
  assert_true(limit.log_loss <= log(0.9));
  rf_layered_limit_free(&limit);
  settings.until = RF_UNTIL_INFINITY;
  start.layers[0].fixed = true;
  assert_int_equal(rf_flow_run_layered(&context, &limit, &start, X, y, 3, RF_LOSS_EXP, false, &settings),
                   RF_ERR_USAGE);
  rf_layers_free(&start);
}

/* Problems of bench/random_flow.c at which the flow once gave up, or followed another network. */
static void found_before(void **state) {
  (void)state;
  static const struct {
    uint64_t seed;
    rf_index number;
    RfFlowOutcome outcome;
  } found[] = {
      {5, 7, RF_FLOW_NOT_SEPARATED}, /* at rest: 200,000 steps of the size that stability allows */
      {5, 11, RF_FLOW_CONVERGED},    /* the same with the scale frozen */
      {5, 15, RF_FLOW_CONVERGED}, /* a trial step that was thrown away made every input look like zero, and no
                                  unit crossed its kink any more */
      {5, 33,
       RF_FLOW_UNDECIDED}, /* stiff on a slide; where it is left depends on rounding: 2 apart, or converged */
      {5, 51, RF_FLOW_CONVERGED}, /* four samples of nearly one margin in three dimensions have no common
                                  solution */
      {1794801473, 62, RF_FLOW_NOT_SEPARATED}, /* three units of one sample on their kinks in two layers:
                                                  decided one after the other they chattered */
      {1794801473, 40, RF_FLOW_NOT_SEPARATED}, /* a trial that was thrown away left slopes of -4000 behind */
      {1794801473, 2, RF_FLOW_NOT_SEPARATED},  /* a slope that moves nothing holds nothing */
      {900, 35, RF_FLOW_NOT_SEPARATED}, /* a sample that nothing sees: held units are the cancelling pushes */
      {20261116, 0, RF_FLOW_NOT_SEPARATED}, /* slopes of 1e-9 hid what their sample pushes with: rounding
                                               looked like a unit that nothing holds; small weights grow, but
                                               not off the kinks that hold their units */
      {1794801473, 52,
       RF_FLOW_CONVERGED}, /* a weight that passes zero, held there on one sample in one run only */
      {4101, 9,
       RF_FLOW_CONVERGED}, /* a trial to an event, taken whatever its error, sent a margin to -17,375 */
      {900, 39, RF_FLOW_NOT_SEPARATED},        /* a slide left and taken up again at rest */
      {1794835707, 13, RF_FLOW_NOT_SEPARATED}, /* put back on its kink the state was off its margins' rest,
                                                  and the loss rose at every step */
      {1794835707, 55, RF_FLOW_CONVERGED}, /* margins seen with the slopes of a trial thrown away: slides were
                                              left and taken up again */
      {1794835707, 94, RF_FLOW_CONVERGED}, /* a kink between the state at margin 400 and its limit */
      {1794835707, 222, RF_FLOW_CONVERGED}, /* both weights of a layer pass zero at once */
      {1794851367, 1093,
       RF_FLOW_CONVERGED}, /* slopes inside [leak,1] at margin 400, and outside at the limit */
      {1794851367, 211, RF_FLOW_CONVERGED}, /* a sample that weighs at margin 400 and is no support */
  };
  /* open: 39 chatters at rest for ever with the rounding of WebAssembly; 62 changes sides without end */
  int left = 0;
  for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
    LayeredProblem p;
    RfLayeredLimit limit;
    RfLayeredKkt kkt = {0};
    RfFlowSettings settings = usual();
    assert_ok(&context, layered_problem_new(&context, &p, found[k].seed, found[k].number));
    assert_true(rf_flow_run_layered(&context, &limit, &p.net, p.X, p.y, p.n, p.loss, false, &settings) >= 0);
    print_message("%d: %s %s, %d steps, %d held, stationarity %.1e, direction %.1e\n", (int)found[k].number,
                  rf_flow_outcome_name(limit.outcome), limit.why, (int)limit.steps, (int)limit.held,
                  limit.stationarity, limit.direction_error);
    bool either = found[k].outcome == RF_FLOW_UNDECIDED; /* an end within the steps is what was missing */
    bool open = !either && limit.outcome == RF_FLOW_UNDECIDED; /* none may be decided otherwise */
    if (!open && (!either || limit.outcome != RF_FLOW_CONVERGED))
      assert_int_equal(limit.outcome, found[k].outcome);
    if (either && limit.outcome == RF_FLOW_UNDECIDED) assert_true(limit.direction_error > 1e-5);
    assert_true(open || limit.steps < 30000);
    left += open;
    if (limit.outcome == RF_FLOW_CONVERGED) { /* on kinks, too, certify says the same */
      assert_ok(&context, rf_certify_layered_kkt(&context, &kkt, &limit.net, p.X, p.y, p.n));
      assert_true(kkt.holds && limit.direction_error < 1e-5);
      rf_layered_kkt_free(&kkt);
    }
    rf_layered_limit_free(&limit);
    rf_layers_free(&p.net);
  }
  assert_true(left <= 2);
}

/* A sample that nobody sees while the other one goes on: at ln t = 14.5 the loss had "stopped falling", and
 * at margins of 2.6e4 of the other the hidden one comes into sight. */
static void hidden_samples_come_into_sight(void **state) {
  LayeredProblem p;
  RfLayeredLimit limit;
  RfFlowSettings settings = usual();
  (void)state;
  assert_ok(&context, layered_problem_new(&context, &p, 1794864837, 189));
  assert_ok(&context, rf_flow_run_layered(&context, &limit, &p.net, p.X, p.y, p.n, p.loss, false, &settings));
  assert_true(limit.margin > 0 && limit.direction_error < 1e-5);
  rf_layered_limit_free(&limit);
  rf_layers_free(&p.net);
}

/* Samples that nobody ever sees: the others go to their limit, with units held on the kinks of those that are
 * not seen, and two layers say what the two-layer engine says. */
static void hidden_samples_stay_hidden(void **state) {
  static const rf_index two[] = {257, 491, 133}, deep[] = {1};
  (void)state;
  for (size_t k = 0; k < sizeof two / sizeof *two; k++) {
    LayeredProblem p;
    RfLayeredLimit limit;
    RfNet net;
    RfFlowStart from;
    RfFlowResult result;
    RfFlowSettings settings = usual();
    assert_ok(&context, layered_problem_new(&context, &p, 1794866620, two[k]));
    rf_index m = p.net.layers[0].outputs, d = p.d;
    assert_true(p.depth == 2 && p.kind == 0);
    assert_ok(&context, rf_net_new(&context, &net, m, d, p.leak));
    memcpy(net.W, p.net.theta, (size_t)(m * d) * sizeof(double));
    memcpy(net.a, p.net.theta + m * d, (size_t)m * sizeof(double));
    assert_ok(&context, rf_flow_start_from_net(&context, &from, &net));
    RfFlowProblem problem = {.X = p.X, .y = p.y, .n = p.n, .d = d, .loss = p.loss, .start = &from};
    assert_int_equal(rf_flow_run(&context, &result, &problem, &settings), RF_NOT_SEPARABLE);
    assert_int_equal(rf_flow_run_layered(&context, &limit, &p.net, p.X, p.y, p.n, p.loss, false, &settings),
                     RF_NOT_SEPARABLE);
    assert_string_equal(limit.why, result.limit.why);
    for (rf_index j = 0; j < m * d; j++) assert_close(limit.net.theta[j], result.limit.net.W[j], 1e-3);
    for (rf_index j = 0; j < m; j++) assert_close(limit.net.theta[m * d + j], result.limit.net.a[j], 1e-3);
    rf_layered_limit_free(&limit);
    rf_flow_result_free(&result);
    rf_flow_start_free(&from);
    rf_net_free(&net);
    rf_layers_free(&p.net);
  }
  for (size_t k = 0; k < sizeof deep / sizeof *deep; k++) {
    LayeredProblem p;
    RfLayeredLimit limit;
    RfFlowSettings settings = usual();
    assert_ok(&context, layered_problem_new(&context, &p, 1794866620, deep[k]));
    assert_int_equal(rf_flow_run_layered(&context, &limit, &p.net, p.X, p.y, p.n, p.loss, false, &settings),
                     RF_NOT_SEPARABLE);
    assert_true(strstr(limit.why, "unseen") && limit.held > 0 && limit.direction_error < 1e-5);
    rf_layered_limit_free(&limit);
    rf_layers_free(&p.net);
  }
}

/* A limit on kinks is a KKT point at every scale: slopes that duals leave out by 1e-14 cost 2e-8, and whether
 * they did was rounding. */
static void certified_at_any_scale(void **state) {
  (void)state;
  LayeredProblem p;
  RfLayeredLimit limit;
  RfFlowSettings settings = usual();
  settings.check_direction = false;
  assert_ok(&context, layered_problem_new(&context, &p, 1794835707, 27));
  assert_true(rf_flow_run_layered(&context, &limit, &p.net, p.X, p.y, p.n, p.loss, false, &settings) >= 0);
  for (int k = 0; k < 5 && limit.outcome == RF_FLOW_CONVERGED; k++) {
    RfLayeredKkt kkt = {0};
    assert_ok(&context, rf_certify_layered_kkt(&context, &kkt, &limit.net, p.X, p.y, p.n));
    assert_true(kkt.holds && kkt.kinks > 0);
    rf_layered_kkt_free(&kkt);
    rf_la_scale(limit.net.theta, 1.7, limit.net.n_parameters);
  }
  rf_layered_limit_free(&limit);
  rf_layers_free(&p.net);
}

/* All weights of the first layer come to zero at ln t = 0.79: rounded kinks leave again, to margin 400,
 * whatever their width, and the sides of the units above are not known there. That is no rest. */
static void a_layer_at_zero(void **state) {
  (void)state;
  LayeredProblem p;
  RfLayeredLimit limit;
  RfFlowSettings settings = usual();
  assert_ok(&context, layered_problem_new(&context, &p, 1794835707, 148));
  assert_int_equal(rf_flow_run_layered(&context, &limit, &p.net, p.X, p.y, p.n, p.loss, false, &settings),
                   RF_UNDECIDED);
  assert_true(strstr(limit.why, "come to zero") && limit.steps < 1000);
  rf_layered_limit_free(&limit);
  rf_layers_free(&p.net);
}

static void count_progress(void *user, const char *phase, double fraction, const char *detail) {
  (void)phase, (void)fraction, (void)detail;
  ++*(int *)user;
}

static void tells_progress(void **state) {
  (void)state;
  int told = 0;
  LayeredProblem p;
  RfLayeredLimit limit;
  RfFlowSettings settings = usual();
  RfContext own;
  rf_context_init(&own);
  own.on_progress = count_progress, own.user = &told;
  assert_ok(&own, layered_problem_new(&own, &p, 5, 11));
  assert_ok(&own, rf_flow_run_layered(&own, &limit, &p.net, p.X, p.y, p.n, p.loss, false, &settings));
  assert_true(told >= 1);
  rf_layered_limit_free(&limit);
  rf_layers_free(&p.net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(hidden_samples_come_into_sight),
                                     cmocka_unit_test(hidden_samples_stay_hidden),
                                     cmocka_unit_test(found_before),
                                     cmocka_unit_test(a_layer_at_zero),
                                     cmocka_unit_test(certified_at_any_scale),
                                     cmocka_unit_test(tells_progress),
                                     cmocka_unit_test(deep_linear),
                                     cmocka_unit_test(two_dense_layers),
                                     cmocka_unit_test(deep_relu),
                                     cmocka_unit_test(a_slow_coordinate),
                                     cmocka_unit_test(other_ends)};
  return cmocka_run_group_tests_name("flow/layered/limit", tests, setup, NULL);
}
