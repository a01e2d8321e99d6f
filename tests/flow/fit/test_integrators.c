/* Both integrators on a flow in closed form. One linear neuron and one sample x = 1 with label 1: in the
 * clock dtau = S dt the weights obey dw = a, da = w, so that w = w0 cosh tau + a0 sinh tau,   a = a0 cosh tau
 * + w0 sinh tau, whatever the loss. The error of one step must fall with the order of the method when the
 * step is halved. */
#include <math.h>
#include <string.h>

#include "core/core.h"
#include "flow/flow_internal.h"
#include "rf_test.h"

typedef struct Case {
  RfContext context;
  double x, y, w, a;
  RfNet net;
  RfFlowStart start;
  RfFlowProblem problem;
  RfFlowSettings settings;
  RfRun run;
} Case;

static void case_new(Case *c, RfLoss loss) {
  rf_context_init(&c->context);
  c->x = 1, c->y = 1, c->w = -0.4, c->a = 1.1;
  assert_ok(&c->context, rf_net_new(&c->context, &c->net, 1, 1, 1));
  c->net.W[0] = c->w, c->net.a[0] = c->a;
  assert_ok(&c->context, rf_flow_start_from_net(&c->context, &c->start, &c->net));
  c->problem =
      (RfFlowProblem){.X = &c->x, .y = &c->y, .n = 1, .d = 1, .leak = 1, .loss = loss, .start = &c->start};
  rf_flow_settings_init(&c->settings);
  assert_ok(&c->context, rf_run_new(&c->context, &c->run, &c->problem, &c->settings));
  assert_ok(&c->context, rf_run_start(&c->run));
}

static void case_free(Case *c) {
  rf_run_free(&c->run);
  rf_flow_start_free(&c->start);
  rf_net_free(&c->net);
}

/* |weights at y - closed form at tau|. */
static double error_at(const double *y, double tau) {
  double w = -0.4 * cosh(tau) + 1.1 * sinh(tau), a = 1.1 * cosh(tau) - 0.4 * sinh(tau), size = exp(y[2]);
  double norm = hypot(y[0], y[1]); /* 1, up to the error of the step */
  return hypot(size * y[0] / norm - w, size * y[1] / norm - a);
}

static double explicit_error(double h, double fraction) {
  Case c;
  case_new(&c, RF_LOSS_EXP);
  RfSystem *system = &c.run.system;
  RfExplicit *method = &c.run.explicit_method;
  double y[4], error;
  rf_system_fields(system, system->y);
  system->log_S_step = system->log_S;
  rf_system_rhs(system, system->y, method->stage[0]);
  (void)rf_explicit_try(method, system, h, 1);
  rf_explicit_end(method, system);
  if (fraction < 1) {
    rf_explicit_dense(method, system, h);
    rf_explicit_at(method, y, fraction, rf_system_size(system));
    error = error_at(y, fraction * h);
  } else {
    error = error_at(method->end, h);
  }
  case_free(&c);
  return error;
}

static double implicit_error(double h) {
  Case c;
  case_new(&c, RF_LOSS_EXP);
  RfSystem *system = &c.run.system;
  RfImplicit *method;
  double f[4], y[4], error;
  assert_int_equal(rf_system_size(system), 4);
  assert_ok(&c.context, rf_implicit_new(&c.context, &method, 1, 1, 1));
  rf_system_fields(system, system->y);
  system->log_S_step = system->log_S;
  assert_ok(&c.context, rf_implicit_prepare(method, system, f));
  assert_ok(&c.context, rf_implicit_try(method, system, y, &error, h, 1));
  double off = error_at(y, h);
  rf_implicit_free(method);
  case_free(&c);
  return off;
}

/* Local errors are of order h^(p+1); the slope between two steps, with half an order of room. */
static void orders(void **state) {
  (void)state;
  double end = log2(explicit_error(0.8, 1) / explicit_error(0.4, 1));
  double inside = log2(explicit_error(0.8, 0.37) / explicit_error(0.4, 0.37));
  double implicit = log2(implicit_error(0.1) / implicit_error(0.05));
  print_message("order of one step: explicit %.2f, inside %.2f, implicit %.2f\n", end, inside, implicit);
  assert_true(end > 8.5);
  assert_true(inside > 7.5);
  assert_true(implicit > 5.5);
}

/* A right-hand side that is the closed form's, at the start. */
static void derivative(void **state) {
  (void)state;
  for (int loss = 0; loss < 3; loss++) {
    Case c;
    double f[4], norm = hypot(0.4, 1.1), w = -0.4 / norm, a = 1.1 / norm;
    case_new(&c, (RfLoss)loss);
    rf_system_rhs(&c.run.system, c.run.system.y, f);
    assert_close(f[0], a - 2 * a * w * w, 1e-14);
    assert_close(f[1], w * (1 - 2 * a * a), 1e-14);
    assert_close(f[2], 2 * a * w, 1e-14);
    case_free(&c);
  }
}

/* The whole run to a time: with the exponential loss and v = w a, dv/dt = e^{-v} (w^2 + a^2), and
 * a^2 - w^2 = D is kept, so that t is the integral of e^v / sqrt(D^2 + 4 v^2), here by Simpson. */
static void whole_run(void **state) {
  (void)state;
  Case c;
  RfFlowResult result;
  case_new(&c, RF_LOSS_EXP);
  c.context.tol.ode = 1e-12;
  c.settings.until = RF_UNTIL_TIME, c.settings.until_value = 25;
  assert_true(rf_flow_run(&c.context, &result, &c.problem, &c.settings) >= 0);
  double size = exp(result.log_norm_end), w = size * result.net_end.W[0], a = size * result.net_end.a[0];
  double from = -0.44, to = w * a, D = 1.1 * 1.1 - 0.4 * 0.4, sum = 0;
  enum { PARTS = 4000 };
  for (int j = 0; j <= PARTS; j++) {
    double v = from + (to - from) * j / PARTS;
    sum += (j == 0 || j == PARTS ? 1 : j % 2 ? 4 : 2) * exp(v) / sqrt(D * D + 4 * v * v);
  }
  assert_close(a * a - w * w, D, 1e-9);
  assert_relative(sum * (to - from) / (3 * PARTS), 25, 1e-8);
  rf_flow_result_free(&result);
  case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(derivative), cmocka_unit_test(orders),
                                     cmocka_unit_test(whole_run)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
