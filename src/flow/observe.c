/* For those who watch a flow: the state of every neuron, in the caller's order, at the ends of steps and at
 * points of the dense output inside them. */
#include "flow/audit/audit.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

void rf_moment_free(RfFlowMoment *moment) {
  rf_free(moment->directions); /* one block with log_norms and fields */
  rf_free(moment->sides);
  memset(moment, 0, sizeof *moment);
}

static RfStatus make_room(RfRun *run) {
  RfFlowMoment *moment = &run->moment;
  rf_index n = run->system.n, d = run->system.d, m = run->system.m;
  if (moment->directions) return RF_OK;
  moment->n = n, moment->d = d, moment->m = m;
  moment->directions = RF_NEW(double, m *(2 * d + 2));
  moment->sides = RF_NEW_TABLE(int8_t, m, n);
  if (!moment->directions || !moment->sides) {
    rf_moment_free(moment);
    return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for watching the flow");
  }
  moment->log_norms = moment->directions + m * (d + 1);
  moment->fields = moment->log_norms + m;
  return RF_OK;
}

/* ln of sum |loss'| over all samples, also those that nobody sees. */
static double log_S_all(const RfRun *run) {
  const RfSystem *system = &run->system;
  double top = -INFINITY, sum = 0;
  if (system->n_seen == system->n) return system->log_S;
  for (rf_index i = 0; i < system->n; i++)
    top = fmax(top, rf_loss_log_slope(run->problem->loss, system->q[i]));
  for (rf_index i = 0; i < system->n; i++)
    sum += exp(rf_loss_log_slope(run->problem->loss, system->q[i]) - top);
  return top + log(sum);
}

/* Neuron k at the state system->y, fields current. A resting neuron that is zero has no direction and no
 * sides; a dead one keeps the signs of its w.x. */
static void fill_neuron(RfRun *run, rf_index k) {
  const RfSystem *system = &run->system;
  RfFlowMoment *moment = &run->moment;
  rf_index n = system->n, d = system->d, u = system->unit_of[k];
  double *w = moment->directions + k * (d + 1), *field = moment->fields + k * d;
  int8_t *sides = moment->sides + k * n;
  rf_system_neuron(system, k, w, w + d, &moment->log_norms[k]);
  double length = run->problem->freeze_second ? rf_la_norm(w, d) : 1;
  if (length != 1 && length > 0) { /* from the gauge to a unit vector */
    rf_la_scale(w, 1 / length, d);
    moment->log_norms[k] += log(length);
  }
  memset(field, 0, (size_t)d * sizeof(double));
  if (u >= 0 && !system->dead[u]) {
    memcpy(field, rf_system_g(system, u), (size_t)d * sizeof(double));
    if (system->n_seen < n) rf_la_scale(field, exp(system->log_S - log_S_all(run)), d);
    for (rf_index i = 0; i < n; i++) sides[i] = (int8_t)(system->sigma[u * n + i] * system->flip[k]);
    return;
  }
  for (rf_index i = 0; i < n; i++) {
    double h = rf_la_quick_dot(w, system->problem->X + i * d, d);
    sides[i] = (int8_t)(fabs(h) <= RF_TOL_SIDE * system->x_norm[i] ? 0 : h > 0 ? 1 : -1);
  }
}

static RfStatus show(RfRun *run, double *y, double log_t, bool at_event) {
  RfSystem *system = &run->system;
  RfFlowMoment *moment = &run->moment;
  double shift = run->problem->mean ? log((double)system->n) : 0, *own = system->y;
  RfStatus status = make_room(run);
  if (status) return status;
  rf_system_rhs(system, y, run->f); /* projects the fields of sliding units */
  run->fresh = false;
  system->y = y;
  for (rf_index k = 0; k < system->m; k++) fill_neuron(run, k);
  system->y = own;
  moment->scale_frozen = run->phase.part == 3;
  moment->log_t = moment->scale_frozen || run->problem->in_limit ? NAN : log_t + shift;
  moment->log_loss = rf_run_log_loss(run) - shift;
  moment->log_S = log_S_all(run);
  moment->at_event = at_event;
  moment->q = system->q;
  run->settings->observe(run->settings->observer, moment);
  return RF_OK;
}

RfStatus rf_observe(RfRun *run) {
  RfStatus status = run->audit ? rf_audit_look(run->audit, run) : RF_OK;
  if (status || !rf_run_watched(run) || run->system.lift.on) return status;
  return show(run, run->system.y, run->system.log_t, run->since_event == 0);
}

RfStatus rf_observe_inside(RfRun *run, double h, double fraction) {
  RfSystem *system = &run->system;
  rf_index size = rf_system_size(system), count = run->settings->observe_inside;
  RfStatus status = run->audit ? rf_audit_step(run->audit, run, h, fraction) : RF_OK;
  if (status || !rf_run_watched(run) || count == 0 || system->lift.on) return status;
  rf_explicit_dense(&run->explicit_method, system, h);
  for (rf_index j = 1; j <= count && !status; j++) {
    double s = fraction * (double)j / (double)(count + 1), log_t = system->log_t;
    rf_explicit_at(&run->explicit_method, run->y_end, s, size);
    double elapsed = run->y_end[rf_system_clock(system)];
    if (elapsed > 0) log_t = rf_run_log_add(log_t, log(elapsed) - system->log_S_step);
    status = show(run, run->y_end, log_t, false);
  }
  return status;
}
