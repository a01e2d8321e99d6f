/* To t = infinity. The implicit method carries the margins to 1e6. The direction may still be far from its
 * limit (errors like q^-1/2 and slower occur), so from there the scale is frozen: one constant mu is taken
 * from every d rho/dtau, which leaves the direction's path as it is and lets kappa = integral of mu, the
 * logarithm of the size gained, grow without stiffness. Every stretch ends with an attempt to polish. A KKT
 * point is the flow's limit only when no vanishing unit would grow faster than the network under its
 * multipliers (exact alignment with weights lambda_i y_i, in which the network's own rate is 1); one that
 * would is carried to where it matters, and integration goes on. */
#include "flow/fit/apart.h"
#include "core/core.h"
#include "flow/fit/slides.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Weighted mean of d rho/dtau + mu: the growth of the network. */
static double growth_rate(RfRun *run) {
  RfSystem *system = &run->system;
  rf_index units = system->units, d = system->d;
  double top = -INFINITY, sum = 0, weighted = 0;
  rf_system_rhs(system, system->y, run->f);
  const double *rho = system->y + units * (d + 1), *speed = run->f + units * (d + 1);
  for (rf_index u = 0; u < units; u++)
    if (!system->dead[u]) top = fmax(top, rho[u]);
  for (rf_index u = 0; u < units; u++) {
    if (system->dead[u]) continue;
    double size = exp(2 * (rho[u] - top));
    if (run->problem->freeze_second) {
      const double *w = system->y + u * d;
      sum += size * rf_la_quick_dot(w, w, d), weighted += size * rf_la_quick_dot(w, run->f + u * d, d);
    } else {
      sum += size, weighted += size * (speed[u] + system->mu);
    }
  }
  return weighted / sum;
}

/* Vanishing units under the multipliers of the polished point. escaped: one was carried to where it matters;
 * otherwise those that come to a group's direction and keep their share join it. */
static RfStatus escape_test(RfRun *run, RfPolish *polish, bool *escaped, double *excess) {
  RfSystem *system = &run->system;
  uint8_t *small = RF_NEW(uint8_t, system->units);
  double *c = RF_NEW(double, system->n);
  rf_index count = 0;
  RfStatus status = RF_OK;
  *escaped = false;
  *excess = -INFINITY;
  if (!small || !c) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the escape test");
  for (rf_index u = 0; u < system->units && !status; u++) {
    small[u] = polish->group_of[u] < 0 && !system->dead[u];
    count += small[u];
  }
  double wall =
      0; /* what holds any unit, and leaves what the others do to it above rounding of its own push */
  for (rf_index i = 0; i < system->n && !status; i++)
    if (system->seen[i]) wall += RF_TOL_WALL_ESCAPE * polish->lambda[i] * system->x_norm[i];
  for (rf_index i = 0; i < system->n && !status; i++)
    c[i] = (system->seen[i] ? polish->lambda[i] : wall / fmax(system->x_norm[i], RF_TOL_TINY)) *
           run->problem->y[i];
  if (!status && count > 0 && !run->problem->freeze_second)
    status = rf_run_jump(run, escaped, excess, c, 1, small, NAN, RF_SMALL_RHO_FROZEN);
  if (!status && count > 0 && !*escaped && !run->problem->freeze_second)
    status = rf_run_join(run, polish, c, small);
  rf_free(small);
  rf_free(c);
  return status;
}

/* The smallest margin at which the scale is frozen: where margins are small differences of large terms, not
 * so large that rounding shows in the weights. */
static double place_of_scale(const RfRun *run, double wanted) {
  double blur = run->system.by_margins ? 0 : rf_system_blur(&run->system);
  return blur > 0 ? fmin(wanted, run->system.q_least * RF_TOL_BLUR / blur) : wanted;
}

/* The margin at which the scale is frozen now. Near a KKT point it is not lowered: where groups become
 * parallel, their shares move at rates of 1/q at every frozen scale, and not any more in the flow itself,
 * whose q grows. */
static double wanted_scale(const RfRun *run) {
  const RfPhase *phase = &run->phase;
  if (phase->high > 1) return run->q_frozen * pow(RF_TOL_Q_RAISED, phase->high - 1);
  bool high = phase->round < 2 || phase->high || phase->last < RF_TOL_NEAR_STILL;
  return high ? run->q_frozen : run->q_slow;
}

/* The state rests at this scale, O(1/q) or O(1/sqrt q) from its limit, and that is too much: a larger one. */
enum { HIGHEST = 3 };

static void raise_scale(RfRun *run) {
  RfPhase *phase = &run->phase;
  double now = wanted_scale(run);
  while (phase->high < HIGHEST && !(wanted_scale(run) > now)) phase->high++;
  phase->stalled = 0;
}

/* The scale goes back to its place by a drift, slow enough for the weights to follow it: a jump would upset
 * them all and send units across hyperplanes. No step is so long that an L-stable method would hide what is
 * unstable. */
static void steer(RfRun *run, double q_aim) {
  RfSystem *system = &run->system;
  RfPhase *phase = &run->phase;
  double growth = phase->growth, power = run->problem->freeze_second ? 1 : 2;
  double off = log(system->q_least / q_aim) / power;
  system->mu = growth;
  if (!(growth > 0)) return;
  run->h = fmin(run->h, RF_TOL_LONGEST / growth);
  bool away = fabs(off) > (phase->drifting ? RF_TOL_DRIFT_TO : RF_TOL_DRIFT_FROM);
  if (!away || !isfinite(off) || phase->drifting >= 200) return;
  system->mu = growth * (1 + fmax(-1, fmin(1, 5 * off)));
  run->h = fmin(run->h, RF_TOL_DRIFT_STEP / growth);
  if (phase->drifting++ % 2) phase->left++;
}

/* One step; whether a sample that nobody saw has come into sight. */
static RfStatus advance(RfRun *run) {
  rf_index before = run->system.n_seen;
  RfStatus status = rf_fit_advance(run);
  if (!status && run->since_event == 0) {
    rf_system_fields(&run->system, run->system.y), run->fresh = false;
    run->phase.tau_event = run->system.tau;
  }
  run->woken = !status && run->system.n_seen > before;
  return status;
}

/* Back to the fit, at the true scale, or at one whose margins are still known to 1e-7: to all of them a
 * sample at margin 0 has all the weight, and what the scale is off is O(1/q). */
static RfStatus wake(RfRun *run) {
  RfSystem *system = &run->system;
  bool folded, parted = false;
  RfStatus status = rf_layer_fold(run, RF_FOLD_ALL, &folded);
  if (!status) status = rf_system_balance(system, 0, &parted); /* what has grown may shrink again */
  if (!status && (folded || parted)) status = rf_run_resize(run);
  double *rho = rf_system_rho(system, system->y), power = run->problem->freeze_second ? 1 : 2;
  double room = log(RF_TOL_Q_MOST / fmax(1, rf_system_possible_margin(system))) / power;
  double back = fmin(system->kappa, fmax(0, room));
  for (rf_index u = 0; u < system->units; u++) rho[u] += back;
  rf_la_scale(system->y + rf_system_clock(system) + 1, exp(2 * back), system->residues);
  system->kappa -= back, system->mu = 0;
  run->phase = (RfPhase){.part = 1, .tau_event = system->tau, .best = INFINITY, .last = INFINITY};
  run->implicit = run->at_infinity = false;
  run->h = 0;
  run->wakes++;
  rf_run_reset(run);
  return status;
}

/* The direction of the network by RF_MARKS numbers: sums over its units along fixed vectors of signs. */
static void mark(const RfRun *run, double *marks) {
  const RfSystem *system = &run->system;
  rf_index units = system->units, d = system->d;
  double top = -INFINITY, total = 0;
  const double *a = system->y + units * d, *rho = a + units;
  memset(marks, 0, RF_MARKS * sizeof *marks);
  for (rf_index u = 0; u < units; u++)
    if (!system->dead[u]) top = fmax(top, rho[u]);
  for (rf_index u = 0; u < units; u++) {
    if (system->dead[u]) continue;
    double size = exp(2 * (rho[u] - top));
    total += size;
    for (rf_index j = 0; j < d; j++) {
      uint64_t signs = ((uint64_t)j * 2 + (a[u] > 0)) * 0x9e3779b97f4a7c15u;
      for (int k = 0; k < RF_MARKS; k++)
        marks[k] += (signs >> (56 + k) & 1 ? size : -size) * system->y[u * d + j];
    }
  }
  for (int k = 0; k < RF_MARKS; k++) marks[k] /= total;
}

/* Steps of a stretch; those of all stretches; and those after which a direction that hardly moves any more is
 * judged as it is. */
enum { SHORTEST = 25, LONGEST = 250, PART_OF_STEPS = 8, MOST_STEPS = 10000, PATIENCE = 1500 };

/* Steps of a frozen-scale stretch; stop: a reason from outside came up. */
static RfStatus stretch(RfRun *run, RfFlowOutcome *outcome, char *why, bool *stop) {
  RfSystem *system = &run->system;
  RfPhase *phase = &run->phase;
  RfStatus status = RF_OK;
  double scale = wanted_scale(run);
  *stop = false;
  if (phase->left == 0) {
    rf_index part = phase->steps / PART_OF_STEPS; /* polishing costs as much as dozens of steps */
    phase->left = phase->round < 2 ? 10 : part < SHORTEST ? SHORTEST : part < LONGEST ? part : LONGEST;
    phase->drifting = 0;
    system->mu = 0;
    if (!rf_run_large(run)) status = rf_run_gather(run); /* those that were parted at a hyperplane */
    if (status) return status;
    mark(run, phase->marks);
    phase->growth = growth_rate(run);
    rf_run_reset(run);
  }
  while (phase->left > 0 && !status && !*stop && !run->woken) {
    RfPhase before = *phase;
    double h = run->h;
    status = rf_run_checkpoint(run);
    phase->left--, phase->steps++;
    rf_system_fields(system, system->y);
    steer(run, place_of_scale(run, scale));
    run->fresh = false;
    if (!status) status = advance(run);
    if (status == RF_INTERRUPTED) *phase = before, run->h = h; /* the step will be taken again */
    if (!status && phase->left > 0) *stop = rf_run_stops(run, outcome, why);
  }
  if (!status && !*stop) system->mu = 0;
  return status;
}

/* How far the direction has moved over the stretch. */
static double way_of_stretch(const RfRun *run) {
  double now[RF_MARKS], sum = 0;
  mark(run, now);
  for (int k = 0; k < RF_MARKS; k++) sum += (now[k] - run->phase.marks[k]) * (now[k] - run->phase.marks[k]);
  return sqrt(sum / RF_MARKS);
}

/* Whether the state may be near its limit: not while its direction moves. */
static bool worth_polishing(const RfRun *run, double way) {
  return run->phase.steps >= PATIENCE || run->problem->freeze_second || !(way > RF_TOL_TRAVEL);
}

/* No KKT point is near. Where the direction rests all the same, over a growth time, there are hyperplanes
 * between the state, O(1/q) off, and its limit. */
static void rest_elsewhere(RfRun *run, double way, bool before) {
  RfPhase *phase = &run->phase;
  double size = rf_system_log_size(&run->system) + run->system.kappa;
  phase->last = phase->best = INFINITY;
  if (phase->round == 0 || before || !(way < RF_TOL_NEAR)) phase->size = size;
  if (way > RF_TOL_TRAVEL && phase->high > 1)
    phase->high = 1; /* it goes on: the smaller steps are for rest */
  if (!(size - phase->size >= RF_TOL_STILL_GROWTH)) return;
  raise_scale(run);
  phase->size = size;
}

/* The polished point by RF_MARKS numbers: sums over its groups along vectors of signs that depend on their
 * patterns, over its size. Returns how far it is from the one before; where KKT points are not isolated it
 * moves with the state. */
static double point_moved(RfRun *run, const RfPolish *polish) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  double now[RF_MARKS] = {0}, sum = 0, size = RF_TOL_TINY;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    uint64_t pattern = polish->groups[g].sign > 0 ? 2 : 0;
    for (rf_index i = 0; i < n; i++)
      pattern = (pattern ^ (uint8_t)system->sigma[polish->groups[g].unit * n + i]) * 0x100000001b3u;
    size += rf_la_norm(polish->beta + g * d, d);
    for (rf_index j = 0; j < d; j++) {
      uint64_t signs = (pattern + (uint64_t)j) * 0x9e3779b97f4a7c15u;
      for (int k = 0; k < RF_MARKS; k++) now[k] += (signs >> (56 + k) & 1 ? 1 : -1) * polish->beta[g * d + j];
    }
  }
  for (int k = 0; k < RF_MARKS; k++) {
    double change = now[k] / size - run->phase.point[k];
    sum += change * change, run->phase.point[k] = now[k] / size;
  }
  return sqrt(sum / RF_MARKS);
}

static double largest_size(const RfRun *run, const RfPolish *polish) {
  double largest = -INFINITY;
  for (rf_index u = 0; u < run->system.units; u++)
    if (polish->group_of[u] >= 0) largest = fmax(largest, polish->size[u]);
  return largest;
}

/* A unit of this size (ln) shows in the limit. One that has not come to its group yet will be there what the
 * way makes of it, which at some distance from the point is not that of the point; one that keeps its share
 * and has no group to join is missing. */
static bool matters(const RfRun *run, const RfPolish *polish, double size) {
  if (run->problem->freeze_second) return false; /* nobody joins */
  return size > largest_size(run, polish) + log(RF_TOL_NEAR);
}

/* A unit without a group that grows with the network to first order, and whose own share s is what holds it
 * back: ds = -c s^2 dkappa, so that s kappa tends to a constant, and s to nothing, more slowly than anything
 * that dies out. What falls otherwise, by O(1/q) of a frozen scale, say, does so by another power at every
 * look. */
enum { FADING_LOOKS = 3 };

static bool fades(RfRun *run, const RfPolish *polish) {
  double *before = &run->phase.fading[0], *at = before + 1, *looks = before + 2;
  double share = 2 * (polish->left_out - largest_size(run, polish)), kappa = run->system.kappa;
  if (!(kappa < RF_TOL_FADING_LOOK * *at)) {
    double power = *at > 0 ? (*before - share) / log(kappa / *at) : 0;
    *looks = fabs(power - 1) < RF_TOL_FADING ? *looks + 1 : 0;
    *before = share, *at = kappa;
  }
  return *looks >= FADING_LOOKS;
}

/* A unit without a group that rests, at a frozen scale, at a size that moves margins by O(1): its share is
 * that over q, as q goes up, too, and in the flow, whose q grows without end, tends to nothing. */
enum { SCALES = 2 };

static bool fades_with_scale(RfRun *run, const RfPolish *polish) {
  double *before = &run->phase.fading[3], *at = before + 1, *looks = before + 2;
  double share = 2 * (polish->left_out - largest_size(run, polish)), q = log(run->system.q_least);
  if (*at > 0 && !(q > *at + 0.5 * log(RF_TOL_Q_RAISED))) return false; /* on its way there */
  double power = *at > 0 ? (*before - share) / (q - *at) : 0;
  *looks = fabs(power - 1) < RF_TOL_FADING ? *looks + 1 : 0;
  *before = share, *at = q;
  if (*looks < SCALES) raise_scale(run);
  return *looks >= SCALES;
}

/* The distance to the polished point no longer falls: what dies out does so with the growth of the network,
 * so that it is compared with the one before a growth time, however many stretches ago that was. */
static bool stopped_falling(RfRun *run, double distance) {
  RfPhase *phase = &run->phase;
  double size = rf_system_log_size(&run->system) + run->system.kappa;
  bool known = isfinite(phase->best), grown = known && size - phase->size >= RF_TOL_STILL_GROWTH;
  bool stopped = grown && distance > RF_TOL_STILL_FALLS * phase->best;
  if (grown || !known) phase->best = distance, phase->size = size;
  return stopped;
}

/* At rest beside units that keep their share, so small that the polish has left them out, and no group to
 * join: the same point with them as groups of their own. */
static RfStatus keep_small_groups(RfRun *run, RfPolish *polish, bool *escaped, double *excess) {
  rf_polish_free(polish);
  RfStatus status = rf_polish(run->context, polish, &run->system, RF_TOL_SHARE_KEPT);
  if (!status && !(polish->ok && polish->distance < RF_TOL_NEAR)) { /* no such point: they are missing */
    rf_polish_free(polish);
    status = rf_polish(run->context, polish, &run->system, RF_TOL_SHARE);
  }
  return status ? status : escape_test(run, polish, escaped, excess);
}

/* Slides of the polished point that hold beyond [leak,1] only, by no more than implicit steps let pass, but
 * by what shows in the limit: where a row is long, the unit has its place 1e-7 off the hyperplane. Its
 * multipliers say which are let go. */
static RfStatus let_slip(RfRun *run, const RfPolish *polish, bool *slipped) {
  RfSystem *system = &run->system;
  *slipped = false;
  if (!system->spread || !(polish->slips > run->context->tol.kkt)) return RF_OK;
  double *c = system->c, *own = RF_NEW(double, 2 * system->n + system->d);
  if (!own) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for slides");
  RfStatus status = RF_OK;
  for (rf_index i = 0; i < system->n; i++)
    own[i] = (system->seen[i] ? polish->lambda[i] : RF_TOL_WALL_LIMIT) * run->problem->y[i];
  system->c = own;
  for (rf_index u = 0; u < system->units && !status; u++) {
    rf_index before = system->slide[u].n_on;
    if (polish->group_of[u] >= 0) status = rf_slides_check(run, u, own + system->n, true);
    *slipped = *slipped || system->slide[u].n_on < before;
  }
  system->c = c;
  rf_free(own);
  if (status || !*slipped) return status;
  run->phase.last = run->phase.best = INFINITY;
  if (!run->phase.high)
    run->phase.high = 1; /* at the smaller scale the weights, O(1/q) off, may still hold them */
  run->h = 0;
  return status;
}

/* Polishes the state and runs the escape test where that may be the end; done: it was. */
static RfStatus try_to_finish(RfRun *run, RfPolish *polish, bool *done) {
  RfPhase *phase = &run->phase;
  bool escaped;
  double excess;
  *done = false;
  double way = way_of_stretch(run);
  if (!worth_polishing(run, way)) {
    rest_elsewhere(run, way, true);
    run->fresh = false;
    return RF_OK;
  }
  rf_polish_free(polish);
  RfStatus status = rf_polish(run->context, polish, &run->system, RF_TOL_SHARE);
  run->fresh = false;
  double before = phase->last;
  phase->last = !status && polish->ok ? polish->distance : INFINITY;
  bool slipped = false, solved = polish->ok || (run->system.spread && !isnan(polish->slips));
  bool at_rest = !status && solved && point_moved(run, polish) < RF_TOL_NEAR;
  if (at_rest) status = let_slip(run, polish, &slipped);
  if (slipped) return status;
  if (status) return status;
  if (!polish->ok) {
    rest_elsewhere(run, way, isfinite(before));
    return RF_OK;
  }
  double distance = polish->distance;
  bool stalls = fabs(distance - before) < RF_TOL_STALL * distance && distance > RF_TOL_NEAR &&
                distance < 10 * RF_TOL_NEAR_AT_ALL;
  phase->stalled = stalls ? phase->stalled + 1 : 0;
  if (phase->stalled >= 3 && !phase->high)
    phase->high = 1; /* at rest at this scale, O(1/sqrt q) or O(1/q) from the point */
  bool still = stopped_falling(run, distance), settled = distance < RF_TOL_NEAR;
  settled = settled || (distance < RF_TOL_NEAR_STILL && still);
  if (!settled && !(phase->steps >= PATIENCE && at_rest)) return RF_OK;
  if (!at_rest) status = let_slip(run, polish, &slipped);
  if (status || slipped) return status;
  status = escape_test(run, polish, &escaped, &excess);
  if (!status && !escaped && settled && matters(run, polish, polish->left_out))
    status = keep_small_groups(run, polish, &escaped, &excess);
  if (status || !escaped) {
    *done = !status && distance <= RF_TOL_NEAR_AT_ALL && (settled || !matters(run, polish, polish->late)) &&
            (!matters(run, polish, polish->left_out) || fades(run, polish) ||
             (settled && fades_with_scale(run, polish)));
    return status;
  }
  run->escapes++;
  phase->last = phase->best = INFINITY;
  run->h = 0;
  return RF_OK;
}

/* Sample i is orthogonal, to rounding, to every force on group g, which stays on the hyperplanes it slides
 * on: w.x_i of its units stays what it is, however small a part of |w| that becomes. */
static bool out_of_reach(const RfSystem *system, const RfPolish *polish, rf_index g, rf_index i, double *x) {
  rf_index n = system->n, d = system->d, unit = polish->groups[g].unit;
  const double *X = system->problem->X, *slope = system->slope + unit * n;
  memcpy(x, X + i * d, (size_t)d * sizeof(double));
  rf_system_project(system, unit, x); /* a projection is its own transpose */
  for (rf_index j = 0; j < n; j++) {
    if (!(polish->lambda[j] > 0) || slope[j] == 0) continue;
    double along = fabs(rf_la_quick_dot(X + j * d, x, d));
    if (along > RF_TOL_CANCELLED * system->x_norm[i] * system->x_norm[j]) return false;
  }
  return true;
}

/* The seen samples have their limit: by what cosine, at least, does it leave the others unseen? */
static double unseen_by(const RfRun *run, const RfPolish *polish) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  double nearest = INFINITY, *work = run->chosen; /* scratch: units x d entries */
  for (rf_index g = 0; g < polish->n_groups; g++)
    for (rf_index i = 0; i < n; i++) {
      const double *b = polish->beta + g * d, *x = system->problem->X + i * d;
      if (system->seen[i] || system->x_norm[i] == 0) continue;
      if (system->sigma[polish->groups[g].unit * n + i] == 0) continue; /* held there */
      if (out_of_reach(system, polish, g, i, work)) continue;
      nearest = fmin(nearest, -rf_la_quick_dot(b, x, d) / (rf_la_norm(b, d) * system->x_norm[i]));
    }
  return nearest;
}

/* Samples that are unseen, but not in the limit itself. What is left of w.x falls like e^{-kappa}, or stays
 * at O(1/q) of a frozen scale: either keeps its sign in the flow, where it is absolute or falls with 1/q.
 * Anything else has died out, and a unit that would come to see the sample has done so, when the network has
 * grown by e^20 more. */
static bool wait_at_the_edge(RfRun *run, const RfPolish *polish) {
  RfPhase *phase = &run->phase;
  if (run->system.n_seen == run->system.n || unseen_by(run, polish) > RF_TOL_UNSEEN) return false;
  if (!(phase->edge > 0)) phase->edge = run->system.kappa + RF_TOL_EDGE;
  return run->system.kappa < phase->edge;
}

static RfStatus frozen(RfRun *run, RfPolish *polish, RfFlowOutcome *outcome, char *why) {
  bool stop = false, done = false;
  RfStatus status = RF_OK;
  for (; run->phase.steps < MOST_STEPS && !status && !stop && !done; run->phase.round += !stop && !status) {
    status = stretch(run, outcome, why, &stop);
    if (run->woken) return status;
    if (status || stop) continue;
    run->phase.left = -1; /* the stretch is over, the attempt to finish is not */
    status = try_to_finish(run, polish, &done);
    if (!status && done && wait_at_the_edge(run, polish)) done = false;
    if (!status) run->phase.left = 0;
  }
  if (status || stop) return status;
  *outcome = done ? RF_FLOW_CONVERGED : RF_FLOW_UNDECIDED;
  if (done && run->system.n_seen < run->system.n) {
    *outcome = RF_FLOW_NOT_SEPARATED;
    rf_format(why, RF_WHY_SIZE, "the limit of the other samples leaves %lld unseen",
              (long long)(run->system.n - run->system.n_seen));
  }
  if (!done)
    rf_format(why, RF_WHY_SIZE, "%s",
              polish->ok ? "the direction still moves" : "no KKT point near the direction reached");
  return RF_OK;
}

/* By the implicit method to margins of 1e6. */
static RfStatus climb(RfRun *run, RfFlowOutcome *outcome, char *why, bool *stop) {
  RfStatus status = RF_OK;
  bool for_ever = run->settings->until != RF_UNTIL_INFINITY; /* the end is elsewhere */
  *stop = rf_run_stops(run, outcome, why);
  for (; !status && !*stop; run->phase.steps++) {
    status = rf_run_checkpoint(run);
    if (!status && run->phase.steps % 10 == 0) status = rf_run_gather(run);
    if (!for_ever)
      run->h = fmin(run->h, RF_TOL_CLIMB / fmax(growth_rate(run), RF_TOL_TINY)), run->fresh = false;
    if (!status) status = advance(run);
    bool far = rf_system_q_min(&run->system) >= place_of_scale(run, run->q_frozen);
    if (status || run->woken || (far && (!for_ever || run->system.n_seen < run->system.n))) break;
    *stop = rf_run_stops(run, outcome, why);
  }
  return status;
}

RfStatus rf_infinity(RfRun *run, RfPolish *polish, RfFlowOutcome *outcome, char *why) {
  bool stop = false;
  RfStatus status = RF_OK;
  if (run->phase.part == 1) {
    const double *q = rf_system_hold(&run->system, run->system.y);
    status = rf_system_compress(&run->system);
    if (!status) rf_system_keep(&run->system, run->system.y, q);
    rf_run_forget_repeats(run);
    run->held.steps = 0;
    if (!status) status = rf_run_resize(run);
    run->implicit = run->at_infinity = true;
    run->h = fmin(run->h, 0.1 * rf_run_tau_unit(run));
    run->phase = (RfPhase){.part = 2, .best = INFINITY, .last = INFINITY};
  }
  run->woken = false;
  if (!status && run->phase.part == 2) {
    status = climb(run, outcome, why, &stop);
    if (!status && !stop && !run->woken) run->phase.part = 3, run->phase.steps = 0;
  }
  if (!status && !stop && !run->woken) status = frozen(run, polish, outcome, why);
  if (!status && run->woken) {
    status = wake(run);
    rf_polish_free(polish);
  }
  return rf_run_ended(run, status, outcome, why);
}
