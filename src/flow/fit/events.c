/* Events inside a step: which hyperplanes are crossed and when slides end. The interpolant of a step is a
 * polynomial in each component, so w(t).x_i is a scalar polynomial whose first sign change is bracketed
 * (dense.c) and found by bisection with secants. On which side of a hyperplane a unit is, is state (sigma),
 * not the sign of w.x: a unit that has just left a hyperplane has w.x = 0 up to rounding, and what is looked
 * for is its first *return*, the zero of (w(s).x - w(0).x)/s, whose value at s = 0 is the derivative (F.4).
 * What happens at an event is corner.c. */
#include "flow/fit/dense.h"
#include "flow/fit/implicit_internal.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

RfStatus rf_events_add(RfRun *run, rf_index unit, rf_index sample, RfHitKind kind, double at) {
  if (run->n_hits == run->cap_hits) {
    rf_index grown = run->cap_hits ? 2 * run->cap_hits : 64;
    RfHit *more = rf_resize(run->hits, grown, sizeof *more);
    if (!more) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for events");
    run->hits = more;
    run->cap_hits = grown;
  }
  run->hits[run->n_hits++] = (RfHit){unit, sample, kind, at};
  return RF_OK;
}

static RfStatus add_hit(RfRun *run, rf_index unit, rf_index sample, RfHitKind kind) {
  return rf_events_add(run, unit, sample, kind, 1);
}

/* Smallest value inside (0,1) of the cubic with these ends and slopes (slopes already times h), and where. */
static double cubic_minimum(double v0, double v1, double s0, double s1, double *where) {
  double c3 = 2 * (v0 - v1) + s0 + s1, c2 = 3 * (v1 - v0) - 2 * s0 - s1;
  double disc = 4 * c2 * c2 - 12 * c3 * s0; /* derivative 3 c3 s^2 + 2 c2 s + s0 */
  if (disc < 0) return fmin(v0, v1);
  double root = sqrt(disc), least = fmin(v0, v1);
  double at[2] = {c3 != 0 ? (-2 * c2 + root) / (6 * c3) : -s0 / (2 * c2),
                  c3 != 0 ? (-2 * c2 - root) / (6 * c3) : -s0 / (2 * c2)};
  for (int k = 0; k < 2; k++)
    if (at[k] > 0 && at[k] < 1) {
      double value = v0 + at[k] * (s0 + at[k] * (c2 + at[k] * c3));
      if (value < least) least = value, *where = at[k];
    }
  return least;
}

/* A ridge that unit k is held on since a moment ago (corner.c): the weight of its sample is on its way to
 * where the slope is between leak and 1. sample < 0: any of the unit's. */
static bool settling(const RfRun *run, rf_index k, rf_index sample) {
  if (run->held.steps == 0 || run->at_infinity) return run->held.steps > 0;
  return run->held.unit == k && (sample < 0 || run->held.sample == sample);
}

/* What acts on unit k beside the samples that it slides on. */
static double strength(const RfSystem *system, rf_index k) {
  rf_index n = system->n;
  double sum = 0;
  for (rf_index i = 0; i < n; i++) sum += system->slope[k * n + i] * fabs(system->c[i]) * system->x_norm[i];
  return sum;
}

/* What of that, and of the samples that it slides on, is rounding of the margins: by its own terms for each,
 * since a long row whose margin is known to little may have next to no weight. */
static double unsure(const RfSystem *system, rf_index k) {
  rf_index n = system->n;
  double sum = 0;
  for (rf_index i = 0; i < n && system->grade; i++)
    if (system->seen[i] && (system->slope[k * n + i] > 0 || system->sigma[k * n + i] == 0))
      sum += fabs(system->c[i]) * system->x_norm[i] * fmin(1, rf_system_margin_blur(system, i));
  return sum;
}

/* How much more the samples of hyperplane z push on its one side than on the other, over 1 - leak. */
static double kink_of(const RfSystem *system, const RfSlide *slide, rf_index z) {
  double sum = 0;
  for (rf_index j = 0; j < slide->n_on; j++) {
    rf_index i = slide->on[j];
    if (slide->plane[j] == z) sum += system->c[i] * system->x_norm[i];
  }
  return fmax(fabs(sum), RF_TOL_TINY);
}

/* The same from the samples that share the line of hyperplane z: mirrored ones act whatever its slope. */
static double strength_on_line(const RfSystem *system, const RfSlide *slide, rf_index z) {
  double sum = 0;
  for (rf_index j = 0; j < slide->n_on && slide->n_planes < slide->n_on; j++) {
    rf_index i = slide->on[j];
    if (slide->plane[j] == z && i != slide->first[z]) sum += fabs(system->c[i]) * system->x_norm[i];
  }
  return sum;
}

/* How far beyond [leak,1] a slope of unit k has to be. */
static double slope_slack(const RfRun *run, rf_index k) {
  const RfSystem *system = &run->system;
  if (run->implicit && !system->lift.there) return RF_TOL_SLOPE_STIFF;
  return rf_la_norm(system->y + k * system->d, system->d) < RF_TOL_ORIGIN ? RF_TOL_SLOPE_ORIGIN
                                                                          : RF_TOL_SLOPE;
}

/* What a slope of unit k has left until it counts as beyond [leak,1], at the last rf_system_fields, in units
 * of how far beyond that is. */
typedef struct Reach {
  double beyond, apart, unsure;
} Reach;

static Reach reach_of(const RfRun *run, rf_index k) {
  return (Reach){.beyond = slope_slack(run, k),
                 .apart = strength(&run->system, k),
                 .unsure = run->implicit ? RF_TOL_SLOPE_BLUR * unsure(&run->system, k) : 0};
}

static double slope_left(const RfSystem *system, const RfSlide *slide, const Reach *reach, rf_index z,
                         double slope) {
  /* a sample far heavier than what acts on the unit (a wall) holds it with a slope of that part */
  double push = kink_of(system, slide, z), beyond = reach->beyond;
  double acts = reach->apart + strength_on_line(system, slide, z);
  /* and a long row, far lighter than that, is weighed against weights that are known to as much */
  if (system->grade && acts > push) beyond *= acts / push;
  double known = reach->unsure / push, above = fmax(beyond, known);
  double slack = fmax(push > acts ? beyond * (acts / push) : beyond, known);
  double below = slope - (system->problem->leak - slack);
  return fmin(below / fmax(slack, RF_TOL_TINY), (1 + above - slope) / above);
}

double rf_events_left(RfRun *run, const RfHit *hit, const double *y, double *slopes) {
  RfSystem *system = &run->system;
  rf_index d = system->d, k = hit->unit;
  const RfSlide *slide = &system->slide[k];
  if (hit->kind == RF_HIT_PLANE)
    return system->sigma[k * system->n + hit->sample] *
           rf_la_quick_dot(y + k * d, system->problem->X + hit->sample * d, d);
  if (hit->kind != RF_HIT_SLOPE || rf_slide_dependent(slide)) return NAN;
  rf_system_fields(system, y);
  rf_system_slide_slopes(system, k, slopes);
  Reach reach = reach_of(run, k);
  for (rf_index z = 0; z < slide->n_planes; z++)
    if (slide->first[z] == hit->sample) return slope_left(system, slide, &reach, z, slopes[z]);
  return NAN;
}

static RfStatus slide_hits(RfRun *run, rf_index k) {
  RfSystem *system = &run->system;
  const RfSlide *slide = &system->slide[k];
  double *slopes = RF_NEW(double, slide->n_planes + system->d), gap = 0;
  if (!slopes) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for slides");
  RfStatus status = RF_OK;
  if (rf_slide_dependent(slide)) {
    status = rf_system_slide_gap(system, k, run->at_infinity, &gap, slopes);
    if (!status && gap > RF_TOL_GAP && !settling(run, k, -1))
      status = add_hit(run, k, slide->first[0], RF_HIT_SLOPE);
  } else {
    Reach reach = reach_of(run, k);
    rf_system_slide_slopes(system, k, slopes);
    for (rf_index z = 0; z < slide->n_planes && !status; z++)
      if (slope_left(system, slide, &reach, z, slopes[z]) < 0 && !settling(run, k, slide->first[z]))
        status = add_hit(run, k, slide->first[z], RF_HIT_SLOPE);
  }
  rf_index a_at = system->units * system->d + k;
  if (!status && system->y[a_at] * run->y_end[a_at] < 0)
    status = add_hit(run, k, slide->first[0], RF_HIT_SIGN);
  rf_free(slopes);
  return status;
}

RfStatus rf_events_slides(RfRun *run) {
  RfSystem *system = &run->system;
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < system->units && !status; k++)
    if (!system->dead[k] && system->slide[k].n_on > 0) status = slide_hits(run, k);
  return status;
}

RfStatus rf_events_find_slides(RfRun *run) {
  RfSystem *system = &run->system;
  run->n_hits = 0;
  memcpy(run->y_end, system->y, (size_t)rf_system_size(system) * sizeof(double));
  return rf_events_slides(run);
}

/* log_t at the end of an explicit step, from its last component. */
static double log_t_after(const RfSystem *system, double elapsed) {
  return elapsed > 0 ? rf_run_log_add(system->log_t, log(elapsed) - system->log_S_step) : system->log_t;
}

double rf_run_input_size(const RfRun *run, rf_index k, rf_index i) {
  const RfSystem *system = &run->system;
  rf_index d = system->d;
  const double *before = system->y + k * d, *after = run->y_end + k * d, *x = system->problem->X + i * d;
  double sum = 0;
  for (rf_index j = 0; j < d; j++) sum += fmax(fabs(before[j]), fabs(after[j])) * fabs(x[j]);
  return sum;
}

/* Putting a unit on hyperplane i (rf_system_meet) moves the margin of a long row by at most this times its
 * amplitude and what w.x_i was. */
static double felt_elsewhere(const RfSystem *system, rf_index i) {
  double sum = 0, square = 0;
  for (rf_index j = 0; j < system->d; j++) {
    double part = fabs(system->problem->X[i * system->d + j]) / system->grade[j];
    sum += part, square += part * part;
  }
  return square > 0 ? fmax(1, sum / square) : 1;
}

/* How far unit k may be beyond hyperplane i by rounding. */
static double slack_of(const RfRun *run, rf_index k, rf_index i) {
  const RfSystem *system = &run->system;
  double slack = run->plane_slack * system->x_norm[i];
  if (!system->grade || system->problem->freeze_second) return slack;
  double amplitude = rf_system_amplitude(system, system->y[system->units * (system->d + 1) + k]);
  double shows = RF_TOL_CUT_MARGIN / fmax(amplitude * felt_elsewhere(system, i), RF_TOL_TINY);
  double terms = rf_run_input_size(run, k, i);
  double drift = fmin(slack - RF_TOL_PLANE * system->x_norm[i], shows);
  /* hundreds of ulps of a long row are a margin, and who is put back by that much never gets on */
  return fmax(RF_TOL_CUT_LEAST * terms, fmin(RF_TOL_PLANE * terms, shows)) + fmax(drift, 0);
}

/* Nothing pushes unit k across hyperplane i but rounding: w.x e^rho stays what it is, while w.x falls below
 * what an implicit step leaves of it, on whichever side. */
static bool not_driven(const RfRun *run, rf_index k, rf_index i) {
  const RfSystem *system = &run->system;
  rf_index d = system->d;
  double push = fabs(rf_la_quick_dot(rf_system_g(system, k), system->problem->X + i * d, d));
  return run->implicit && !run->problem->freeze_second &&
         push <= RF_TOL_CANCELLED * strength(system, k) * system->x_norm[i];
}

/* A unit that was on a hyperplane, moves off it at both ends of the step (by m0, m1 > 0, were that its way),
 * and is beyond it, by more: what the weights move to follow the margins that the state carries, which does
 * not go to nothing with the length of a trial. */
static bool follows(const RfSystem *system, double slack, double v0, double v1, double m0, double m1) {
  return system->by_margins && v0 <= slack && m0 > 0 && m1 > 0 && -v1 > fmax(m0, m1);
}

/* A unit beyond its side by what is no motion: put back before growth makes a margin of it; where it is far
 * for rounding (there is no rounding in a margin of a long row) the others make up for that. */
static RfStatus put_back(RfRun *run, rf_index k, rf_index i, bool far) {
  RfSystem *system = &run->system;
  const RfHit there = {.kind = RF_HIT_PLANE, .unit = k, .sample = i};
  if (far && system->grade && !run->problem->freeze_second)
    return rf_plain_put_on(run->context, system, run->y_end, &there, 1);
  rf_system_note(system);
  rf_system_meet(system, i, run->y_end + k * system->d);
  rf_system_keep_rounding(system, run->y_end);
  return RF_OK;
}

/* Whether something has to be looked at among the hyperplanes of a unit, by signs alone: one that it is not
 * clear of at the end (v1 <= slack |x|), or comes to and goes away from. nearest: w.x/|x| at the end. */
RF_HOT static bool any_near(const int8_t *restrict sigma, const double *restrict H1,
                            const double *restrict d0, const double *restrict d1, const double *restrict size,
                            double slack, rf_index n, double *nearest) {
  double least = INFINITY;
  int any = 0;
  for (rf_index i = 0; i < n; i++) {
    double s = sigma[i], v1 = s * H1[i];
    double far = s != 0 ? v1 / size[i] : INFINITY;
    least = far < least ? far : least;
    any |= (s != 0) & ((1 - (v1 > slack * size[i])) | ((s * d0[i] < 0) & (s * d1[i] > 0)));
  }
  *nearest = least;
  return any;
}

/* A unit that comes to a hyperplane and goes away from it may have been below the floor in between. The cubic
 * knows the ends of an explicit step only, and how far it turns in between by a factor: who may have been
 * there is located, or found not to. */
static bool may_dip(const RfRun *run, double v0, double v1, double s0, double s1, double floor,
                    double *where) {
  double least = cubic_minimum(v0, v1, s0, s1, where), nearer = fmin(v0, v1);
  return nearer - (run->implicit ? 1 : RF_TOL_DIP) * (nearer - least) < floor;
}

/* The hyperplanes of one unit that is looked at. */
static RfStatus row_hits(RfRun *run, rf_index row, double h) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, k = run->row_unit[row], before = run->n_hits;
  const int8_t *sigma = system->sigma + k * n;
  const double *H1 = run->H1 + row * n, *d0 = run->Hd0 + row * n, *d1 = run->Hd1 + row * n;
  double nearest;
  bool any = any_near(sigma, H1, d0, d1, system->x_norm, run->plane_slack, n, &nearest);
  for (rf_index i = 0; i < n && any; i++) {
    double s = sigma[i], v1 = s * H1[i], size = system->x_norm[i], slack = run->plane_slack * size;
    if (v1 > slack && !(s * d0[i] < 0 && s * d1[i] > 0)) continue; /* the usual case */
    if (s == 0) continue;
    if (system->grade) slack = slack_of(run, k, i);
    double v0 = s * rf_la_quick_dot(system->y + k * d, system->problem->X + i * d, d),
           floor = fmin(v0, 0) - slack;
    double where = 1;
    bool dips = !run->ends_only && s * d0[i] < 0 && s * d1[i] > 0;
    bool below = v1 < floor || (dips && may_dip(run, v0, v1, h * s * d0[i], h * s * d1[i], floor, &where));
    below = below && !not_driven(run, k, i) && !follows(system, slack, v0, v1, h * s * d0[i], h * s * d1[i]);
    RfStatus status = below ? rf_events_add(run, k, i, RF_HIT_PLANE, v1 < floor ? 1 : where) : RF_OK;
    if (!status && !below && v1 < (run->implicit ? 0 : -RF_TOL_PLANE * size))
      status = put_back(run, k, i, v1 < floor);
    if (status) return status;
  }
  RfStatus status = system->slide[k].n_on > 0 ? slide_hits(run, k) : RF_OK;
  if (run->n_hits == before) rf_planes_clear(run, k, nearest);
  return status;
}

/* w.x/|x| is known to the rounding of a step, and moves with a field known to rounding; not so much that
 * putting the unit on the hyperplane would show in the weights. */
static double plane_slack(const RfRun *run, double h) {
  const RfSystem *system = &run->system;
  double drift = system->problem->freeze_second ? 0 : RF_TOL_SIDE * rf_system_reach(system) * h;
  double most =
      run->at_infinity ? RF_TOL_CUT_MARGIN / fmax(1, rf_system_possible_margin(&run->system)) : RF_TOL_ORIGIN;
  return RF_TOL_PLANE + fmin(drift, most);
}

RfStatus rf_events_find(RfRun *run, double h) {
  RfSystem *system = &run->system;
  run->n_hits = 0;
  run->plane_slack = plane_slack(run, h);
  if (run->settings->until != RF_UNTIL_INFINITY && !run->implicit) {
    double log_t = log_t_after(system, run->y_end[rf_system_clock(system)]);
    RfStatus status = rf_run_until(run, log_t) > 0 ? RF_OK : add_hit(run, -1, -1, RF_HIT_UNTIL);
    if (status) return status;
  }
  if (system->problem->leak == 1) return RF_OK;
  for (rf_index row = 0; row < run->n_rows; row++) {
    RfStatus status = system->dead[run->row_unit[row]] ? RF_OK : row_hits(run, row, h);
    if (status) return status;
  }
  return RF_OK;
}

/* ---- where in the step --------------------------------------------------------------------- */

/* A scalar along the step that is >= 0 while nothing happens. */
typedef struct Watch {
  RfRun *run;
  const RfHit *hit;
  double terms[RF_DENSE_TERMS]; /* of a plane or of a */
  double *y;                    /* for slopes */
} Watch;

static double watch_value(Watch *watch, double s) {
  RfRun *run = watch->run;
  RfSystem *system = &run->system;
  if (watch->hit->kind == RF_HIT_UNTIL) {
    rf_explicit_at(&run->explicit_method, watch->y, s, rf_system_size(system));
    rf_system_fields(system, watch->y);
    return rf_run_until(run, log_t_after(system, watch->y[rf_system_clock(system)]));
  }
  if (watch->hit->kind != RF_HIT_SLOPE) return rf_dense_value(watch->terms, s);
  double slope = 0, *slopes = run->Hd1; /* scratch: at least n entries */
  const RfSlide *slide = &system->slide[watch->hit->unit];
  rf_explicit_at(&run->explicit_method, watch->y, s, rf_system_size(system));
  rf_system_fields(system, watch->y);
  if (rf_slide_dependent(slide)) {
    double gap = 0;
    rf_system_slide_gap(system, watch->hit->unit, run->at_infinity, &gap, slopes);
    return RF_TOL_GAP_AT - gap;
  }
  rf_system_slide_slopes(system, watch->hit->unit, slopes);
  for (rf_index z = 0; z < slide->n_planes; z++)
    if (slide->first[z] == watch->hit->sample) slope = slopes[z];
  return fmin(slope - system->problem->leak, 1 - slope);
}

static void watch_terms(Watch *watch) {
  RfRun *run = watch->run;
  const RfSystem *system = &run->system;
  rf_index d = system->d, n = system->n, k = watch->hit->unit, i = watch->hit->sample;
  for (int r = 0; r < RF_DENSE_TERMS; r++) {
    const double *term = run->explicit_method.dense[r];
    if (watch->hit->kind == RF_HIT_PLANE)
      watch->terms[r] =
          system->sigma[k * n + i] * rf_la_quick_dot(term + k * d, system->problem->X + i * d, d);
    else
      watch->terms[r] = copysign(1, system->y[system->units * d + k]) * term[system->units * d + k];
  }
}

/* Narrows the bracket value(low) > 0 > value(high) by secants and bisection; returns its lower end. The value
 * looked at is that of the watch, or (value - v0)/s where the zero at s = 0 is divided out (v0 not NaN). */
static double divided(Watch *watch, double v0, double s) {
  if (isnan(v0)) return watch_value(watch, s);
  return s > 0 ? (watch_value(watch, s) - v0) / s : watch->terms[1] + watch->terms[2];
}

/* Chandrupatla's rule: the inverse parabola through the last three places where it is monotone between them,
 * the middle otherwise. */
static double narrow(Watch *watch, double v0, double low, double f_low, double high, double f_high) {
  double a = high, fa = f_high, b = low, fb = f_low, part = fa / (fa - fb);
  for (int round = 0; round < 100 && fabs(a - b) > RF_TOL_BRACKET * fmax(a, b); round++) {
    double least = 0.5 * RF_TOL_BRACKET * fmax(a, b) / fabs(a - b), c = a, fc = fa;
    double s = a + fmin(1 - least, fmax(least, part)) * (b - a);
    if (s == a || s == b) s = 0.5 * (a + b);
    if (s == a || s == b) break;
    double f = divided(watch, v0, s);
    if (f == 0) return s;
    if ((f > 0) != (fa > 0)) c = b, fc = fb, b = a, fb = fa;
    a = s, fa = f;
    double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
    bool curved = phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi;
    part = curved
               ? fa / (fb - fa) * (fc / (fb - fc)) + (c - a) / (b - a) * (fa / (fc - fa)) * (fb / (fc - fb))
               : 0.5;
  }
  return fa > 0 ? a : b;
}

/* A unit that starts on the hyperplane, on the side it was given: the first fraction at which it is back. */
static double first_return(Watch *watch, double v0, double slack) {
  double low, high, f_start = divided(watch, v0, 0);
  if (!rf_dense_first_below(watch->terms, v0 - slack, &low, &high)) return 2;
  if (f_start <= 0) return 0;
  double f_low = divided(watch, v0, low);
  if (!(f_low > 0)) low = 0, f_low = f_start;
  return narrow(watch, v0, low, f_low, high, divided(watch, v0, high));
}

/* First fraction at which a polynomial goes below zero, by more than rounding in the end. */
static double first_root(Watch *watch, double slack) {
  double low, high, v0 = watch_value(watch, 0);
  if (watch->hit->kind == RF_HIT_PLANE && v0 <= slack) return first_return(watch, v0, slack);
  if (!rf_dense_first_below(watch->terms, -slack, &low, &high)) return 2;
  if (!rf_dense_first_below(watch->terms, 0, &low, &high)) return high;
  double below = watch_value(watch, high), above = watch_value(watch, low);
  return above > 0 && below < 0 ? narrow(watch, NAN, low, above, high, below) : low;
}

/* First fraction up to `end` at which the watched value goes below zero; 2 when it does not. */
static double first_zero(Watch *watch, double end) {
  enum { SAMPLES = 4 };
  RfHitKind kind = watch->hit->kind;
  if (kind == RF_HIT_PLANE)
    return first_root(watch, slack_of(watch->run, watch->hit->unit, watch->hit->sample));
  if (kind == RF_HIT_SIGN) return first_root(watch, RF_TOL_SLOPE_AT);
  double low = 0, value_low = watch_value(watch, 0);
  int samples = kind == RF_HIT_SLOPE ? SAMPLES : 4 * SAMPLES;
  for (int j = 1; j <= samples; j++) {
    double s = end * j / samples, value = watch_value(watch, s);
    if (value < -RF_TOL_SLOPE_AT) return value_low <= 0 ? low : narrow(watch, NAN, low, value_low, s, value);
    low = s, value_low = value;
  }
  return 2;
}

static bool is_hit(const RfRun *run, rf_index unit, rf_index sample) {
  for (rf_index j = 0; j < run->n_hits; j++)
    if (run->hits[j].unit == unit && run->hits[j].sample == sample && run->hits[j].kind == RF_HIT_SLOPE)
      return true;
  return false;
}

/* Slopes inside their range at the end of the step that are beyond it at the fraction s, where something else
 * happens: they have left before. Adds them to the hits. */
static RfStatus slopes_before(RfRun *run, double s) {
  RfSystem *system = &run->system;
  double leak = system->problem->leak, *slopes = run->Hd1;
  RfStatus status = RF_OK;
  rf_explicit_at(&run->explicit_method, run->y_end, s, rf_system_size(system));
  rf_system_fields(system, run->y_end);
  for (rf_index k = 0; k < system->units && !status; k++) {
    const RfSlide *slide = &system->slide[k];
    if (system->dead[k] || slide->n_on == 0 || rf_slide_dependent(slide)) continue;
    rf_system_slide_slopes(system, k, slopes);
    double slack = slope_slack(run, k);
    for (rf_index z = 0; z < slide->n_planes && !status; z++) {
      bool out = slopes[z] < leak - slack || slopes[z] > 1 + slack;
      if (out && !is_hit(run, k, slide->first[z])) status = add_hit(run, k, slide->first[z], RF_HIT_SLOPE);
    }
  }
  return status;
}

/* Locates the hits from `from` on, with those before at `earliest` or later: only the first of all counts. */
static double locate_from(RfRun *run, rf_index from, double earliest) {
  for (rf_index j = from; j < run->n_hits; j++) {
    Watch watch = {.run = run, .hit = &run->hits[j], .y = run->y_end};
    if (watch.hit->kind == RF_HIT_PLANE || watch.hit->kind == RF_HIT_SIGN) watch_terms(&watch);
    run->hits[j].at = first_zero(&watch, fmin(1, earliest + RF_TOL_BRACKET_END * earliest));
    earliest = fmin(earliest, run->hits[j].at);
  }
  return earliest;
}

/* The slopes among the hits, which take an evaluation to look at, go to the end of them, save those that
 * slopes_before does not find. Returns how many are others. */
static rf_index slopes_last(RfRun *run) {
  rf_index others = 0;
  for (rf_index j = 0; j < run->n_hits; j++) {
    const RfHit *hit = &run->hits[j];
    if (hit->kind == RF_HIT_SLOPE && !rf_slide_dependent(&run->system.slide[hit->unit])) continue;
    RfHit swap = run->hits[others];
    run->hits[others++] = run->hits[j], run->hits[j] = swap;
  }
  return others;
}

RfStatus rf_events_locate(RfRun *run, double h, double *where) {
  rf_explicit_dense(&run->explicit_method, &run->system, h);
  rf_index kept = 0, from = 0, all = run->n_hits, others = slopes_last(run);
  RfStatus status = RF_OK;
  run->n_hits = others;
  double earliest = locate_from(run, 0, 2);
  if (earliest > 1) /* nothing else; otherwise those that have ended before it are found there */
    run->n_hits = all, earliest = locate_from(run, others, earliest);
  while (from < run->n_hits && !status && earliest <= 1) {
    from = run->n_hits;
    status = slopes_before(run, earliest);
    if (!status) earliest = locate_from(run, from, earliest);
  }
  for (rf_index j = 0; j < run->n_hits; j++)
    if (run->hits[j].at <= earliest + RF_TOL_TIE && run->hits[j].at <= 1) run->hits[kept++] = run->hits[j];
  run->n_hits = kept;
  *where = kept > 0 ? earliest : 2;
  return status;
}
