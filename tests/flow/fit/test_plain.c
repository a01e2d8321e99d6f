/* Plain coordinates of the implicit method: there and back, and the blocks of the Jacobian against
 * differences. */
#include "rf_test.h"

#include <math.h>
#include <string.h>

#include "flow/fit/implicit_internal.h"

enum { D = 3, B = D + 2 };

typedef struct Case {
  RfContext context;
  RfFlowStart start;
  RfFlowProblem problem;
  RfSystem system;
  double X[2 * D], y[2], directions[D + 1], log_norm[1];
  uint8_t plain[1];
} Case;

/* One unit, balanced or not, that sees two samples on its active side. */
static void case_new(Case *c, RfRandom *random, bool balanced, double sign) {
  memset(c, 0, sizeof *c);
  rf_context_init(&c->context);
  for (rf_index j = 0; j < D; j++) c->directions[j] = rf_random_gaussian(random);
  double length = rf_la_norm(c->directions, D);
  c->directions[D] = sign * (balanced ? length : (0.3 + rf_random_uniform(random)) * length);
  rf_la_scale(c->directions, 1 / rf_la_norm(c->directions, D + 1), D + 1);
  for (rf_index i = 0; i < 2; i++) {
    c->y[i] = i ? -1 : 1;
    for (rf_index j = 0; j < D; j++)
      c->X[i * D + j] = (i ? 1e4 : 1) * (2 * c->directions[j] + 0.3 * rf_random_gaussian(random));
  }
  c->start = (RfFlowStart){.m = 1, .d = D, .directions = c->directions, .log_norms = c->log_norm};
  c->problem = (RfFlowProblem){.X = c->X, .y = c->y, .n = 2, .d = D, .leak = 0.5, .start = &c->start};
  assert_ok(&c->context, rf_system_new(&c->context, &c->system, &c->problem));
  assert_ok(&c->context, rf_system_refresh_unit(&c->system, 0));
  assert_non_null(c->system.grade);
  c->system.mu = 0.7;
  c->plain[0] = 1;
}

/* dv, dc at the plain state Y, under the weights c held fixed. */
static void rate(Case *c, const double *Y, const double *g, double *f) {
  double y[B + 1] = {0};
  memcpy(y, Y, B * sizeof(double));
  rf_plain_to_polar(c->plain, &c->system, y);
  double a = y[D], gw = rf_la_dot(g, y, D), ww = rf_la_dot(y, y, D);
  for (rf_index j = 0; j < D; j++) f[j] = a * (g[j] - (c->system.balanced[0] ? gw / ww : 2 * gw) * y[j]);
  f[D] = c->system.balanced[0] ? 0 : gw * (1 - 2 * a * a);
  f[D + 1] = 2 * a * gw - c->system.mu;
  rf_plain_rate(c->plain, &c->system, y, f);
}

static void blocks(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 5, 0);
  for (int round = 0; round < 40; round++) {
    Case c;
    double Y[B + 1], back[B + 1], g[D], Bs[B * B], E[B * D], high[B], low[B], h = 1e-6;
    case_new(&c, &random, round % 2, round % 4 < 2 ? 1 : -1);
    rf_system_fields(&c.system, c.system.y);
    memcpy(g, rf_system_g(&c.system, 0), sizeof g);
    double size = rf_la_norm(g, D);
    memcpy(Y, c.system.y, sizeof Y);
    rf_plain_from_polar(c.plain, &c.system, Y);
    memcpy(back, Y, sizeof Y);
    rf_plain_to_polar(c.plain, &c.system, back);
    for (rf_index j = 0; j < B; j++) assert_close(back[j], c.system.y[j], 1e-14);
    rf_plain_block(&c.system, 0, Bs, E);
    for (rf_index j = 0; j < D + !c.system.balanced[0]; j++) {
      double keep = Y[j];
      Y[j] = keep + h, rate(&c, Y, g, high);
      Y[j] = keep - h, rate(&c, Y, g, low);
      Y[j] = keep;
      for (rf_index i = 0; i < D + 1; i++)
        assert_close(Bs[i * B + j] / size, (high[i] - low[i]) / (2 * h) / size, 1e-7 * (1 + 1 / size));
    }
    for (rf_index j = 0; j < D; j++) {
      double keep = g[j];
      g[j] = keep + h * size, rate(&c, Y, g, high);
      g[j] = keep - h * size, rate(&c, Y, g, low);
      g[j] = keep;
      for (rf_index i = 0; i < D; i++) assert_close(E[i * D + j], (high[i] - low[i]) / (2 * h * size), 1e-8);
    }
    rf_system_free(&c.system);
  }
}

/* Units that meet a hyperplane together are on it together, and no margin that pushes has moved: what makes
 * up for one of them does not take another off. */
static void several_meet(void **state) {
  (void)state;
  enum { UNITS = 5, N = 4 };
  RfRandom random;
  rf_random_init(&random, 7, 0);
  for (int round = 0; round < 20; round++) {
    RfContext context;
    RfSystem system;
    RfHit hits[UNITS - 1] = {{.unit = 0}};
    double X[N * D], y[N] = {1, -1, 1, -1}, directions[UNITS * (D + 1)], log_norms[UNITS] = {0}, q[N];
    static const double lengths[N] = {1, 1e4, 1e-3, 10};
    rf_context_init(&context);
    for (rf_index j = 0; j < N * D; j++) X[j] = lengths[j / D] * rf_random_gaussian(&random);
    for (rf_index k = 0; k < UNITS; k++) {
      double *w = directions + k * (D + 1), off = k < UNITS - 1 ? 1e-9 * rf_random_gaussian(&random) : 1;
      for (rf_index j = 0; j < D; j++) w[j] = rf_random_gaussian(&random);
      rf_la_axpy(w, (off - rf_la_dot(w, X, D)) / rf_la_dot(X, X, D), X, D);
      w[D] = (k % 2 ? -1 : 1) * rf_la_norm(w, D);
      rf_la_scale(w, 1 / rf_la_norm(w, D + 1), D + 1);
      if (k < UNITS - 1) hits[k] = (RfHit){.kind = RF_HIT_PLANE, .unit = k, .sample = 0};
    }
    RfFlowStart start = {.m = UNITS, .d = D, .directions = directions, .log_norms = log_norms};
    RfFlowProblem problem = {.X = X, .y = y, .n = N, .d = D, .leak = 0.5, .start = &start};
    assert_ok(&context, rf_system_new(&context, &system, &problem));
    for (rf_index k = 0; k < UNITS; k++) assert_ok(&context, rf_system_refresh_unit(&system, k));
    rf_system_fields(&system, system.y);
    memcpy(q, system.q, sizeof q);
    assert_ok(&context, rf_plain_put_on(&context, &system, system.y, hits, UNITS - 1));
    rf_system_fields(&system, system.y);
    for (rf_index k = 0; k < UNITS - 1; k++)
      assert_close(rf_la_dot(system.y + k * D, X, D) / rf_la_norm(X, D), 0, 1e-15);
    for (rf_index i = 0; i < N; i++) /* those that push */
      if (system.p[i] > 0) assert_close(system.q[i] / lengths[i], q[i] / lengths[i], 1e-14);
    rf_system_free(&system);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(blocks), cmocka_unit_test(several_meet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
