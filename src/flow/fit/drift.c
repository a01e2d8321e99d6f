/* Where some samples rest and others go on growing, units drift like ln tau: by less than anything per unit
 * of time, and yet across hyperplanes. What a unit adds to a margin, |a| e^{2 rho} w.x, then moves on a line
 * in ln tau, as the margins themselves do, while w.x alone falls like 1/ln tau beside a unit that grows and
 * never crosses. The speed at one moment does not tell: what implicit steps leave of the resting margins is
 * soon more than the drift. So it is read off two states, ln tau apart by one or more. */
#include "flow/fit/drift.h"
#include "flow/fit/implicit_internal.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

/* Could unit u come to the hyperplane of a sample within RF_TOL_REST_FOLDS, drifting straight there with all
 * its speed? */
static bool may_reach(const RfRun *run, rf_index u) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  double way = RF_TOL_REST_FOLDS * system->tau * rf_la_norm(run->f + u * d, d);
  for (rf_index i = 0; i < n; i++) {
    double far = system->sigma[u * n + i] * system->H[u * n + i];
    if (far > RF_TOL_PLANE * system->x_norm[i] && way * system->x_norm[i] > far) return true;
  }
  return false;
}

/* Speeds that rounding hides: of the fields, and with long rows of the margins that rest, whose pushes are
 * known to as much. Under lifted weights the drift is fast beside that. */
static double hidden_speed(const RfSystem *system) {
  double sum = RF_TOL_REST_ROUNDING * rf_system_reach(system);
  for (rf_index i = 0; i < system->n && system->grade && !system->lift.on; i++)
    if (system->seen[i]) sum += system->p[i] * system->x_norm[i] * fmin(1, rf_system_margin_blur(system, i));
  return sum;
}

/* Where unit u has come to since the state in run->way: true when it goes to a hyperplane. */
static bool goes_across(RfRun *run, rf_index u) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, units = system->units;
  const double *y0 = run->way.y, *y = system->y;
  double shrunk = exp(2 * (y0[units * (d + 1) + u] - y[units * (d + 1) + u]));
  double a0 = shrunk * fabs(y0[units * d + u]), a = fabs(y[units * d + u]);
  double apart = log(system->tau / run->way.tau);
  double moved = RF_TOL_REST_ROUNDING * rf_system_reach(system) * (system->tau - run->way.tau);
  double hidden = hidden_speed(system) * (system->tau - run->way.tau);
  for (rf_index i = 0; i < n; i++) {
    double side = system->sigma[u * n + i], length = system->x_norm[i];
    if (side == 0 || !(side * system->H[u * n + i] > RF_TOL_PLANE * length)) continue;
    double far = side * system->H[u * n + i] / length;
    double before = side * rf_la_quick_dot(y0 + u * d, system->problem->X + i * d, d) / length;
    double step = a0 * before - a * far; /* towards it */
    if (!(step * RF_TOL_REST_FOLDS > a * far * apart)) continue;
    if (step > a * (1 + 2 * far) * hidden) return true;
    if (before > moved && !(run->way.arrives > 0)) /* else it is there already, as far as rounding tells */
      run->way.arrives = system->log_t + a * far * apart / step;
  }
  return false;
}

static RfStatus leave_mark(RfRun *run) {
  const RfSystem *system = &run->system;
  rf_index count = system->units * (system->d + 2);
  if (run->way.units != system->units || !run->way.y) {
    rf_free(run->way.y);
    run->way.units = system->units, run->way.y = RF_NEW(double, count);
  }
  if (!run->way.y) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a drift");
  memcpy(run->way.y, system->y, (size_t)count * sizeof(double));
  run->way.tau = system->tau;
  return RF_OK;
}

RfStatus rf_run_drift(RfRun *run, RfDrift *found) {
  RfSystem *system = &run->system;
  RfWay *way = &run->way;
  rf_index units = system->units;
  const double *rho = system->y + units * (system->d + 1);
  double small = rf_run_small_rho(run) - 1;
  bool moves = false, across = false;
  *found = RF_DRIFT_NONE;
  if (run->problem->leak == 1) return RF_OK;
  rf_system_planes(system, system->y);
  for (rf_index u = 0; u < units && !moves; u++)
    moves = !system->dead[u] && rho[u] >= small && may_reach(run, u);
  if (way->settled) return RF_OK;
  bool marked = way->tau > 0 && way->units == units && way->tau >= run->phase.tau_event;
  if (!marked) way->arrives = 0;
  if (!moves && !(way->arrives > 0)) return RF_OK;
  *found = RF_DRIFT_SEEN;
  if (marked && system->tau < RF_TOL_REST_APART * way->tau) return RF_OK;
  for (rf_index u = 0; u < units && marked && !across; u++)
    across = !system->dead[u] && rho[u] >= small && goes_across(run, u);
  if (marked && !across) *found = way->arrives > 0 ? RF_DRIFT_BEYOND : RF_DRIFT_NONE;
  return leave_mark(run);
}
