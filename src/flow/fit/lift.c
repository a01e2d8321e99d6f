/* A drift like ln tau, followed beyond what rounding shows (docs/math.md, F.5a). Samples that rest hold the
 * units where their pushes cancel; those that grow move them along there, slower than anything else. A factor
 * e^K in the weights of the growing changes the speed of that and not the way: what happens at a clock tau
 * happens at e^K tau. So they are lifted more and more, such that the clock stands still: the drift stays
 * slow beside what rests and fast beside rounding, and is followed as far as it leads. When something else
 * begins to move, the weights are dropped to what they are. */
#include "flow/fit/drift.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

/* Push of a sample over that of all. */
static double push_of(const RfSystem *system, rf_index i) {
  return system->seen[i] ? system->p[i] * system->x_norm[i] / rf_system_reach(system) : 0;
}

/* Least push of the samples that rest, largest of those that grow. */
typedef struct Pushes {
  double rest, grow;
} Pushes;

static Pushes pushes(const RfSystem *system) {
  Pushes found = {INFINITY, 0};
  for (rf_index i = 0; i < system->n; i++) {
    double push = push_of(system, i);
    if (system->lift.grows[i])
      found.grow = fmax(found.grow, push);
    else if (system->seen[i] && system->x_norm[i] > 0)
      found.rest = fmin(found.rest, push);
  }
  return found;
}

/* Who grows, by the weights of the flow: a sample that grows pushes like 1/tau, and one that pushes a hundred
 * times as much as that rests, under whatever weight. false: some are neither here nor there. */
static bool tell_apart(RfSystem *system) {
  double clock = system->tau * rf_system_reach(system);
  for (rf_index i = 0; i < system->n; i++) {
    double push = push_of(system, i);
    bool matters = system->seen[i] && system->x_norm[i] > 0;
    system->lift.grows[i] = matters && push < RF_TOL_LIFT_GROWS;
    if (matters && push >= RF_TOL_LIFT_GROWS && push < RF_TOL_LIFT_RESTS && push * clock < RF_TOL_LIFT_STOPS)
      return false;
  }
  return true;
}

static void lift_all(RfLift *lift, double by, rf_index n) {
  lift->by = by;
  for (rf_index i = 0; i < n; i++)
    if (lift->grows[i]) lift->of[i] = by;
}

RfStatus rf_run_lift(RfRun *run, RfDrift *told) {
  RfSystem *system = &run->system;
  RfLift *lift = &system->lift;
  double by = 0, reach;
  *told = RF_DRIFT_BEYOND;
  if (!lift->of) lift->of = RF_NEW(double, system->n);
  if (!lift->grows) lift->grows = RF_NEW(uint8_t, system->n);
  if (!lift->of || !lift->grows) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a drift");
  rf_system_fields(system, system->y);
  run->fresh = false;
  reach = rf_system_reach(system);
  if (rf_run_large(run) || !tell_apart(system)) return RF_OK; /* long steps have weights of their own */
  Pushes found = pushes(system);
  *told = found.grow > 0 ? RF_DRIFT_SEEN : RF_DRIFT_NONE;
  if (!(found.grow > 0)) return RF_OK;
  if (lift->drive > 0) { /* it was dropped before, and goes on where it was */
    double clock = fmin(RF_TOL_LIFT_START, lift->drive / found.grow);
    by = log(lift->drive / (found.grow * clock));
    system->tau = clock / reach;
  }
  memset(lift->of, 0, (size_t)system->n * sizeof(double));
  lift_all(lift, by, system->n);
  lift->on = true;
  run->phase.tau_event = system->tau, run->way.tau = 0;
  run->implicit = true;
  run->h = RF_TOL_LIFT_RAMP * system->tau;
  rf_run_reset(run);
  return RF_OK;
}

void rf_run_drop(RfRun *run) {
  RfLift *lift = &run->system.lift;
  if (!lift->on) return;
  lift->on = lift->there = false;
  lift->by = 0;
  run->h = 0;
  rf_run_reset(run);
}

/* A sample that pushes as much as one that grows and more, and does not grow, has come to rest, under a
 * weight that vanishes beside those of the others: it is one of those that hold the drift from here on, at
 * the factor it has. */
static void stop_growing(RfRun *run) {
  RfSystem *system = &run->system;
  RfLift *lift = &system->lift;
  rf_index n = system->n;
  double *point = run->explicit_method.point, *q = system->kept;
  double most = RF_TOL_LIFT_STOPS / (system->tau * rf_system_reach(system));
  if (!(pushes(system).grow > most)) return;
  memcpy(q, system->q, (size_t)n * sizeof(double));
  memcpy(point, system->y, (size_t)rf_system_size(system) * sizeof(double));
  rf_la_axpy(point, RF_TOL_LIFT_RAMP * system->tau, run->f, rf_system_clock(system));
  rf_system_fields(system, point);
  for (rf_index i = 0; i < n; i++) {
    bool stands = fabs(system->q[i] - q[i]) < RF_TOL_LIFT_STANDS * RF_TOL_LIFT_RAMP;
    if (stands && push_of(system, i) > most) lift->grows[i] = 0;
  }
  rf_system_fields(system, system->y);
}

/* After a step the clock goes back to where it is wanted, and the weights up by as much; not at once, which
 * would upset what rests. */
static void set_clock(RfRun *run, double wanted) {
  RfSystem *system = &run->system;
  double late = log(system->tau / wanted), grown = -log1p(-fmin(0.5, run->step_taken / system->tau));
  system->lift.there = late < RF_TOL_LIFT_THERE;
  if (!(late > 0)) return;
  double back = fmin(late, grown + RF_TOL_LIFT_RAMP), factor = exp(-back);
  system->tau *= factor, run->phase.tau_event *= factor, run->way.tau *= factor, run->h *= factor;
  run->gap = 0;
  lift_all(&system->lift, system->lift.by + back, system->n);
  rf_run_reset(run);
}

RfStatus rf_run_lifted(RfRun *run, bool *lost) {
  RfSystem *system = &run->system;
  RfLift *lift = &system->lift;
  rf_system_rhs(system, system->y, run->f);
  run->fresh = false;
  stop_growing(run);
  double reach = rf_system_reach(system), speed = rf_run_restlessness(run) / reach;
  Pushes found = pushes(system);
  double clock = fmax(RF_TOL_LIFT_CLOCK, RF_TOL_LIFT_SLOWER / found.rest);
  if (run->by_steps) clock *= RF_TOL_LIFT_OTHER;
  lift->drive = fmax(found.grow * system->tau * reach, RF_TOL_TINY);
  run->way.settled = !(found.grow > 0);
  if (speed * clock > RF_TOL_LIFT_SLOWER) { /* faster than a drift: the flow itself again */
    run->phase.tau_event = system->tau;
    run->way.settled = false;
    rf_run_drop(run);
  } else if (run->way.settled) {
    rf_run_drop(run);
  } else if (!(found.grow < RF_TOL_LIFT_LESS * found.rest) || found.rest < RF_TOL_LIFT_GROWS ||
             lift->by > RF_TOL_LOG_TAU) {
    *lost = true;
    rf_run_drop(run);
  } else {
    set_clock(run, clock / reach);
  }
  return RF_OK;
}
