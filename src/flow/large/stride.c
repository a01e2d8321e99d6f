/* Long implicit steps of large networks. A step that ends at every hyperplane takes as many steps as there
 * are events, and a network on its way to large margins has thousands; here a step of any length ends in a
 * state whose slides are consistent with it: which hyperplanes a unit is held on is found together with the
 * end of the step (a valley is held exactly while its slope lies in [leak,1]), as in time stepping of bodies
 * in contact. Ridges are crossed one after the other: who crosses turns the weights, and another unit on its
 * way to a ridge may turn back; a step that holds both crossings has an end with either outcome. So a step
 * ends just behind its first ridge. The method is BDF2 for units whose kinks have not
 * changed, backward Euler for the others; errors are told by how far the end is from the continuation of the
 * last steps. */
#include "flow/large/stride.h"

#include <math.h>
#include <string.h>

#include "flow/fit/slides.h"
#include "flow/flow_tolerances.h"

enum { MOST_CHANGES = 60, ONE_BY_ONE = 15, MOST_GROWN = 8, MOST_CUTS = 30 };

void rf_stride_free(RfStride *stride) {
  if (!stride) return;
  for (rf_index u = 0; stride->unit && u < stride->units; u++) {
    rf_free(stride->unit[u].on);
    rf_free(stride->unit[u].frame);
    rf_free(stride->unit[u].corner);
  }
  rf_free(stride->unit);
  rf_free(stride->side);
  rf_free(stride->stay);
  rf_free(stride->before);
  rf_free(stride->row);
  rf_free(stride->X);
  rf_free(stride->gram);
  rf_free(stride->core);
  rf_free(stride->left);
  rf_free(stride->picked);
  rf_free(stride->order);
  rf_free(stride->pivot);
  rf_free(stride->full);
  rf_free(stride);
}

RfStatus rf_stride_new(RfContext *context, RfStride **out, const RfSystem *system) {
  rf_index n = system->n, d = system->d, units = system->units;
  RfStride *stride = *out = RF_NEW(RfStride, 1);
  if (!stride) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a long step");
  stride->context = context;
  stride->units = units, stride->n = n, stride->d = d;
  stride->unit = RF_NEW(RfStrideUnit, units);
  stride->side = RF_NEW_TABLE(int8_t, units, n);
  stride->stay = RF_NEW_TABLE(float, units, n);
  stride->before = RF_NEW(double, 8 * units * d);
  stride->row = RF_NEW(rf_index, 2 * n);
  stride->order = RF_NEW(RfStrideRow, n);
  stride->full = RF_NEW(double, units *n + 2 * n);
  if (!stride->unit || !stride->side || !stride->stay || !stride->before || !stride->row || !stride->order ||
      !stride->full) {
    rf_stride_free(stride);
    *out = NULL;
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a long step");
  }
  double **vectors[] = {&stride->base, &stride->after,  &stride->earlier, &stride->earliest,
                        &stride->raw,  &stride->pushed, &stride->change};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    *vectors[k] = stride->before + (rf_index)(k + 1) * units * d;
  stride->place = stride->row + n;
  stride->q_full = stride->full + units * n;
  stride->q_earlier = stride->q_full + n;
  return RF_OK;
}

bool rf_stride_fits(const RfRun *run) {
  const RfSystem *system = &run->system;
  if (!rf_run_large(run) || run->problem->freeze_second || run->problem->leak == 1) return false;
  if (rf_run_alone(run) || run->settings->until != RF_UNTIL_INFINITY || run->stride_rest > 0) return false;
  for (rf_index u = 0; u < system->units; u++)
    if (!system->balanced[u] && !system->dead[u]) return false;
  for (rf_index i = 0; i < system->n; i++)
    if (system->line[i] != i) return false; /* several samples to a hyperplane */
  return true;
}

/* ---- the start of a step -------------------------------------------------------------------- */

static const double *unit_w(const RfSystem *system, const RfStride *stride, rf_index u) {
  return system->y + stride->unit[u].unit * system->d;
}

/* Directions, sizes and kinks as the system has them. */
static RfStatus load(RfStride *stride, const RfSystem *system) {
  rf_index n = stride->n, d = stride->d;
  RfStatus status = RF_OK;
  stride->mu = system->mu;
  for (rf_index u = 0; u < stride->units && !status; u++) {
    RfStrideUnit *unit = &stride->unit[u];
    unit->unit = u;
    unit->sign = system->y[system->units * d + u] > 0 ? 1 : -1;
    unit->amplitude = system->dead[u] ? 0 : 0.5 * exp(2 * system->y[system->units * (d + 1) + u]);
    unit->n_on = 0;
    double norm = rf_la_norm(unit_w(system, stride, u), d);
    for (rf_index j = 0; j < d; j++) stride->before[u * d + j] = unit_w(system, stride, u)[j] / norm;
    memcpy(stride->side + u * n, system->sigma + u * n, (size_t)n);
    for (rf_index i = 0; i < n; i++) stride->stay[u * n + i] = 1;
    const RfSlide *slide = &system->slide[u];
    for (rf_index z = 0; z < slide->n_on && !status && !system->dead[u]; z++)
      rf_stride_hold(stride, system, u, slide->on[z], &status);
  }
  return status;
}

/* Where the step starts from, for a step of length h. */
static void begin(RfStride *stride, double h) {
  rf_index d = stride->d;
  for (rf_index u = 0; u < stride->units; u++) {
    RfStrideUnit *unit = &stride->unit[u];
    double ratio = unit->known > 0 && stride->h_earlier > 0 ? h / stride->h_earlier : 0;
    double carried = ratio * ratio / (1 + 2 * ratio);
    const double *z0 = stride->before + u * d, *z1 = stride->earlier + u * d;
    for (rf_index j = 0; j < d; j++)
      stride->base[u * d + j] = z0[j] + (carried > 0 ? carried * (z0[j] - z1[j]) : 0);
    unit->delta = h * (1 + ratio) / (1 + 2 * ratio);
    unit->gained = carried * unit->gain - 2 * h * stride->mu;
  }
  stride->h = h;
}

/* Samples that push, or hold somebody. */
static void want_weight(const RfStride *stride, const RfSystem *system, uint8_t *wanted) {
  double least = RF_TOL_STRIDE_WEIGHT * rf_system_reach(system);
  for (rf_index i = 0; i < stride->n; i++)
    wanted[i] = system->seen[i] && system->p[i] * system->x_norm[i] > least;
}

/* ---- kinks ---------------------------------------------------------------------------------- */

static void drop_on(RfStrideUnit *unit, rf_index k) {
  memmove(unit->on + k, unit->on + k + 1, (size_t)(unit->n_on - k - 1) * sizeof *unit->on);
  unit->n_on--;
}

static double weight_of(const RfStride *stride, const RfSystem *system, rf_index i) {
  return stride->place[i] >= 0 ? stride->p[stride->place[i]] : system->seen[i] ? 0 : system->p[i];
}

/* Slopes that hold unit u: sum_k p_k y_k s slope_k x_k = -(part in their span of u + base/Delta), into
 * stride->change. */
static void held_slopes(RfStride *stride, const RfSystem *system, rf_index u, double *slopes) {
  const RfStrideUnit *unit = &stride->unit[u];
  rf_index d = stride->d, count = unit->n_on;
  double *v = stride->change;
  memcpy(v, stride->raw + u * d, (size_t)d * sizeof(double));
  rf_la_axpy(v, 1 / unit->delta, stride->base + u * d, d);
  for (rf_index r = count - 1; r >= 0; r--) {
    double sum = -rf_la_quick_dot(unit->frame + r * d, v, d);
    for (rf_index k = r + 1; k < count; k++) sum -= slopes[k] * unit->corner[k * unit->room + r];
    slopes[r] = sum / unit->corner[r * unit->room + r];
  }
  for (rf_index k = 0; k < count; k++) {
    rf_index i = unit->on[k];
    slopes[k] /= weight_of(stride, system, i) * system->problem->y[i] * unit->sign;
  }
}

/* Lets go of hyperplanes whose slopes are beyond their range. */
static rf_index release(RfStride *stride, const RfSystem *system, rf_index u, double *slopes, rf_index most) {
  RfStrideUnit *unit = &stride->unit[u];
  double leak = system->problem->leak;
  rf_index count = 0;
  if (unit->n_on == 0) return 0;
  held_slopes(stride, system, u, slopes);
  for (rf_index k = unit->n_on - 1; k >= 0 && count < most; k--) {
    double slope = slopes[k];
    if (slope >= leak - RF_TOL_STRIDE_SLOPE && slope <= 1 + RF_TOL_STRIDE_SLOPE) continue;
    stride->side[u * stride->n + unit->on[k]] = slope > 0.5 * (1 + leak) ? 1 : -1;
    drop_on(unit, k);
    count++;
  }
  if (count > 0) rf_stride_frame(stride, system, u);
  return count;
}

/* w.x at the end on the working set (units x rows), all in one product, where look_at_all has those on all
 * samples. */
static const double *ends_of(const RfStride *stride, rf_index u) { return stride->full + u * stride->rows; }

/* Valleys of weight that the unit has run through: it is held there. */
static rf_index arrest(RfStride *stride, const RfSystem *system, rf_index u, rf_index most,
                       RfStatus *status) {
  const RfStrideUnit *unit = &stride->unit[u];
  rf_index n = stride->n, rows = stride->rows, count = 0;
  int8_t *side = stride->side + u * n;
  for (rf_index r = 0; r < rows && count < most && !*status; r++) {
    rf_index i = stride->row[r];
    if (side[i] == 0 || unit->sign * system->problem->y[i] > 0) continue;
    if (side[i] * ends_of(stride, u)[r] >= -RF_TOL_STRIDE_SIDE * system->x_norm[i]) continue;
    if (!rf_stride_hold(stride, system, u, i, status)) {
      side[i] = (int8_t)-side[i]; /* its hyperplane contains the face */
      continue;
    }
    side[i] = 0;
    count++;
  }
  return count;
}

/* Ridges of weight that the unit crosses inside the step: each side pushes for its part of the step. */
static rf_index cross(RfStride *stride, const RfSystem *system, rf_index u) {
  rf_index n = stride->n, d = stride->d, count = 0;
  for (rf_index r = 0; r < stride->rows; r++) {
    rf_index i = stride->row[r];
    int8_t side = stride->side[u * n + i];
    if (side == 0 || stride->unit[u].sign * system->problem->y[i] < 0) continue;
    double h = side * ends_of(stride, u)[r];
    if (h >= 0 && stride->stay[u * n + i] == 1) continue;
    double start = fmax(0, side * rf_la_quick_dot(stride->before + u * d, stride->X + r * d, d));
    double stay = h >= 0 ? 1 : start / (start - h);
    if (fabs(stay - (double)stride->stay[u * n + i]) <= RF_TOL_STRIDE_STAY) continue;
    stride->stay[u * n + i] = (float)stay;
    count++;
  }
  return count;
}

/* The end of a step of length delta on the working set, kinks and all. */
static RfStatus settle(RfStride *stride, const RfSystem *system, double *slopes, bool *settled) {
  RfStatus status = RF_OK;
  *settled = false;
  bool roughly = true;
  for (int round = 0; round < MOST_CHANGES && !status; round++) {
    rf_index changes = 0, most = round < ONE_BY_ONE ? stride->n : 1;
    bool solved;
    status = rf_stride_solve(stride, system, roughly, &solved);
    if (status || !solved) return status;
    rf_la_product_nt(stride->full, stride->after, stride->X, stride->units, stride->rows, stride->d);
    for (rf_index u = 0; u < stride->units && !status; u++) {
      if (stride->unit[u].amplitude == 0 && system->dead[u]) continue;
      if (round >= ONE_BY_ONE && changes > 0) break;
      rf_index gone = release(stride, system, u, slopes, most);
      changes += gone;
      if (gone == 0 || round < ONE_BY_ONE) changes += arrest(stride, system, u, most, &status);
      if (round < ONE_BY_ONE) changes += cross(stride, system, u);
    }
    if (changes == 0 && !status && !roughly) {
      *settled = true;
      return RF_OK;
    }
    roughly = roughly && changes > 0;
  }
  return status;
}

/* Margins of all samples at the end; whether samples outside the working set have come to carry weight, or
 * hold somebody: then they are wanted. */
static bool look_at_all(RfStride *stride, const RfSystem *system, uint8_t *wanted, RfStatus *status) {
  rf_index n = stride->n, units = stride->units;
  const double *y = system->problem->y;
  double leak = system->problem->leak, top = -INFINITY, least;
  bool more = false;
  rf_flow_planes_of(stride->full, stride->after, system->problem, units);
  memset(stride->q_full, 0, (size_t)n * sizeof(double));
  for (rf_index u = 0; u < units; u++) {
    double size = stride->unit[u].sign * stride->unit[u].amplitude * exp(stride->unit[u].growth);
    const double *h = stride->full + u * n;
    const int8_t *side = stride->side + u * n;
    if (system->dead[u]) continue;
    for (rf_index i = 0; i < n; i++) { /* the linear extension inside the working set, the truth outside */
      int8_t s = stride->place[i] >= 0 ? side[i] : side[i] == 0 ? 0 : h[i] > 0 ? 1 : -1;
      stride->q_full[i] += size * (s > 0 ? h[i] : s < 0 ? leak * h[i] : 0);
    }
  }
  for (rf_index i = 0; i < n; i++) {
    stride->q_full[i] *= y[i];
    if (stride->place[i] >= 0) top = fmax(top, rf_loss_log_slope(system->problem->loss, stride->q_full[i]));
  }
  least = top + log(RF_TOL_STRIDE_WEIGHT);
  for (rf_index i = 0; i < n; i++) {
    wanted[i] = stride->place[i] >= 0;
    if (wanted[i] || !system->seen[i]) continue;
    if (rf_loss_log_slope(system->problem->loss, stride->q_full[i]) > least + 7) {
      wanted[i] = RF_STRIDE_NEW;
      more = true;
    }
  }
  for (rf_index i = 0; i < n && !*status; i++) { /* walls: samples that nobody sees stop those who arrive */
    if (system->seen[i]) continue;
    for (rf_index u = 0; u < units && !*status; u++) {
      int8_t *side = stride->side + u * n + i;
      if (*side >= 0 || system->dead[u] || stride->full[u * n + i] <= RF_TOL_STRIDE_SIDE * system->x_norm[i])
        continue;
      if (stride->unit[u].sign * y[i] > 0) continue;
      if (rf_stride_hold(stride, system, u, i, status)) *side = 0, more = true;
    }
  }
  return more;
}

/* ---- error and acceptance ------------------------------------------------------------------- */

/* How far unit u is from the continuation of its last one or two steps, times the share of that which is the
 * error of the method. */
static double unit_error(const RfStride *stride, rf_index u) {
  rf_index d = stride->d;
  const RfStrideUnit *unit = &stride->unit[u];
  const double *z = stride->after + u * d, *z0 = stride->before + u * d, *z1 = stride->earlier + u * d,
               *z2 = stride->earliest + u * d;
  double h = stride->h, h1 = stride->h_earlier, h2 = stride->h_earliest, sum = 0;
  bool one = h1 > 0, two = one && unit->known > 1 && h2 > 0;
  for (rf_index j = 0; j < d; j++) { /* Newton's divided differences */
    double first = one ? (z0[j] - z1[j]) / h1 : 0;
    double second = two ? (first - (z1[j] - z2[j]) / h2) / (h1 + h2) : 0;
    double off = z[j] - z0[j] - h * (first + (h + h1) * second);
    sum += off * off;
  }
  return (two ? 0.2 : 0.5) * sqrt(sum);
}

/* The largest error over what is allowed. Units that the margins do not see count for a tenth. */
static double error_of(const RfStride *stride, const RfSystem *system, double tolerance) {
  double worst = 0, total = 0;
  for (rf_index u = 0; u < stride->units; u++) total += stride->unit[u].amplitude;
  for (rf_index u = 0; u < stride->units; u++) {
    if (system->dead[u]) continue;
    double share = stride->unit[u].amplitude > RF_TOL_STRIDE_SHARE * total ? 1 : 0.1;
    worst = fmax(worst, share * unit_error(stride, u));
  }
  return worst / tolerance;
}

/* Sides at the end: where each unit is. */
static int8_t final_side(const RfStride *stride, const RfSystem *system, rf_index u, rf_index i) {
  int8_t side = stride->side[u * stride->n + i];
  double h = stride->full[u * stride->n + i];
  if (side == 0 || system->x_norm[i] == 0) return side;
  bool held = system->sigma[u * stride->n + i] == 0; /* let go but still there: rf_slides_check decides */
  if (held && fabs(h) <= RF_TOL_STRIDE_ON * system->x_norm[i]) return 0;
  return side * h < -RF_TOL_STRIDE_SIDE * system->x_norm[i] ? (int8_t)-side : side;
}

static RfStatus log_changes(RfRun *run, rf_index u, const int8_t *before) {
  const RfSystem *system = &run->system;
  const int8_t *sigma = system->sigma + u * system->n;
  RfStatus status = RF_OK;
  for (rf_index i = 0; i < system->n && !status; i++) {
    if (sigma[i] == before[i]) continue;
    RfEventKind kind = before[i] == 0 ? RF_EVENT_RELEASE : RF_EVENT_CROSS;
    if (system->dead[u]) kind = RF_EVENT_DIE;
    status = rf_events_log(run, u, i, sigma[i] == 0 && !system->dead[u] ? RF_EVENT_SLIDE : kind);
    if (system->dead[u]) break;
  }
  return status;
}

static RfStatus take_state(RfRun *run, RfStride *stride) {
  RfSystem *system = &run->system;
  rf_index n = stride->n, d = stride->d, units = stride->units;
  for (rf_index u = 0; u < units; u++) {
    if (system->dead[u]) continue;
    for (rf_index j = 0; j < d; j++) system->y[u * d + j] = sqrt(0.5) * stride->after[u * d + j];
    system->y[units * (d + 1) + u] += 0.5 * stride->unit[u].growth;
    bool changed = false;
    for (rf_index i = 0; i < n; i++) {
      int8_t side = final_side(stride, system, u, i);
      changed = changed || side != system->sigma[u * n + i];
      stride->side[u * n + i] = system->sigma[u * n + i]; /* the side before, for the log */
      system->sigma[u * n + i] = side;
    }
    RfStatus status = changed ? rf_system_refresh_unit(system, u) : RF_OK;
    if (status) return status;
  }
  rf_system_normalise(system, system->y);
  return RF_OK;
}

/* Whether no side of weight changed over the step (stride->side: before). */
static bool smooth(const RfStride *stride, const RfSystem *system, rf_index u) {
  const int8_t *before = stride->side + u * stride->n, *now = system->sigma + u * stride->n;
  double least = RF_TOL_STRIDE_SHARE * rf_system_reach(system);
  for (rf_index i = 0; i < stride->n; i++)
    if (before[i] != now[i] && (before[i] == 0 || now[i] == 0 || system->p[i] * system->x_norm[i] > least))
      return false;
  return true;
}

/* The step becomes the state of the run. */
static RfStatus accept(RfRun *run, RfStride *stride, double h, double *slopes) {
  RfSystem *system = &run->system;
  rf_index n = stride->n, d = stride->d, units = stride->units, events = 0;
  double b0 = -system->log_S;
  RfStatus status = take_state(run, stride);
  if (status) return status;
  memcpy(stride->earliest, stride->earlier, (size_t)(units * d) * sizeof(double));
  memcpy(stride->earlier, stride->before, (size_t)(units * d) * sizeof(double));
  stride->h_earliest = stride->h_earlier, stride->h_earlier = h;
  rf_system_fields(system, system->y);
  for (rf_index u = 0; u < units && !status; u++)
    if (!system->dead[u]) status = rf_slides_check(run, u, slopes, false);
  if (status) return status;
  if (!system->classes_known) rf_system_fields(system, system->y);
  double b1 = -system->log_S;
  if (run->phase.part != 3) rf_run_book_time(system, b0, b1, b1 - b0, b1 - b0, h);
  system->y[rf_system_clock(system)] = 0;
  system->tau += h;
  system->kappa += system->mu * h;
  for (rf_index u = 0; u < units && !status; u++) {
    bool same = memcmp(stride->side + u * n, system->sigma + u * n, (size_t)n) == 0;
    RfStrideUnit *unit = &stride->unit[u];
    unit->gain = unit->growth + 2 * h * stride->mu;
    unit->known = same || smooth(stride, system, u) ? unit->known + 1 : 0;
    if (same) continue;
    events++;
    status = rf_apart_slide(system, u);
    if (!status) status = log_changes(run, u, stride->side + u * n);
  }
  run->step_taken = h;
  run->steps_implicit++;
  run->fresh = false;
  run->stuck = 0;
  run->since_event = events > 0 ? 0 : run->since_event + 1;
  run->phase.crossed += events;
  if (events > 0) run->step_events++;
  return status;
}

/* Margins as the last step went on, relative to all of them, while that changes the weights by little. */
static void guess(RfStride *stride, const RfSystem *system, double h) {
  double ahead = stride->h_earlier > 0 ? h / stride->h_earlier : 0, most = 0;
  for (rf_index i = 0; i < stride->n; i++) {
    double drift = ahead * (system->q[i] + system->log_S - stride->q_earlier[i]);
    stride->q_full[i] = ahead > 0 ? drift : 0;
    if (system->p[i] > RF_TOL_STRIDE_MINOR) most = fmax(most, fabs(drift));
  }
  for (rf_index i = 0; i < stride->n; i++)
    stride->q_full[i] = system->q[i] + (most < RF_TOL_STRIDE_DRIFT ? stride->q_full[i] : 0);
}

/* The end of a step of length h; found = false: no such end. */
static RfStatus attempt(RfRun *run, RfStride *stride, double h, uint8_t *wanted, double *slopes,
                        bool *found) {
  const RfSystem *system = &run->system;
  RfStatus status = load(stride, system);
  *found = false;
  begin(stride, h);
  guess(stride, system, h);
  want_weight(stride, system, wanted);
  for (int grown = 0; grown < MOST_GROWN && !status; grown++) {
    bool settled;
    status = rf_stride_rows(stride, system, wanted);
    if (!status) status = settle(stride, system, slopes, &settled);
    if (status || !settled) return status;
    if (!look_at_all(stride, system, wanted, &status)) {
      *found = !status;
      return status;
    }
  }
  return status;
}

/* Growth of the network that a step may bring. Where every unit is pushed along itself and no side changes,
 * nothing is unstable: given the weights a direction turns to its field, sizes are followed by their
 * logarithms, and the weights push back. What else there is are units pushed against themselves, and those
 * that are about to change a side; for them a step is so short that what is unstable still grows. */
static double longest(const RfRun *run) { return fmax(RF_TOL_STRIDE_LONGEST, run->phase.reach); }

static void set_reach(RfRun *run, bool events) {
  const RfSystem *system = &run->system;
  rf_index units = system->units;
  const double *speed = run->f + units * (system->d + 1); /* at the start of the step */
  bool calm = !events && run->phase.part == 3;
  for (rf_index u = 0; u < units && calm; u++)
    if (!system->dead[u] && speed[u] + system->mu < 0) calm = false;
  double reach = longest(run) * (calm ? RF_TOL_STRIDE_LONGER : RF_TOL_STRIDE_SHORTER);
  run->phase.reach = fmin(RF_TOL_LONGEST, fmax(RF_TOL_STRIDE_LONGEST, reach));
}

/* A ridge of weight that a unit crosses inside the step, as far as a straight line tells: w.x/|x| towards it
 * at the start and beyond it at the end. */
typedef struct Crossing {
  double at, start, beyond;
} Crossing;

static bool crosses(const RfStride *stride, const RfSystem *system, rf_index u, rf_index r, Crossing *found) {
  rf_index i = stride->row[r], d = stride->d;
  int8_t side = stride->side[u * stride->n + i];
  if (side == 0 || stride->unit[u].sign * system->problem->y[i] < 0) return false;
  if (!(fmax(stride->p[r], system->p[i]) > RF_TOL_STRIDE_MINOR)) return false;
  double part = side / system->x_norm[i];
  found->beyond = -part * rf_la_quick_dot(stride->after + u * d, stride->X + r * d, d);
  if (!(found->beyond > RF_TOL_STRIDE_SIDE)) return false;
  found->start = fmax(0, part * rf_la_quick_dot(stride->before + u * d, stride->X + r * d, d));
  found->at = found->start / (found->start + found->beyond);
  return true;
}

/* The part of the step after which it ends just behind its first ridge and before the second; 1 where it
 * does. unit: who crosses first; -1: nobody. */
static double to_first_ridge(const RfStride *stride, const RfSystem *system, rf_index *unit) {
  Crossing first = {.at = 2}, ridge;
  double second = 2;
  *unit = -1;
  for (int pass = 0; pass < 2; pass++)
    for (rf_index u = 0; u < stride->units; u++)
      for (rf_index r = 0; r < stride->rows && !system->dead[u]; r++) {
        if (!crosses(stride, system, u, r, &ridge)) continue;
        if (pass == 0 && ridge.at < first.at) first = ridge, *unit = u;
        bool later = ridge.start - first.at * (ridge.start + ridge.beyond) > RF_TOL_APART;
        if (pass == 1 && later) second = fmin(second, ridge.at);
      }
  if (first.at > 1) return 1;
  if (first.beyond > RF_TOL_STRIDE_RIDGE && first.start > 0.1 * RF_TOL_STRIDE_RIDGE)
    return first.at + (1 - first.at) * 0.5 * RF_TOL_STRIDE_RIDGE / first.beyond;
  return second > 1 ? 1 : 0.5 * (first.at + second);
}

RfStatus rf_stride_step(RfRun *run) {
  RfSystem *system = &run->system;
  RfStatus status = RF_OK;
  if (!run->stride) status = rf_stride_new(run->context, &run->stride, system);
  if (status) return status;
  RfStride *stride = run->stride;
  double tolerance = RF_TOL_STRIDE * run->stride_tolerance, h = run->h, error = 0;
  uint8_t *wanted = RF_NEW(uint8_t, system->n);
  double *slopes = RF_NEW(double, system->n + system->d);
  if (!wanted || !slopes) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a long step");
  if (!status) rf_system_rhs(system, system->y, run->f);
  if (!status && !(h > 0)) {
    double speed = rf_la_max_abs(run->f, rf_system_clock(system));
    h = speed > 0 ? tolerance / speed : 1;
  }
  if (run->phase.part == 3 && run->phase.growth > 0) h = fmin(h, longest(run) / run->phase.growth);
  bool found = false, parted = false;
  for (int cuts = 0; !status;) {
    status = attempt(run, stride, h, wanted, slopes, &found);
    if (status) break;
    error = found ? error_of(stride, system, tolerance) : INFINITY;
    if (found && error <= 4) {
      rf_index unit;
      double part = cuts < MOST_CUTS ? to_first_ridge(stride, system, &unit) : 1;
      if (cuts < MOST_CUTS && unit >= 0) status = rf_run_part_at_ridge(run, unit, &parted);
      if (parted || !(part < 1)) break;
      h *= part, cuts++;
      continue;
    }
    h *= found ? fmax(0.2, 0.9 / cbrt(error)) : 0.3;
    if (!(h > RF_TOL_STEP_IMPLICIT)) status = RF_UNDECIDED;
  }
  if (parted) run->h = h; /* the stride is gone */
  if (!status && !parted) {
    for (rf_index i = 0; i < system->n; i++) stride->q_earlier[i] = system->q[i] + system->log_S;
    run->h = fmin(RF_TOL_STEP_LONGEST, h * fmin(2, fmax(0.3, error > 0 ? 0.9 / cbrt(error) : 2)));
    run->phase.reach = longest(run);
    status = accept(run, stride, h, slopes);
    set_reach(run, run->since_event == 0);
  }
  rf_free(wanted);
  rf_free(slopes);
  return status;
}
