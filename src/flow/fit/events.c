/* Events inside a step: which hyperplanes are crossed, when slides begin and end, and what the neuron does
 * then. The interpolant of a step is a polynomial in each component, so w(t).x_i is a scalar polynomial whose
 * first sign change is bracketed and found by bisection with secants. */
#include "flow/flow_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* |w| below the first counts as w = 0 when hyperplanes are met; units that leave it start at the second. */
static const double origin_near = 1e-9, origin_exit = 2e-9;

static RfStatus add_hit(RfRun *run, rf_index unit, rf_index sample, RfHitKind kind) {
  if (run->n_hits == run->cap_hits) {
    rf_index grown = run->cap_hits ? 2 * run->cap_hits : 64;
    RfHit *more = rf_resize(run->hits, grown, sizeof *more);
    if (!more) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for events");
    run->hits = more;
    run->cap_hits = grown;
  }
  run->hits[run->n_hits++] = (RfHit){unit, sample, kind, 1};
  return RF_OK;
}

/* Smallest value inside (0,1) of the cubic with these ends and slopes (slopes already times h). */
static double cubic_minimum(double v0, double v1, double s0, double s1) {
  double c3 = 2 * (v0 - v1) + s0 + s1, c2 = 3 * (v1 - v0) - 2 * s0 - s1;
  double disc = 4 * c2 * c2 - 12 * c3 * s0; /* derivative 3 c3 s^2 + 2 c2 s + s0 */
  if (disc < 0) return fmin(v0, v1);
  double root = sqrt(disc), least = fmin(v0, v1);
  double at[2] = {c3 != 0 ? (-2 * c2 + root) / (6 * c3) : -s0 / (2 * c2),
                  c3 != 0 ? (-2 * c2 - root) / (6 * c3) : -s0 / (2 * c2)};
  for (int k = 0; k < 2; k++)
    if (at[k] > 0 && at[k] < 1) least = fmin(least, v0 + at[k] * (s0 + at[k] * (c2 + at[k] * c3)));
  return least;
}

static RfStatus slide_hits(RfRun *run, rf_index k) {
  RfSystem *system = &run->system;
  const RfSlide *slide = &system->slide[k];
  double leak = system->problem->leak;
  double *slopes = RF_NEW(double, slide->n_on + system->d), gap = 0;
  if (!slopes) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for slides");
  RfStatus status = RF_OK;
  if (run->grace > 0) { /* the weights are still settling */
  } else if (rf_slide_dependent(slide)) {
    status = rf_system_slide_gap(system, k, &gap, slopes);
    if (!status && gap > 1e-8) status = add_hit(run, k, slide->on[0], RF_HIT_SLOPE);
  } else {
    rf_system_slide_slopes(system, k, slopes);
    for (rf_index z = 0; z < slide->n_on && !status; z++)
      if (slopes[z] < leak - 1e-10 || slopes[z] > 1 + 1e-10)
        status = add_hit(run, k, slide->on[z], RF_HIT_SLOPE);
  }
  rf_index a_at = system->units * system->d + k;
  if (!status && system->y[a_at] * run->y_end[a_at] < 0) status = add_hit(run, k, slide->on[0], RF_HIT_SIGN);
  rf_free(slopes);
  return status;
}

/* log_t at the end of an explicit step, from its last component. */
static double log_t_after(const RfSystem *system, double elapsed) {
  return elapsed > 0 ? rf_run_log_add(system->log_t, log(elapsed) - system->log_S_step) : system->log_t;
}

/* The hyperplanes of one unit that is looked at. */
static RfStatus row_hits(RfRun *run, rf_index row, double h) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, k = run->row_unit[row], before = run->n_hits;
  const int8_t *sigma = system->sigma + k * n;
  const double *H1 = run->H1 + row * n, *d0 = run->Hd0 + row * n, *d1 = run->Hd1 + row * n;
  double nearest = INFINITY;
  for (rf_index i = 0; i < n; i++) {
    double s = sigma[i], v1 = s * H1[i], size = system->x_norm[i], slack = 1e-13 * size;
    if (v1 < nearest * size && s != 0) nearest = v1 / size;
    if (v1 > slack && !(s * d0[i] < 0 && s * d1[i] > 0)) continue; /* the usual case */
    if (s == 0) continue;
    bool below = v1 < -slack;
    if (!below && s * d0[i] < 0 && s * d1[i] > 0) {
      double v0 = s * rf_la_dot(system->y + k * d, system->problem->X + i * d, d);
      below = cubic_minimum(v0, v1, h * s * d0[i], h * s * d1[i]) < -slack;
    }
    RfStatus status = below ? add_hit(run, k, i, RF_HIT_PLANE) : RF_OK;
    if (status) return status;
  }
  RfStatus status = system->slide[k].n_on > 0 ? slide_hits(run, k) : RF_OK;
  if (run->n_hits == before) rf_planes_clear(run, k, nearest);
  return status;
}

RfStatus rf_events_find(RfRun *run, double h) {
  RfSystem *system = &run->system;
  run->n_hits = 0;
  if (run->settings->until != RF_UNTIL_INFINITY && !run->implicit) {
    double log_t = log_t_after(system, run->y_end[rf_system_size(system) - 1]);
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
    return rf_run_until(run, log_t_after(system, watch->y[rf_system_size(system) - 1]));
  }
  if (watch->hit->kind != RF_HIT_SLOPE) return rf_dense_value(watch->terms, s);
  double slope = 0, *slopes = run->Hd1; /* scratch: at least n entries */
  const RfSlide *slide = &system->slide[watch->hit->unit];
  rf_explicit_at(&run->explicit_method, watch->y, s, rf_system_size(system));
  rf_system_fields(system, watch->y);
  if (rf_slide_dependent(slide)) {
    double gap = 0;
    rf_system_slide_gap(system, watch->hit->unit, &gap, slopes);
    return 1e-9 - gap;
  }
  rf_system_slide_slopes(system, watch->hit->unit, slopes);
  for (rf_index z = 0; z < slide->n_on; z++)
    if (slide->on[z] == watch->hit->sample) slope = slopes[z];
  return fmin(slope - system->problem->leak, 1 - slope);
}

static void watch_terms(Watch *watch) {
  RfRun *run = watch->run;
  const RfSystem *system = &run->system;
  rf_index d = system->d, n = system->n, k = watch->hit->unit, i = watch->hit->sample;
  for (int r = 0; r < RF_DENSE_TERMS; r++) {
    const double *term = run->explicit_method.dense[r];
    if (watch->hit->kind == RF_HIT_PLANE)
      watch->terms[r] = system->sigma[k * n + i] * rf_la_dot(term + k * d, system->problem->X + i * d, d);
    else
      watch->terms[r] = copysign(1, system->y[system->units * d + k]) * term[system->units * d + k];
  }
}

/* First fraction at which the watched value goes below zero; 2 when it does not. */
static double first_zero(Watch *watch) {
  enum { SAMPLES = 16 };
  double slack =
      watch->hit->kind == RF_HIT_PLANE ? 1e-13 * watch->run->system.x_norm[watch->hit->sample] : 1e-12;
  double low = 0, value_low = watch_value(watch, 0), high = 2, value_high = 0;
  int samples = watch->hit->kind == RF_HIT_SLOPE ? 4 : SAMPLES;
  for (int j = 1; j <= samples; j++) {
    double s = (double)j / samples, value = watch_value(watch, s);
    if (value < -slack) {
      high = s, value_high = value;
      break;
    }
    low = s, value_low = value;
  }
  if (high > 1) return 2;
  if (value_low <= 0) return low;
  for (int round = 0; round < 100 && high - low > 4e-16 * high;
       round++) { /* secant inside a shrinking bracket */
    double s = low + (high - low) * value_low / (value_low - value_high);
    double inset = 1e-3 * (high - low);
    if (round % 3 == 2) s = 0.5 * (low + high);
    s = fmin(high - inset, fmax(low + inset, s));
    if (!(s > low && s < high)) break;
    double value = watch_value(watch, s);
    if (value >= 0)
      low = s, value_low = value;
    else
      high = s, value_high = value;
    if (value == 0) return s;
  }
  return low;
}

double rf_events_locate(RfRun *run, double h) {
  RfSystem *system = &run->system;
  rf_explicit_dense(&run->explicit_method, system, h);
  double earliest = 2;
  for (rf_index j = 0; j < run->n_hits; j++) {
    Watch watch = {.run = run, .hit = &run->hits[j], .y = run->y_end};
    if (watch.hit->kind == RF_HIT_PLANE || watch.hit->kind == RF_HIT_SIGN) watch_terms(&watch);
    run->hits[j].at = first_zero(&watch);
    earliest = fmin(earliest, run->hits[j].at);
  }
  rf_index kept = 0;
  double tie = 1e-11;
  for (rf_index j = 0; j < run->n_hits; j++)
    if (run->hits[j].at <= earliest + tie && run->hits[j].at <= 1) run->hits[kept++] = run->hits[j];
  run->n_hits = kept;
  return kept > 0 ? earliest : 2;
}

/* ---- what happens there -------------------------------------------------------------------- */

RfStatus rf_events_log(RfRun *run, rf_index unit, rf_index sample, RfEventKind kind) {
  if (kind == RF_EVENT_BRANCH) run->branched = true;
  if (!run->recording) return RF_OK;
  const RfSystem *system = &run->system;
  double log_t = system->log_t + (run->problem->mean ? log((double)system->n) : 0);
  rf_index only = system->only[unit], first = only >= 0 ? only : 0, end = only >= 0 ? only + 1 : system->m;
  for (rf_index k = first; k < end; k++) {
    if (system->unit_of[k] != unit) continue;
    if (run->n_events == run->cap_events) {
      rf_index grown = run->cap_events ? 2 * run->cap_events : 256;
      RfFlowEvent *more = rf_resize(run->events, grown, sizeof *more);
      if (!more) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for events");
      run->events = more;
      run->cap_events = grown;
    }
    run->events[run->n_events++] = (RfFlowEvent){log_t, k, sample, kind, rf_system_q_min(system)};
  }
  return RF_OK;
}

typedef struct Corner { /* one unit on some hyperplanes */
  rf_index *on;
  rf_index n_on;
  double *base, *ahead, *numbers;
  int8_t *signs;
  RfSides sides;
} Corner;

static RfStatus corner_new(RfContext *context, Corner *corner, rf_index n, rf_index d) {
  memset(corner, 0, sizeof *corner);
  corner->on = RF_NEW(rf_index, n);
  corner->numbers = RF_NEW(double, 3 * d + n);
  corner->signs = RF_NEW(int8_t, (2 + RF_MOST_OPTIONS) * n);
  if (!corner->on || !corner->numbers || !corner->signs) /* corner_free is the caller's */
    return rf_fail(context, RF_ERR_MEMORY, "out of memory at a hyperplane");
  corner->base = corner->numbers;
  corner->sides.g = corner->base + d;
  corner->ahead = corner->sides.g + d;
  corner->sides.slope = corner->ahead + d;
  corner->sides.sign = corner->signs;
  corner->sides.other = corner->signs + n;
  corner->sides.found = corner->signs + 2 * n;
  return RF_OK;
}

static void corner_free(Corner *corner) {
  rf_free(corner->on);
  rf_free(corner->numbers);
  rf_free(corner->signs);
}

/* Decides the sides of unit k, whose sigma is 0 on every hyperplane to decide. */
static RfStatus resolve_unit(RfRun *run, Corner *corner, rf_index k) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, positive = 0;
  int8_t *sigma = system->sigma + k * n;
  RfAlignField field = {
      .X = system->problem->X, .c = system->c, .n = n, .d = d, .leak = system->problem->leak};
  corner->n_on = 0;
  memset(corner->base, 0, (size_t)d * sizeof(double));
  for (rf_index i = 0; i < n; i++) {
    positive += sigma[i] > 0;
    if (system->x_norm[i] == 0) sigma[i] = -1; /* a zero sample has no hyperplane */
    if (sigma[i] == 0)
      corner->on[corner->n_on++] = i;
    else
      rf_la_axpy(corner->base, system->c[i] * (sigma[i] > 0 ? 1 : field.leak), system->problem->X + i * d, d);
  }
  corner->sides.count = 1;
  if (field.leak == 0 && positive == 0) { /* dead: the regular solution stays */
    for (rf_index z = 0; z < corner->n_on; z++) corner->sides.sign[z] = 0;
    return rf_system_refresh_unit(system, k);
  }
  double a = system->y[system->units * d + k];
  RfStatus status = rf_flow_sides(run->context, &corner->sides, &field, corner->base, corner->on,
                                  corner->n_on, a >= 0 ? 1 : -1);
  for (rf_index z = 0; z < corner->n_on && !status; z++) sigma[corner->on[z]] = corner->sides.sign[z];
  return status ? status : rf_system_refresh_unit(system, k);
}

/* Notes the point where unit k may go on in several ways, and where it is told to go elsewhere than it would
 * by itself, sends it there. */
static RfStatus choose(RfRun *run, const Corner *corner, rf_index k) {
  RfSystem *system = &run->system;
  rf_index n = system->n, n_on = corner->n_on, taken = 0;
  int8_t *sigma = system->sigma + k * n;
  if (!run->settings->choices || n_on == 0) return RF_OK;
  if (run->n_branches == run->cap_branches) {
    rf_index grown = 2 * run->cap_branches + 8;
    RfFlowBranch *more = rf_resize(run->branches, grown, sizeof *more);
    if (!more) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for branches");
    run->branches = more, run->cap_branches = grown;
  }
  RfFlowBranch *branch = &run->branches[run->n_branches];
  *branch = (RfFlowBranch){.log_t = system->log_t + (run->problem->mean ? log((double)n) : 0), .neuron = -1};
  for (rf_index j = 0; j < system->m && branch->neuron < 0; j++)
    if (system->unit_of[j] == k) branch->neuron = j;
  branch->sectors = RF_NEW(int8_t, RF_MOST_OPTIONS * n);
  if (!branch->sectors) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for branches");
  if (run->n_branches < run->settings->n_choices) taken = run->settings->choices[run->n_branches];
  run->n_branches++;
  memcpy(branch->sectors, sigma, (size_t)n);
  branch->n_options = 1;
  for (int o = 0; o < corner->sides.count && o < RF_MOST_OPTIONS; o++) {
    const int8_t *row = corner->sides.found + o * n_on;
    if (memcmp(row, corner->sides.sign, (size_t)n_on) == 0 || branch->n_options == RF_MOST_OPTIONS) continue;
    int8_t *sector = branch->sectors + branch->n_options++ * n;
    memcpy(sector, sigma, (size_t)n);
    for (rf_index z = 0; z < n_on; z++) sector[corner->on[z]] = row[z];
  }
  branch->taken = taken < branch->n_options ? taken : 0;
  if (branch->taken == 0) return RF_OK;
  memcpy(sigma, branch->sectors + branch->taken * n, (size_t)n);
  return rf_system_refresh_unit(system, k);
}

static int slope_side(const RfSystem *system, rf_index unit, rf_index sample, double *slopes) {
  const RfSlide *slide = &system->slide[unit];
  rf_system_slide_slopes(system, unit, slopes);
  for (rf_index z = 0; z < slide->n_on; z++)
    if (slide->on[z] == sample) return slopes[z] < 0.5 * (1 + system->problem->leak) ? -1 : 1;
  return 1;
}

/* A slide on dependent samples can no longer be held: the residual field says which hyperplanes are left, and
 * to which side. */
static RfStatus tear_off(RfRun *run, Corner *corner, rf_index k) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  double gap, *pull = corner->ahead, a = system->y[system->units * d + k], *w = system->y + k * d;
  RfStatus status = rf_system_slide_gap(system, k, &gap, pull);
  double strength = rf_la_norm(pull, d);
  if (status || !(strength > 0)) return status;
  rf_la_scale(pull, (a >= 0 ? 1 : -1) / strength, d);
  for (rf_index z = 0; z < system->slide[k].n_on; z++) {
    rf_index i = system->slide[k].on[z];
    double side = rf_la_dot(pull, system->problem->X + i * d, d);
    if (fabs(side) > 1e-3 * system->x_norm[i]) system->sigma[k * n + i] = side > 0 ? 1 : -1;
  }
  if (rf_la_norm(w, d) < origin_near)
    for (rf_index j = 0; j < d; j++) w[j] = origin_exit * pull[j];
  return RF_OK;
}

/* Where a unit that left w = 0 in the direction `ahead` goes: near w = 0 its output weight and the sample
 * weights are constant, so that the exact path under constant weights tells. */
static RfStatus leave_origin(RfRun *run, RfAlignNeuron *path, const double *ahead, double sign_a) {
  const RfSystem *system = &run->system;
  rf_index d = system->d;
  RfAlignField field = {.X = system->problem->X,
                        .c = system->c,
                        .n = system->n,
                        .d = d,
                        .leak = system->problem->leak,
                        .freeze_second = true};
  double *v = RF_NEW(double, d + 1);
  if (!v) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory at w = 0");
  for (rf_index j = 0; j < d; j++) v[j] = sqrt(0.5) * ahead[j];
  v[d] = sign_a * sqrt(0.5);
  RfStatus status = rf_flow_align_neuron(run->context, path, &field, v, 0, NULL, INFINITY);
  rf_free(v);
  return status;
}

/* A unit that slides on d-1 hyperplanes (or d = 1) may meet w = 0, and with it all hyperplanes at once. It
 * goes on in the direction it came, to where the path from there leads; when that comes back, it stays at
 * w = 0. */
static RfStatus pass_origin(RfRun *run, Corner *corner, rf_index k) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  int8_t *sigma = system->sigma + k * n;
  double *w = system->y + k * d, *ahead = corner->ahead, a = system->y[system->units * d + k];
  double sign_a = a >= 0 ? 1 : -1;
  memcpy(ahead, rf_system_g(system, k), (size_t)d * sizeof(double));
  rf_system_project(system, k, ahead);
  double speed = rf_la_norm(ahead, d);
  if (!(speed > 0)) return RF_OK;
  rf_la_scale(ahead, sign_a / speed, d);
  RfAlignNeuron path = {0};
  RfStatus status = leave_origin(run, &path, ahead, sign_a);
  if (status) return status;
  bool stays = path.destiny == RF_DESTINY_STUCK;
  double pace = path.velocity ? rf_la_norm(path.velocity, d) : 0;
  corner->sides.count = path.branched ? 2 : 1;
  corner->n_on = 0;
  if (path.destiny == RF_DESTINY_DEAD) {
    for (rf_index j = 0; j < d; j++) w[j] = origin_exit * path.direction[j];
  } else {
    for (rf_index j = 0; j < d; j++)
      w[j] = stays || !(pace > 0) ? 0 : origin_exit * sign_a * path.velocity[j] / pace;
  }
  for (rf_index i = 0; i < n; i++) sigma[i] = stays ? 0 : path.sector[i];
  rf_align_neuron_free(&path);
  return rf_system_refresh_unit(system, k);
}

/* A ridge crossed to and fro without end: at large margins the weight of the sample answers each crossing at
 * once and drives the unit back, so that in the limit it stays on the hyperplane with a slope in between. It
 * is held there while that slope is in [leak,1]. */
static RfStatus hold(RfRun *run, Corner *corner, rf_index from, rf_index to) {
  RfSystem *system = &run->system;
  rf_index n = system->n, k = run->hits[from].unit;
  for (rf_index j = from; j < to; j++)
    if (run->hits[j].kind == RF_HIT_PLANE) system->sigma[k * n + run->hits[j].sample] = 0;
  corner->sides.count = 1;
  run->grace = 12;
  run->repeats = 0;
  return rf_system_refresh_unit(system, k);
}

/* All hits are crossings of one and the same hyperplane. */
static bool one_plane(const RfRun *run, rf_index from, rf_index to) {
  const double *X = run->system.problem->X;
  rf_index d = run->system.d;
  for (rf_index j = from; j < to; j++)
    if (run->hits[j].kind != RF_HIT_PLANE ||
        !rf_flow_parallel(X + run->hits[j].sample * d, X + run->hits[from].sample * d, d))
      return false;
  return true;
}

/* All hits of one unit, hits[from..to). */
static RfStatus apply_unit(RfRun *run, Corner *corner, rf_index from, rf_index to) {
  RfSystem *system = &run->system;
  rf_index n = system->n, k = run->hits[from].unit;
  int8_t *sigma = system->sigma + k * n;
  bool origin = rf_la_norm(system->y + k * system->d, system->d) < origin_near;
  int8_t side_before = sigma[run->hits[from].sample];
  bool torn = false;
  RfStatus status = RF_OK;
  for (rf_index j = from; j < to && !status; j++) {
    const RfHit *hit = &run->hits[j];
    bool dependent = rf_slide_dependent(&system->slide[k]);
    if (hit->kind == RF_HIT_PLANE && !origin) sigma[hit->sample] = 0;
    if (hit->kind == RF_HIT_SLOPE && dependent && !torn) {
      status = tear_off(run, corner, k);
      torn = true;
    }
    if (hit->kind == RF_HIT_SLOPE && !dependent)
      sigma[hit->sample] = (int8_t)slope_side(system, k, hit->sample, corner->sides.slope);
    if (hit->kind == RF_HIT_SIGN) system->y[system->units * system->d + k] *= -1e-3;
  }
  if (!status) status = origin && !torn ? pass_origin(run, corner, k) : resolve_unit(run, corner, k);
  if (!status && corner->sides.count > 1 && one_plane(run, from, to)) {
    int8_t flip = (int8_t)-side_before; /* it came from one side: it leaves by the other */
    const double *X = system->problem->X, *normal = X + run->hits[from].sample * system->d;
    for (rf_index j = from; j < to; j++) {
      double r = rf_la_dot(X + run->hits[j].sample * system->d, normal, system->d);
      sigma[run->hits[j].sample] = r > 0 ? flip : (int8_t)-flip;
    }
    corner->sides.count = 1;
    status = rf_system_refresh_unit(system, k);
  }
  if (!status && (run->stuck >= 6 || run->repeats >= (run->at_infinity ? 32 : 1000)) && !system->dead[k])
    status = hold(run, corner, from, to);
  for (rf_index j = from; j < to && !status; j++) {
    const RfHit *hit = &run->hits[j];
    RfEventKind kind = hit->kind != RF_HIT_PLANE ? RF_EVENT_RELEASE : RF_EVENT_CROSS;
    if (hit->kind == RF_HIT_PLANE && sigma[hit->sample] == 0) kind = RF_EVENT_SLIDE;
    if (system->dead[k]) kind = RF_EVENT_DIE;
    status = rf_events_log(run, k, hit->sample, kind);
  }
  if (!status && corner->sides.count > 1) {
    status = rf_events_log(run, k, run->hits[from].sample, RF_EVENT_BRANCH);
    if (!status) status = choose(run, corner, k);
  }
  return status;
}

static int by_unit(const void *left, const void *right) {
  const RfHit *a = left, *b = right;
  if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
  return a->sample < b->sample ? -1 : a->sample > b->sample;
}

RfStatus rf_events_apply(RfRun *run) {
  RfSystem *system = &run->system;
  Corner corner;
  RfStatus status = corner_new(run->context, &corner, system->n, system->d);
  if (status) return status;
  qsort(run->hits, (size_t)run->n_hits, sizeof *run->hits, by_unit);
  rf_system_fields(system, system->y);
  for (rf_index j = 0, next; j < run->n_hits && !status; j = next) {
    if (run->hits[j].kind == RF_HIT_UNTIL) {
      run->reached = true;
      next = j + 1;
      continue;
    }
    for (next = j + 1; next < run->n_hits && run->hits[next].unit == run->hits[j].unit;) next++;
    status = apply_unit(run, &corner, j, next);
  }
  corner_free(&corner);
  if (!status) rf_system_normalise(system, system->y);
  return status;
}

RfStatus rf_run_start(RfRun *run) {
  RfSystem *system = &run->system;
  Corner corner;
  rf_index n = system->n;
  RfStatus status = corner_new(run->context, &corner, n, system->d);
  for (rf_index k = 0; k < system->units && !status; k++) status = rf_system_refresh_unit(system, k);
  if (!status) rf_system_fields(system, system->y);
  for (rf_index k = 0; k < system->units && !status; k++) {
    rf_index zeros = 0, first = -1;
    for (rf_index i = 0; i < n; i++)
      if (system->sigma[k * n + i] == 0) {
        zeros++;
        if (first < 0) first = i;
      }
    if (zeros == 0) continue;
    status = resolve_unit(run, &corner, k);
    if (!status && corner.sides.count > 1) {
      status = rf_events_log(run, k, first, RF_EVENT_BRANCH);
      if (!status) status = choose(run, &corner, k);
    }
  }
  corner_free(&corner);
  if (!status) rf_system_normalise(system, system->y);
  return status;
}
