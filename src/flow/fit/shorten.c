/* Implicit steps that meet something are taken again, shorter, until they end there: every trial is a full
 * step, so the state is as good as the method. */
#include "flow/fit/implicit_internal.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

/* How far behind the hyperplane a step may end that is cut there: putting the unit on it must not move the
 * margins by what shows in the weights. */
static double close_enough(const RfRun *run, const RfHit *hit) {
  const RfSystem *system = &run->system;
  double amplitude = rf_system_amplitude(system, system->y[system->units * (system->d + 1) + hit->unit]);
  double beyond = fmin(RF_TOL_CUT_BEYOND, RF_TOL_CUT_MARGIN / fmax(amplitude, RF_TOL_TINY));
  double size = system->x_norm[hit->sample];
  double least = system->grade ? rf_run_input_size(run, hit->unit, hit->sample) : size;
  return fmax(beyond * size, RF_TOL_CUT_LEAST * least);
}

/* Of the hyperplanes met between y_low and y_end: the fraction of the way at which secants reach the first of
 * them, a little beyond; 1 where all ends are just beyond theirs; -1 where secants do not tell. */
static double secant_fraction(const RfRun *run, const double *y_low) {
  const RfSystem *system = &run->system;
  rf_index d = system->d;
  double least = 1;
  for (rf_index j = 0; j < run->n_hits; j++) {
    const RfHit *hit = &run->hits[j];
    const double *x = run->problem->X + hit->sample * d;
    if (hit->kind != RF_HIT_PLANE) return -1;
    double side = system->sigma[hit->unit * system->n + hit->sample], close = close_enough(run, hit);
    double v0 = side * rf_la_dot(y_low + hit->unit * d, x, d),
           v1 = side * rf_la_dot(run->y_end + hit->unit * d, x, d);
    if (!(v0 > 0) || !(v1 < 0)) return -1;
    if (v1 < -close) least = fmin(least, (v0 + 0.5 * close) / (v0 - v1));
  }
  return least;
}

RfStatus rf_run_try_shorter(RfRun *run, double h) {
  RfSystem *system = &run->system;
  double error;
  RfStatus status = rf_run_try_implicit(run, h, &error);
  if (status) return status;
  if (!(error <= RF_TOL_TRIAL)) { /* a part of a step need not be as good as the whole */
    run->h = 0.5 * h;
    return RF_LIMIT;
  }
  rf_system_rhs(system, run->y_end, run->f);
  rf_planes_watch(run, run->f, h);
  status = rf_events_find(run, h);
  return !status && rf_context_stop(run->context) ? RF_INTERRUPTED : status;
}

/* A cubic through the ends of the step goes below a hyperplane in between. A stiff step begins with a
 * transient that says nothing about the rest of it, so the step to the lowest place is taken to see; *high:
 * where something was met, and whether nothing was in the whole step. */
static RfStatus look_into_dips(RfRun *run, double h, double *low, double *high, bool *nothing) {
  double at = 1;
  *nothing = false;
  for (rf_index j = 0; j < run->n_hits; j++) at = fmin(at, run->hits[j].at);
  if (!(at < 1)) return RF_OK;
  RfStatus status = rf_run_try_shorter(run, at * h);
  if (status) return status;
  if (run->n_hits > 0) {
    *high = at * h;
    return RF_OK;
  }
  *low = at * h;
  memcpy(run->explicit_method.end, run->y_end, (size_t)rf_system_size(&run->system) * sizeof(double));
  status = rf_run_try_shorter(run, h);
  *nothing = run->n_hits == 0;
  return status;
}

/* The slopes of slides are those of weights that have settled: where slopes alone are to be located at large
 * margins, the step is not cut inside the transient at its start. */
static double shortest_cut(const RfRun *run, double h) {
  if (!run->at_infinity || run->problem->freeze_second || run->system.q_least < RF_TOL_SETTLING_FROM)
    return 0;
  for (rf_index j = 0; j < run->n_hits; j++)
    if (run->hits[j].kind != RF_HIT_SLOPE) return 0;
  return fmin(h, RF_TOL_SETTLING / fmax(1, run->system.q_least));
}

/* In the wake of an event at a frozen scale: units that come to hyperplanes after it while the weights still
 * answer it. In the flow itself, whose margins are larger by e^{2 kappa}, the weights have answered before
 * any unit moves by what is left to go, and whether it comes there at all is for the settled weights to say
 * (F.6).
 */
static bool answered_before(const RfRun *run, double h) {
  const RfSystem *system = &run->system;
  double settling = RF_TOL_SETTLING / fmax(1, system->q_least);
  if (run->phase.part != 3 || run->problem->freeze_second || run->n_hits == 0) return false;
  if (!(system->tau + h - run->phase.tau_event < settling)) return false;
  for (rf_index j = 0; j < run->n_hits; j++) {
    const RfHit *hit = &run->hits[j];
    if (hit->kind != RF_HIT_PLANE || rf_layer_inside(system, hit->unit)) return false;
    double side = system->sigma[hit->unit * system->n + hit->sample], size = system->x_norm[hit->sample];
    double left = side * rf_la_dot(system->y + hit->unit * system->d,
                                   run->problem->X + hit->sample * system->d, system->d);
    if (!(left > RF_TOL_APART * size) && !run->by_steps)
      return false; /* there together, as far as can be told */
    left = fmax(left, RF_TOL_PLANE * size);
    if (!(log(left / size) + log(system->q_least) + 2 * system->kappa > 0)) return false;
  }
  return true;
}

/* The step to settled weights in place of one of length *h with hits; over: it has none, and stands. */
static RfStatus step_over(RfRun *run, double *h, bool *over) {
  *over = false;
  if (!answered_before(run, *h)) return RF_OK;
  double settled = RF_TOL_SETTLING / fmax(1, run->system.q_least);
  RfStatus status = rf_run_try_shorter(run, settled);
  *over = !status && run->n_hits == 0;
  if (*over) *h = settled;
  bool refused = status == RF_LIMIT; /* it may be longer than the step that was taken */
  return (status && !refused) || *over ? status : rf_run_try_shorter(run, *h);
}

/* Long rows: where a step ends is known to the rounding of the margins, and units move by that times the
 * length of the step even where the margins do not. Putting a unit on a hyperplane that far away would upset
 * them; but margins are linear in |a| w e^{2 rho}, and so are right on the way from the last state before the
 * hyperplane (y_low, after the time low) to the first one behind it. */
static void meet_between(RfRun *run, const double *y_low, double low, double *h) {
  RfSystem *system = &run->system;
  double fraction = secant_fraction(run, y_low);
  rf_index kept = 0;
  if (!(fraction >= 0 && fraction < 1)) return;
  double *q = run->Hd1; /* scratch: at least n entries */
  rf_system_fields(system, run->y_end);
  memcpy(q, system->q, (size_t)system->n * sizeof(double));
  rf_system_fields(system, y_low);
  for (rf_index i = 0; i < system->n; i++) q[i] = (1 - fraction) * system->q[i] + fraction * q[i];
  rf_plain_between(system, y_low, run->y_end, fraction);
  rf_system_keep(system, run->y_end, q);
  *h = low + fraction * (*h - low);
  for (rf_index j = 0; j < run->n_hits; j++) {
    const RfHit *hit = &run->hits[j];
    double side = system->sigma[hit->unit * system->n + hit->sample];
    double v = side * rf_la_dot(run->y_end + hit->unit * system->d, run->problem->X + hit->sample * system->d,
                                system->d);
    if (v <= close_enough(run, hit)) run->hits[kept++] = *hit;
  }
  run->n_hits = kept;
  rf_system_rhs(system, run->y_end, run->f);
}

/* Shortens the step until its end is on the first hyperplane, by secants and bisection on the step length
 * (each trial is a full step, so the state is as good as the method). */
RfStatus rf_run_shorten(RfRun *run, double *h) {
  RfSystem *system = &run->system;
  double low = 0, high = *h, *y_low = run->explicit_method.end;
  rf_index size = rf_system_size(system);
  memcpy(y_low, system->y, (size_t)size * sizeof(double));
  bool at_high = true, nothing;
  RfStatus status = look_into_dips(run, *h, &low, &high, &nothing);
  if (status || nothing) return status;
  status = step_over(run, &high, &nothing);
  if (nothing) *h = high;
  if (status || nothing) return status;
  double fraction = secant_fraction(run, y_low);
  double shortest = shortest_cut(run, *h);
  for (int round = 0; round < 60 && high - low > RF_TOL_CUT * high && fraction < 1; round++) {
    if (high <= shortest) break;
    bool bisect = fraction < 0 || round % 4 == 3;
    double middle =
        low +
        (high - low) * (bisect ? 0.5 : fmin(1 - RF_TOL_BRACKET_END, fmax(RF_TOL_BRACKET_END, fraction)));
    middle = fmax(middle, shortest);
    status = rf_run_try_shorter(run, middle);
    if (status) return status;
    at_high = run->n_hits > 0;
    if (at_high) {
      high = middle;
      fraction = secant_fraction(run, y_low);
    } else {
      low = middle, fraction = -1;
      memcpy(y_low, run->y_end, (size_t)size * sizeof(double));
    }
  }
  *h = high;
  if (!at_high) status = rf_run_try_shorter(run, high);
  bool plain = (system->grade && !run->problem->freeze_second) || rf_implicit_plain(run->implicit_method);
  if (!status && plain) meet_between(run, y_low, low, h);
  return status;
}
