/* Stepping: explicit while the problem is smooth, implicit when stability limits the step or the margins are
 * large; every step is cut at its first event. */
#include "flow/audit/audit.h"
#include "flow/fit/implicit_internal.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"
#include "flow/large/stride.h"
#include "flow/rodas.h"
#include "flow/large/walk_fit.h"

#include <math.h>
#include <string.h>

void rf_run_free(RfRun *run) {
  rf_system_free(&run->system);
  rf_explicit_free(&run->explicit_method);
  rf_implicit_free(run->implicit_method);
  rf_stride_free(run->stride);
  rf_walk_fit_free(run->walk_fit);
  rf_free(run->f);
  rf_free(run->H1);
  rf_free(run->row_unit);
  rf_free(run->hits);
  rf_free(run->way.y);
  rf_free(run->events);
  for (rf_index j = 0; j < run->n_branches; j++) rf_free(run->branches[j].sectors);
  rf_free(run->branches);
  rf_free(run->trace);
  rf_moment_free(&run->moment);
  rf_audit_free(run->audit);
  memset(run, 0, sizeof *run);
}

RfStatus rf_run_resize(RfRun *run) {
  RfSystem *system = &run->system;
  rf_index size = rf_system_size(system), mn = system->units * system->n;
  rf_explicit_free(&run->explicit_method);
  rf_implicit_free(run->implicit_method);
  rf_stride_free(run->stride);
  rf_walk_fit_free(run->walk_fit);
  run->implicit_method = NULL, run->stride = NULL, run->walk_fit = NULL;
  rf_free(run->f);
  rf_free(run->H1);
  rf_free(run->row_unit);
  run->f = RF_NEW(double, 2 * size);
  run->H1 = RF_NEW(double, 3 * mn + 2 * system->n + system->units * system->d);
  run->row_unit = RF_NEW(rf_index, system->units);
  if (!run->f || !run->H1 || !run->row_unit)
    return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the flow");
  run->y_end = run->f + size;
  run->Hd0 = run->H1 + mn;
  run->Hd1 = run->Hd0 + mn;
  run->c_ahead = run->Hd1 + mn + system->n;
  run->chosen = run->c_ahead + system->n;
  run->fresh = false;
  return rf_explicit_new(run->context, &run->explicit_method, size);
}

enum { WIDE = 2000 }; /* neurons among which a single one changes the network by less than merging does */

bool rf_problem_wide(const RfFlowProblem *problem) { return problem->start->m >= WIDE; }

double rf_run_together(const RfFlowProblem *problem) {
  return rf_problem_wide(problem) ? RF_TOL_TOGETHER_WIDE : RF_TOL_TOGETHER;
}

RfStatus rf_run_new(RfContext *context, RfRun *run, const RfFlowProblem *problem,
                    const RfFlowSettings *settings) {
  memset(run, 0, sizeof *run);
  run->context = context;
  run->problem = problem;
  run->settings = settings;
  run->tol = 0.1 * context->tol.ode;
  if (rf_run_large(run)) run->tol *= 30; /* as exact as local.c and merging leave it */
  run->tol_implicit = 100 * context->tol.ode;
  if (settings->until == RF_UNTIL_TIME) /* the weights themselves are asked for: errors add up over the run */
    run->tol = fmax(RF_TOL_FINITE * run->tol, RF_TOL_CARE), run->tol_implicit = run->tol;
  run->together = rf_run_together(problem);
  run->q_frozen = RF_TOL_Q_FROZEN, run->q_slow = RF_TOL_Q_SLOW;
  run->escape_slack = RF_TOL_ESCAPE;
  run->escape_within = run->wait_within = INFINITY;
  run->stride_tolerance = 1;
  run->log_t_class[0] = run->log_t_class[1] = run->last_smoothed = NAN;
  run->monitors.smoothed_margin_monotone = true;
  RfStatus status = rf_system_new(context, &run->system, problem);
  run->system.known = RF_TOL_CANCELLED;
  if (!status) status = rf_run_resize(run);
  if (status) rf_run_free(run);
  return status;
}

void rf_run_reset(RfRun *run) {
  run->fresh = false;
  run->system.y[rf_system_clock(&run->system)] = 0;
}

/* f at system.y; a first guess of the step where there is none. */
static RfStatus look_around(RfRun *run) {
  RfSystem *system = &run->system;
  rf_index size = rf_system_size(system);
  RfStatus status = RF_OK;
  if (run->fresh && !run->implicit) return RF_OK;
  if (run->implicit && !run->implicit_method)
    status = rf_implicit_new(run->context, &run->implicit_method, system->units, system->n, system->d);
  if (status) return status;
  if (!run->implicit || system->grade) rf_system_fields(system, system->y); /* or the derivative's will do */
  system->log_S_step = system->log_S;
  system->by_margins = false; /* which rf_implicit_prepare knows */
  if (run->implicit) {
    status = rf_implicit_prepare(run->implicit_method, system, run->f);
    system->log_S_step = system->log_S;
    run->f[rf_system_clock(system)] = 1;
  } else {
    rf_system_rhs(system, system->y, run->f);
  }
  memcpy(run->explicit_method.stage[0], run->f, (size_t)size * sizeof(double));
  run->fresh = true;
  if (!(run->h > 0)) {
    double speed = rf_la_max_abs(run->f, rf_system_clock(system));
    run->h = speed > 0 ? 0.01 / speed : 1;
  }
  return status;
}

double rf_run_log_add(double a, double b) {
  if (a < b) {
    double swap = a;
    a = b, b = swap;
  }
  return b == -INFINITY ? a : a + log1p(exp(b - a));
}

/* The last component of y is time since the start of the step, in units of 1/S there. */
static void book_time(RfSystem *system, double h) {
  double *elapsed = &system->y[rf_system_clock(system)];
  if (*elapsed > 0) system->log_t = rf_run_log_add(system->log_t, log(*elapsed) - system->log_S_step);
  *elapsed = 0;
  system->tau += h;
  system->kappa += system->mu * h;
}

double rf_run_tau_unit(const RfRun *run) {
  if (!run->problem->freeze_second) return 1;
  double rate = rf_system_gauge_rate(&run->system);
  return rate > RF_TOL_NO_RATE ? 1 / rate : 1 / RF_TOL_NO_RATE;
}

static double next_step(const RfRun *run, double h, double error, double order, double shrink, double grow) {
  double factor = error > 0 ? 0.9 * pow(error, -1 / order) : grow;
  double longest =
      RF_TOL_STEP_LONGEST * rf_run_tau_unit(run);        /* at rest the error is zero, h would overflow */
  longest = fmax(longest, fmin(run->system.tau, 1e290)); /* what drifts does so like ln tau */
  return fmin(longest, h * fmin(grow, fmax(shrink, factor)));
}

static RfStatus no_step(RfRun *run) {
  return rf_fail(run->context, RF_ERR_NUMERIC, "the integrator found no step at log t = %.6g",
                 run->system.log_t);
}

/* Evaluations of a step that ends at an event, by the methods of order 8 and 5; and what part of a step of
 * the one is a first guess of a step of the other. */
enum { COST = 16, COST_LOW = 6, ORDER = 8, ORDER_LOW = 5 };
static const double low_part = 0.1;

/* Where events are met as often as every few percent of a step, one of order 5 goes as far. With a mean time
 * g to the next event a step of length h goes on by g (1 - e^{-h/g}); g is no less than what has passed
 * without. */
static bool low_pays(RfRun *run) {
  double g = fmax(run->gap, run->system.tau - run->tau_cut);
  if (!run->problem->located || !(run->gap > 0)) return false;
  if (!(run->h_low > 0)) run->h_low = low_part * run->h;
  return run->h_low < run->h && COST_LOW * expm1(-run->h / g) > COST * expm1(-run->h_low / g);
}

/* An event ends the step: how long ago was the last? Exponential mean over some of them. */
enum { GAPS = 8 };
static void count_gap(RfRun *run) {
  double gap = run->system.tau - run->tau_cut;
  run->gap = run->gap > 0 ? run->gap + (gap - run->gap) / GAPS : gap;
  run->tau_cut = run->system.tau;
}

/* The step that follows one of length h. */
static void plan_explicit(RfRun *run, double h, double error) {
  if (run->explicit_method.low)
    run->h_low = next_step(run, h, error, ORDER_LOW, 0.333, 6);
  else
    run->h = next_step(run, h, error, ORDER, 0.333, 6);
}

/* No shorter explicit step than this: it would move nothing by more than rounding. A long row in a network
 * that has cancelled its margin answers at rates of 1e17 and more, from the start on. */
static double least_step(const RfRun *run) {
  const RfSystem *system = &run->system;
  double least = RF_TOL_STEP_EXPLICIT * rf_run_tau_unit(run);
  if (run->problem->freeze_second) return least;
  return least / fmax(1, rf_system_reach(system) * rf_system_possible_margin(system));
}

/* A step of at most h whose error is small enough, up to the events in it. */
static RfStatus try_explicit(RfRun *run, double *h, double *error) {
  RfSystem *system = &run->system;
  RfExplicit *method = &run->explicit_method;
  for (;;) {
    *error = rf_explicit_try(method, system, *h, run->tol);
    if (*error <= 1) break;
    if (isnan(*error)) return RF_INTERRUPTED;
    *h = next_step(run, *h, *error, method->low ? ORDER_LOW : ORDER, 0.2, 1);
    if (!(*h > least_step(run))) return no_step(run);
  }
  rf_explicit_end(method, system);
  memcpy(run->y_end, method->end, (size_t)rf_system_size(system) * sizeof(double));
  rf_planes_watch(run, method->stage[12], *h);
  RfStatus status = rf_events_find(run, *h);
  /* units put back stay so */
  if (run->n_hits == 0) memcpy(method->end, run->y_end, (size_t)rf_system_size(system) * sizeof(double));
  return status;
}

/* The step just computed with its events inside, carried out by local.c. */
static RfStatus accept_local(RfRun *run, double h, double error, double bend) {
  RfSystem *system = &run->system;
  memcpy(system->y, run->explicit_method.end, (size_t)rf_system_size(system) * sizeof(double));
  book_time(system, h);
  rf_system_normalise(system, system->y);
  run->step_taken = h;
  run->step_events++;
  run->since_event = 0;
  run->stuck = 0;
  run->fresh = false;
  run->h = fmin(next_step(run, h, error, 8, 0.333, 6), h * fmin(6, 0.8 / sqrt(bend)));
  rf_system_fields(system, system->y); /* pieces had the weights of their middles */
  return rf_slides_resolve(run);
}

/* The weights a little way into the step just computed. */
static void weights_ahead(RfRun *run) {
  RfSystem *system = &run->system;
  rf_explicit_at(&run->explicit_method, run->y_end, 1.0 / 32, rf_system_size(system));
  rf_system_fields(system, run->y_end);
  memcpy(run->c_ahead, system->c, (size_t)system->n * sizeof(double));
}

/* The step of h ends at its part `at`, where the hits are. */
static RfStatus stop_at_event(RfRun *run, double h, double at) {
  RfSystem *system = &run->system;
  RfExplicit *method = &run->explicit_method;
  rf_index size = rf_system_size(system);
  RfStatus status = rf_observe_inside(run, h, at);
  if (status) return status;
  run->still = !(at * h > RF_TOL_STILL_EXPLICIT * rf_run_tau_unit(run));
  if (run->still) weights_ahead(run);
  if ((run->by_steps || system->grade) &&
      !run->still) { /* with long rows a margin shows what dense output is off */
    if (isnan(rf_explicit_try(method, system, at * h, run->tol))) return RF_INTERRUPTED;
    memcpy(system->y, method->end, (size_t)size * sizeof(double));
  } else {
    rf_explicit_at(method, system->y, at, size);
  }
  book_time(system, at * h);
  run->step_taken = at * h;
  run->stuck = run->still ? run->stuck + 1 : 0;
  run->fresh = false;
  if (run->since_event >= 32) rf_run_forget_repeats(run);
  run->since_event = 0;
  run->stiff_count = 0;
  if (method->low)
    run->h_low = h;
  else
    run->h = h;
  count_gap(run);
  run->step_events++;
  return rf_events_apply(run);
}

/* Some unbalanced unit has shrunk so much in the step that what it has left of a^2 - |w|^2, which was
 * rounding while it was large, shows. */
static bool shrinks(const RfRun *run) {
  const RfSystem *system = &run->system;
  const double *before = system->y + system->units * (system->d + 1);
  const double *after = run->explicit_method.end + system->units * (system->d + 1);
  for (rf_index u = 0; u < system->units; u++)
    if (!system->balanced[u] && !system->dead[u] && after[u] < before[u] - RF_TOL_SHRINKS) return true;
  return false;
}

/* The step of h meets nothing: its end is the state, and its last field the first of the next. */
static RfStatus take_whole_step(RfRun *run, double h, double error) {
  RfSystem *system = &run->system;
  RfExplicit *method = &run->explicit_method;
  rf_index size = rf_system_size(system);
  bool stiff = rf_explicit_stiff(method, system, h);
  RfStatus status =
      run->recording && run->since_event % 16 == 8 && !system->lift.on ? rf_trace_energy(run, h) : RF_OK;
  run->stiff_count = stiff ? run->stiff_count + 1 : run->stiff_count > 0 ? run->stiff_count - 1 : 0;
  if (stiff) run->stiff_steps++, run->h_stiff = h;
  if (!status) status = rf_observe_inside(run, h, 1);
  if (status) return status;
  bool restore = run->problem->freeze_second || shrinks(run);
  memcpy(system->y, method->end, (size_t)size * sizeof(double));
  book_time(system, h);
  run->step_taken = h;
  run->stuck = 0;
  plan_explicit(run, h, error);
  run->since_event++;
  if (run->since_event % 32 == 0 || restore) {
    rf_system_normalise(system, system->y);
    run->fresh = false;
    return RF_OK;
  }
  if (run->n_hits >= 0) rf_system_fields(system, system->y); /* dense output may have moved the fields */
  system->log_S_step = system->log_S;
  memcpy(run->f, method->stage[12], (size_t)size * sizeof(double));
  run->f[rf_system_clock(system)] = 1; /* its unit changed with log_S_step */
  memcpy(method->stage[0], run->f, (size_t)size * sizeof(double));
  return RF_OK;
}

static RfStatus step_explicit(RfRun *run) {
  double error = 0;
  RfStatus status = RF_OK;
  run->steps_explicit++;
  run->explicit_method.low = low_pays(run);
  double h = run->explicit_method.low ? run->h_low : run->h;
  for (int shorter = 0;; shorter++) {
    bool ok = false;
    status = try_explicit(run, &h, &error);
    if (status) return status;
    double bend = run->n_hits > 0 && !rf_run_alone(run) ? rf_local_bend(run, h) : INFINITY;
    if (!isfinite(bend) || shorter == 6 || (bend > 1 && run->n_hits == 1)) break;
    if (bend <= 1) status = rf_local_step(run, h, &ok);
    if (status) return status;
    if (ok) { return accept_local(run, h, error, bend); }
    h *= fmax(0.25,
              fmin(0.5, 0.8 / sqrt(bend))); /* fewer crossings, and less time for them to bend the margins */
  }
  bool parted = false;
  double at = 2;
  status = run->n_hits == 0 ? rf_run_part_hits(run, &parted) : rf_events_locate(run, h, &at);
  if (status || parted) return status;
  if (!(at <= 1)) return take_whole_step(run, h, error);
  status = rf_run_part_hits(run, &parted);
  return status || parted ? status : stop_at_event(run, h, at);
}

/* ---- implicit steps ------------------------------------------------------------------------ */

/* Adds the time of a piece of a step, on which b = -ln S is linear, to log_t. */
static void book_piece(RfSystem *system, double left, double right, double length) {
  double rise = right - left;
  double mean = fabs(rise) < RF_TOL_MEAN_SERIES ? 0.5 * (left + right)
                : rise > 0                      ? right + log(-expm1(-rise) / rise)
                                                : left + log(-expm1(rise) / -rise);
  system->log_t = rf_run_log_add(system->log_t, mean + log(length));
}

/* Adds the time of a step to log_t. b(s) = -ln S along the step is taken as the cubic with the right ends and
 * slopes, and e^b integrated piece by piece as an exponential. */
void rf_run_book_time(RfSystem *system, double b0, double b1, double s0, double s1, double h) {
  enum { PIECES = 32 };
  double c3 = 2 * (b0 - b1) + s0 + s1, c2 = 3 * (b1 - b0) - 2 * s0 - s1, left = b0;
  if (s0 == b1 - b0 && s1 == s0) { /* a line is one exponential */
    book_piece(system, b0, b1, h);
    return;
  }
  for (int j = 1; j <= PIECES; j++) {
    double s = (double)j / PIECES, right = b0 + s * (s0 + s * (c2 + s * c3));
    book_piece(system, left, right, h / PIECES);
    left = right;
  }
}

/* d(-ln S)/dtau along f at y, where the fields are known: -sum p_i (ln |loss'|)'(q_i) dq_i/dtau over the
 * samples that push. */
static double log_S_speed(RfRun *run, const double *y, const double *f) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, units = system->units;
  double speed = 0, *rise = run->Hd1, power = run->problem->freeze_second ? 1 : 2; /* scratch: n and more */
  rf_system_planes(system, y);
  memset(rise, 0, (size_t)n * sizeof(double));
  for (rf_index u = 0; u < units; u++) {
    const double *s = system->slope + u * n, *h = system->H + u * n, *X = run->problem->X;
    double a = y[units * d + u], size = rf_system_amplitude(system, y[units * (d + 1) + u]);
    double along = f[units * d + u] + power * a * f[units * (d + 1) + u];
    if (system->dead[u] || (system->muted && system->muted[u])) continue;
    for (rf_index i = 0; i < n; i++)
      if (s[i] != 0) rise[i] += size * s[i] * (a * rf_la_quick_dot(f + u * d, X + i * d, d) + along * h[i]);
  }
  for (rf_index i = 0; i < n; i++)
    if (system->seen[i])
      speed -=
          system->p[i] * rf_loss_curvature(run->problem->loss, system->q[i]) * run->problem->y[i] * rise[i];
  return speed;
}

/* What rounding of the margins, in the weights, moves units by in a step at a frozen scale: shorter steps
 * than this allows are no finer. */
static double rounding_of_step(const RfRun *run, double h) {
  const RfSystem *system = &run->system;
  double speed = RF_TOL_ROUNDING * rf_system_possible_margin(system) * rf_system_reach(system);
  return run->phase.part == 3 ? fmin(RF_TOL_FROZEN_ROUNDING, speed * h) : 0;
}

/* With the scale frozen the path matters less than where it ends; but the weights, hence the slopes of
 * slides, have to stay meaningful. */
static double tolerance(const RfRun *run, double h) {
  double loose = run->phase.part == 3 ? 10 * run->tol_implicit : run->tol_implicit;
  if (!run->at_infinity) return loose;
  loose = fmax(loose, rounding_of_step(run, h));
  loose = fmin(loose, RF_TOL_MARGIN / fmin(10 * RF_TOL_Q_FROZEN, fmax(1, run->system.q_least)));
  if (!run->system.grade && !rf_implicit_plain(run->implicit_method)) /* which look at the margins */
    loose = fmin(loose, RF_TOL_MARGIN_CANCELLED /
                            fmin(RF_TOL_Q_MOST, fmax(1, rf_system_possible_margin(&run->system))));
  return run->care > 0 ? fmax(fmin(loose, RF_TOL_CARE), loose * pow(0.1, run->care)) : loose;
}

/* One implicit step into y_end, units that slide put exactly on their hyperplanes: what the linear algebra
 * leaves across them, 1e-10, would show in the margins. */
RfStatus rf_run_try_implicit(RfRun *run, double h, double *error) {
  RfSystem *system = &run->system;
  RfStatus status = rf_implicit_try(run->implicit_method, system, run->y_end, error, h, tolerance(run, h));
  if ((system->grade && !run->problem->freeze_second) || rf_implicit_plain(run->implicit_method))
    return status || !isfinite(*error) ? status : rf_plain_put_on(run->context, system, run->y_end, NULL, 0);
  for (rf_index k = 0; k < system->units && !status; k++)
    if (!system->dead[k]) rf_system_put_on(system, k, run->y_end + k * system->d);
  return status;
}

/* The step goes past what was asked for: bisects on its length; every trial is a full step. */
static RfStatus stop_inside(RfRun *run, double log_t, double b0, double s0, double *h) {
  RfSystem *system = &run->system;
  double low = 0, high = *h, error;
  for (int round = 0; round < 50; round++) {
    double middle = round < 49 ? 0.5 * (low + high) : high;
    RfStatus status = rf_run_try_implicit(run, middle, &error);
    if (status) return status;
    rf_system_rhs(system, run->y_end, run->f);
    double b1 = -system->log_S, s1 = log_S_speed(run, run->y_end, run->f);
    system->log_t = log_t;
    rf_run_book_time(system, b0, b1, middle * s0, middle * s1, middle);
    if (rf_run_until(run, system->log_t) > 0)
      low = middle;
    else
      high = middle;
  }
  *h = high;
  run->n_hits = 0;
  run->reached = true;
  return RF_OK;
}

/* Order by which the error of a refused step fell from the one before it: in the transient behind an event
 * far less than that of the method, which would be met by many small reductions. */
static double order_seen(double h, double error, double h_before, double error_before) {
  if (!(h < h_before) || !isfinite(error_before)) return RF_RODAS5_ORDER;
  return fmin(RF_RODAS5_ORDER, fmax(1, log(error_before / error) / log(h_before / h)));
}

/* A step of at most h whose error is small enough, or the part of it that ends at its first event. RF_LIMIT:
 * a part of it was looked at whose own error is too large, and a shorter step is to be tried, of length h. */
static RfStatus try_to_event(RfRun *run, double *h) {
  RfSystem *system = &run->system;
  double error = 0, error_before = INFINITY, h_before = 0, grow = 6;
  bool costly = run->problem->located; /* many units, thousands of events: trials are what takes the time */
  RfStatus status = RF_OK;
  for (;;) {
    status = rf_run_try_implicit(run, *h, &error);
    if (status) return status;
    if (error <= 1) break;
    if (rf_context_stop(run->context)) return RF_INTERRUPTED;
    double order = order_seen(*h, error, h_before, error_before);
    h_before = *h, error_before = error;
    bool flat =
        costly && order < 2; /* longer than a transient, of which nothing is seen by being a little shorter */
    *h = next_step(run, *h, error, order, flat ? 0.01 : 0.1, flat ? 0.5 : 1);
    if (costly) grow = 2; /* what was in the way of the longer step is still ahead */
    if (!(*h > RF_TOL_STEP_IMPLICIT * rf_run_tau_unit(run))) return no_step(run);
  }
  run->h = next_step(run, *h, error, RF_RODAS5_ORDER, 0.333, grow);
  rf_system_rhs(system, run->y_end, run->f);
  rf_planes_watch(run, run->f, *h);
  status = rf_events_find(run, *h);
  memcpy(run->c_ahead, system->c, (size_t)system->n * sizeof(double));
  run->ends_only = true;
  if (!status && run->n_hits > 0) status = rf_run_shorten(run, h);
  if (!status) status = rf_layer_approach(run, h);
  run->ends_only = false;
  if (status == RF_LIMIT) *h = fmin(run->h, 0.5 * *h);
  return status;
}

/* Units that are to be put on hyperplanes from farther away than rounding: at equal margins. */
static RfStatus bring_near(RfRun *run) {
  RfSystem *system = &run->system;
  bool far = false;
  for (rf_index j = 0; j < run->n_hits; j++) {
    const RfHit *hit = &run->hits[j];
    if (hit->kind != RF_HIT_PLANE) continue;
    double v = rf_la_quick_dot(system->y + hit->unit * system->d, run->problem->X + hit->sample * system->d,
                               system->d);
    far = far || fabs(v) > RF_TOL_PLANE * rf_run_input_size(run, hit->unit, hit->sample);
  }
  return far ? rf_plain_put_on(run->context, system, system->y, run->hits, run->n_hits) : RF_OK;
}

static RfStatus step_implicit(RfRun *run) {
  RfSystem *system = &run->system;
  rf_index size = rf_system_size(system);
  bool timed = run->phase.part != 3; /* with the scale frozen there is no physical time */
  /* to infinity a run that is only compared is asked for no time: a straight line will do */
  bool roughly = run->at_infinity && !run->recording && run->settings->until == RF_UNTIL_INFINITY;
  double h = run->h, b0 = -system->log_S;
  double s0 = timed && !roughly ? log_S_speed(run, system->y, run->f) : 0;
  RfStatus status = RF_OK;
  for (;;) {
    status = try_to_event(run, &h);
    if (status != RF_LIMIT) break;
    if (rf_context_stop(run->context)) return RF_INTERRUPTED;
    if (!(h > RF_TOL_STEP_IMPLICIT * rf_run_tau_unit(run))) return no_step(run);
  }
  bool parted = false;
  if (!status) status = rf_run_part_hits(run, &parted);
  if (status || parted) return status;
  double b1 = -system->log_S, s1 = timed && !roughly ? log_S_speed(run, run->y_end, run->f) : 0;
  double before = system->log_t;
  if (timed) rf_run_book_time(system, b0, b1, roughly ? b1 - b0 : h * s0, roughly ? b1 - b0 : h * s1, h);
  if (!(rf_run_until(run, system->log_t) > 0)) {
    status = stop_inside(run, before, b0, s0, &h);
    if (status) return status;
  }
  memcpy(system->y, run->y_end, (size_t)size * sizeof(double));
  system->y[rf_system_clock(system)] = 0;
  rf_system_forget(system);
  system->tau += h;
  system->kappa += system->mu * h;
  run->step_taken = h;
  run->steps_implicit++;
  run->fresh = false;
  rf_system_normalise(system, system->y);
  run->since_event++;
  if (run->n_hits == 0) {
    run->stuck = 0;
    if (run->care > 0 && run->since_event % 16 == 0) run->care--;
    return RF_OK;
  }
  if (run->since_event > 4) rf_run_forget_repeats(run);
  run->since_event = 0;
  run->still = !(h > RF_TOL_STILL_IMPLICIT * rf_run_tau_unit(run));
  run->stuck = run->still ? run->stuck + 1 : 0;
  run->step_events++;
  if (system->by_margins) { /* what is put on a hyperplane is there to rounding */
    status = bring_near(run);
    rf_system_fields(system, system->y);
    rf_system_note(system);
  }
  if (!status) status = rf_events_apply(run);
  if (!status) rf_system_keep_rounding(system, system->y);
  return status;
}

/* What the fields are known to before a step. Where stability limits an explicit step its length h is some
 * six times the fastest relaxation of a state that it leaves off by tol, and the fields are off by six tol/h;
 * the first implicit step relaxes that. */
static double fields_known(const RfRun *run) {
  if (run->at_infinity || run->system.lift.on) return RF_TOL_CANCELLED;
  if (run->implicit) return run->system.known;
  double steps = run->h > 0 ? RF_EXPLICIT_STABLE * rf_run_tau_unit(run) / run->h : 1;
  return fmax(RF_TOL_CANCELLED, run->tol * fmax(1, steps));
}

/* Steps to the next event that are taken where no long one was found. */
enum { STRIDE_REST = 20 };

/* A step that is broken off leaves everything as it was, so that a run taken up again repeats it. */
RfStatus rf_run_step(RfRun *run) {
  double h = run->h, h_low = run->h_low, log_t = run->system.log_t;
  rf_index steps = run->steps_explicit;
  RfHeld held = run->held;
  RfStatus status = RF_UNDECIDED;
  run->system.known = fields_known(run);
  if (!run->implicit && rf_walk_fit_fits(run)) return rf_walk_fit_step(run);
  if (run->implicit && rf_stride_fits(run)) {
    status = rf_stride_step(run);
    if (status == RF_UNDECIDED) run->stride_rest = STRIDE_REST, run->h = h;
  } else if (run->stride_rest > 0) {
    run->stride_rest--;
  }
  if (status != RF_UNDECIDED) return status;
  status = look_around(run);
  if (run->held.steps > 0) run->held.steps--;
  if (!status) status = run->implicit ? step_implicit(run) : step_explicit(run);
  if (!status && run->implicit && run->n_hits == 0) run->system.known = RF_TOL_CANCELLED;
  if (!status) status = rf_apart_carry(&run->system);
  if (!status) status = rf_run_part_near(run);
  if (status == RF_INTERRUPTED)
    run->h = h, run->h_low = h_low, run->system.log_t = log_t, run->steps_explicit = steps, run->held = held,
    run->fresh = false;
  return status;
}
