/* Margins beside the weights: kept where the weights move by rounding, and the equations of a step solved in
 * them against the same equations solved densely. */
#include "rf_test.h"

#include <math.h>
#include <string.h>

#include "flow/fit/implicit_internal.h"

enum { N = 4, D = 3, M = 2, B = D + 2, SIZE = M * B };

typedef struct Case {
  RfContext context;
  RfFlowStart start;
  RfFlowProblem problem;
  RfSystem system;
  double X[N * D], y[N], directions[M * (D + 1)], log_norms[M];
  uint8_t plain[M];
} Case;

static void case_new(Case *c, RfRandom *random) {
  memset(c, 0, sizeof *c);
  rf_context_init(&c->context);
  for (rf_index k = 0; k < M * (D + 1); k++) c->directions[k] = rf_random_gaussian(random);
  for (rf_index k = 0; k < M; k++) {
    rf_la_scale(c->directions + k * (D + 1), 1 / rf_la_norm(c->directions + k * (D + 1), D + 1), D + 1);
    c->plain[k] = k == 0;
  }
  for (rf_index i = 0; i < N; i++) {
    c->y[i] = i % 2 ? -1 : 1;
    for (rf_index j = 0; j < D; j++) c->X[i * D + j] = pow(30, (double)i) * 1e-3 * rf_random_gaussian(random);
  }
  c->start = (RfFlowStart){.m = M, .d = D, .directions = c->directions, .log_norms = c->log_norms};
  c->problem = (RfFlowProblem){.X = c->X, .y = c->y, .n = N, .d = D, .leak = 0.5, .start = &c->start};
  assert_ok(&c->context, rf_system_new(&c->context, &c->system, &c->problem));
  for (rf_index k = 0; k < M; k++) assert_ok(&c->context, rf_system_refresh_unit(&c->system, k));
  assert_int_equal(c->system.residues, N);
}

static void kept(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 11, 0);
  for (int round = 0; round < 20; round++) {
    Case c;
    double q[N];
    case_new(&c, &random);
    RfSystem *system = &c.system;
    assert_null(rf_system_hold(system, system->y)); /* the weights are enough */
    system->by_margins = true;
    rf_system_fields(system, system->y);
    for (rf_index i = 0; i < N; i++) q[i] = system->q[i] + 1e-3 * rf_random_gaussian(&random);
    rf_system_keep(system, system->y, q);
    rf_system_fields(system, system->y);
    for (rf_index i = 0; i < N; i++) assert_close(system->q[i], q[i], 1e-15 * (1 + fabs(q[i])));
    for (rf_index k = 0; k < M * D; k++)
      system->y[k] *= 1 + 1e-3; /* the norm is restored, the margins kept */
    const double *held = rf_system_hold(system, system->y);
    memcpy(q, held, sizeof q);
    rf_system_normalise(system, system->y);
    rf_system_fields(system, system->y);
    for (rf_index i = 0; i < N; i++) assert_close(system->q[i], q[i], 1e-15 * (1 + fabs(q[i])));
    rf_system_free(system);
  }
}

/* (shift - B - U C Q) x = right for any B and U, at the weights of the state. */
static void solved(void **state) {
  (void)state;
  RfRandom random;
  RfMarginSolver *solver;
  rf_random_init(&random, 12, 0);
  for (int round = 0; round < 20; round++) {
    Case c;
    const rf_index carrier[] = {0, 1, 2, 3};
    double blocks[M * B * B], U[SIZE * N], x[SIZE], right[SIZE], z[N], work[B], shift = 5, change[N];
    case_new(&c, &random);
    RfSystem *system = &c.system;
    rf_system_fields(system, system->y);
    rf_system_planes(system, system->y);
    for (rf_index k = 0; k < M * B * B; k++) blocks[k] = rf_random_gaussian(&random);
    for (rf_index k = 0; k < SIZE * N; k++) U[k] = rf_random_gaussian(&random);
    for (rf_index k = 0; k < SIZE; k++) x[k] = right[k] = rf_random_gaussian(&random);
    assert_ok(&c.context, rf_margin_solver_new(&c.context, &solver, M, N, D));
    rf_margin_solver_prepare(solver, system, c.plain, carrier, N);
    assert_true(rf_margin_solver_factor(solver, system, blocks, U, shift, work));
    rf_margin_solver_solve(solver, system, x, z);
    double flat[SIZE], dc[N], mean = 0;
    for (rf_index k = 0; k < M; k++) {
      memcpy(flat + k * D, x + k * B, D * sizeof(double));
      flat[M * D + k] = x[k * B + D], flat[M * (D + 1) + k] = x[k * B + D + 1];
    }
    for (rf_index i = 0; i < N; i++)
      mean += system->p[i] * rf_loss_curvature(c.problem.loss, system->q[i]) * z[i];
    for (rf_index i = 0; i < N; i++)
      dc[i] = system->c[i] * (rf_loss_curvature(c.problem.loss, system->q[i]) * z[i] - mean);
    for (rf_index k = 0; k < SIZE; k++) {
      double sum = shift * x[k] - rf_la_dot(blocks + k * B, x + k / B * B, B) - rf_la_dot(U + k * N, dc, N);
      assert_close(sum, right[k], 1e-9);
    }
    rf_margin_change(solver, system, c.plain, flat, z, change);
    for (rf_index i = 0; i < N; i++) { /* what the plain unit changes, by itself */
      double sign = system->y[M * D] > 0 ? c.y[i] : -c.y[i];
      double own = sign * system->slope[i] * rf_la_dot(flat, c.X + i * D, D);
      assert_close(change[i], own, 1e-9 * (1 + fabs(own) + fabs(z[i])));
    }
    rf_margin_solver_free(solver);
    rf_system_free(system);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kept), cmocka_unit_test(solved)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
