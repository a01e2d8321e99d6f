/* Events of single units inside a step that all other units take whole. In a large network tens of thousands
 * of crossings would each restart everybody; instead the step is taken as if there were none, and then
 * corrected: the units that met a hyperplane are followed again, alone, under the sample weights of the step,
 * which are taken as constant on a few pieces, on each of which the path is exact (align). Their true paths
 * change the margins, hence the weights, hence everybody's path by a little; the three are iterated until the
 * margins at the middles of the pieces no longer move. */
#include "flow/flow_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/align/align_internal.h"
#include "flow/flow_tolerances.h"

enum { MOST_PIECES = 24, MOST_PASSES = 8 };

/* How far margins may bend inside one step because of crossings, and how far they may still be off at the
 * end of the iteration. */
static const double bend_allowed = RF_TOL_BEND, settled = RF_TOL_SETTLED;

typedef struct LocalEvent {
  double at; /* fraction of the step */
  rf_index unit, sample;
  RfEventKind kind;
} LocalEvent;

typedef struct Local {
  rf_index *unit; /* hit units */
  rf_index n_units, pieces, size;
  uint8_t *hit;         /* per unit of the system */
  double *now, *middle; /* n_units x (d+2): state on the way; pieces of them: at the middles */
  int8_t *sigma;        /* n_units x n */
  uint8_t *dead;        /* n_units */
  double *c, *q;        /* pieces x n: weights in use, and the margins they belong to */
  double *smooth,
      *correction;        /* pieces x size: right-hand side without crossings; what crossings add to it */
  double *planes, *extra; /* n_units x n; n: outputs of the hit units */
  double *numbers;
  LocalEvent *events;
  rf_index n_events, room;
} Local;

static void local_free(Local *local) {
  rf_free(local->unit);
  rf_free(local->hit);
  rf_free(local->numbers);
  rf_free(local->events);
}

double rf_local_bend(const RfRun *run, double h) {
  const RfSystem *system = &run->system;
  if (!rf_run_large(run) || system->problem->freeze_second) return INFINITY;
  double bend = 0, size = 0;
  for (rf_index i = 0; i < system->n; i++) size = fmax(size, system->x_norm[i]);
  for (rf_index j = 0; j < run->n_hits; j++) {
    const RfHit *hit = &run->hits[j];
    if (hit->kind == RF_HIT_UNTIL) return INFINITY;
    double rho = system->y[system->units * (system->d + 1) + hit->unit];
    bend += 0.5 * exp(2 * rho) * system->p[hit->sample] * system->x_norm[hit->sample] * size * h;
  }
  return bend / bend_allowed;
}

static RfStatus local_new(RfRun *run, Local *local, rf_index pieces) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, b = system->d + 2, count = 0;
  memset(local, 0, sizeof *local);
  local->unit = RF_NEW(rf_index, run->n_hits);
  local->hit = RF_NEW(uint8_t, system->units);
  if (!local->unit || !local->hit) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for crossings");
  for (rf_index j = 0; j < run->n_hits; j++) /* hits come unit by unit */
    if (count == 0 || local->unit[count - 1] != run->hits[j].unit) local->unit[count++] = run->hits[j].unit;
  for (rf_index j = 0; j < count; j++) local->hit[local->unit[j]] = 1;
  local->n_units = count, local->pieces = pieces, local->size = rf_system_size(system);
  rf_index signs = (count * n + count) / (rf_index)sizeof(double) + 1;
  local->numbers =
      RF_NEW(double, (pieces + 1) * count * b + 2 * pieces * (n + local->size) + count * n + n + signs);
  if (!local->numbers) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for crossings");
  double *next = local->numbers;
  local->now = next, next += count * b;
  local->middle = next, next += pieces * count * b;
  local->c = next, next += pieces * n;
  local->q = next, next += pieces * n;
  local->smooth = next, next += pieces * local->size;
  local->correction = next, next += pieces * local->size;
  local->planes = next, next += count * n;
  local->extra = next, next += n;
  local->sigma = (int8_t *)next;
  local->dead = (uint8_t *)(local->sigma + count * n);
  return RF_OK;
}

/* ---- the weights --------------------------------------------------------------------------- */

/* Pieces by how much the weights change from the start of the step (where system->c stands) to its end. */
static rf_index count_pieces(RfRun *run) {
  RfSystem *system = &run->system;
  double change = 0, top = 0, *before = run->Hd1; /* scratch: at least n entries */
  rf_system_fields(system, system->y);
  memcpy(before, system->c, (size_t)system->n * sizeof(double));
  rf_system_fields(system, run->explicit_method.end);
  for (rf_index i = 0; i < system->n; i++) {
    change = fmax(change, fabs(system->c[i] - before[i]));
    top = fmax(top, fabs(system->c[i]));
  }
  return (rf_index)fmax(1, fmin(MOST_PIECES, ceil(200 * change / top)));
}

static double middle_of(const Local *local, rf_index piece) {
  return ((double)piece + 0.5) / (double)local->pieces;
}

/* The step without crossings. */
static void evaluate_smooth(RfRun *run, Local *local) {
  RfSystem *system = &run->system;
  rf_index n = system->n, size = local->size;
  for (rf_index j = 0; j < local->pieces; j++) {
    rf_explicit_at(&run->explicit_method, run->y_end, middle_of(local, j), size);
    rf_system_rhs(system, run->y_end, local->smooth + j * size);
    memcpy(local->c + j * n, system->c, (size_t)n * sizeof(double));
    memcpy(local->q + j * n, system->q, (size_t)n * sizeof(double));
  }
  memset(local->correction, 0, (size_t)(local->pieces * size) * sizeof(double));
}

/* Outputs of the hit units at the middle of a piece. */
static void hit_outputs(const RfRun *run, Local *local, rf_index piece) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, b = d + 2;
  double *W = run->chosen, leak = system->problem->leak;
  const double *middle = local->middle + piece * local->n_units * b;
  for (rf_index j = 0; j < local->n_units; j++) memcpy(W + j * d, middle + j * b, (size_t)d * sizeof(double));
  rf_flow_planes_of(local->planes, W, system->problem, local->n_units);
  memset(local->extra, 0, (size_t)n * sizeof(double));
  for (rf_index j = 0; j < local->n_units; j++) {
    double factor = middle[j * b + d] * rf_system_amplitude(system, middle[j * b + d + 1]);
    const double *h = local->planes + j * n;
    for (rf_index i = 0; i < n; i++) local->extra[i] += factor * (h[i] > 0 ? h[i] : leak * h[i]);
  }
}

/* Weights with the hit units where they truly are, and what that changes for the others. Returns how far the
 * margins are from those used. */
static double evaluate_true(RfRun *run, Local *local, double h) {
  RfSystem *system = &run->system;
  rf_index n = system->n, size = local->size;
  double far = 0, *f = run->f, *gained = run->explicit_method.point, part = h / (double)local->pieces;
  memset(gained, 0, (size_t)size * sizeof(double));
  for (rf_index j = 0; j < local->pieces; j++) {
    double *correction = local->correction + j * size, *q = local->q + j * n;
    rf_explicit_at(&run->explicit_method, run->y_end, middle_of(local, j), size);
    for (rf_index i = 0; i < size; i++) run->y_end[i] += gained[i] + 0.5 * part * correction[i];
    hit_outputs(run, local, j);
    system->muted = local->hit, system->extra = local->extra;
    rf_system_rhs(system, run->y_end, f);
    system->muted = NULL, system->extra = NULL;
    for (rf_index i = 0; i < size; i++) {
      correction[i] = f[i] - local->smooth[j * size + i];
      gained[i] += part * correction[i];
    }
    for (rf_index i = 0; i < n; i++) {
      if (system->p[i] > RF_TOL_WEIGHTLESS_STEP) far = fmax(far, fabs(system->q[i] - q[i]));
      q[i] = system->q[i];
    }
    memcpy(local->c + j * n, system->c, (size_t)n * sizeof(double));
  }
  return far;
}

/* ---- the paths of the hit units ------------------------------------------------------------ */

static RfStatus note(RfRun *run, Local *local, const RfAlignNeuron *path, rf_index unit, double from,
                     double per_clock) {
  for (rf_index c = 0; c < path->n_crossings; c++)
    for (rf_index s = 0; s < path->crossings[c].n_samples; s++) {
      if (local->n_events == local->room) {
        rf_index grown = local->room ? 2 * local->room : 256;
        LocalEvent *more = rf_resize(local->events, grown, sizeof *more);
        if (!more) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for events");
        local->events = more;
        local->room = grown;
      }
      RfEventKind kind = (RfEventKind)path->crossings[c].kinds[s];
      local->events[local->n_events++] =
          (LocalEvent){from + path->crossings[c].t * per_clock, unit, path->crossings[c].samples[s], kind};
    }
  return RF_OK;
}

/* Hit unit j over half a piece. */
static RfStatus follow_half(RfRun *run, Local *local, RfAlignPath *path, rf_index j, rf_index half,
                            double h) {
  rf_index d = run->system.d, n = run->system.n;
  double *state = local->now + j * (d + 2), halves = 2 * (double)local->pieces;
  RfAlignNeuron out;
  if (local->dead[j]) return RF_OK;
  RfStatus status =
      rf_align_path_follow(run->context, path, &out, state, state[d + 1], local->sigma + j * n, h / halves);
  if (!status) {
    memcpy(state, out.direction, (size_t)(d + 1) * sizeof(double));
    state[d + 1] = out.log_norm;
    memcpy(local->sigma + j * n, out.sector, (size_t)n);
    run->branched = run->branched || out.branched;
    status = note(run, local, &out, local->unit[j], (double)half / halves, 1 / h);
    local->dead[j] = out.destiny == RF_DESTINY_DEAD;
  }
  rf_align_neuron_free(&out);
  return status;
}

static void to_start(const RfRun *run, Local *local) {
  const RfSystem *system = &run->system;
  rf_index d = system->d, n = system->n, units = system->units;
  for (rf_index j = 0; j < local->n_units; j++) {
    rf_index u = local->unit[j];
    double *state = local->now + j * (d + 2);
    memcpy(state, system->y + u * d, (size_t)d * sizeof(double));
    state[d] = system->y[units * d + u], state[d + 1] = system->y[units * (d + 1) + u];
    memcpy(local->sigma + j * n, system->sigma + u * n, (size_t)n);
    local->dead[j] = system->dead[u];
  }
  local->n_events = 0;
}

static RfStatus follow(RfRun *run, Local *local, double h) {
  const RfSystem *system = &run->system;
  rf_index b = system->d + 2;
  RfStatus status = RF_OK;
  to_start(run, local);
  for (rf_index piece = 0; piece < local->pieces && !status; piece++) {
    RfAlignField field = {.X = system->problem->X,
                          .c = local->c + piece * system->n,
                          .n = system->n,
                          .d = system->d,
                          .leak = system->problem->leak};
    RfAlignData data = {0};
    RfAlignPath *path = NULL;
    status = rf_align_data_new(run->context, &data, &field, local->n_units);
    if (!status) status = rf_align_path_new(run->context, &path, &data);
    for (rf_index j = 0; j < local->n_units && !status; j++) {
      status = follow_half(run, local, path, j, 2 * piece, h);
      memcpy(local->middle + (piece * local->n_units + j) * b, local->now + j * b,
             (size_t)b * sizeof(double));
      if (!status) status = follow_half(run, local, path, j, 2 * piece + 1, h);
      if (!status && rf_context_stop(run->context)) status = RF_INTERRUPTED;
    }
    rf_align_path_free(path);
    rf_align_data_free(&data);
  }
  return status;
}

/* ---- the step ------------------------------------------------------------------------------ */

static int by_time(const void *left, const void *right) {
  const LocalEvent *a = left, *b = right;
  if (a->at != b->at) return a->at < b->at ? -1 : 1;
  if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
  return a->sample < b->sample ? -1 : a->sample > b->sample;
}

/* Events in the order of time, which the dense output of the time component tells. */
static RfStatus log_events(RfRun *run, Local *local) {
  RfSystem *system = &run->system;
  rf_index last = rf_system_clock(system);
  double terms[RF_DENSE_TERMS], before = system->log_t;
  RfStatus status = RF_OK;
  for (int r = 0; r < RF_DENSE_TERMS; r++) terms[r] = run->explicit_method.dense[r][last];
  if (local->n_events > 0) qsort(local->events, (size_t)local->n_events, sizeof *local->events, by_time);
  for (rf_index e = 0; e < local->n_events && !status; e++) {
    const LocalEvent *event = &local->events[e];
    double elapsed = rf_dense_value(terms, event->at);
    system->log_t = elapsed > 0 ? rf_run_log_add(before, log(elapsed) - system->log_S_step) : before;
    status = rf_events_log(run, event->unit, event->sample, event->kind);
  }
  system->log_t = before;
  return status;
}

/* The ends of the others, corrected; false: one of them is beyond a hyperplane that it did not meet before.
 */
static bool correct_others(RfRun *run, const Local *local, double h) {
  const RfSystem *system = &run->system;
  rf_index d = system->d, n = system->n;
  double *end = run->explicit_method.end, *moved = run->explicit_method.point;
  memset(moved, 0, (size_t)local->size * sizeof(double));
  for (rf_index j = 0; j < local->pieces; j++)
    rf_la_axpy(moved, h / (double)local->pieces, local->correction + j * local->size, local->size);
  rf_la_axpy(end, 1, moved, local->size);
  for (rf_index u = 0; u < system->units; u++) {
    if (local->hit[u] || system->dead[u] || rf_la_norm(moved + u * d, d) < 0.5 * system->clear[u]) continue;
    for (rf_index i = 0; i < n; i++) {
      double far = system->sigma[u * n + i] * rf_la_quick_dot(end + u * d, system->problem->X + i * d, d);
      if (far < -RF_TOL_CUT_BEYOND * system->x_norm[i]) return false;
    }
  }
  return true;
}

/* The ends of the hit units replace those of the smooth step. */
static RfStatus carry_out(RfRun *run, Local *local) {
  RfSystem *system = &run->system;
  rf_index d = system->d, units = system->units, n = system->n;
  double *end = run->explicit_method.end;
  RfStatus status = RF_OK;
  for (rf_index j = 0; j < local->n_units && !status; j++) {
    rf_index u = local->unit[j];
    const double *state = local->now + j * (d + 2);
    memcpy(end + u * d, state, (size_t)d * sizeof(double));
    end[units * d + u] = state[d], end[units * (d + 1) + u] = state[d + 1];
    memcpy(system->sigma + u * n, local->sigma + j * n, (size_t)n);
    status = rf_system_refresh_unit(system, u);
  }
  return status ? status : log_events(run, local);
}

RfStatus rf_local_step(RfRun *run, double h, bool *ok) {
  Local local;
  bool branched = run->branched;
  rf_explicit_dense(&run->explicit_method, &run->system, h);
  RfStatus status = local_new(run, &local, count_pieces(run));
  *ok = false;
  if (!status) evaluate_smooth(run, &local);
  for (int pass = 0; pass < MOST_PASSES && !status && !*ok; pass++) {
    run->branched = branched;
    status = follow(run, &local, h);
    *ok = !status && evaluate_true(run, &local, h) <= settled;
    if (!status && rf_context_stop(run->context)) status = RF_INTERRUPTED;
  }
  if (*ok && !status) *ok = correct_others(run, &local, h);
  if (*ok && !status)
    status = carry_out(run, &local);
  else
    run->branched = branched;
  local_free(&local);
  return status;
}
