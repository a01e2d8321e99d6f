/* What a unit does at an event: it meets hyperplanes, slides on them, leaves them, or dies. Which
 * continuations exist is decided by rf_continuations, here as in the alignment. */
#include "flow/fit/slides.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

RfStatus rf_events_log(RfRun *run, rf_index unit, rf_index sample, RfEventKind kind) {
  if (kind == RF_EVENT_BRANCH) run->branched = true;
  if (!run->recording) return RF_OK;
  const RfSystem *system = &run->system;
  double log_t = rf_run_log_t(run) + (run->problem->mean ? log((double)system->n) : 0);
  if (run->n_events > 0) log_t = fmax(log_t, run->events[run->n_events - 1].log_t);
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
    run->events[run->n_events++] =
        (RfFlowEvent){log_t, k, sample, kind, rf_run_grown(run) * rf_system_q_min(system)};
  }
  return RF_OK;
}

typedef struct Corner { /* one unit on some hyperplanes */
  rf_index *on;
  rf_index n_on;
  double *base, *ahead, *numbers;
  int8_t *signs;
  int8_t *before; /* n: sides as they were when the unit arrived */
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
  corner->before = corner->signs + n;
  corner->sides.found = corner->signs + 2 * n;
  return RF_OK;
}

static void corner_free(Corner *corner) {
  rf_free(corner->on);
  rf_free(corner->numbers);
  rf_free(corner->signs);
}

/* Decides the sides of unit k, whose sigma is 0 on every hyperplane to decide, under the weights c. */
static RfStatus resolve_unit(RfRun *run, Corner *corner, rf_index k, const double *c) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  int8_t *sigma = system->sigma + k * n;
  RfAlignField field = {.X = system->problem->X, .c = c, .n = n, .d = d, .leak = system->problem->leak};
  corner->n_on = 0;
  memset(corner->base, 0, (size_t)d * sizeof(double));
  for (rf_index i = 0; i < n; i++) {
    if (system->x_norm[i] == 0) sigma[i] = -1; /* a zero sample has no hyperplane */
    if (sigma[i] == 0)
      corner->on[corner->n_on++] = i;
    else
      rf_la_axpy(corner->base, c[i] * (sigma[i] > 0 ? 1 : field.leak), system->problem->X + i * d, d);
  }
  corner->sides.count = 1;
  if (rf_system_unseen(system, sigma)) { /* dead: the regular solution stays */
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
  *branch =
      (RfFlowBranch){.log_t = rf_run_log_t(run) + (run->problem->mean ? log((double)n) : 0), .neuron = -1};
  for (rf_index j = 0; j < system->m && branch->neuron < 0; j++)
    if (system->unit_of[j] == k) branch->neuron = j;
  branch->sectors = RF_NEW_TABLE(int8_t, RF_MOST_OPTIONS, n);
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

/* Of the hyperplanes among hits[from..to) whose slopes have left [leak,1], the one whose slope is farthest
 * out.
 */
static rf_index farthest_out(const RfRun *run, rf_index from, rf_index to, double *slopes) {
  const RfSystem *system = &run->system;
  const RfSlide *slide = &system->slide[run->hits[from].unit];
  rf_index sample = -1;
  double far = -INFINITY;
  rf_system_slide_slopes(system, run->hits[from].unit, slopes);
  for (rf_index j = from; j < to; j++)
    for (rf_index k = 0; k < slide->n_planes && run->hits[j].kind == RF_HIT_SLOPE; k++) {
      double off = fmax(slopes[k] - 1, system->problem->leak - slopes[k]);
      if (slide->first[k] == run->hits[j].sample && off > far) far = off, sample = slide->first[k];
    }
  return sample;
}

/* The slope of the hyperplane of this sample has left [leak,1]: all samples on its line take their sides. */
static void leave_plane(RfSystem *system, rf_index unit, rf_index sample, double *slopes) {
  const RfSlide *slide = &system->slide[unit];
  int8_t *sigma = system->sigma + unit * system->n;
  rf_system_slide_slopes(system, unit, slopes);
  for (rf_index z = 0; z < slide->n_on; z++) {
    rf_index k = slide->plane[z], i = slide->on[z];
    if (slide->first[k] != sample) continue;
    int8_t side = slopes[k] < 0.5 * (1 + system->problem->leak) ? -1 : 1;
    sigma[i] = (system->along[i] > 0) == (system->along[sample] > 0) ? side : (int8_t)-side;
  }
}

/* A slide on dependent samples can no longer be held: the residual field says which hyperplanes are left, and
 * to which side. */
static RfStatus tear_off(RfRun *run, Corner *corner, rf_index k) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  double gap, *pull = corner->ahead, a = system->y[system->units * d + k], *w = system->y + k * d;
  RfStatus status = rf_system_slide_gap(system, k, run->at_infinity, &gap, pull);
  double strength = rf_la_norm(pull, d);
  if (status || !(strength > 0)) return status;
  rf_la_scale(pull, (a >= 0 ? 1 : -1) / strength, d);
  for (rf_index z = 0; z < system->slide[k].n_on; z++) {
    rf_index i = system->slide[k].on[z];
    double side = rf_la_quick_dot(pull, system->problem->X + i * d, d);
    if (fabs(side) > RF_TOL_TEAR * system->x_norm[i]) system->sigma[k * n + i] = side > 0 ? 1 : -1;
  }
  if (rf_la_norm(w, d) < RF_TOL_ORIGIN)
    for (rf_index j = 0; j < d; j++) w[j] = RF_TOL_ORIGIN_EXIT * pull[j];
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
 * w = 0, until one of the slopes that hold it there ends: it leaves to that side. */
static RfStatus pass_origin(RfRun *run, Corner *corner, rf_index k) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  int8_t *sigma = system->sigma + k * n;
  double *w = system->y + k * d, *ahead = corner->ahead, a = system->y[system->units * d + k];
  double sign_a = a >= 0 ? 1 : -1;
  if (memcmp(sigma, corner->before, (size_t)n) != 0 && !run->problem->freeze_second) {
    RfStatus left = rf_system_refresh_unit(system, k);
    if (left) return left;
    rf_system_fields(system, system->y);
  }
  memcpy(ahead, rf_system_g(system, k), (size_t)d * sizeof(double));
  rf_system_project(system, k, ahead);
  double speed = rf_la_norm(ahead, d);
  if (!(speed > 0)) return RF_OK;
  rf_la_scale(ahead, sign_a / speed, d);
  RfAlignNeuron path = {0};
  RfStatus status = leave_origin(run, &path, ahead, sign_a);
  if (status) return status;
  bool dies = path.destiny == RF_DESTINY_DEAD;
  double pace = path.velocity ? rf_la_norm(path.velocity, d) : 0;
  bool stays = path.destiny == RF_DESTINY_STUCK || (!dies && !(pace > 0));
  corner->sides.count = path.branched ? 2 : 1;
  corner->n_on = 0;
  /* it may die at w = 0 itself, where its direction is rounding */
  bool away = rf_la_norm(path.direction, d) > RF_TOL_ORIGIN;
  for (rf_index j = 0; j < d; j++)
    w[j] = dies    ? (away ? RF_TOL_ORIGIN_EXIT * path.direction[j] : 0)
           : stays ? 0
                   : RF_TOL_ORIGIN_EXIT * sign_a * path.velocity[j] / pace;
  for (rf_index i = 0; i < n; i++) sigma[i] = stays ? 0 : path.sector[i];
  rf_align_neuron_free(&path);
  return rf_system_refresh_unit(system, k);
}

/* A ridge crossed to and fro without end: at large margins the weight of the sample answers each crossing at
 * once and drives the unit back, so that in the limit it stays on the hyperplane with a slope in between. It
 * is held there; the weight gets some steps to settle, and after that the slope has to be in [leak,1] like
 * that of any slide. A sample without weight drives nobody back. */
static RfStatus hold(RfRun *run, Corner *corner, rf_index k, rf_index sample) {
  RfSystem *system = &run->system;
  if (!(system->p[sample] > RF_TOL_AVERAGED)) return RF_OK;
  system->sigma[k * system->n + sample] = 0;
  corner->sides.count = 1;
  run->held = (RfHeld){.unit = k, .sample = sample, .steps = 12};
  rf_run_forget_repeats(run);
  return rf_system_refresh_unit(system, k);
}

void rf_run_forget_repeats(RfRun *run) { memset(&run->repeats, 0, sizeof run->repeats); }

/* How often this unit has met this sample's hyperplane lately. */
static int count_repeat(RfRepeats *repeats, rf_index unit, rf_index sample) {
  int at = 0;
  while (at < repeats->used && (repeats->unit[at] != unit || repeats->sample[at] != sample)) at++;
  if (at == repeats->used) {
    at = repeats->used < RF_REPEATS ? repeats->used++ : repeats->next++ % RF_REPEATS;
    repeats->unit[at] = unit, repeats->sample[at] = sample, repeats->count[at] = 0;
  }
  return ++repeats->count[at];
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

/* w without its component along x: what has been met is met exactly, and with it the hyperplane of every
 * sample on the same line. */
static void meet_plane(RfSystem *system, rf_index k, rf_index i) {
  for (rf_index j = 0; j < system->n; j++)
    if (system->line[j] == system->line[i]) system->sigma[k * system->n + j] = 0;
  rf_system_meet(system, i, system->y + k * system->d);
}

/* What the hits alone say: hyperplanes met are to be decided, a slope that has left [leak,1] tells the side
 * (where several have, that of one: without it the others may be held, and are to be decided), and the sign
 * of a is that of da/dtau = (g.w)(1 - 2a^2), on whichever side of 0 the step has ended. */
static RfStatus take_hits(RfRun *run, Corner *corner, rf_index from, rf_index to, bool origin, bool *torn) {
  RfSystem *system = &run->system;
  rf_index k = run->hits[from].unit, left = farthest_out(run, from, to, corner->sides.slope);
  RfStatus status = RF_OK;
  for (rf_index j = from; j < to && !status; j++) {
    const RfHit *hit = &run->hits[j];
    bool dependent = rf_slide_dependent(&system->slide[k]);
    if (hit->kind == RF_HIT_PLANE && !origin) {
      meet_plane(system, k, hit->sample);
    } else if (hit->kind == RF_HIT_SLOPE && dependent && !*torn) {
      status = tear_off(run, corner, k);
      *torn = true;
    } else if (hit->kind == RF_HIT_SLOPE && !dependent && hit->sample == left) {
      leave_plane(system, k, hit->sample, corner->sides.slope);
    } else if (hit->kind == RF_HIT_SIGN) {
      double speed = rf_la_quick_dot(rf_system_g(system, k), system->y + k * system->d, system->d);
      system->y[system->units * system->d + k] = copysign(RF_TOL_SIGN, speed);
    }
  }
  return status;
}

/* The unit was sent off the hyperplane of a slope at its end, and without it others do not hold any more;
 * with these gone, too, the field may lead back to the first, which it need not have left: all are decided
 * together.
 */
static RfStatus decide_together(RfRun *run, Corner *corner, rf_index from, rf_index to) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, k = run->hits[from].unit;
  int8_t *sigma = system->sigma + k * n;
  double sign_a = system->y[system->units * d + k] >= 0 ? 1 : -1;
  bool back = false, others = false;
  for (rf_index i = 0; i < n; i++) {
    bool hit = false;
    if (corner->before[i] != 0 || sigma[i] == 0) continue;
    for (rf_index j = from; j < to; j++)
      hit =
          hit || (run->hits[j].kind == RF_HIT_SLOPE && system->line[run->hits[j].sample] == system->line[i]);
    double across = sigma[i] * sign_a * rf_la_quick_dot(corner->sides.g, system->problem->X + i * d, d);
    double kink = fabs(system->c[i]) * system->x_norm[i] * system->x_norm[i];
    others = others || !hit;
    back = back || (hit && across < -RF_TOL_SLOPE * kink);
  }
  if (!back || !others) return RF_OK;
  for (rf_index i = 0; i < n; i++)
    if (corner->before[i] == 0) sigma[i] = 0;
  return resolve_unit(run, corner, k, system->c);
}

/* Several continuations at one hyperplane: the unit came from one side and leaves by the other. */
static RfStatus go_through(RfRun *run, Corner *corner, rf_index from, rf_index to) {
  RfSystem *system = &run->system;
  rf_index d = system->d, k = run->hits[from].unit;
  int8_t *sigma = system->sigma + k * system->n, flip = (int8_t)-corner->before[run->hits[from].sample];
  const double *X = system->problem->X, *normal = X + run->hits[from].sample * d;
  for (rf_index j = from; j < to; j++) {
    double r = rf_la_quick_dot(X + run->hits[j].sample * d, normal, d);
    sigma[run->hits[j].sample] = r > 0 ? flip : (int8_t)-flip;
  }
  corner->sides.count = 1;
  return rf_system_refresh_unit(system, k);
}

/* Events without time between them after which a unit slides. */
enum { STUCK_SLIDES = 8 };

/* No time has passed since the last event, and every hyperplane met was left to the side it was met from: the
 * field along it is zero to first order, and what it is a moment later decides. */
static RfStatus look_ahead(RfRun *run, Corner *corner, rf_index from, rf_index to) {
  RfSystem *system = &run->system;
  rf_index k = run->hits[from].unit;
  int8_t *sigma = system->sigma + k * system->n;
  for (rf_index j = from; j < to; j++)
    if (run->hits[j].kind != RF_HIT_PLANE ||
        sigma[run->hits[j].sample] != corner->before[run->hits[j].sample])
      return RF_OK;
  for (rf_index j = from; j < to; j++) sigma[run->hits[j].sample] = 0;
  RfStatus status = resolve_unit(run, corner, k, run->c_ahead);
  return status || run->stuck < STUCK_SLIDES ? status : rf_slides_at_end(run, corner->before, from, to);
}

/* A sample without weight has no kink. Where the field does not say more than rounding, it is crossed. */
static RfStatus cross_weightless(RfRun *run, const Corner *corner, rf_index from, rf_index to) {
  RfSystem *system = &run->system;
  rf_index k = run->hits[from].unit;
  int8_t *sigma = system->sigma + k * system->n;
  bool changed = false;
  for (rf_index j = from; j < to; j++) {
    rf_index i = run->hits[j].sample;
    if (run->hits[j].kind != RF_HIT_PLANE || system->c[i] != 0 || corner->before[i] == 0) continue;
    const double *x = system->problem->X + i * system->d, *g = corner->sides.g;
    double across = fabs(rf_la_quick_dot(g, x, system->d)),
           size = rf_la_norm(g, system->d) * system->x_norm[i];
    if (corner->n_on > 0 && across > RF_TOL_ACROSS * size) continue;
    changed = changed || sigma[i] != -corner->before[i];
    sigma[i] = (int8_t)-corner->before[i];
  }
  return changed ? rf_system_refresh_unit(system, k) : RF_OK;
}

/* Logs what became of the hyperplanes by the sides before and after. */
static RfStatus log_changes(RfRun *run, const Corner *corner, rf_index from, rf_index to) {
  const RfSystem *system = &run->system;
  rf_index k = run->hits[from].unit;
  const int8_t *sigma = system->sigma + k * system->n;
  RfStatus status = RF_OK;
  for (rf_index j = from; j < to && !status && system->dead[k]; j++)
    status = rf_events_log(run, k, run->hits[j].sample, RF_EVENT_DIE);
  for (rf_index i = 0; i < system->n && !status && !system->dead[k]; i++) {
    if (sigma[i] == corner->before[i]) continue;
    RfEventKind kind = corner->before[i] == 0 ? RF_EVENT_RELEASE : RF_EVENT_CROSS;
    status = rf_events_log(run, k, i, sigma[i] == 0 ? RF_EVENT_SLIDE : kind);
  }
  return status;
}

/* The weight of the sample answers a crossing at once: at large margins, or where its row is long. */
static bool answers_at_once(const RfRun *run, rf_index i) {
  const RfSystem *system = &run->system;
  if (run->at_infinity || !system->grade) return run->at_infinity;
  double x2 = system->x_norm[i] * system->x_norm[i];
  return system->p[i] * x2 * rf_system_answer(system) > RF_TOL_SETTLING_FROM;
}

static bool sign_changes(const RfRun *run, rf_index from, rf_index to) {
  for (rf_index j = from; j < to; j++)
    if (run->hits[j].kind == RF_HIT_SIGN) return true;
  return false;
}

/* All hits of one unit, hits[from..to). */
static RfStatus apply_unit(RfRun *run, Corner *corner, rf_index from, rf_index to) {
  RfSystem *system = &run->system;
  rf_index n = system->n, k = run->hits[from].unit;
  bool torn = false; /* with one input w = 0 is a hyperplane like any other */
  bool origin = system->d > 1 && rf_la_norm(system->y + k * system->d, system->d) < RF_TOL_ORIGIN;
  memcpy(corner->before, system->sigma + k * n, (size_t)n);
  RfStatus status = take_hits(run, corner, from, to, origin, &torn);
  if (!status)
    status = origin && !torn ? pass_origin(run, corner, k) : resolve_unit(run, corner, k, system->c);
  if (!status && !origin && !torn && !system->dead[k]) status = decide_together(run, corner, from, to);
  if (!status && !origin && run->still) status = look_ahead(run, corner, from, to);
  if (!status && !origin && !run->still && !system->dead[k])
    status = rf_slides_within_known(run, corner->before, from, to, corner->sides.slope);
  if (!status && !origin && !system->dead[k]) status = cross_weightless(run, corner, from, to);
  if (!status && corner->sides.count > 1 && one_plane(run, from, to))
    status = go_through(run, corner, from, to);
  for (rf_index j = from; j < to && !status; j++) {
    int most = answers_at_once(run, run->hits[j].sample) ? 8 : 1000;
    if (run->hits[j].kind != RF_HIT_PLANE || system->dead[k]) continue;
    int times = count_repeat(&run->repeats, k, run->hits[j].sample);
    if (times > 1 && run->at_infinity && run->care < 4) run->care++; /* the error of the steps may decide */
    if (times >= most) status = hold(run, corner, k, run->hits[j].sample);
  }
  if (!status && sign_changes(run, from, to)) rf_slides_step_off(system, corner->before, k);
  if (!status) status = log_changes(run, corner, from, to);
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

/* At a frozen scale several units of one pattern that meet a ridge at one moment meet it one after the other
 * in the flow, whose weights answer the first before the next (F.6): in which order, rounding no longer
 * tells. The run takes them together; the one that it is compared with, the largest alone, so that their
 * distance tells whether it matters. */
static void largest_alone(RfRun *run) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, kept = 0;
  const double *a = system->y + system->units * d, *rho = a + system->units;
  for (rf_index j = 0; j < run->n_hits; j++) {
    RfHit hit = run->hits[j];
    const int8_t *sigma = system->sigma + hit.unit * n;
    bool waits = false;
    for (rf_index k = 0; k < run->n_hits && hit.kind == RF_HIT_PLANE && !waits; k++) {
      rf_index other = run->hits[k].unit;
      if (other == hit.unit || run->hits[k].kind != RF_HIT_PLANE || run->hits[k].sample != hit.sample)
        continue;
      if (rf_layer_inside(system, other) || rf_layer_inside(system, hit.unit)) continue; /* known */
      waits = (a[other] > 0) == (a[hit.unit] > 0) && (a[other] > 0) == (run->problem->y[hit.sample] > 0) &&
              rho[other] > rho[hit.unit] && memcmp(sigma, system->sigma + other * n, (size_t)n) == 0;
    }
    if (waits) {
      double *w = system->y + hit.unit * d, size = system->x_norm[hit.sample];
      const double *x = run->problem->X + hit.sample * d;
      double moves = RF_TOL_CUT_MARGIN / fmax(rf_system_amplitude(system, rho[hit.unit]), RF_TOL_TINY);
      double far = fmin(10 * RF_TOL_APART, system->grade ? moves : INFINITY) * size;
      double back = far * sigma[hit.sample] - rf_la_quick_dot(w, x, d);
      rf_la_axpy(w, back / (size * size), x, d);
      rf_system_put_on(system, hit.unit, w);
    } else {
      run->hits[kept++] = hit; /* at or before j: what is still to be compared with stays */
    }
  }
  run->n_hits = kept;
}

/* A unit of the same pattern and sign is within rounding of the ridge that hit is about: there, too, on
 * whichever side of it, and however far beyond it the step has ended. */
static bool there_too(const RfRun *run, const RfHit *hit, rf_index u) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  const double *a = system->y + system->units * d, *rho = a + system->units;
  if (u == hit->unit || system->dead[u] || system->c[hit->sample] == 0 || (a[u] > 0) != (a[hit->unit] > 0) ||
      (a[u] > 0) != (run->problem->y[hit->sample] > 0) ||
      memcmp(system->sigma + u * n, system->sigma + hit->unit * n, (size_t)n) != 0)
    return false;
  for (rf_index j = 0; j < run->n_hits; j++)
    if (run->hits[j].unit == u) return false;
  double moves = RF_TOL_CUT_MARGIN / fmax(rf_system_amplitude(system, rho[u]), RF_TOL_TINY);
  double near = fmax(RF_TOL_PLANE, fmin(RF_TOL_APART, moves)) * system->x_norm[hit->sample];
  return fabs(rf_la_quick_dot(system->y + u * d, run->problem->X + hit->sample * d, d)) <= near;
}

/* Which of several units is beyond a ridge by more than rounding, and which not yet, is itself rounding: all
 * of them are there. */
static RfStatus add_companions(RfRun *run) {
  rf_index located = run->n_hits;
  RfStatus status = RF_OK;
  for (rf_index j = 0; j < located; j++) {
    RfHit hit = run->hits[j];
    for (rf_index u = 0; u < run->system.units && hit.kind == RF_HIT_PLANE && !status; u++)
      if (there_too(run, &hit, u)) status = rf_events_add(run, u, hit.sample, RF_HIT_PLANE, hit.at);
  }
  return status;
}

RfStatus rf_events_apply(RfRun *run) {
  RfSystem *system = &run->system;
  Corner corner;
  bool lost = run->phase.part == 3 && !run->problem->freeze_second;
  RfStatus status = lost && !system->grade ? add_companions(run) : RF_OK;
  if (status) return status;
  status = corner_new(run->context, &corner, system->n, system->d);
  if (status) return status;
  if (run->by_steps && lost) largest_alone(run);
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

RfStatus rf_slides_resolve(RfRun *run) {
  RfSystem *system = &run->system;
  Corner corner;
  RfStatus status = rf_events_find_slides(run);
  if (status || run->n_hits == 0) return status;
  status = corner_new(run->context, &corner, system->n, system->d);
  for (rf_index j = 0, next; j < run->n_hits && !status; j = next) {
    rf_index k = run->hits[j].unit;
    for (next = j + 1; next < run->n_hits && run->hits[next].unit == k;) next++;
    memcpy(corner.before, system->sigma + k * system->n, (size_t)system->n);
    status = resolve_unit(run, &corner, k, system->c);
    if (!status) status = log_changes(run, &corner, j, next);
    if (status || corner.sides.count <= 1) continue;
    status = rf_events_log(run, k, run->hits[j].sample, RF_EVENT_BRANCH);
    if (!status) status = choose(run, &corner, k);
  }
  corner_free(&corner);
  run->n_hits = 0;
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
    status = resolve_unit(run, &corner, k, system->c);
    if (!status && corner.sides.count > 1) {
      status = rf_events_log(run, k, first, RF_EVENT_BRANCH);
      if (!status) status = choose(run, &corner, k);
    }
  }
  corner_free(&corner);
  if (!status) rf_system_normalise(system, system->y);
  return status;
}
