/* The equations and what keeps them: restoring the norms leaves every margin as it is, and samples on one
 * line have one slope while a unit slides on their hyperplane. */
#include "rf_test.h"

#include <math.h>
#include <string.h>

#include "flow/flow_internal.h"

enum { N = 6, D = 3, M = 4 };

typedef struct Small {
  RfContext context;
  double X[N * D], y[N];
  RfNet net;
  RfFlowStart start;
  RfFlowProblem problem;
  RfSystem system;
} Small;

static void small_new(Small *s, double leak, RfInit init) {
  RfRandom random;
  rf_context_init(&s->context);
  rf_random_init(&random, 5, 1);
  for (int k = 0; k < N * D; k++) s->X[k] = rf_random_gaussian(&random);
  for (int j = 0; j < D; j++) s->X[4 * D + j] = -1.5 * s->X[j], s->X[5 * D + j] = 0.5 * s->X[j];
  for (int i = 0; i < N; i++) s->y[i] = i % 2 ? 1 : -1;
  assert_ok(&s->context, rf_net_init(&s->context, &s->net, init, M, D, leak, 2, 1));
  assert_ok(&s->context, rf_flow_start_from_net(&s->context, &s->start, &s->net));
  s->problem = (RfFlowProblem){.X = s->X, .y = s->y, .n = N, .d = D, .leak = leak, .start = &s->start};
  assert_ok(&s->context, rf_system_new(&s->context, &s->system, &s->problem));
  for (rf_index u = 0; u < s->system.units; u++)
    assert_ok(&s->context, rf_system_refresh_unit(&s->system, u));
}

static void small_free(Small *s) {
  rf_system_free(&s->system);
  rf_flow_start_free(&s->start);
  rf_net_free(&s->net);
}

/* An error of 1e-8 in the norm of a unit, at margins of 1e6, was one of 1e-2 in every margin once the norm
 * had been put right: the weights, and with them the slopes of slides, were those of another state. */
static void norms_keep_margins(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    Small s;
    double before[N];
    small_new(&s, 0.1, kind ? RF_INIT_GAUSSIAN : RF_INIT_BALANCED);
    RfSystem *system = &s.system;
    double *rho = rf_system_rho(system, system->y);
    for (rf_index u = 0; u < system->units; u++) {
      rho[u] += 0.5 * log(1e6);
      rf_la_scale(system->y + u * D, 1 + 1e-8 * (double)(u + 1), D);
    }
    rf_system_fields(system, system->y);
    memcpy(before, system->q, sizeof before);
    rf_system_normalise(system, system->y);
    rf_system_fields(system, system->y);
    for (int i = 0; i < N; i++) assert_true(fabs(system->q[i] - before[i]) < 1e-8);
    for (rf_index u = 0; u < system->units && kind == 0; u++)
      assert_relative(rf_la_norm(system->y + u * D, D), sqrt(0.5), 1e-14);
    small_free(&s);
  }
}

/* Samples 0, 4 and 5 are on one line, 4 on the other side: the field on the hyperplane, with the slope found,
 * has no component along it; and the slope is 1 where the field of the plus side alone has none. */
static void one_slope_on_a_line(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    double leak = kind ? 0.25 : 0;
    Small s;
    small_new(&s, leak, RF_INIT_BALANCED);
    RfSystem *system = &s.system;
    assert_int_equal(system->line[4], system->line[0]);
    assert_int_equal(system->line[5], system->line[0]);
    assert_int_not_equal(system->line[1], system->line[0]);
    assert_true(system->along[4] * system->along[0] < 0 && system->along[5] * system->along[0] > 0);
    system->sigma[0] = system->sigma[4] = system->sigma[5] = 0;
    assert_ok(&s.context, rf_system_refresh_unit(system, 0));
    assert_int_equal(system->slide[0].n_on, 3);
    assert_int_equal(system->slide[0].n_planes, 1);
    rf_system_fields(system, system->y);
    double slope, field[D] = {0};
    rf_system_slide_slopes(system, 0, &slope);
    for (int i = 0; i < N; i++) {
      double each = i == 0 || i == 5 ? slope : i == 4 ? 1 + leak - slope : system->slope[i];
      for (int j = 0; j < D; j++) field[j] += system->c[i] * each * s.X[i * D + j];
    }
    assert_true(fabs(rf_la_dot(field, s.X, D)) < 1e-14);
    small_free(&s);
  }
}

/* Steps that lose a^2 - |w|^2 by 1e-7, as thousands of them do over a long rest: it is put back to rounding,
 * whatever its size, and no margin moves. */
static void balance_is_kept(void **state) {
  (void)state;
  Small s;
  double before[N];
  small_new(&s, 0.1, RF_INIT_GAUSSIAN);
  RfSystem *system = &s.system;
  double *rho = rf_system_rho(system, system->y), *a = system->y + system->units * D;
  for (rf_index u = 0; u < system->units; u++) {
    rho[u] += 1e-7 * (double)(u + 1);
    a[u] *= 1 - 3e-7;
  }
  rf_system_fields(system, system->y);
  memcpy(before, system->q, sizeof before);
  rf_system_normalise(system, system->y);
  rf_system_fields(system, system->y);
  for (int i = 0; i < N; i++) assert_true(fabs(system->q[i] - before[i]) < 1e-13);
  for (rf_index k = 0; k < M; k++) {
    rf_index u = system->unit_of[k];
    double ww = rf_la_dot(system->y + u * D, system->y + u * D, D);
    double is = (a[u] * a[u] - ww) * exp(2 * (rho[u] - system->conserved[2 * k + 1]));
    assert_true(fabs(a[u] * a[u] + ww - 1) < 1e-14);
    assert_true(fabs(is - system->conserved[2 * k]) < 1e-14);
  }
  small_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(norms_keep_margins), cmocka_unit_test(balance_is_kept),
                                     cmocka_unit_test(one_slope_on_a_line)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
