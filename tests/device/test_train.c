/* Populations on the emulated device beside rf_train_run: the same weights, the same stops; the same bits
 * alone and in company, in one piece and in slices; one line where something is not possible. */
#include "rf_test.h"
#include "device/device.h"
#include <stdlib.h>

typedef struct Problem {
  RfContext context;
  rf_index n, d, m;
  double *X, *y;
  RfTrainData data;
  RfTrainSettings settings;
  Device device;
} Problem;

static void setup(Problem *p, rf_index n, rf_index d, uint64_t seed) {
  RfRandom random;
  rf_context_init(&p->context);
  rf_random_init(&random, seed, 0);
  p->n = n, p->d = d;
  p->X = RF_NEW(double, n *d), p->y = RF_NEW(double, n);
  for (rf_index i = 0; i < n; i++) {
    for (rf_index j = 0; j < d; j++) p->X[i * d + j] = rf_random_gaussian(&random) / sqrt((double)d);
    p->y[i] = p->X[i * d] + 0.3 * p->X[i * d + d - 1] > 0 ? 1 : -1;
  }
  p->data = (RfTrainData){.X = p->X, .y = p->y, .n = n};
  rf_train_settings_init(&p->settings);
  p->settings.mean = true, p->settings.rate = 0.2;
  assert_ok(&p->context, device_open(&p->context, &p->device, DEVICE_EMULATED));
}

static void teardown(Problem *p) { rf_free(p->X), rf_free(p->y); }

static void start(Problem *p, RfLayeredNet *net, rf_index m, double leak, uint64_t seed) {
  RfNet two;
  assert_ok(&p->context, rf_net_init(&p->context, &two, RF_INIT_HE, m, p->d, leak, seed, 1));
  assert_ok(&p->context, rf_train_from_net(&p->context, net, &two));
  rf_net_free(&two);
}

/* |theta - theta'| / |theta| after the same training here and there. */
static double gap(Problem *p, const RfLayeredNet *net, bool same_stop) {
  RfTrainResult here, there = {0};
  DeviceMember member = {&p->data, net, p->settings.rate, p->settings.raise_rate};
  assert_ok(&p->context, rf_train_run(&p->context, &here, net, &p->data, &p->settings));
  assert_ok(&p->context, device_check(&p->context, net, &p->data, &p->settings));
  assert_ok(&p->context, device_train(&p->context, &p->device, &there, &member, 1, &p->settings, true));
  double difference = 0, size = 0;
  for (rf_index k = 0; k < net->n_parameters; k++) {
    difference += (here.net.theta[k] - there.net.theta[k]) * (here.net.theta[k] - there.net.theta[k]);
    size += here.net.theta[k] * here.net.theta[k];
  }
  if (same_stop) {
    assert_int_equal(here.steps, there.steps);
    assert_int_equal(here.stop, there.stop);
    assert_int_equal(here.n_records, there.n_records);
    assert_close(there.last.log_loss, here.last.log_loss, 1e-9 * (1 + fabs(here.last.log_loss)));
    assert_close(there.last.margin, here.last.margin, 1e-9);
    assert_close(there.last.train_error, here.last.train_error, 0);
    for (rf_index r = 0; r < here.n_records; r++) {
      assert_int_equal(here.records[r].step, there.records[r].step);
      assert_close(there.records[r].min_q, here.records[r].min_q, 1e-8 * (1 + fabs(here.records[r].min_q)));
      assert_close(there.records[r].norm, here.records[r].norm, 1e-9 * here.records[r].norm);
    }
  }
  rf_train_result_free(&here), rf_train_result_free(&there);
  return sqrt(difference / size);
}

/* Other orders of summation and nothing else: rounding. Raised rates are small enough for steps that do not
 * amplify it. */
static void a_thousand_steps_end_with_the_weights_of_train(void **state) {
  (void)state;
  static const struct {
    rf_index n, d, m;
    double leak, raise_rate;
    RfLoss loss;
    bool sum, freeze;
  } cases[] = {{50, 2, 50, 0, 0, RF_LOSS_LOGISTIC, false, false},
               {50, 10, 50, 0, 0, RF_LOSS_LOGISTIC2, false, false},
               {30, 3, 17, 0.1, 0, RF_LOSS_EXP, false, false},
               {70, 5, 20, 0, 0.004, RF_LOSS_LOGISTIC, false, false},
               {20, 4, 9, 0.2, 0.005, RF_LOSS_EXP, false, true},
               {300, 2, 8, 1, 0, RF_LOSS_LOGISTIC, false, false},
               {40, 6, 70, 0, 0, RF_LOSS_LOGISTIC, true, true},
               {12, 20, 5, 0, 0.01, RF_LOSS_LOGISTIC2, true, false},
               {37, 17, 41, 0.3, 0, RF_LOSS_LOGISTIC, false, true}, /* from here on the matrix units */
               {21, 33, 18, 0, 0.005, RF_LOSS_EXP, false, false}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    Problem p;
    RfLayeredNet net;
    setup(&p, cases[k].n, cases[k].d, 3 + k);
    start(&p, &net, cases[k].m, cases[k].leak, k);
    p.settings.loss = cases[k].loss, p.settings.raise_rate = cases[k].raise_rate,
    p.settings.mean = !cases[k].sum;
    if (cases[k].sum) p.settings.rate = 0.01;
    net.layers[1].fixed = cases[k].freeze;
    double found = gap(&p, &net, true);
    print_message("%lld x %lld, m = %lld: %.2g\n", (long long)p.n, (long long)p.d, (long long)cases[k].m,
                  found);
    assert_true(found <= 1e-10);
    rf_layers_free(&net);
    teardown(&p);
  }
}

static void single_precision_is_close(void **state) {
  (void)state;
  Problem p;
  RfLayeredNet net;
  setup(&p, 60, 3, 5);
  start(&p, &net, 24, 0, 2);
  p.settings.precision = RF_FLOAT, p.settings.max_steps = 200;
  assert_true(gap(&p, &net, false) <= 1e-4);
  rf_layers_free(&net);
  teardown(&p);
}

static void rules_stop_at_the_step_of_train(void **state) {
  (void)state;
  Problem p;
  RfLayeredNet net;
  setup(&p, 40, 2, 8);
  start(&p, &net, 12, 0, 4);
  p.settings.max_steps = 20000, p.settings.stop_loss = 0.1;
  assert_true(gap(&p, &net, true) <= 1e-9);
  p.settings.stop_loss = 0, p.settings.stop_min_q = 0.05;
  assert_true(gap(&p, &net, true) <= 1e-9);
  p.settings.raise_rate = 0.01, p.settings.stop_min_q = 30; /* the loss falls to e^-30 */
  assert_true(gap(&p, &net, true) <= 1e-9);
  rf_layers_free(&net);
  teardown(&p);
}

/* Results of a population do not depend on its size, on who else is in it, or on how it is cut. */
static void company_changes_no_bit(void **state) {
  (void)state;
  enum { COUNT = 9 };
  Problem p, q;
  RfLayeredNet nets[COUNT];
  DeviceMember members[COUNT];
  RfTrainResult all[COUNT], cut[COUNT], one;
  memset(all, 0, sizeof all), memset(cut, 0, sizeof cut);
  setup(&p, 33, 3, 11), setup(&q, 33, 3, 12);
  p.settings.max_steps = 150, p.settings.stop_loss = 0.3;
  for (int k = 0; k < COUNT; k++) {
    start(&p, &nets[k], 10, 0, (uint64_t)k);
    members[k] = (DeviceMember){k < 5 ? &p.data : &q.data, &nets[k], 0.1 + 0.1 * k, k % 2 ? 0.1 : 0};
  }
  assert_ok(&p.context, device_train(&p.context, &p.device, all, members, COUNT, &p.settings, false));
  setenv("RELUFLOW_EMULATED_MEMORY", "9000", 1); /* room for two or three networks */
  Device small;
  assert_ok(&p.context, device_open(&p.context, &small, DEVICE_EMULATED));
  assert_ok(&p.context, device_train(&p.context, &small, cut, members, COUNT, &p.settings, false));
  setenv("RELUFLOW_EMULATED_MEMORY", "1000000000000", 1);
  assert_ok(&p.context, device_open(&p.context, &small, DEVICE_EMULATED));
  for (int k = 0; k < COUNT; k++) {
    memset(&one, 0, sizeof one);
    assert_ok(&p.context, device_train(&p.context, &p.device, &one, &members[k], 1, &p.settings, true));
    size_t bytes = (size_t)one.net.n_parameters * sizeof(double);
    assert_memory_equal(one.net.theta, all[k].net.theta, bytes);
    assert_memory_equal(cut[k].net.theta, all[k].net.theta, bytes);
    assert_int_equal(one.steps, all[k].steps);
    assert_true(one.last.log_loss == all[k].last.log_loss);
    rf_train_result_free(&one), rf_train_result_free(&all[k]), rf_train_result_free(&cut[k]);
    rf_layers_free(&nets[k]);
  }
  teardown(&p), teardown(&q);
}

static void what_is_not_possible_is_said(void **state) {
  (void)state;
  Problem p;
  RfLayeredNet net;
  Device none;
  RfTrainResult result = {0};
  setup(&p, 40, 2, 8);
  start(&p, &net, 12, 0, 4);
  DeviceMember member = {&p.data, &net, 0.1, 0};
  p.settings.optimizer = RF_TRAIN_ADAM;
  assert_int_equal(device_check(&p.context, &net, &p.data, &p.settings), RF_ERR_USAGE);
  p.settings.optimizer = RF_TRAIN_GD;
  p.data.n = DEVICE_MOST_SAMPLES + 1;
  assert_int_equal(device_check(&p.context, &net, &p.data, &p.settings), RF_ERR_USAGE);
  assert_non_null(strstr(p.context.error, "at most 1024 samples"));
  p.data.n = 40;
  setenv("RELUFLOW_EMULATED_MEMORY", "100", 1);
  assert_ok(&p.context, device_open(&p.context, &none, DEVICE_EMULATED));
  assert_int_equal(device_train(&p.context, &none, &result, &member, 1, &p.settings, false), RF_ERR_MEMORY);
  assert_non_null(strstr(p.context.error, "too little memory"));
  setenv("RELUFLOW_EMULATED_MEMORY", "1000000000000", 1);
  assert_ok(&p.context, device_open(&p.context, &none, DEVICE_EMULATED));
  rf_layers_free(&net);
  teardown(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thousand_steps_end_with_the_weights_of_train),
      cmocka_unit_test(single_precision_is_close),
      cmocka_unit_test(rules_stop_at_the_step_of_train),
      cmocka_unit_test(company_changes_no_bit),
      cmocka_unit_test(what_is_not_possible_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
