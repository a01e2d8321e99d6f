/* Events of single units inside a step that all other units take whole. In a large network one unit's
 * crossing bends the margins by e^{2 rho} p |x|^2 h, next to nothing while it is small; so instead of
 * restarting everybody at each of tens of thousands of crossings, the step is accepted and the units that met
 * a hyperplane are followed again, alone, under the sample weights of the step: these are taken as constant
 * on a few pieces, on each of which the path is exact (align). */
#include "flow_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align_internal.h"

enum { MOST_PIECES = 8 };

/* How far margins may be off inside one step because of crossings that the rest of the network does not see.
 */
static const double bend_allowed = 1e-5;

typedef struct LocalEvent {
  double at; /* fraction of the step */
  rf_index unit, sample;
  RfEventKind kind;
} LocalEvent;

typedef struct Local {
  rf_index *unit; /* hit units */
  rf_index n_units, pieces;
  double *c; /* pieces rows of n */
  double *v; /* d+1 */
  LocalEvent *events;
  rf_index n_events, room;
} Local;

static void local_free(Local *local) {
  rf_free(local->unit);
  rf_free(local->c);
  rf_free(local->events);
}

double rf_local_bend(const RfRun *run, double h) {
  const RfSystem *system = &run->system;
  if (!rf_run_large(run) || system->problem->freeze_second) return INFINITY;
  double bend = 0, size = 0, weight = 0;
  for (rf_index i = 0; i < system->n; i++) {
    size = fmax(size, system->x_norm[i]);
    weight = fmax(weight, system->p[i]);
  }
  for (rf_index j = 0; j < run->n_hits; j++) {
    if (run->hits[j].kind == RF_HIT_UNTIL) return INFINITY;
    double rho = system->y[system->units * (system->d + 1) + run->hits[j].unit];
    bend += 0.5 * exp(2 * rho) * weight * size * size * h;
  }
  return bend / bend_allowed;
}

static RfStatus local_new(RfRun *run, Local *local) {
  const RfSystem *system = &run->system;
  memset(local, 0, sizeof *local);
  local->unit = RF_NEW(rf_index, run->n_hits);
  local->c = RF_NEW(double, MOST_PIECES * system->n + system->d + 1);
  if (!local->unit || !local->c) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for crossings");
  local->v = local->c + MOST_PIECES * system->n;
  for (rf_index j = 0; j < run->n_hits; j++) /* hits come unit by unit */
    if (local->n_units == 0 || local->unit[local->n_units - 1] != run->hits[j].unit)
      local->unit[local->n_units++] = run->hits[j].unit;
  return RF_OK;
}

/* Weights at the middle of each piece; the fewer pieces the less they change (the fields stand at the end of
 * the step). */
static void sample_weights(RfRun *run, Local *local) {
  RfSystem *system = &run->system;
  rf_index n = system->n;
  double change = 0, top = 0;
  memcpy(local->c, system->c, (size_t)n * sizeof(double));
  rf_system_fields(system, system->y);
  for (rf_index i = 0; i < n; i++) {
    change = fmax(change, fabs(system->c[i] - local->c[i]));
    top = fmax(top, fabs(system->c[i]));
  }
  change /= top;
  local->pieces = change < 1e-9 ? 1 : change < 1e-6 ? 2 : change < 1e-4 ? 4 : MOST_PIECES;
  for (rf_index j = 0; j < local->pieces; j++) {
    rf_explicit_at(&run->explicit_method, run->y_end, ((double)j + 0.5) / (double)local->pieces,
                   rf_system_size(system));
    rf_system_fields(system, run->y_end);
    memcpy(local->c + j * n, system->c, (size_t)n * sizeof(double));
  }
}

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
      RfEventKind kind = path->crossings[c].kinds ? (RfEventKind)path->crossings[c].kinds[s] : RF_EVENT_CROSS;
      local->events[local->n_events++] =
          (LocalEvent){from + path->crossings[c].t * per_clock, unit, path->crossings[c].samples[s], kind};
    }
  return RF_OK;
}

/* One unit over one piece; its state lives in the system (which still holds the start of the step for the
 * others). */
static RfStatus follow_piece(RfRun *run, Local *local, RfAlignPath *path, rf_index u, rf_index piece,
                             double h) {
  RfSystem *system = &run->system;
  rf_index d = system->d, n = system->n, units = system->units;
  RfAlignNeuron out;
  if (system->dead[u]) return RF_OK;
  memcpy(local->v, system->y + u * d, (size_t)d * sizeof(double));
  local->v[d] = system->y[units * d + u];
  double length = h / (double)local->pieces;
  RfStatus status = rf_align_path_follow(run->context, path, &out, local->v, system->y[units * (d + 1) + u],
                                         system->sigma + u * n, length);
  if (!status) {
    memcpy(system->y + u * d, out.direction, (size_t)d * sizeof(double));
    system->y[units * d + u] = out.direction[d];
    system->y[units * (d + 1) + u] = out.log_norm;
    memcpy(system->sigma + u * n, out.sector, (size_t)n);
    run->branched = run->branched || out.branched;
    status = note(run, local, &out, u, (double)piece / (double)local->pieces, 1 / h);
    system->dead[u] = out.destiny == RF_DESTINY_DEAD;
  }
  rf_align_neuron_free(&out);
  return status;
}

static int by_time(const void *left, const void *right) {
  const LocalEvent *a = left, *b = right;
  if (a->at != b->at) return a->at < b->at ? -1 : 1;
  if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
  return a->sample < b->sample ? -1 : a->sample > b->sample;
}

/* Events in the order of time, which the dense output of the time component tells. */
static RfStatus log_events(RfRun *run, Local *local) {
  RfSystem *system = &run->system;
  rf_index last = rf_system_size(system) - 1;
  double terms[RF_DENSE_TERMS], before = system->log_t;
  RfStatus status = RF_OK;
  for (int r = 0; r < RF_DENSE_TERMS; r++) terms[r] = run->explicit_method.dense[r][last];
  qsort(local->events, (size_t)local->n_events, sizeof *local->events, by_time);
  for (rf_index e = 0; e < local->n_events && !status; e++) {
    const LocalEvent *event = &local->events[e];
    double elapsed = rf_dense_value(terms, event->at);
    system->log_t = elapsed > 0 ? rf_run_log_add(before, log(elapsed) - system->log_S_step) : before;
    status = rf_events_log(run, event->unit, event->sample, event->kind);
  }
  system->log_t = before;
  return status;
}

RfStatus rf_local_step(RfRun *run, double h) {
  RfSystem *system = &run->system;
  rf_index d = system->d, units = system->units;
  double *end = run->explicit_method.end;
  Local local;
  RfStatus status = local_new(run, &local);
  if (!status) {
    rf_explicit_dense(&run->explicit_method, system, h);
    rf_system_fields(system, end);
    sample_weights(run, &local);
  }
  for (rf_index piece = 0; piece < local.pieces && !status; piece++) {
    RfAlignField field = {.X = system->problem->X,
                          .c = local.c + piece * system->n,
                          .n = system->n,
                          .d = d,
                          .leak = system->problem->leak};
    RfAlignData data = {0};
    RfAlignPath *path = NULL;
    status = rf_align_data_new(run->context, &data, &field, local.n_units);
    if (!status) status = rf_align_path_new(run->context, &path, &data);
    for (rf_index j = 0; j < local.n_units && !status; j++)
      status = follow_piece(run, &local, path, local.unit[j], piece, h);
    rf_align_path_free(path);
    rf_align_data_free(&data);
  }
  for (rf_index j = 0; j < local.n_units && !status; j++) { /* their ends replace those of the smooth step */
    rf_index u = local.unit[j];
    memcpy(end + u * d, system->y + u * d, (size_t)d * sizeof(double));
    end[units * d + u] = system->y[units * d + u];
    end[units * (d + 1) + u] = system->y[units * (d + 1) + u];
    status = rf_system_refresh_unit(system, u);
  }
  if (!status) status = log_events(run, &local);
  local_free(&local);
  return status;
}
