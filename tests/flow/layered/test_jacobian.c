/* The matrix of derivatives of a layered flow against differences of the velocity, with units held and
 * without. */
#include <math.h>
#include <string.h>

#include "flow/flow.h"
#include "flow/layered/flow.h"
#include "la/la.h"
#include "rf_test.h"
#include "../layered_families.h"

typedef struct Tried {
  rf_index held, free, steps;
} Tried;

static RfContext context;

/* The matrix at the state of the flow, column by column. */
static void compare(RfSided *sided, const double *theta, rf_index P, rf_index n) {
  double *J = RF_NEW(double, P *P), *log_S = RF_NEW(double, P), *v = RF_NEW(double, P);
  double *plus = RF_NEW(double, P), *minus = RF_NEW(double, P), *at = RF_NEW(double, P),
         *q = RF_NEW(double, n);
  double h = 1e-6 * rf_la_norm(theta, P);
  bool known = false;
  assert_true(J && log_S && v && plus && minus && at && q);
  rf_sided_velocity(sided, v, q, theta); /* a step begins with both */
  rf_sided_mark(sided, 0);
  assert_ok(&context, rf_sided_jacobian(sided, J, log_S, v, theta, &known));
  assert_true(known);
  double size = rf_la_max_abs(J, P * P);
  for (rf_index c = 0; c < P; c++) {
    memcpy(at, theta, (size_t)P * sizeof(double));
    at[c] = theta[c] + h;
    double up = rf_sided_velocity(sided, plus, q, at);
    at[c] = theta[c] - h;
    double down = rf_sided_velocity(sided, minus, q, at);
    assert_close((up - down) / (2 * h), log_S[c], 1e-5 * (1 + fabs(log_S[c])));
    for (rf_index r = 0; r < P; r++) assert_close((plus[r] - minus[r]) / (2 * h), J[r * P + c], 1e-5 * size);
  }
  rf_sided_velocity(sided, v, q, theta);
  rf_free(J), rf_free(log_S), rf_free(v), rf_free(plus), rf_free(minus), rf_free(at), rf_free(q);
}

/* Second derivatives of the outputs, and what a slope does, against differences of gradients: with sides
 * fixed all are polynomials. */
static void compare_outputs(RfSided *sided, const double *theta, rf_index P, rf_index n) {
  double *H = RF_NEW(double, P *P), *plus = RF_NEW(double, P), *minus = RF_NEW(double, P),
         *at = RF_NEW(double, P), *weights = RF_NEW(double, n), *q = RF_NEW(double, n);
  double h = 1e-4 * rf_la_norm(theta, P);
  assert_true(H && plus && minus && at && weights && q);
  for (rf_index i = 0; i < n; i++) weights[i] = (double)(i % 3) - 0.5;
  assert_ok(&context, rf_sided_hessian(sided, H, weights, theta));
  double size = 1e-300 + rf_la_max_abs(H, P * P);
  for (rf_index c = 0; c < P; c++) {
    memcpy(at, theta, (size_t)P * sizeof(double));
    at[c] = theta[c] + h;
    rf_sided_gradient(sided, plus, weights, at);
    at[c] = theta[c] - h;
    rf_sided_gradient(sided, minus, weights, at);
    for (rf_index r = 0; r < P; r++) assert_close((plus[r] - minus[r]) / (2 * h), H[r * P + c], 1e-9 * size);
  }
  for (rf_index k = 0; k < rf_sided_held(sided); k++) {
    double *slopes = rf_sided_slopes(sided), before = slopes[k];
    rf_sided_gradient(sided, minus, weights, theta);
    slopes[k] = before + 0.25;
    rf_sided_gradient(sided, plus, weights, theta);
    slopes[k] = before;
    rf_sided_outputs(sided, q, NULL, theta);
    rf_sided_slope_change(sided, at, k, weights);
    for (rf_index r = 0; r < P; r++)
      assert_close((plus[r] - minus[r]) / 0.25, at[r], 1e-12 * (1 + rf_la_norm(plus, P)));
  }
  rf_sided_velocity(sided, at, q, theta);
  rf_free(H), rf_free(plus), rf_free(minus), rf_free(at), rf_free(weights), rf_free(q);
}

static void look(void *user, const RfLayeredFlow *flow) {
  Tried *tried = user;
  RfSided *sided = rf_layered_sides(flow);
  bool held = rf_sided_held(sided) > 0;
  if (tried->steps++ % 10 != 5 || (held ? tried->held : tried->free) >= 3) return;
  compare(sided, flow->net.theta, flow->net.n_parameters, flow->n);
  compare_outputs(sided, flow->net.theta, flow->net.n_parameters, flow->n);
  ++*(held ? &tried->held : &tried->free);
}

static void exact(void **state) {
  (void)state;
  static const rf_index numbers[] = {0, 1, 15, 33, 51};
  Tried all = {0};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    LayeredProblem p;
    RfLayeredFlow flow;
    Tried tried = {0};
    assert_ok(&context, layered_problem_new(&context, &p, 5, numbers[k]));
    assert_ok(&context, rf_layered_flow_new(&context, &flow, &p.net, p.X, p.y, p.n, p.loss));
    flow.on_step = look, flow.user = &tried, flow.max_steps = 300;
    assert_true(rf_layered_flow_to_smargin(&context, &flow, 20) >= 0);
    all.held += tried.held, all.free += tried.free;
    rf_layered_flow_free(&flow);
    rf_layers_free(&p.net);
  }
  print_message("%d states without, %d with units held\n", (int)all.free, (int)all.held);
  assert_true(all.free > 3 && all.held > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(exact)};
  rf_context_init(&context);
  return cmocka_run_group_tests_name("flow/layered/jacobian", tests, NULL, NULL);
}
