/* Implicit steps that meet something are taken again, shorter, until they end there: every trial is a full
 * step, so the state is as good as the method. */
#include "flow/fit/implicit_internal.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

/* How far behind the hyperplane a step may end that is cut there: putting the unit on it must not move the
 * margins by what shows in the weights. A unit that is beyond it by rounding has not met it (events.c), and
 * what is aimed at is farther. */
static double close_enough(const RfRun *run, const RfHit *hit) {
  const RfSystem *system = &run->system;
  double amplitude = rf_system_amplitude(system, system->y[system->units * (system->d + 1) + hit->unit]);
  double beyond = fmin(RF_TOL_CUT_BEYOND, RF_TOL_CUT_MARGIN / fmax(amplitude, RF_TOL_TINY));
  double size = system->x_norm[hit->sample];
  double least = system->grade ? rf_run_input_size(run, hit->unit, hit->sample) : size;
  bool few = !run->problem->located || system->grade;
  double met = few ? 0 : RF_TOL_CUT_MET * run->plane_slack;
  return fmax(fmax(beyond, met) * size, RF_TOL_CUT_LEAST * least);
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
    double v0 = side * rf_la_quick_dot(y_low + hit->unit * d, x, d),
           v1 = side * rf_la_quick_dot(run->y_end + hit->unit * d, x, d);
    if (!(v0 >= -close) || !(v1 < 0)) return -1; /* a trial that met nothing may have been put on it */
    v0 = fmax(v0, 0);
    if (v1 < -close) least = fmin(least, (v0 + 0.5 * close) / (v0 - v1));
  }
  return least;
}

/* The part of the way that is known to contain the first event: its ends, the last place given up for one of
 * them (unless NaN), the states there and what was met at the far end. Every state is that of one step from
 * system->y. */
enum { MOST_LEADERS = 8, NEWTON = 6 };
typedef struct Bracket {
  double low, high, third;
  double *y_low, *y_high, *y_third;
  RfHit hits[MOST_LEADERS];
  rf_index n_hits;
} Bracket;

/* Where a hit is left to a certain value between low and high, by three values where they are in line (the
 * inverse parabola), by two otherwise. */
static double place_between(const Bracket *at, double v_low, double v_high, double v_third) {
  double width = at->high - at->low, line = v_low / (v_low - v_high);
  if (!isnan(v_third) && v_third != v_low && v_third != v_high) {
    double a = v_low / (v_high - v_low) * (v_third / (v_high - v_third)) * width;
    double b = v_low / (v_third - v_low) * (v_high / (v_third - v_high)) * (at->third - at->low);
    double s = (a + b) / width;
    if (s > 0 && s < 1) return at->low + s * width;
  }
  return at->low + line * width;
}

/* The zero of the cubic with these ends, v_low > 0 > v_high, and slopes (times the length), of the way
 * between; where it need not be monotone, of the straight line: a transient at the start says nothing about
 * the rest. */
static double cubic_zero(double v_low, double v_high, double slope_low, double slope_high) {
  double fall = v_low - v_high, s = v_low / fall;
  bool monotone = slope_low <= 0 && slope_high <= 0 && -slope_low <= 3 * fall && -slope_high <= 3 * fall;
  double c3 = 2 * fall + slope_low + slope_high, c2 = -3 * fall - 2 * slope_low - slope_high, a = 0, b = 1;
  for (int round = 0; round < NEWTON && monotone; round++) {
    double value = v_low + s * (slope_low + s * (c2 + s * c3)), rate = slope_low + s * (2 * c2 + 3 * s * c3);
    if (value > 0)
      a = s;
    else
      b = s;
    double next = s - value / rate;
    s = next > a && next < b ? next : 0.5 * (a + b);
  }
  return s;
}

/* How fast unit and sample of a hit come together, in a state that changes by f. */
static double approach(const RfRun *run, const RfHit *hit, const double *f) {
  const RfSystem *system = &run->system;
  rf_index d = system->d;
  return system->sigma[hit->unit * system->n + hit->sample] *
         rf_la_quick_dot(f + hit->unit * d, run->problem->X + hit->sample * d, d);
}

/* Where the first of what was met is, a little beyond; high where all of it is just behind the step, NaN
 * where that cannot be told. */
static double first_place(RfRun *run, const Bracket *at) {
  double least = at->high, *slopes = run->Hd1; /* scratch: at least n entries */
  for (rf_index j = 0; j < at->n_hits; j++) {
    const RfHit *hit = &at->hits[j];
    double close = hit->kind == RF_HIT_PLANE ? close_enough(run, hit) : RF_TOL_CUT_SLOPE;
    double v_low = rf_events_left(run, hit, at->y_low, slopes) + 0.5 * close;
    double v_high = rf_events_left(run, hit, at->y_high, slopes) + 0.5 * close;
    double v_third = isnan(at->third) ? NAN : rf_events_left(run, hit, at->y_third, slopes) + 0.5 * close;
    if (!(v_low > 0) || !(v_high < 0.5 * close)) return NAN;
    if (!(v_high < -0.5 * close)) continue;
    double width = at->high - at->low;
    bool whole = run->problem->located && at->low == 0 && isnan(at->third) && hit->kind == RF_HIT_PLANE;
    least = fmin(least, whole ? width * cubic_zero(v_low, v_high,
                                                   width * approach(run, hit, run->explicit_method.stage[0]),
                                                   width * approach(run, hit, run->f))
                              : place_between(at, v_low, v_high, v_third));
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
    double left = side * rf_la_quick_dot(system->y + hit->unit * system->d,
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
static RfStatus meet_between(RfRun *run, const double *y_low, double low, double *h) {
  RfSystem *system = &run->system;
  double fraction = secant_fraction(run, y_low);
  rf_index kept = 0;
  if (!(fraction >= 0 && fraction < 1)) return RF_OK;
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
    double v = side * rf_la_quick_dot(run->y_end + hit->unit * system->d,
                                      run->problem->X + hit->sample * system->d, system->d);
    if (v <= close_enough(run, hit)) run->hits[kept++] = *hit;
  }
  run->n_hits = kept;
  rf_system_rhs(system, run->y_end, run->f);
  return rf_events_slides(run); /* the slopes are those of the weights there, at neither of the ends */
}

/* What the last trial met is what is met at the far end. */
static void keep_hits(const RfRun *run, Bracket *at) {
  at->n_hits = run->n_hits < MOST_LEADERS ? run->n_hits : MOST_LEADERS;
  memcpy(at->hits, run->hits, (size_t)at->n_hits * sizeof *at->hits);
}

/* A trial at `place` becomes an end of the bracket, and that end the third place. */
static void narrow(RfRun *run, Bracket *at, double place) {
  rf_index size = rf_system_size(&run->system);
  bool met = run->n_hits > 0;
  double **end = met ? &at->y_high : &at->y_low, *spare = at->y_third;
  at->third = met ? at->high : at->low;
  at->y_third = *end, *end = spare;
  memcpy(spare, run->y_end, (size_t)size * sizeof(double));
  if (!met) {
    at->low = place;
    return;
  }
  at->high = place;
  keep_hits(run, at);
}

/* From a trial that ended near the first hyperplane the rest of the way is a straight line, as long as the
 * change of the field since the trial before (its f, so long ago) bends it by less than a step may be off,
 * and margins, which feel the square of a turn, by less than a unit that is put on a hyperplane moves them.
 * done: the state is there, and the hits. */
static RfStatus straight_to(RfRun *run, const Bracket *at, double *h, double ago, const double *f_before,
                            bool *done) {
  RfSystem *system = &run->system;
  rf_index size = rf_system_clock(system);
  double on = INFINITY, bend = 0, turn = 0, *y = run->y_end;
  *done = false;
  for (rf_index j = 0; j < at->n_hits; j++) {
    const RfHit *hit = &at->hits[j];
    if (hit->kind != RF_HIT_PLANE) return RF_OK;
    double v = rf_events_left(run, hit, y, run->Hd1) + 0.5 * close_enough(run, hit);
    double rate = approach(run, hit, run->f);
    if (!(rate < 0)) return RF_OK;
    on = fmin(on, -v / rate);
  }
  for (rf_index i = 0; i < size; i++) {
    bend = fmax(bend, fabs(run->f[i] - f_before[i]));
    turn = fmax(turn, fabs(on * run->f[i]));
  }
  if (!(*h + on >= at->low && *h + on <= at->high && *h + on > 0)) return RF_OK;
  if (!(0.5 * on * on * bend <= RF_TOL_CUT_LINE * run->tol_implicit * fabs(ago))) return RF_OK;
  if (!(turn * turn * rf_system_possible_margin(system) <= RF_TOL_CUT_MARGIN)) return RF_OK;
  rf_la_axpy(y, on, run->f, size);
  rf_system_rhs(system, y, run->f);
  rf_planes_watch(run, run->f, *h + on);
  RfStatus status = rf_events_find(run, *h + on);
  *done = run->n_hits > 0;
  if (*done) *h += on;
  if (status || *done) return status;
  bool behind = *h == at->high; /* back to the trial */
  memcpy(y, behind ? at->y_high : at->y_low, (size_t)rf_system_size(system) * sizeof(double));
  rf_system_rhs(system, y, run->f);
  run->n_hits = behind ? at->n_hits : 0;
  if (behind) memcpy(run->hits, at->hits, (size_t)at->n_hits * sizeof *at->hits);
  return RF_OK;
}

/* Shortens the step until its end is on the first hyperplane, by interpolation and bisection on the step
 * length (each trial is a full step, so the state is as good as the method). */
RfStatus rf_run_shorten(RfRun *run, double *h) {
  RfSystem *system = &run->system;
  RfExplicit *room = &run->explicit_method; /* which implicit steps do not use */
  Bracket at = {.high = *h, .third = NAN, .y_low = room->end, .y_high = room->stage[1]};
  size_t bytes = (size_t)rf_system_size(system) * sizeof(double);
  at.y_third = room->stage[2];
  bool plain = (system->grade && !run->problem->freeze_second) || rf_implicit_plain(run->implicit_method);
  memcpy(at.y_low, system->y, bytes);
  bool nothing;
  RfStatus status = look_into_dips(run, *h, &at.low, &at.high, &nothing);
  if (status || nothing) return status;
  status = step_over(run, &at.high, &nothing);
  if (nothing) *h = at.high;
  if (status || nothing) return status;
  memcpy(at.y_high, run->y_end, bytes);
  keep_hits(run, &at);
  double shortest = shortest_cut(run, *h), last = at.high, width = INFINITY;
  for (int round = 0; round < 60 && at.high - at.low > RF_TOL_CUT * at.high && at.high > shortest; round++) {
    double place = first_place(run, &at), least = RF_TOL_CUT * at.high;
    if (place >= at.high) break;
    bool halve = isnan(place) || (round % 3 == 2 && !(at.high - at.low < RF_TOL_CUT_STALL * width));
    if (round % 3 == 2) width = at.high - at.low;
    place = halve ? 0.5 * (at.low + at.high) : fmin(at.high - least, fmax(at.low + least, place));
    double before = last;
    last = fmax(place, shortest);
    memcpy(room->stage[3], run->f, bytes);
    status = rf_run_try_shorter(run, last);
    if (status) return status;
    narrow(run, &at, last);
    bool there = false;
    if (run->problem->located && !system->grade && !run->problem->freeze_second && last > shortest)
      status = straight_to(run, &at, &last, last - before, room->stage[3], &there);
    if (there) *h = last;
    if (status || there) return status;
  }
  *h = at.high;
  if (last < at.high)
    status = rf_run_try_shorter(run, at.high);
  else
    rf_system_rhs(system, run->y_end, run->f); /* the state there stands, and the hits */
  return !status && plain ? meet_between(run, at.y_low, at.low, h) : status;
}
