/* The best margin knows every network it was offered: one that is better than what the search found in its
 * time takes its place, one that is worse, of another kind, or offered to a proved optimum does not. */
#include "rf_test.h"
#include "study/study_internal.h"

/* Random labels that take longer to prove than they are given. */
static void problem(RfContext *context, RfDataset *data, RfStudyBest *best, RfStudyBestSettings *settings,
                    double seconds) {
  rf_context_init(context);
  assert_ok(context, rf_data_generate(context, data, "gaussian,n=40,d=12,seed=3"));
  rf_study_best_settings_init(settings);
  settings->optimum.time_limit = seconds;
  assert_true(rf_study_best(context, best, data, NULL, NULL, 0, settings) >= 0);
  assert_true(best->has_global);
}

static double share(const RfDataset *data, const RfOptimum *o) {
  double least = INFINITY;
  for (rf_index i = 0; i < data->n; i++) {
    double f = 0;
    for (rf_index k = 0; k < o->neurons; k++) {
      double z = 0;
      for (rf_index j = 0; j < data->d; j++) z += o->U[k * data->d + j] * data->X[i * data->d + j];
      f += o->sign[k] * fmax(z, o->leak * z);
    }
    least = fmin(least, data->y[i] * f);
  }
  return least;
}

/* A long search gives a good network, which a short one is offered, each neuron cut in two. */
static void a_better_network_is_taken(void **state) {
  (void)state;
  RfContext context;
  RfDataset data, again;
  RfStudyBest good, poor;
  RfStudyBestSettings settings;
  RfNet net = {0}, twice = {0};
  problem(&context, &data, &good, &settings, 3);
  assert_ok(&context, rf_optimum_net(&context, &net, &good.global));
  assert_ok(&context, rf_net_new(&context, &twice, 2 * net.m, net.d, net.leak));
  for (rf_index k = 0; k < 2 * net.m; k++) {
    twice.a[k] = net.a[k / 2] / sqrt(2);
    for (rf_index j = 0; j < net.d; j++) twice.W[k * net.d + j] = net.W[(k / 2) * net.d + j] / sqrt(2);
  }
  problem(&context, &again, &poor, &settings, 1e-3);
  double before = poor.global.objective, lower = poor.global.lower;
  assert_ok(&context, rf_study_best_offer(&context, &poor, &twice, &settings));
  assert_true(poor.global.objective <= before);
  assert_true(poor.global.objective <= good.global.objective * (1 + 1e-9) || before < good.global.objective);
  assert_true(poor.global.lower == lower); /* a network says nothing about the bound */
  assert_relative(share(&again, &poor.global), 1, 1e-9);
  twice.leak = 0.5; /* another kind of network */
  double now = poor.global.objective;
  assert_ok(&context, rf_study_best_offer(&context, &poor, &twice, &settings));
  assert_true(poor.global.objective == now);
  rf_net_free(&net), rf_net_free(&twice);
  rf_study_best_free(&good), rf_study_best_free(&poor);
  rf_dataset_free(&data), rf_dataset_free(&again);
}

/* Without time for the search, the linear separator is still a network; and the inspection that is stopped
 * at its first long part knows the separator. */
static volatile int stopped;

static void stop_at_products(void *user, const char *phase, double fraction, const char *detail) {
  (void)user, (void)fraction, (void)detail;
  if (strcmp(phase, "inner products") == 0) stopped = 1;
}

static void what_is_cheap_comes_first(void **state) {
  (void)state;
  RfContext context;
  RfDataset data;
  RfStudyBest best;
  RfStudyBestSettings settings;
  rf_context_init(&context);
  assert_ok(&context, rf_data_generate(&context, &data, "gaussian,n=400,d=6,seed=3"));
  for (rf_index i = 0; i < data.n; i++) data.X[i * data.d] = data.y[i] * (1 + fabs(data.X[i * data.d]));
  rf_study_best_settings_init(&settings);
  settings.optimum.time_limit = 1e-9;
  assert_true(rf_study_best(&context, &best, &data, NULL, NULL, 0, &settings) >= 0);
  assert_true(best.has_global && best.linear.separable && best.linear.margin >= 1);
  assert_true(best.global.objective <= 2 / best.linear.margin * (1 + 1e-9));
  assert_relative(share(&data, &best.global), 1, 1e-9);
  rf_study_best_free(&best);
  RfInspection seen;
  RfInspectionSettings inspect = {.loss = RF_LOSS_LOGISTIC};
  context.on_progress = stop_at_products, context.cancel = &stopped;
  assert_int_equal(rf_study_inspect(&context, &seen, &data, &inspect), RF_INTERRUPTED);
  assert_true(seen.linear.separable && seen.linear.margin >= 1 && !seen.pairs_known);
  rf_inspection_free(&seen);
  rf_dataset_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_better_network_is_taken),
                                     cmocka_unit_test(what_is_cheap_comes_first)};
  return cmocka_run_group_tests_name("study/best", tests, NULL, NULL);
}
