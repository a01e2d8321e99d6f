/* From the start until every margin is large, or until it is clear that this will not happen. */
#include "flow/fit/apart.h"
#include "flow/flow_tolerances.h"
#include "flow/large/stride.h"
#include "core/core.h"
#include "margin/margin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Batches of steps that hardly led on, in a row, after which the walk gives up. */
enum { CRAWLS = 5, MANY = 4 };

/* Smallest margin from which the flow is stiff, and the implicit method takes over; long steps with kinks
 * inside (large/) pay as soon as the data are separated. Their matrix has the order of the samples that push:
 * where there are thousands, or many more than weights, when few are left, or when the walk under explicit
 * weights crawls. */
static double q_switch(const RfRun *run) {
  if (!rf_stride_fits(run)) return 15;
  rf_index weights = run->system.units * (run->system.d + 1);
  bool many = run->problem->gram || run->system.n > MANY * weights;
  return many && run->phase.crawling < CRAWLS ? 30 : 1;
}

/* sum_k |a_k| |w_k| |x| <= units e^{2 rho}/2 max|x| <= 1e-9, the relative error of the weights. */
double rf_small_rho(const RfFlowProblem *problem, rf_index m, double longest) {
  return 0.5 * (log(rf_problem_large(problem) ? RF_TOL_SMALL_LARGE : RF_TOL_SMALL) -
                log(longest * (double)(m > 0 ? m : 1)));
}

double rf_run_small_rho(const RfRun *run) {
  const RfSystem *system = &run->system;
  double largest = RF_TOL_TINY;
  for (rf_index i = 0; i < system->n; i++) largest = fmax(largest, system->x_norm[i]);
  return rf_small_rho(run->problem, system->units, largest);
}

double rf_run_restlessness(const RfRun *run) {
  const RfSystem *system = &run->system;
  rf_index d = system->d, units = system->units;
  double worst = 0;
  double small = run->problem->freeze_second || rf_run_alone(run) ? -INFINITY : rf_run_small_rho(run) - 1;
  for (rf_index u = 0; u < units; u++) {
    if (system->dead[u] || system->y[units * (d + 1) + u] < small) continue;
    worst = fmax(worst, fmax(rf_la_norm(run->f + u * d, d), fabs(run->f[units * (d + 1) + u])));
  }
  return worst;
}

/* Frozen second layer: a unit that still grows under vanishing weights goes like w + v ln tau. Does it stay
 * on its side of every hyperplane then? */
static bool keeps_sides(RfRun *run, double waited) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  rf_system_planes(system, system->y);
  for (rf_index u = 0; u < system->units; u++)
    for (rf_index i = 0; i < n && !system->dead[u]; i++) {
      double side = system->sigma[u * n + i], far = side * system->H[u * n + i];
      double drift = side * waited * rf_la_quick_dot(run->f + u * d, system->problem->X + i * d, d);
      if (drift < 0 && -drift * RF_TOL_LOG_TAU > far)
        return false; /* across before ln tau has grown by 1000 */
    }
  return true;
}

static rf_index mark_small(const RfRun *run, uint8_t *small) {
  const RfSystem *system = &run->system;
  rf_index count = 0;
  double limit = rf_run_small_rho(run) - 0.5;
  for (rf_index u = 0; u < system->units; u++) {
    small[u] = !system->dead[u] && system->y[system->units * (system->d + 1) + u] < limit;
    count += small[u];
  }
  return count;
}

/* At rest (the loss no longer falls): do small units still grow? If so they are carried to where they matter.
 * Units that rest have a field of zero, and so have small ones beside them, up to `rest`, the speed that is
 * left. early: a growth that may be no more than that, or that begins only after so long that what is left
 * would have turned the unit, and the others have to come to rest first. */
static RfStatus leave_saddle(RfRun *run, double rest, bool *escaped, bool *early) {
  RfSystem *system = &run->system;
  uint8_t *small = RF_NEW(uint8_t, system->units);
  double *c = RF_NEW(double, system->n), excess = -INFINITY, usual = run->escape_slack;
  double least = RF_TOL_ESCAPE_REST * rf_system_reach(system);
  bool moves = rest > RF_TOL_REST_ROUNDING * rf_system_reach(system);
  RfStatus status = RF_OK;
  *escaped = *early = false;
  if (!small || !c) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory at a saddle");
  if (!status && mark_small(run, small) > 0 && !run->problem->freeze_second) {
    rf_system_fields(system, system->y);
    memcpy(c, system->c, (size_t)system->n * sizeof(double));
    run->escape_slack = fmax(least, RF_TOL_ESCAPE_LEFT * rest);
    if (rest > 0) run->escape_within = RF_TOL_REST_MOVES / rest;
    if (moves) run->wait_within = run->escape_within;
    status = rf_run_jump(run, escaped, &excess, c, 0, small, system->log_S, rf_run_small_rho(run));
    run->escape_slack = usual, run->escape_within = run->wait_within = INFINITY;
    *early = !*escaped && moves && (excess > least || run->settings->until == RF_UNTIL_TIME);
    run->escapes += *escaped;
  }
  rf_free(small);
  rf_free(c);
  return status;
}

/* Every unit tiny: the alignment is exact until the first of them matters. */
static RfStatus leave_origin(RfRun *run) {
  const RfSystem *system = &run->system;
  bool escaped, early;
  for (rf_index u = 0; u < system->units; u++)
    if (!system->dead[u] && system->y[system->units * (system->d + 1) + u] >= rf_run_small_rho(run) - 0.5)
      return RF_OK;
  if (run->problem->freeze_second || rf_run_alone(run)) return RF_OK;
  RfStatus status = leave_saddle(run, 0, &escaped, &early);
  run->escapes = 0;
  return status;
}

/* Drops dead units once they are a quarter of all. */
static RfStatus tidy(RfRun *run) {
  rf_index dead = 0, units = run->system.units;
  for (rf_index u = 0; u < units; u++) dead += run->system.dead[u];
  if (4 * dead < units || dead == 0) return RF_OK;
  const double *q = rf_system_hold(&run->system, run->system.y);
  RfStatus status = rf_system_compress(&run->system);
  if (!status) rf_system_keep(&run->system, run->system.y, q);
  rf_run_forget_repeats(run);
  run->held.steps = 0;
  return status ? status : rf_run_resize(run);
}

static bool nothing_moves(const RfRun *run) {
  const RfSystem *system = &run->system;
  for (rf_index u = 0; u < system->units; u++)
    if (!system->dead[u]) return false;
  return true;
}

/* Below this sum of losses every sample is on its right side (one wrong sample alone costs loss(0)). */
static double log_separating_loss(const RfRun *run) { return rf_loss_log_value(run->problem->loss, 0); }

RfStatus rf_run_gather(RfRun *run) {
  rf_index merged = 0;
  bool folded = false;
  bool parted = false;
  if (run->problem->freeze_second || rf_run_alone(run)) return RF_OK;
  RfStatus status = run->phase.part == 3 ? rf_system_balance(&run->system, run->together, &parted) : RF_OK;
  rf_system_fields(&run->system, run->system.y);
  rf_system_planes(&run->system, run->system.y);
  if (!status) status = rf_layer_fold(run, RF_FOLD_SAFE, &folded);
  if (!status && folded) {
    rf_system_fields(&run->system, run->system.y);
    rf_system_planes(&run->system, run->system.y);
  }
  if (!status && !rf_problem_wide(run->problem)) status = rf_apart_keep(&run->system);
  if (!status) status = rf_apart_carry(&run->system);
  for (rf_index u = 0; u < run->system.units && !status && rf_run_large(run); u++)
    status = rf_apart_slide(&run->system, u); /* small ones are parted at valleys that matter */
  const double *q = rf_system_hold(&run->system, run->system.y);
  if (!status) status = rf_system_merge(&run->system, &merged, run->together);
  if (!status && merged > 0) rf_system_keep(&run->system, run->system.y, q);
  merged += folded || parted;
  if (merged > 0) rf_run_forget_repeats(run), run->held.steps = 0;
  if (!status && merged > 0) status = rf_run_resize(run);
  return status;
}

/* Units that an event has pinned to one ray are at one place. Once they leave, rounding hides that, and at a
 * frozen scale it would be stretched to an order in which they come to a ridge (F.6a). */
static RfStatus gather_pinned(RfRun *run) {
  RfSystem *system = &run->system;
  rf_index pinned = 0, merged = 0;
  if (run->problem->freeze_second || rf_run_alone(run) || rf_run_large(run)) return RF_OK;
  for (rf_index u = 0; u < system->units; u++)
    pinned += !system->dead[u] && system->balanced[u] && rf_apart_pinned(system, u);
  if (pinned < 2) return RF_OK;
  rf_system_planes(system, system->y);
  const double *q = rf_system_hold(system, system->y);
  RfStatus status = rf_apart_keep(system);
  if (!status) status = rf_apart_carry(system);
  if (!status) status = rf_system_merge_pinned(system, &merged);
  if (status || merged == 0) return status;
  rf_system_keep(system, system->y, q);
  rf_run_forget_repeats(run), run->held.steps = 0;
  return rf_run_resize(run);
}

/* Long rows make margins stiff while others are still small: units then meet hyperplanes every hundred
 * explicit steps, and the implicit method is taken for good as long as its steps are much longer. */
enum { STIFF_STEPS = 100, STIFF_GAIN = 30 };

static bool stiff_for_long(const RfRun *run) { return run->system.grade && run->stiff_steps > STIFF_STEPS; }

static bool still_stiff(const RfRun *run) {
  return run->system.grade && run->h_stiff > 0 && run->h > STIFF_GAIN * run->h_stiff;
}

RfStatus rf_fit_advance(RfRun *run) {
  RfStatus status = rf_run_step(run);
  if (status) return status;
  if (run->stuck > 60)
    return rf_fail(run->context, RF_ERR_NUMERIC, "events accumulate at log t = %.6g", run->system.log_t);
  if (run->step_events > 0) status = tidy(run);
  if (!status && run->step_events > 0) status = gather_pinned(run);
  run->step_events = 0;
  if (!run->implicit &&
      ((run->stiff_count > 10 && run->since_event > 150) || run->since_event > 400 || stiff_for_long(run))) {
    run->implicit = true;
    run->stiff_steps = 0;
    run->fresh = false;
    status = rf_run_gather(run);
  } else if (!run->implicit && rf_run_large(run) && run->steps_explicit % 10 == 9) {
    status = rf_run_gather(run);
  } else if (run->implicit && !run->at_infinity && !run->system.lift.on && run->since_event == 0 &&
             rf_system_q_min(&run->system) < q_switch(run) && !still_stiff(run)) {
    run->implicit = false; /* events are located best by the explicit method */
    run->fresh = false;
    run->stiff_count = 0;
    run->h = fmin(run->h, 0.1 * rf_run_tau_unit(run));
  }
  if (!status) status = rf_trace_step(run);
  return status ? status : rf_observe(run);
}

RfStatus rf_run_checkpoint(RfRun *run) {
  if (!run->settings->want_checkpoint || !run->settings->want_checkpoint(run->settings->user)) return RF_OK;
  RfFlowCheckpoint checkpoint = {0};
  RfStatus status = rf_run_save(run, &checkpoint);
  if (!status) run->settings->save(run->settings->user, &checkpoint);
  rf_flow_checkpoint_free(&checkpoint);
  return status;
}

/* A reason to stop that does not come from the flow itself; false: go on. */
bool rf_run_stops(RfRun *run, RfFlowOutcome *outcome, char *why) {
  const char *text = NULL;
  if (run->reached)
    *outcome = RF_FLOW_STOPPED, text = "the requested loss or time is reached";
  else if (run->branched && run->settings->branches == RF_BRANCHES_STOP)
    *outcome = RF_FLOW_BRANCHED, text = "several continuations at a hyperplane";
  else if (rf_context_stop(run->context))
    *outcome = RF_FLOW_INTERRUPTED, text = "stopped by the caller";
  else if (run->steps_explicit + run->steps_implicit > run->settings->max_steps)
    *outcome = RF_FLOW_UNDECIDED, text = RF_WHY_STEPS;
  else if (run->may_give_up && (double)run->phase.crossed >= RF_TOL_STRIDE_CROSSED)
    *outcome = RF_FLOW_UNDECIDED, text = "long steps with many crossings inside do not tell their order";
  if (text) rf_format(why, RF_WHY_SIZE, "%s", text);
  return text != NULL;
}

/* Steps without a fall of the loss after which events that come again and again no longer count as motion.
 * After quiet_after steps without one they do not come again and again: implicit steps have long taken over
 * (rf_fit_advance), and what still moves is the flow itself. With a frozen second layer they are followed to
 * ln tau of hundreds, and there it is rounding. */
enum { resting_after = 2000, quiet_after = 500 };

/* The status of a step that could not be taken, as an outcome: the state is that before the step. */
RfStatus rf_run_ended(const RfRun *run, RfStatus status, RfFlowOutcome *outcome, char *why) {
  if (status != RF_ERR_NUMERIC && status != RF_INTERRUPTED) return status;
  bool stopped = status == RF_INTERRUPTED;
  *outcome = stopped ? RF_FLOW_INTERRUPTED : RF_FLOW_UNDECIDED;
  rf_format(why, RF_WHY_SIZE, "%.150s", stopped ? "stopped by the caller" : run->context->error);
  return RF_OK;
}

/* The time in which the slowest sample whose loss matters would make a unit grow: nothing rests before. */
static double slowest_unit(const RfRun *run) {
  const RfSystem *system = &run->system;
  double least = INFINITY;
  for (rf_index i = 0; i < system->n; i++)
    if (system->seen[i] && system->x_norm[i] > 0 && system->p[i] > RF_TOL_REST_LEFT)
      least = fmin(least, system->p[i] * system->x_norm[i]);
  return 1 / fmax(least, RF_TOL_TINY);
}

/* Steps that a flow which can never separate is followed; most come to rest before. */
enum { hopeless_after = 4000 };

/* A linear network separates only what a hyperplane separates. */
static bool beyond_linear(const RfRun *run, char *why) {
  const RfFlowProblem *problem = run->problem;
  RfLinearMargin linear;
  if (problem->leak != 1) return false;
  RfStatus status = rf_margin_linear(run->context, &linear, problem->X, problem->y, problem->n, problem->d);
  if (status >= 0) rf_linear_margin_free(&linear);
  if (status != RF_NOT_SEPARABLE) return false;
  rf_format(why, RF_WHY_SIZE, "no hyperplane separates the data, and the network is linear");
  return true;
}

/* a b = c d, exactly. */
static bool same_product(double a, double b, double c, double d) {
  double left = a * b, right = c * d;
  if (!(fabs(left) > RF_TOL_EXACT)) return (a == 0 || b == 0) && (c == 0 || d == 0);
  return left == right && fma(a, b, -left) == fma(c, d, -right);
}

/* Two samples on one ray from the origin, exactly: the output at one is a positive multiple of that at the
 * other. */
static bool on_one_ray(const double *x, const double *other, rf_index d) {
  rf_index first = 0;
  while (first < d && x[first] == 0 && other[first] == 0) first++;
  if (first == d || !(x[first] * other[first] > 0)) return false;
  for (rf_index k = first + 1; k < d; k++)
    if (!same_product(x[k], other[first], other[k], x[first])) return false;
  return true;
}

/* Two samples on one ray with different labels, a zero sample, or a linear network on data that no hyperplane
 * separates: never are all margins positive, however long some of them go on growing. */
static bool hopeless(const RfRun *run, char *why) {
  if (beyond_linear(run, why)) return true;
  const RfSystem *system = &run->system;
  const double *X = system->problem->X, *y = system->problem->y;
  rf_index n = system->n, d = system->d;
  for (rf_index i = 0; i < n; i++) {
    if (system->x_norm[i] == 0) {
      rf_format(why, RF_WHY_SIZE, "sample %lld is zero: its margin stays 0", (long long)i);
      return true;
    }
    for (rf_index j = 0; j < i; j++) {
      if (y[i] == y[j] || !on_one_ray(X + i * d, X + j * d, d)) continue;
      bool equal = memcmp(X + i * d, X + j * d, (size_t)d * sizeof(double)) == 0;
      rf_format(why, RF_WHY_SIZE,
                "samples %lld and %lld are %s with different labels: no network separates them", (long long)j,
                (long long)i, equal ? "equal" : "on one ray");
      return true;
    }
  }
  return false;
}

/* A drift under lifted weights (lift.c): does it lead across nothing any more? */
static RfStatus look_for_end(RfRun *run, bool *lost) {
  RfDrift found;
  if (!run->system.lift.there) return RF_OK;
  rf_system_rhs(&run->system, run->system.y, run->f);
  run->fresh = false;
  RfStatus status = rf_run_drift(run, &found);
  if (status || found == RF_DRIFT_SEEN) return status;
  run->way.settled = found == RF_DRIFT_NONE;
  *lost = !run->way.settled;
  rf_run_drop(run);
  return RF_OK;
}

/* At rest, but for a drift that leads on, or was left when something else moved: it is followed from here on,
 * and the run is not over. lost: it cannot be. */
static RfStatus take_up_drift(RfRun *run, bool *over, bool *lost) {
  const RfSystem *system = &run->system;
  RfDrift found;
  RfStatus status = rf_run_lift(run, &found);
  *over = found == RF_DRIFT_NONE;
  /* pushes part with time, after a motion, too */
  bool waits = !(system->lift.drive > 0) || system->grade || run->since_event >= quiet_after;
  bool early = waits && system->tau * rf_system_reach(system) < RF_TOL_LIFT_START;
  *lost = found == RF_DRIFT_BEYOND && !early;
  return status;
}

/* At rest with samples on the wrong side, and nobody left to change that? */
static RfStatus look_for_rest(RfRun *run, bool *over, bool *lost, char *why) {
  RfSystem *system = &run->system;
  *over = *lost = false;
  if (run->phase.steps % 8 != 7 || rf_run_log_loss_seen(run) < log_separating_loss(run)) return RF_OK;
  if (system->lift.on) return look_for_end(run, lost);
  double log_loss = rf_run_log_loss_seen(run), unit = 1 / rf_system_reach(system);
  if (!(log_loss > run->phase.best - RF_TOL_REST_FALL))
    run->phase.best = log_loss, run->phase.best_at = run->phase.steps;
  if (!run->problem->freeze_second && run->since_event >= quiet_after) run->phase.best_at = run->phase.steps;
  double size = rf_system_log_size(system); /* a small network grows long before its loss falls */
  bool small = !run->problem->freeze_second && rf_system_possible_margin(&run->system) < RF_TOL_REST_SMALL;
  if (small && !(fabs(size - run->phase.size) <= RF_TOL_REST_GROWS))
    run->phase.size = size, run->phase.best_at = run->phase.steps;
  double falling = rf_run_dissipation(run, system->y) * exp(rf_run_log_loss(run) - log_loss);
  double waited = system->tau - run->phase.tau_event;
  if (!run->problem->freeze_second) waited = fmax(unit, waited);
  run->fresh = false;
  rf_index idle = run->phase.steps - run->phase.best_at;
  if ((idle > resting_after && falling * system->tau < RF_TOL_REST_TO_AND_FRO) || idle > 5 * resting_after) {
    /* events to and fro at a point of rest */
  } else if (run->problem->freeze_second) { /* its clock has no natural unit: only products with the time
                                               waited count */
    if (waited < 100 * rf_run_tau_unit(run) || falling * waited > RF_TOL_REST_FROZEN) return RF_OK;
    rf_system_planes(system, system->y);
    if (rf_run_restlessness(run) * waited > RF_TOL_REST_MOVES && !keeps_sides(run, waited)) return RF_OK;
  } else { /* what is left to fall is about falling * waited */
    if (system->tau < slowest_unit(run)) return RF_OK;
    if (falling * unit > RF_TOL_REST_FALLING && falling * waited > RF_TOL_REST_LEFT) return RF_OK;
    bool moves = rf_run_restlessness(run) * unit > RF_TOL_REST_SPEED;
    if (moves) run->way.settled = false;
    if (moves) return RF_OK;
    RfDrift found;
    RfStatus status = rf_run_drift(run, &found);
    if (status || found == RF_DRIFT_SEEN) return status;
    *lost = found == RF_DRIFT_BEYOND;
  }
  if (system->lift.drive > 0 && !run->way.settled)
    *lost = true; /* dropped on the way, and to be taken up again */
  bool escaped, early;
  double rest = fmax(idle > resting_after ? 0 : rf_run_restlessness(run), RF_TOL_REST_ROUNDING / unit);
  RfStatus status = leave_saddle(run, rest, &escaped, &early);
  if (early) return status;
  *over = !escaped;
  if (escaped) run->way.settled = false;
  if (!status && *over && *lost && !hopeless(run, why)) {
    status = take_up_drift(run, over, lost);
    if (!*over) return status;
  }
  run->phase.tau_event = system->tau;
  run->phase.best = INFINITY;
  run->implicit = false;
  run->h = 0;
  return status;
}

static RfStatus begin(RfRun *run) {
  RfStatus status = rf_run_start(run);
  if (!status) status = tidy(run);
  if (!status && !(run->branched && run->settings->branches == RF_BRANCHES_STOP)) status = leave_origin(run);
  if (!status) status = rf_trace_step(run);
  if (!status) status = rf_observe(run);
  if (!status)
    run->phase = (RfPhase){.part = 1, .tau_event = run->system.tau, .best = INFINITY, .last = INFINITY};
  return status;
}

static void tell_lost(const RfRun *run, char *why) {
  if (run->system.lift.drive > 0)
    rf_format(why, RF_WHY_SIZE,
              "neurons drift like ln t, followed to ln t = %.4g: not at rest, and too slowly beyond",
              run->system.log_t + (run->problem->mean ? log((double)run->system.n) : 0));
  else
    rf_format(why, RF_WHY_SIZE,
              "a neuron drifts like ln t to a hyperplane, where at this pace it is at ln t = %.3g: too "
              "slowly to be followed there",
              run->way.arrives);
}

RfStatus rf_fit(RfRun *run, RfFlowOutcome *outcome, char *why) {
  RfSystem *system = &run->system;
  RfStatus status = run->phase.part == 0 ? begin(run) : RF_OK;
  *outcome = RF_FLOW_CONVERGED;
  for (; !status && run->phase.part == 1; run->phase.steps++) {
    bool over, lost;
    if (rf_run_stops(run, outcome, why)) return RF_OK;
    if (run->phase.steps == hopeless_after && hopeless(run, why)) {
      *outcome = RF_FLOW_NOT_SEPARATED;
      return RF_OK;
    }
    if (nothing_moves(run)) {
      *outcome = RF_FLOW_NOT_SEPARATED;
      rf_format(why, RF_WHY_SIZE, "every neuron is dead or zero");
      return RF_OK;
    }
    status = rf_run_checkpoint(run);
    if (!status) status = rf_fit_advance(run);
    if (status) break;
    if (run->since_event == 0) run->phase.tau_event = system->tau;
    if (rf_system_q_min(system) >= q_switch(run) && !run->reached) {
      rf_run_drop(run);
      return RF_OK;
    }
    status = look_for_rest(run, &over, &lost, why);
    if (!status && system->lift.on) status = rf_run_lifted(run, &lost);
    if (!status && lost && !over) {
      *outcome = RF_FLOW_UNDECIDED;
      tell_lost(run, why);
      return RF_OK;
    }
    if (!status && over) {
      *outcome = RF_FLOW_NOT_SEPARATED;
      rf_format(why, RF_WHY_SIZE, "the loss has stopped falling with samples on the wrong side");
      return RF_OK;
    }
  }
  return rf_run_ended(run, status, outcome, why);
}
