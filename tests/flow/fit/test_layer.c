/* Merged neurons at a ridge of a frozen scale: parting stretches what leads across it and moves no margin,
 * and merging takes that back; a limit that depends on who of them crosses is the same at every frozen scale.
 */
#include "rf_test.h"

#include <math.h>
#include <string.h>

#include "catalogue_flow.h"
#include "flow/flow_internal.h"

enum { D = 3, M = 3 };

static const double X[] = {1, 0.3, 0, 0.2, 1, 0.1, 0, 0.1, 1}, y[] = {1, 1, 1};

/* Sum of a w e^{2 rho} over the units. */
static void network(const RfSystem *system, double *sum) {
  memset(sum, 0, D * sizeof *sum);
  for (rf_index u = 0; u < system->units; u++) {
    double a = system->y[system->units * D + u], rho = system->y[system->units * (D + 1) + u];
    rf_la_axpy(sum, a * exp(2 * rho), system->y + u * D, D);
  }
}

/* Distance of neurons 1 and 2 from neuron 0 across the hyperplane of sample 2, and the whole of it. */
static void apart_of(const RfSystem *system, double *across, double *all) {
  double w[M][D];
  for (rf_index k = 0; k < M; k++) {
    rf_index u = system->unit_of[k];
    double rho = system->y[system->units * (D + 1) + u];
    memset(w[k], 0, sizeof w[k]);
    if (system->only[u] < 0)
      rf_apart_of(system, k, rho + system->offset[k] + system->kappa, system->y + u * D, w[k]);
    rf_la_axpy(w[k], 1, system->y + u * D, D);
  }
  for (rf_index k = 1; k < M; k++) {
    rf_la_axpy(w[k], -1, w[0], D);
    across[k - 1] = rf_la_dot(w[k], X + 2 * D, D);
    all[k - 1] = rf_la_norm(w[k], D);
  }
}

/* Three balanced neurons 1e-9 apart, just before the hyperplane of sample 2, which is a ridge. */
static void parted_and_merged(void **state) {
  (void)state;
  static const double off[M][D] = {{0, 0, 0}, {1e-9, -2e-9, 1.5e-9}, {-2e-9, 1e-9, -1e-9}};
  static const double size[M] = {1, 0.7, 0.4};
  RfContext context;
  RfNet net;
  RfFlowStart start;
  RfFlowSettings settings;
  RfRun run;
  bool parted, changed;
  rf_context_init(&context);
  rf_flow_settings_init(&settings);
  assert_ok(&context, rf_net_new(&context, &net, M, D, 0));
  for (rf_index k = 0; k < M; k++) {
    const double w[D] = {0.8, 0.6, -0.06 + 1e-4};
    for (rf_index j = 0; j < D; j++) net.W[k * D + j] = size[k] * (w[j] + off[k][j]);
    net.a[k] = rf_la_norm(net.W + k * D, D);
  }
  assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
  RfFlowProblem problem = {.X = X, .y = y, .n = 3, .d = D, .loss = RF_LOSS_EXP, .start = &start};
  assert_ok(&context, rf_run_new(&context, &run, &problem, &settings));
  assert_ok(&context, rf_run_start(&run));
  RfSystem *system = &run.system;
  assert_ok(&context, rf_apart_keep(system));
  rf_index merged;
  rf_system_fields(system, system->y);
  rf_system_planes(system, system->y);
  assert_ok(&context, rf_system_merge(system, &merged, 1e-6));
  assert_int_equal(system->units, 1);
  run.phase.part = 3, system->kappa = 3; /* as if the scale had been frozen for long: rows follow it */
  for (rf_index k = 0; k < M; k++) system->apart[k * (2 * D + 1) + 2 * D] += system->kappa;
  rf_system_fields(system, system->y);
  double before[D], after[D], across[M - 1], all[M - 1], wide[M - 1], whole[M - 1], back[M - 1], again[M - 1];
  network(system, before);
  apart_of(system, across, all);
  assert_true(rf_layer_takes(&run, 0, 2));
  assert_ok(&context, rf_layer_part(&run, 0, 2, &parted));
  assert_true(parted && system->units == M);
  network(system, after);
  for (rf_index j = 0; j < D; j++) assert_close(after[j], before[j], 1e-14);
  apart_of(system, wide, whole);
  for (rf_index k = 0; k < M - 1; k++) assert_relative(wide[k], across[k] * exp(6), 1e-5);
  assert_ok(&context, rf_layer_fold(&run, RF_FOLD_ALL, &changed));
  assert_true(changed && system->units == 1);
  network(system, after);
  for (rf_index j = 0; j < D; j++) assert_close(after[j], before[j], 1e-14);
  apart_of(system, back, again);
  for (rf_index k = 0; k < M - 1; k++) {
    print_message("%g across, parted %g, merged again %g\n", across[k], wide[k], back[k]);
    assert_relative(back[k], across[k], 1e-5);
    assert_relative(again[k], all[k], 1e-5);
  }
  rf_run_free(&run);
  rf_flow_start_free(&start);
  rf_net_free(&net);
}

typedef struct Pinned {
  int seed;
  rf_index neuron[3];
  double a[3]; /* at the usual settings, frozen at ten times the margin */
} Pinned;

/* Neither all neurons of a group together nor one after the other is what the flow does: two runs ended 0.13,
 * 0.43 and 5e-3 apart, by who of them had crossed. Now what is left falls with the margin of the frozen
 * scale. */
static void same_at_every_scale(const Pinned *pinned) {
  CatalogueFlow c;
  RfFlowResult result;
  RfFlowVariant variant = rf_flow_usual;
  char spec[64];
  snprintf(spec, sizeof spec, "gen:gaussian,n=20,d=5,seed=%d", pinned->seed);
  catalogue_flow_new(&c, spec, 50, 1e-6);
  c.settings.check_direction = c.settings.with_alignment = c.settings.audit = false;
  variant.q_frozen *= 0.1, variant.q_slow *= 0.1, variant.together = 0.1, variant.by_steps = true;
  c.settings.variant = &variant;
  assert_ok(&c.context, rf_flow_run(&c.context, &result, &c.problem, &c.settings));
  assert_int_equal(result.limit.outcome, RF_FLOW_CONVERGED);
  for (int k = 0; k < 3; k++) {
    double a = result.limit.net.a[pinned->neuron[k]];
    print_message("seed %d, neuron %lld: %.7f, pinned %.7f\n", pinned->seed, (long long)pinned->neuron[k], a,
                  pinned->a[k]);
    assert_close(a, pinned->a[k], 2e-4);
  }
  rf_flow_result_free(&result);
  catalogue_flow_free(&c);
}

static void seed_5(void **state) {
  (void)state;
  same_at_every_scale(&(Pinned){5, {23, 42, 45}, {0, -0.221618, 0}});
}

static void seed_20(void **state) {
  (void)state;
  same_at_every_scale(&(Pinned){20, {35, 40, 37}, {-0.0934319, -0.0926392, -0.0904955}});
}

static void seed_22(void **state) {
  (void)state;
  same_at_every_scale(&(Pinned){22, {23, 10, 39}, {0.048645, 0.0263589, 0.0720202}});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parted_and_merged), cmocka_unit_test(seed_5),
                                     cmocka_unit_test(seed_20), cmocka_unit_test(seed_22)};
  return cmocka_run_group_tests_name("flow/fit/layer", tests, NULL, NULL);
}
