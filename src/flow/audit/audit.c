/* The audit: velocity against the least-norm element, the energy identity, conservation of a^2 - |w|^2, sides
 * against signs, and events against one-sided fields, all from the weights of the units and the data.
 *
 * At a state, q_i = y_i sum_u A_u a_u phi(w_u.x_i) by the signs of w.x themselves, c_i = -loss'(q_i) y_i / S,
 * and the field of a unit is the least-norm element g of sum_{i off} c_i s_i x_i + sum_{planes held} z n,  z
 * between the values on the two sides of the plane n, by bounded least squares; parallel samples that a unit
 * is held on are one plane with one slope. The clock is a gauge: S is taken from the run. */
#include "flow/audit/audit.h"

#include <math.h>
#include <string.h>

#include "flow/audit/audit_tolerances.h"
#include "flow/flow_tolerances.h"

struct RfAudit {
  RfContext *context;
  rf_index n, d;
  rf_index looked_at; /* evaluations of the run when it was last looked at */
  rf_index stepped_at;
  rf_index events_seen;
  bool large;
  double *h, *q, *c, *x_norm; /* n each: w.x of one unit; margins; weights; |x| */
  double *blur;               /* n: rounding of the margins */
  double *g, *base;           /* d each */
  double *columns, *low, *high, *z;
  double *f; /* derivative claimed by the run, and its room */
  rf_index f_room;
  RfLeastSquaresWork *work;
  RfFlowAudit found;
};

void rf_audit_free(RfAudit *audit) {
  if (!audit) return;
  rf_free(audit->h);
  rf_free(audit->columns);
  rf_free(audit->f);
  rf_la_least_squares_work_free(audit->work);
  rf_free(audit);
}

RfStatus rf_audit_new(RfContext *context, RfAudit **out, const RfRun *run) {
  rf_index n = run->system.n, d = run->system.d;
  RfAudit *audit = *out = RF_NEW(RfAudit, 1);
  if (!audit) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the audit");
  audit->context = context;
  audit->n = n, audit->d = d;
  audit->large = run->system.m * n >= 10000;
  audit->h = RF_NEW(double, 8 * n + 2 * d);
  audit->columns = RF_NEW(double, n *d);
  if (!audit->h || !audit->columns) {
    rf_audit_free(audit);
    *out = NULL;
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the audit");
  }
  audit->q = audit->h + n, audit->c = audit->q + n, audit->x_norm = audit->c + n;
  audit->low = audit->x_norm + n, audit->high = audit->low + n, audit->z = audit->high + n;
  audit->blur = audit->z + n, audit->g = audit->blur + n, audit->base = audit->g + d;
  for (rf_index i = 0; i < n; i++) audit->x_norm[i] = rf_la_norm(run->problem->X + i * d, d);
  return RF_OK;
}

/* ---- a state, read from scratch -------------------------------------------------------------- */

typedef struct State { /* of the units, as the run holds it */
  const RfRun *run;
  const double *W, *a, *rho;
  rf_index units;
} State;

static State state_of(const RfRun *run, const double *y) {
  rf_index units = run->system.units, d = run->system.d;
  return (State){.run = run, .W = y, .a = y + units * d, .rho = y + units * (d + 1), .units = units};
}

/* What rounding leaves of the margins, by the terms they are sums of: with rows of very different lengths a
 * margin may be a small difference of huge ones. */
static void read_blur(RfAudit *audit, const State *state) {
  const RfFlowProblem *problem = state->run->problem;
  rf_index n = audit->n, d = audit->d;
  memset(audit->blur, 0, (size_t)n * sizeof(double));
  for (rf_index u = 0; u < state->units && state->run->system.grade; u++) {
    double size = fabs(state->a[u]) * exp((problem->freeze_second ? 1 : 2) * state->rho[u]);
    for (rf_index i = 0; i < n && !state->run->system.dead[u]; i++)
      for (rf_index j = 0; j < d; j++)
        audit->blur[i] += RF_AUDIT_ROUNDING * size * fabs(state->W[u * d + j] * problem->X[i * d + j]);
  }
}

/* Rows of very different lengths: the run carries margins beside the weights, which know them to rounding of
 * their terms. That they are within that of those read here is checked; then they are what the flow sees. */
static void take_residue(RfAudit *audit, const State *state, rf_index i) {
  const RfSystem *system = &state->run->system;
  if (system->residues == 0) return;
  double own = system->q[i]; /* at the last evaluation, which was here */
  if (!(fabs(own - audit->q[i]) <= RF_AUDIT_RESIDUE / RF_AUDIT_ROUNDING * audit->blur[i])) return;
  audit->q[i] = own;
  if (system->by_margins)
    audit->blur[i] = fmax(audit->blur[i] / fmax(1, system->q_least), RF_AUDIT_ROUNDING * fabs(own));
}

/* Margins by the signs of w.x, and the weights of the samples in the clock S of the run. */
static void read_margins(RfAudit *audit, const State *state, double log_S) {
  const RfFlowProblem *problem = state->run->problem;
  const RfLift *lift = &state->run->system.lift;
  rf_index n = audit->n, d = audit->d;
  const double wall = 650; /* samples that nobody sees are not part of S, and may be heavy */
  memset(audit->q, 0, (size_t)n * sizeof(double));
  for (rf_index u = 0; u < state->units; u++) {
    double size = state->a[u] * exp((problem->freeze_second ? 1 : 2) * state->rho[u]);
    if (state->run->system.dead[u]) continue;
    rf_la_apply(audit->h, problem->X, state->W + u * d, n, d, d);
    for (rf_index i = 0; i < n; i++)
      audit->q[i] += size * (audit->h[i] > 0 ? audit->h[i] : problem->leak * audit->h[i]);
  }
  for (rf_index i = 0; i < n; i++) {
    audit->q[i] *= problem->y[i];
    take_residue(audit, state, i);
    double lifted = rf_lift_of(lift, i) - lift->by; /* a drift (F.5a): S is told in true times */
    audit->c[i] =
        problem->y[i] * exp(fmin(wall, rf_loss_log_slope(problem->loss, audit->q[i]) - log_S + lifted));
  }
}

static double log_loss(const RfAudit *audit, const RfRun *run) {
  return rf_loss_log_sum(audit->q, audit->n, run->problem->loss, rf_loss_log_value);
}

/* Joins sample i, on whose hyperplane a unit is held, to the planes found so far; their number after it. */
static rf_index join_plane(RfAudit *audit, const RfFlowProblem *problem, rf_index planes, rf_index i) {
  rf_index d = audit->d, at = 0;
  const double *x = problem->X + i * d;
  double size = audit->x_norm[i];
  for (; at < planes; at++) {
    const double *normal = audit->columns + at * d;
    double along = rf_la_quick_dot(x, normal, d);
    if (!rf_flow_parallel(x, normal, d)) continue;
    size = along;
    break;
  }
  if (at == planes) {
    for (rf_index j = 0; j < d; j++) audit->columns[at * d + j] = x[j] / size;
    audit->low[at] = audit->high[at] = 0;
  }
  double leak = problem->leak, push = audit->c[i] * size; /* here low: minus side, high: plus side */
  audit->low[at] += push * (size > 0 ? leak : 1);
  audit->high[at] += push * (size > 0 ? 1 : leak);
  return at == planes ? planes + 1 : planes;
}

/* The least-norm field of unit u into audit->g; returns sum |c_i| s_i |x_i| over what acts on it. */
static RfStatus read_field(RfAudit *audit, const State *state, rf_index u, double *scale) {
  const RfFlowProblem *problem = state->run->problem;
  const int8_t *sigma = state->run->system.sigma + u * audit->n;
  rf_index d = audit->d, planes = 0;
  RfLeastSquaresInfo info;
  RfStatus status = RF_OK;
  memset(audit->base, 0, (size_t)d * sizeof(double));
  *scale = 0;
  for (rf_index i = 0; i < audit->n; i++) {
    if (audit->x_norm[i] == 0) continue;
    double slope = sigma[i] > 0 ? 1 : problem->leak;
    *scale += fabs(audit->c[i]) * (sigma[i] == 0 ? 1 : slope) * audit->x_norm[i];
    if (sigma[i] == 0)
      planes = join_plane(audit, problem, planes, i);
    else
      rf_la_axpy(audit->base, audit->c[i] * slope, problem->X + i * d, d);
  }
  memcpy(audit->g, audit->base, (size_t)d * sizeof(double));
  if (planes == 0) return RF_OK;
  for (rf_index p = 0; p < planes; p++)
    if (audit->low[p] > audit->high[p]) {
      double swap = audit->low[p];
      audit->low[p] = audit->high[p], audit->high[p] = swap;
    }
  if (!audit->work) status = rf_la_least_squares_work_new(audit->context, &audit->work, d, audit->n);
  for (rf_index j = 0; j < d; j++) audit->base[j] = -audit->base[j];
  if (!status)
    status = rf_la_box_least_squares(audit->context, audit->z, NULL, &info, audit->columns, audit->base,
                                     audit->low, audit->high, d, planes, d, audit->work);
  if (status == RF_ERR_NUMERIC) status = RF_OK; /* the best so far: a worse number, not a failure */
  for (rf_index p = 0; p < planes && !status; p++)
    rf_la_axpy(audit->g, audit->z[p], audit->columns + p * d, d);
  return status;
}

/* ---- what must hold there -------------------------------------------------------------------- */

static void worst(double *number, double value) {
  if (!(value <= *number)) *number = value; /* NaN counts */
}

/* What of a field is rounding of the margins. */
static double blurred_push(const RfAudit *audit) {
  double sum = 0;
  for (rf_index i = 0; i < audit->n; i++)
    sum += fabs(audit->c[i]) * audit->x_norm[i] * fmin(1, audit->blur[i]);
  return sum;
}

/* The run's derivative of unit u against the least-norm field. */
static void check_velocity(RfAudit *audit, const State *state, rf_index u, double scale) {
  const RfSystem *system = &state->run->system;
  rf_index d = audit->d;
  const double *w = state->W + u * d, *claimed = audit->f + u * d;
  double a = state->a[u], gw = rf_la_quick_dot(audit->g, w, d), off = 0;
  bool frozen = state->run->problem->freeze_second;
  for (rf_index j = 0; j < d; j++) {
    double own = frozen ? audit->g[j] : a * audit->g[j] - 2 * a * gw * w[j];
    double told = frozen ? rf_system_g(system, u)[j] : claimed[j];
    off = fmax(off, fabs(own - told));
  }
  if (!frozen) off = fmax(off, fabs(2 * a * gw - system->mu - audit->f[state->units * (d + 1) + u]));
  off -= blurred_push(audit);
  off = off < 0 ? 0 : off; /* NaN stays */
  if (scale > 0) worst(&audit->found.velocity, off / scale);
}

/* Every side against the sign of w.x, for samples that push; w is known to rounding of (w, a), which has norm
 * one. */
static void check_sides(RfAudit *audit, const State *state, rf_index u, double pushing) {
  const RfFlowProblem *problem = state->run->problem;
  const int8_t *sigma = state->run->system.sigma + u * audit->n;
  rf_index d = audit->d;
  double length = rf_la_norm(state->W + u * d, d);
  if (problem->leak == 1 || !(length > 0)) return;
  rf_la_apply(audit->h, problem->X, state->W + u * d, audit->n, d, d);
  for (rf_index i = 0; i < audit->n; i++) {
    double size = length * audit->x_norm[i];
    if (!(fabs(audit->c[i]) * audit->x_norm[i] > RF_AUDIT_WEIGHTLESS * pushing)) continue;
    double off = sigma[i] == 0 ? fabs(audit->h[i]) : -sigma[i] * audit->h[i];
    off -= RF_AUDIT_INPUT * audit->x_norm[i];
    worst(&audit->found.sides, fmax(0, off) / size);
  }
}

/* (a^2 - |w|^2) e^{2 rho} of neuron k against its start, relative to the larger of the squared norms. */
static void check_balance(RfAudit *audit, const State *state, rf_index k) {
  const RfSystem *system = &state->run->system;
  const RfFlowProblem *problem = state->run->problem;
  rf_index d = audit->d, u = system->unit_of[k];
  if (u < 0 || system->dead[u]) return;
  const double *start = problem->start->directions + k * (d + 1), *w = state->W + u * d;
  double before = problem->start->log_norms[k] + problem->log_scale, now = state->rho[u] + system->offset[k];
  double top = fmax(before, now);
  double was = (start[d] * start[d] - rf_la_quick_dot(start, start, d)) * exp(2 * (before - top));
  double is = (state->a[u] * state->a[u] - rf_la_quick_dot(w, w, d)) * exp(2 * (now - top));
  worst(&audit->found.balance, fabs(is - was));
}

/* An event of this very moment: does the field move the unit as the event says? */
static RfStatus check_event(RfAudit *audit, const State *state, const RfFlowEvent *event, double pushing) {
  const RfSystem *system = &state->run->system;
  const RfFlowProblem *problem = state->run->problem;
  rf_index d = audit->d, u = system->unit_of[event->neuron], i = event->sample;
  double scale, off = 0;
  if (u < 0 || event->kind == RF_EVENT_BRANCH) return RF_OK;
  const double *w = state->W + u * d, *x = problem->X + i * d;
  double length = rf_la_norm(w, d), a = state->a[u];
  int8_t side = system->sigma[u * audit->n + i];
  if (!(length > 0) || a == 0) return RF_OK;
  if (event->kind == RF_EVENT_DIE) {
    for (rf_index j = 0; j < audit->n; j++)
      off = fmax(off,
                 rf_la_quick_dot(w, problem->X + j * d, d) / fmax(length * audit->x_norm[j], RF_TOL_DIVISOR));
    worst(&audit->found.events, off > RF_AUDIT_ON ? 1 : 0);
    return RF_OK;
  }
  if (system->dead[u] || fabs(rf_la_quick_dot(w, x, d)) > RF_AUDIT_ON * length * audit->x_norm[i])
    return RF_OK;
  RfStatus status = read_field(audit, state, u, &scale);
  if (status || !(scale > 0)) return status;
  scale = fmax(scale, RF_AUDIT_WEIGHTLESS * pushing); /* as for velocities: below that it is at rest */
  if (side != 0)
    off = -side * (a > 0 ? 1 : -1) * rf_la_quick_dot(audit->g, x, d) / (audit->x_norm[i] * scale);
  off -= blurred_push(audit) / scale;
  worst(&audit->found.events, fmax(0, off));
  return RF_OK;
}

static RfStatus check_events(RfAudit *audit, const State *state, double pushing) {
  const RfRun *run = state->run;
  double now = run->system.log_t + (run->problem->mean ? log((double)audit->n) : 0);
  RfStatus status = RF_OK;
  for (rf_index e = audit->events_seen; e < run->n_events && !status; e++)
    if (run->events[e].log_t == now && run->problem->leak != 1)
      status = check_event(audit, state, &run->events[e], pushing);
  audit->events_seen = run->n_events;
  return status;
}

/* ---- when to look ---------------------------------------------------------------------------- */

/* Evaluations of the run between two looks: a look costs about two of them, more on large problems, whose own
 * evaluations share work between units of one pattern, and where many units slide. Long runs are looked at as
 * often as the parts of them say: a thousand times each time they have become e times as long. */
enum { LOOK_EVERY = 40, LOOK_EVERY_LARGE = 400, STEP_EVERY = 400, STEP_EVERY_LARGE = 4000 };
enum { LOOKS = 1000, STEPS = 100 };

static rf_index between_looks(rf_index evaluations, rf_index usual, rf_index parts) {
  return evaluations / parts > usual ? evaluations / parts : usual;
}

static RfStatus make_room(RfAudit *audit, rf_index size) {
  if (audit->f_room >= size) return RF_OK;
  rf_free(audit->f);
  audit->f = RF_NEW(double, size);
  audit->f_room = audit->f ? size : 0;
  return audit->f ? RF_OK : rf_fail(audit->context, RF_ERR_MEMORY, "out of memory for the audit");
}

RfStatus rf_audit_look(RfAudit *audit, RfRun *run) {
  RfSystem *system = &run->system;
  rf_index evaluations = system->evaluations,
           every = between_looks(evaluations, audit->large ? LOOK_EVERY_LARGE : LOOK_EVERY, LOOKS);
  double pushing = 0, scale;
  if (audit->found.points > 0 && evaluations - audit->looked_at < every) {
    audit->events_seen = run->n_events;
    return RF_OK;
  }
  RfStatus status = make_room(audit, rf_system_size(system));
  if (status) return status;
  audit->looked_at = evaluations;
  audit->found.points++;
  rf_system_rhs(system, system->y, audit->f);
  system->evaluations = evaluations;
  State state = state_of(run, system->y);
  read_blur(audit, &state);
  read_margins(audit, &state, system->log_S);
  for (rf_index i = 0; i < audit->n; i++)
    if (system->seen[i]) pushing += fabs(audit->c[i]) * audit->x_norm[i];
  for (rf_index u = 0; u < state.units && !status; u++) {
    if (system->dead[u]) continue;
    status = read_field(audit, &state, u, &scale);
    if (status) break;
    bool settles = run->held.steps > 0 && (run->held.unit == u || run->at_infinity); /* corner.c: hold */
    if (!settles)
      check_velocity(audit, &state, u,
                     fmax(scale, RF_AUDIT_WEIGHTLESS * pushing)); /* below that it is at rest */
    check_sides(audit, &state, u, pushing);
  }
  if (!status && !run->problem->freeze_second && system->kappa == 0)
    for (rf_index k = 0; k < system->m; k++) check_balance(audit, &state, k);
  return status ? status : check_events(audit, &state, pushing);
}

/* -d ln L / dtau = (S/L) sum_u e^{2 rho} (a^2 |g|^2 + (g.w)^2) at y, and ln L. */
static RfStatus read_fall(RfAudit *audit, RfRun *run, const double *y, double *fall, double *log_L) {
  RfSystem *system = &run->system;
  rf_index evaluations = system->evaluations, d = audit->d;
  double sum = 0, scale;
  RfStatus status = RF_OK;
  rf_system_fields(system, y); /* for S there */
  system->evaluations = evaluations;
  State state = state_of(run, y);
  read_blur(audit, &state);
  read_margins(audit, &state, system->log_S);
  *log_L = log_loss(audit, run);
  for (rf_index u = 0; u < state.units && !status && fall; u++) {
    if (system->dead[u]) continue;
    status = read_field(audit, &state, u, &scale);
    double a = state.a[u], gw = rf_la_quick_dot(audit->g, state.W + u * d, d);
    sum += exp(2 * state.rho[u]) * (a * a * rf_la_quick_dot(audit->g, audit->g, d) + gw * gw);
  }
  if (fall) *fall = exp(system->log_S - *log_L) * sum;
  return status;
}

/* The largest margin that weights of these sizes could give: an error of (w, a), relative to its norm and not
 * to that of a, moves ln L by at most this times it. */
static double reach(const RfAudit *audit, const RfRun *run) {
  State state = state_of(run, run->system.y);
  double longest = 0, sum = 0;
  for (rf_index i = 0; i < audit->n; i++) longest = fmax(longest, audit->x_norm[i]);
  for (rf_index u = 0; u < state.units; u++)
    if (!run->system.dead[u]) sum += exp(2 * state.rho[u]);
  return longest * sum;
}

static RfStatus fall_at(void *who, RfRun *run, const double *y, double *fall) {
  double ignored;
  return read_fall(who, run, y, fall, &ignored);
}

RfStatus rf_audit_step(RfAudit *audit, RfRun *run, double h, double fraction) {
  RfSystem *system = &run->system;
  rf_index size = rf_system_size(system), evaluations = system->evaluations;
  rf_index every = between_looks(evaluations, audit->large ? STEP_EVERY_LARGE : STEP_EVERY, STEPS);
  double before, after, spent = 0;
  if (run->problem->freeze_second || system->mu != 0 || system->lift.on) return RF_OK;
  if (audit->stepped_at > 0 && evaluations - audit->stepped_at < every) return RF_OK;
  audit->stepped_at = evaluations;
  RfStatus status = make_room(audit, size);
  if (!status) status = read_fall(audit, run, system->y, NULL, &before);
  if (!status) status = rf_run_spent(run, h, fraction, audit->f, fall_at, audit, &spent);
  if (!status) {
    rf_explicit_at(&run->explicit_method, audit->f, fraction, size);
    status = read_fall(audit, run, audit->f, NULL, &after);
  }
  system->evaluations = evaluations;
  double scale = fmax(spent, RF_AUDIT_FALL) * fmax(1, reach(audit, run));
  if (!status) worst(&audit->found.energy, fabs(before - after - spent) / scale);
  return status;
}

/* ---- what was found -------------------------------------------------------------------------- */

RfFlowAudit rf_audit_result(const RfAudit *audit) {
  RfFlowAudit found = audit->found;
  found.passed = found.velocity <= RF_AUDIT_VELOCITY && found.energy <= RF_AUDIT_ENERGY &&
                 found.balance <= RF_AUDIT_BALANCE && found.sides <= RF_AUDIT_SIDES &&
                 found.events <= RF_AUDIT_EVENTS;
  return found;
}

void rf_audit_why(const RfFlowAudit *audit, char *why, size_t size) {
  const struct {
    const char *name;
    double value, allowed;
  } row[] = {{"velocity", audit->velocity, RF_AUDIT_VELOCITY},
             {"energy", audit->energy, RF_AUDIT_ENERGY},
             {"balance", audit->balance, RF_AUDIT_BALANCE},
             {"sides", audit->sides, RF_AUDIT_SIDES},
             {"events", audit->events, RF_AUDIT_EVENTS}};
  int at = 0;
  for (int k = 1; k < 5; k++)
    if (!(row[k].value / row[k].allowed <= row[at].value / row[at].allowed)) at = k;
  rf_format(why, size, "the audit of the run found %s off by %.2g", row[at].name, row[at].value);
}
