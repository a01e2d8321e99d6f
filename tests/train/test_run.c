/* Training against plain reference loops written here, stopping rules, precision, and resumed runs that end
 * in the same bits. */
#include "rf_test.h"
#include <unistd.h>

enum { n = 40, d = 3, m = 6, P = m * d + m };

typedef struct Problem {
  RfContext context;
  double X[n * d], y[n];
  RfLayeredNet net;
  RfTrainData data;
  RfTrainSettings settings;
} Problem;

/* Two well separated clouds, a small random network. */
static void setup(Problem *p, uint64_t seed) {
  RfRandom random;
  rf_context_init(&p->context);
  rf_random_init(&random, seed, 0);
  for (int i = 0; i < n; i++) {
    p->y[i] = i % 2 ? 1 : -1;
    for (int j = 0; j < d; j++)
      p->X[i * d + j] = 0.4 * rf_random_gaussian(&random) + (j == 0 ? p->y[i] : 0.2);
  }
  RfNet two;
  assert_ok(&p->context, rf_net_new(&p->context, &two, m, d, 0));
  for (int k = 0; k < m * d; k++) two.W[k] = 0.3 * rf_random_gaussian(&random);
  for (int k = 0; k < m; k++) two.a[k] = 0.3 * rf_random_gaussian(&random);
  assert_ok(&p->context, rf_train_from_net(&p->context, &p->net, &two));
  rf_net_free(&two);
  p->data = (RfTrainData){.X = p->X, .y = p->y, .n = n};
  rf_train_settings_init(&p->settings);
}

/* The gradient of the summed logistic loss over chosen samples, by the chain rule, one sample at a time. */
static void plain_gradient(double *g, const Problem *p, const double *theta, const rf_index *rows,
                           rf_index count) {
  memset(g, 0, P * sizeof *g);
  for (rf_index r = 0; r < count; r++) {
    const double *x = p->X + rows[r] * d, *a = theta + m * d;
    double h[m], f = 0, y = p->y[rows[r]];
    for (int k = 0; k < m; k++) {
      h[k] = theta[k * d] * x[0] + theta[k * d + 1] * x[1] + theta[k * d + 2] * x[2];
      f += a[k] * fmax(h[k], 0);
    }
    double weight = -y / (1 + exp(y * f));
    for (int k = 0; k < m; k++) {
      g[m * d + k] += weight * fmax(h[k], 0);
      for (int j = 0; j < d; j++) g[k * d + j] += h[k] > 0 ? weight * a[k] * x[j] : 0;
    }
  }
}

static void gradient_descent_matches_a_plain_loop(void **state) {
  (void)state;
  Problem p;
  setup(&p, 1);
  double theta[P], g[P];
  rf_index all[n];
  for (int i = 0; i < n; i++) all[i] = i;
  memcpy(theta, p.net.theta, sizeof theta);
  for (int step = 0; step < 200; step++) {
    plain_gradient(g, &p, theta, all, n);
    for (int k = 0; k < P; k++) theta[k] -= 0.02 * g[k];
  }
  RfTrainResult result;
  p.settings.rate = 0.02, p.settings.max_steps = 200;
  assert_ok(&p.context, rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings));
  for (int k = 0; k < P; k++) assert_close(result.net.theta[k], theta[k], 1e-11);
  assert_int_equal(result.steps, 200);
  assert_int_equal(result.stop, RF_STOP_STEPS);
  assert_true(result.n_records >= 100 && result.records[0].step == 0);
  for (rf_index r = 1; r < result.n_records; r++)
    assert_true(result.records[r].loss <= result.records[r - 1].loss); /* a small rate: the loss falls */
  assert_close(result.last.loss, exp(result.last.log_loss), 1e-14);
  rf_train_result_free(&result);
  rf_layers_free(&p.net);
}

static void adam_matches_a_plain_loop(void **state) {
  (void)state;
  Problem p;
  setup(&p, 2);
  double theta[P], g[P], first[P] = {0}, second[P] = {0};
  rf_index order[n];
  memcpy(theta, p.net.theta, sizeof theta);
  int t = 0;
  for (int epoch = 0; epoch < 5; epoch++) {
    RfRandom random;
    rf_random_init(&random, 9, (uint64_t)epoch);
    rf_random_permutation(&random, order, n);
    for (int start = 0; start < n; start += 16) {
      int rows = n - start < 16 ? n - start : 16;
      plain_gradient(g, &p, theta, order + start, rows);
      t++;
      for (int k = 0; k < P; k++) {
        double mean = g[k] / rows;
        first[k] = 0.9 * first[k] + 0.1 * mean;
        second[k] = 0.999 * second[k] + 0.001 * mean * mean;
        double corrected1 = first[k] / (1 - pow(0.9, t)), corrected2 = second[k] / (1 - pow(0.999, t));
        theta[k] -= 0.01 * corrected1 / (sqrt(corrected2) + 1e-8);
      }
    }
  }
  RfTrainResult result;
  p.settings.optimizer = RF_TRAIN_ADAM, p.settings.batch = 16, p.settings.max_epochs = 5,
  p.settings.max_steps = -1;
  p.settings.mean = true, p.settings.seed = 9;
  assert_ok(&p.context, rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings));
  assert_int_equal(result.epochs, 5);
  assert_int_equal(result.steps, 15);
  for (int k = 0; k < P; k++) assert_close(result.net.theta[k], theta[k], 1e-9);
  RfTrainResult single;
  p.settings.precision = RF_FLOAT;
  assert_ok(&p.context, rf_train_run(&p.context, &single, &p.net, &p.data, &p.settings));
  for (int k = 0; k < P; k++) assert_close(single.net.theta[k], theta[k], 1e-3);
  rf_train_result_free(&single);
  rf_train_result_free(&result);
  rf_layers_free(&p.net);
}

static void stopping_rules(void **state) {
  (void)state;
  Problem p;
  setup(&p, 3);
  RfTrainResult result;
  p.settings.rate = 0.05, p.settings.max_steps = -1, p.settings.stop_loss = 0.5;
  assert_ok(&p.context, rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings));
  assert_int_equal(result.stop, RF_STOP_LOSS);
  assert_true(result.last.loss <= 0.5);
  rf_train_result_free(&result);
  p.settings.stop_loss = 0, p.settings.stop_min_q = 60, p.settings.raise_rate = 0.2;
  assert_ok(&p.context, rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings));
  assert_int_equal(result.stop, RF_STOP_MIN_Q);
  assert_true(result.last.min_q >= 60 && result.last.train_error == 0);
  assert_true(result.steps < 20000); /* without raising the rate, about e^60 steps */
  rf_train_result_free(&result);
  p.settings.precision = RF_FLOAT, p.settings.stop_min_q = 400; /* e^-400 is not a float */
  assert_ok(&p.context, rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings));
  assert_true(result.last.min_q >= 400);
  rf_train_result_free(&result);
  rf_layers_free(&p.net);
}

static void bad_settings_and_overflow(void **state) {
  (void)state;
  Problem p;
  setup(&p, 4);
  RfTrainResult result;
  p.settings.rate = 0;
  assert_int_equal(rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings), RF_ERR_USAGE);
  p.settings.rate = 0.1, p.settings.max_steps = -1;
  assert_int_equal(rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings), RF_ERR_USAGE);
  p.settings.max_steps = 5, p.settings.batch = -1;
  assert_int_equal(rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings), RF_ERR_USAGE);
  p.settings.batch = 0, p.data.n = 0;
  assert_int_equal(rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings), RF_ERR_USAGE);
  p.data.n = n, p.settings.raise_rate = 1, p.settings.optimizer = RF_TRAIN_ADAM;
  assert_int_equal(rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings), RF_ERR_USAGE);
  p.settings.raise_rate = 0, p.settings.optimizer = RF_TRAIN_GD, p.settings.loss = RF_LOSS_EXP;
  p.settings.rate = 1e6, p.settings.max_steps = 100000;
  assert_int_equal(rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings), RF_ERR_NUMERIC);
  assert_non_null(strstr(p.context.error, "learning rate"));
  RfOptimizer optimizer;
  assert_int_equal(rf_train_optimizer_from_name(&p.context, &optimizer, "newton"), RF_ERR_USAGE);
  assert_ok(&p.context, rf_train_optimizer_from_name(&p.context, &optimizer, "adam"));
  assert_int_equal(optimizer, RF_TRAIN_ADAM);
  rf_layers_free(&p.net);
}

/* Stopped after a few steps, any number of times, and resumed: the same bits as without a stop. */
static void resumed_runs_are_identical(void **state) {
  (void)state;
  Problem p;
  char path[] = "train_checkpoint_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  for (int kind = 0; kind < 4; kind++) {
    setup(&p, 5);
    p.settings.optimizer = kind == 0 ? RF_TRAIN_GD : kind == 1 ? RF_TRAIN_SGD : RF_TRAIN_ADAM;
    p.settings.precision = kind == 3 ? RF_FLOAT : RF_DOUBLE;
    p.settings.batch = 7, p.settings.max_steps = 97, p.settings.record_every = 10;
    RfTrainResult whole, part;
    assert_ok(&p.context, rf_train_run(&p.context, &whole, &p.net, &p.data, &p.settings));
    p.settings.checkpoint = path;
    const rf_index stops[] = {1, 13, 14, 50, 96, 97};
    for (int k = 0; k < 6; k++) {
      p.settings.max_steps = stops[k];
      p.settings.resume = k == 0 ? NULL : path;
      assert_ok(&p.context, rf_train_run(&p.context, &part, &p.net, &p.data, &p.settings));
      assert_int_equal(part.steps, stops[k]);
      if (k < 5) rf_train_result_free(&part);
    }
    assert_memory_equal(part.net.theta, whole.net.theta, P * sizeof(double));
    p.data.n = n - 1; /* other data are refused */
    RfTrainResult refused;
    assert_int_equal(rf_train_run(&p.context, &refused, &p.net, &p.data, &p.settings), RF_ERR_INPUT);
    rf_train_result_free(&part);
    rf_train_result_free(&whole);
    rf_layers_free(&p.net);
  }
  remove(path);
}

/* Damaged checkpoints are refused with the file's name. */
static void damaged_checkpoints(void **state) {
  (void)state;
  Problem p;
  char path[] = "train_damaged_XXXXXX";
  int file = mkstemp(path);
  close(file);
  setup(&p, 6);
  RfTrainResult result;
  p.settings.max_steps = 10, p.settings.checkpoint = path;
  assert_ok(&p.context, rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings));
  rf_train_result_free(&result);
  FILE *in = fopen(path, "rb");
  char bytes[65536];
  size_t size = fread(bytes, 1, sizeof bytes, in);
  fclose(in);
  p.settings.resume = path, p.settings.checkpoint = NULL, p.settings.max_steps = 20;
  for (size_t keep = 0; keep < size; keep += size / 17 + 1) {
    FILE *out = fopen(path, "wb");
    fwrite(bytes, 1, keep, out);
    fclose(out);
    assert_int_equal(rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings), RF_ERR_INPUT);
    assert_non_null(strstr(p.context.error, path));
  }
  remove(path);
  assert_int_equal(rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings), RF_ERR_IO);
  rf_layers_free(&p.net);
}

static void interruption_keeps_the_state(void **state) {
  (void)state;
  Problem p;
  setup(&p, 7);
  volatile int cancel = 1;
  p.context.cancel = &cancel;
  p.settings.max_steps = 100000000;
  RfTrainResult result;
  assert_int_equal(rf_train_run(&p.context, &result, &p.net, &p.data, &p.settings), RF_INTERRUPTED);
  assert_true(result.steps > 0 && result.steps < 100000000);
  assert_int_equal(result.stop, RF_STOP_INTERRUPTED);
  assert_true(isfinite(result.last.loss));
  rf_train_result_free(&result);
  rf_layers_free(&p.net);
}

static void conversion_round_trip(void **state) {
  (void)state;
  Problem p;
  setup(&p, 8);
  RfNet two;
  assert_ok(&p.context, rf_train_to_net(&p.context, &two, &p.net));
  assert_memory_equal(two.W, p.net.theta, m * d * sizeof(double));
  double f[n];
  assert_ok(&p.context, rf_net_outputs(&p.context, f, &two, p.X, n));
  double g[n];
  assert_ok(&p.context, rf_layers_evaluate(&p.context, g, NULL, &p.net, p.X, n));
  for (int i = 0; i < n; i++) assert_close(f[i], g[i], 1e-14);
  assert_ok(&p.context, rf_layers_add_dense(&p.context, &p.net, 1, 1));
  RfNet none;
  assert_int_equal(rf_train_to_net(&p.context, &none, &p.net), RF_ERR_USAGE);
  rf_net_free(&two);
  rf_layers_free(&p.net);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradient_descent_matches_a_plain_loop),
      cmocka_unit_test(adam_matches_a_plain_loop),
      cmocka_unit_test(stopping_rules),
      cmocka_unit_test(bad_settings_and_overflow),
      cmocka_unit_test(resumed_runs_are_identical),
      cmocka_unit_test(damaged_checkpoints),
      cmocka_unit_test(interruption_keeps_the_state),
      cmocka_unit_test(conversion_round_trip),
  };
  return cmocka_run_group_tests_name("train/run", tests, NULL, NULL);
}
