/* Quantities along the way: rows of the trace, monitors (energy identity, a^2-|w|^2, smoothed margin), the
 * time t2. */
#include "flow/flow_internal.h"
#include "core/core.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ln of the loss at `factor` times the margins. */
static double log_loss_at(const RfRun *run, double factor) {
  const RfSystem *system = &run->system;
  double top = -INFINITY, sum = 0;
  for (rf_index i = 0; i < system->n; i++)
    top = fmax(top, rf_loss_log_value(run->problem->loss, factor * system->q[i]));
  for (rf_index i = 0; i < system->n; i++)
    sum += exp(rf_loss_log_value(run->problem->loss, factor * system->q[i]) - top);
  return top + log(sum);
}

double rf_run_log_loss(const RfRun *run) { return log_loss_at(run, 1); }

double rf_run_log_loss_true(const RfRun *run) { return log_loss_at(run, rf_run_grown(run)); }

double rf_run_grown(const RfRun *run) { return fmin(exp(2 * run->system.kappa), RF_TOL_GROWN_MOST); }

double rf_run_log_loss_seen(const RfRun *run) {
  const RfSystem *system = &run->system;
  double top = -INFINITY, sum = 0;
  for (rf_index i = 0; i < system->n; i++)
    if (system->seen[i]) top = fmax(top, rf_loss_log_value(run->problem->loss, system->q[i]));
  for (rf_index i = 0; i < system->n; i++)
    if (system->seen[i]) sum += exp(rf_loss_log_value(run->problem->loss, system->q[i]) - top);
  return top + log(sum);
}

double rf_run_dissipation(RfRun *run, const double *y) {
  RfSystem *system = &run->system;
  rf_index d = system->d, units = system->units;
  double sum = 0;
  rf_system_rhs(system, y, run->f); /* projects the fields of sliding units */
  for (rf_index u = 0; u < units; u++) {
    if (system->dead[u]) continue;
    const double *w = y + u * d, *g = rf_system_g(system, u);
    double a = y[units * d + u], rho = y[units * (d + 1) + u];
    double gw = rf_la_quick_dot(g, w, d), gg = rf_la_quick_dot(g, g, d);
    sum += run->problem->freeze_second ? a * a * gg : exp(2 * rho) * (a * a * gg + gw * gw);
  }
  return sum * exp(system->log_S + system->lift.by - rf_run_log_loss(run));
}

double rf_run_log_t(const RfRun *run) {
  const RfSystem *system = &run->system;
  if (system->kappa == 0) return system->log_t;
  return system->log_t - system->log_S * (rf_run_grown(run) - 1) - 2 * system->kappa;
}

double rf_run_until_log_t(const RfRun *run) {
  return log(run->settings->until_value) - (run->problem->mean ? log((double)run->problem->n) : 0);
}

double rf_run_until(const RfRun *run, double log_t) {
  double shift =
      run->problem->mean ? log((double)run->problem->n) : 0; /* t_mean = n t_sum, L_mean = L_sum/n */
  if (run->settings->until == RF_UNTIL_LOSS)
    return rf_run_log_loss(run) - shift - log(run->settings->until_value);
  if (run->settings->until == RF_UNTIL_TIME) return rf_run_until_log_t(run) - log_t;
  return INFINITY;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* next = (sum_k size_k^2 w_k w_k^T) v, by the matrix C itself where it is given. */
static void apply_square(const double *W, const double *size, const double *C, rf_index m, rf_index d,
                         const double *v, double *next) {
  if (C) {
    rf_la_apply(next, C, v, d, d, d);
    return;
  }
  memset(next, 0, (size_t)d * sizeof(double));
  for (rf_index k = 0; k < m; k++)
    rf_la_axpy(next, size[k] * size[k] * rf_la_quick_dot(W + k * d, v, d), W + k * d, d);
}

/* Largest singular value squared of the rows size_k w_k, by power iteration. C (d x d): scratch, NULL for
 * few rows. */
static double spectral_square(const double *W, const double *size, double *C, rf_index m, rf_index d,
                              double *v, double *next) {
  double value = 0, norm = 0;
  if (C) memset(C, 0, (size_t)(d * d) * sizeof(double));
  for (rf_index k = 0; C && k < m; k++)
    for (rf_index i = 0; i < d && size[k] > 0; i++)
      rf_la_axpy(C + i * d, size[k] * size[k] * W[k * d + i], W + k * d, d);
  for (rf_index j = 0; j < d; j++) v[j] = 1 + 0.37 * (double)((j * 7919) % 101) / 101;
  for (int round = 0; round < 400; round++) {
    norm = rf_la_norm(v, d);
    if (!(norm > 0)) return 0;
    rf_la_scale(v, 1 / norm, d);
    apply_square(W, size, C, m, d, v, next);
    double fresh = rf_la_quick_dot(v, next, d);
    bool settled = fabs(fresh - value) <= RF_TOL_POWER * fresh;
    value = fresh;
    memcpy(v, next, (size_t)d * sizeof(double));
    if (settled && round > 3) break;
  }
  return value;
}

static double least_cosine(const RfRun *run, const double *W, const double *a, const double *size, int sign,
                           double *sum) {
  const RfFlowProblem *problem = run->problem;
  rf_index d = problem->d, m = run->system.m;
  double least = NAN;
  memset(sum, 0, (size_t)d * sizeof(double));
  for (rf_index i = 0; i < problem->n; i++)
    if (problem->y[i] * sign > 0) rf_la_axpy(sum, 1, problem->X + i * d, d);
  double length = rf_la_norm(sum, d);
  for (rf_index k = 0; k < m && length > 0; k++) {
    rf_index u = run->system.unit_of[k];
    if (u < 0 || run->system.dead[u] || a[k] * sign <= 0 || !(size[k] >= 0)) continue;
    double norm = rf_la_norm(W + k * d, d);
    if (norm > 0)
      least = fmin(isnan(least) ? INFINITY : least, rf_la_quick_dot(W + k * d, sum, d) / (norm * length));
  }
  return least;
}

/* min q/|theta|^2 without under- or overflow, from unit directions and sizes relative to the largest. */
static double relative_margin(const RfRun *run, double top, double *q) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, units = system->units, d = system->d;
  double least = INFINITY;
  bool frozen = run->problem->freeze_second;
  memset(system->V, 0, (size_t)(system->classes * d) * sizeof(double));
  for (rf_index u = 0; u < units; u++) {
    if (system->dead[u]) continue;
    double rho = system->y[units * (d + 1) + u], a = system->y[units * d + u];
    double factor = frozen ? a * exp(rho - 2 * top) : a * exp(2 * (rho - top));
    rf_la_axpy(system->V + system->class_of[u] * d, factor, system->y + u * d, d);
  }
  rf_flow_planes_of(system->M, system->V, system->problem, system->classes);
  memset(q, 0, (size_t)n * sizeof(double));
  for (rf_index c = 0; c < system->classes; c++) {
    const double *slope = system->slope + system->leader[c] * n;
    for (rf_index i = 0; i < n; i++) q[i] += slope[i] * system->M[c * n + i];
  }
  for (rf_index i = 0; i < n; i++) least = fmin(least, q[i] * run->problem->y[i]);
  return least;
}

RfStatus rf_trace_row(RfRun *run, RfFlowTrace *row) {
  RfSystem *system = &run->system;
  rf_index m = system->m, d = system->d;
  bool many = m > d; /* rows: their d x d matrix is smaller */
  double *W = RF_NEW(double, m *d + 3 * m + 2 * d + system->n + (many ? d * d : 0));
  double top = -INFINITY, frobenius = 0, norm2 = 0;
  if (!W) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the trace");
  double *a = W + m * d, *rho = a + m, *size = rho + m, *v = size + m, *next = v + d, *q = next + d;
  bool frozen = run->problem->freeze_second;
  rf_system_fields(system, system->y);
  for (rf_index k = 0; k < m; k++) {
    rf_system_neuron(system, k, W + k * d, &a[k], &rho[k]);
    top = fmax(top, frozen && a[k] != 0 ? fmax(rho[k], log(fabs(a[k]))) : rho[k]);
  }
  for (rf_index k = 0; k < m; k++) {
    size[k] = exp(rho[k] - top);
    double ww = rf_la_quick_dot(W + k * d, W + k * d, d);
    frobenius += size[k] * size[k] * ww;
    norm2 += size[k] * size[k] * ww +
             (frozen ? exp(2 * (log(fabs(a[k])) - top)) : size[k] * size[k] * a[k] * a[k]);
  }
  double shift = run->problem->mean ? log((double)system->n) : 0, log_loss = rf_run_log_loss(run);
  row->log_t = system->log_t + shift;
  row->log_loss = log_loss - shift;
  row->log_norm = top + 0.5 * log(norm2);
  row->margin = relative_margin(run, top, q) / norm2;
  row->smoothed_margin = rf_loss_inverse_log(run->problem->loss, log_loss) * exp(-2 * row->log_norm);
  row->stable_rank = frobenius / spectral_square(W, size, many ? q + system->n : NULL, m, d, v, next);
  row->cos_plus_min = least_cosine(run, W, a, size, 1, v);
  row->cos_minus_min = least_cosine(run, W, a, size, -1, v);
  rf_free(W);
  return RF_OK;
}

/* Keeps about settings->trace rows: every stride-th step, the stride doubling when the room is full. */
static RfStatus keep_row(RfRun *run) {
  rf_index room = 2 * run->settings->trace;
  if (run->trace_stride == 0) run->trace_stride = 1;
  if (run->trace_count++ % run->trace_stride != 0) return RF_OK;
  if (!run->trace) run->trace = RF_NEW(RfFlowTrace, room + 1);
  if (!run->trace) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the trace");
  if (run->n_trace == room) {
    for (rf_index r = 0; 2 * r < room; r++) run->trace[r] = run->trace[2 * r];
    run->n_trace = (room + 1) / 2;
    run->trace_stride *= 2;
  }
  run->fresh = false;
  RfFlowTrace *row = &run->trace[run->n_trace++];
  RfStatus status = rf_trace_row(run, row);
  /* Where weights are lifted, or were, the state is the flow's to the inverse of its clock (lift.c), 1e-8:
   * the loss of the flow does not rise, and what was known before is nearer. */
  if (run->system.lift.of && run->n_trace > 1) row->log_loss = fmin(row->log_loss, row[-1].log_loss);
  return status;
}

/* ---- monitors ------------------------------------------------------------------------------ */

static void watch_classes(RfRun *run) {
  const RfSystem *system = &run->system;
  for (rf_index i = 0; i < system->n; i++) {
    double *first = &run->log_t_class[run->problem->y[i] > 0];
    if (isnan(*first) && system->q[i] > 0.25) *first = system->log_t;
  }
}

/* (a^2-|w|^2) e^{2 rho} is conserved. */
static void watch_balance(RfRun *run) {
  const RfSystem *system = &run->system;
  rf_index d = system->d, units = system->units;
  if (run->problem->freeze_second || run->phase.part == 3) return;
  for (rf_index k = 0; k < system->m; k++) {
    rf_index u = system->unit_of[k];
    if (u < 0 || system->balanced[u]) continue;
    const double *w = system->y + u * d;
    double a = system->y[units * d + u], rho = system->y[units * (d + 1) + u] + system->offset[k];
    double expected = system->conserved[2 * k] * exp(2 * (system->conserved[2 * k + 1] - rho));
    double drift = fabs(a * a - rf_la_quick_dot(w, w, d) - expected);
    run->monitors.balance_error = fmax(run->monitors.balance_error, drift / fmax(1, fabs(expected)));
  }
}

/* ln of loss^{-1}(L)/|theta|^2 must not fall once the data are separated (LLWA, Lyu and Li). */
static void watch_smoothed_margin(RfRun *run) {
  const RfSystem *system = &run->system;
  double log_loss = rf_run_log_loss(run), top = -INFINITY, sum = 0;
  double q = rf_loss_inverse_log(run->problem->loss, log_loss);
  if (run->problem->freeze_second || !(log_loss < rf_loss_log_value(run->problem->loss, 0))) return;
  const double *rho = system->y + system->units * (system->d + 1);
  for (rf_index u = 0; u < system->units; u++) top = fmax(top, rho[u]);
  for (rf_index u = 0; u < system->units; u++) sum += exp(2 * (rho[u] - top));
  double value = log(q) - 2 * top - log(sum);
  if (value < run->last_smoothed - RF_TOL_MONOTONE) run->monitors.smoothed_margin_monotone = false;
  run->last_smoothed = value;
}

/* The state of the run in one line for those who wait; a new part of the run is told at once. */
static void tell_progress(RfRun *run) {
  static const char *const parts[] = {"start", "fitting", "to infinity", "scale frozen"};
  const RfSystem *system = &run->system;
  double now = rf_clock_seconds();
  char phase[32], detail[160];
  if (run->phase.part == run->told_part && now - run->told < 0.1) return;
  run->told = now, run->told_part = run->phase.part;
  double shift = run->problem->mean ? log((double)system->n) : 0;
  rf_format(phase, sizeof phase, "%s%s", run->recording ? "" : "again: ", parts[run->phase.part]);
  rf_format(detail, sizeof detail, "ln t %.4g  ln loss %.4g  q_min %.3g  steps %lld  units %lld  events %lld",
            system->log_t + shift, rf_run_log_loss(run) - shift, system->q_least,
            (long long)run->steps_explicit + (long long)run->steps_implicit, (long long)system->units,
            (long long)run->n_events);
  rf_progress(run->context, phase, -1, detail);
}

RfStatus rf_trace_step(RfRun *run) {
  if (run->context->on_progress) tell_progress(run);
  if (run->phase.part == 3 || !run->recording) return RF_OK;
  if (run->since_event == 0) rf_system_fields(&run->system, run->system.y);
  watch_classes(run);
  watch_balance(run);
  watch_smoothed_margin(run);
  return run->settings->trace > 0 ? keep_row(run) : RF_OK;
}

/* The largest change of a margin, from q to that of the last fields, of samples that have a part in the loss.
 */
static double margins_move(const RfRun *run, const double *q, double log_before, double log_after) {
  const RfSystem *system = &run->system;
  RfLoss loss = run->problem->loss;
  double most = 0;
  for (rf_index i = 0; i < system->n; i++) {
    double before = rf_loss_log_value(loss, q[i]) - log_before;
    double after = rf_loss_log_value(loss, system->q[i]) - log_after;
    if (fmax(before, after) > RF_TOL_ENERGY_PART) most = fmax(most, fabs(system->q[i] - q[i]));
  }
  return most;
}

/* What ln L falls by over the part `fraction` of the explicit step of length h, by five Gauss points on every
 * piece. Where a sample is fitted inside the step its margin may grow by fifty, and what it brings is that of
 * e^-50s: a piece is so short that no margin of a sample with loss changes by more than a little. */
RfStatus rf_run_spent(RfRun *run, double h, double fraction, double *y, RfFallAt fall_at, void *who,
                      double *spent) {
  static const double node[5] = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842,
                                 0.953089922969332};
  static const double weight[5] = {0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683,
                                   0.118463442528095};
  RfSystem *system = &run->system;
  rf_index n = system->n, size = rf_system_size(system);
  double *q = RF_NEW(double, n), at = 0, piece = 0.5, fall;
  if (!q) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the energy");
  RfStatus status = RF_OK;
  *spent = 0;
  rf_explicit_dense(&run->explicit_method, system, h);
  rf_explicit_at(&run->explicit_method, y, 0, size);
  rf_system_fields(system, y);
  memcpy(q, system->q, (size_t)n * sizeof(double));
  double log_loss = rf_run_log_loss(run);
  while (at < 1 && !status) {
    double end = at + piece < 1 - RF_TOL_ENERGY_SHORTEST ? at + piece : 1;
    rf_explicit_at(&run->explicit_method, y, fraction * end, size);
    rf_system_fields(system, y);
    double after = rf_run_log_loss(run);
    if (piece > RF_TOL_ENERGY_SHORTEST && margins_move(run, q, log_loss, after) > RF_TOL_ENERGY_PIECE) {
      piece *= 0.5;
      continue;
    }
    memcpy(q, system->q, (size_t)n * sizeof(double));
    log_loss = after;
    for (int j = 0; j < 5 && !status; j++) {
      rf_explicit_at(&run->explicit_method, y, fraction * (at + (end - at) * node[j]), size);
      status = fall_at(who, run, y, &fall);
      *spent += h * fraction * (end - at) * weight[j] * fall;
    }
    at = end;
    piece = fmin(0.5, 2 * piece);
  }
  rf_free(q);
  return status;
}

static RfStatus dissipation_at(void *who, RfRun *run, const double *y, double *fall) {
  (void)who;
  *fall = rf_run_dissipation(run, y);
  return RF_OK;
}

RfStatus rf_trace_energy(RfRun *run, double h) {
  RfSystem *system = &run->system;
  double before, after, spent = 0;
  rf_system_fields(system, system->y);
  before = rf_run_log_loss(run);
  RfStatus status = rf_run_spent(run, h, 1, run->y_end, dissipation_at, NULL, &spent);
  rf_system_fields(system, run->explicit_method.end);
  after = rf_run_log_loss(run);
  double error = fabs(before - after - spent) / fmax(spent, RF_TOL_ENERGY_FLOOR);
  if (!status) run->monitors.energy_error = fmax(run->monitors.energy_error, error);
  return status;
}
