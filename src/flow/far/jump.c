/* Waiting, computed instead of integrated. While the large units rest at a stationary point (or, with the
 * scale frozen, grow along the limit direction), a unit too small to influence the margins sees constant
 * weights and follows the closed form of the alignment. All small units are moved at once to the moment at
 * which the first of them is about to matter. The start from a tiny scale is the case where every unit is
 * small. */
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/align/align_internal.h"
#include "flow/large/walk.h"

/* A balanced unit stays balanced: an imbalance of rounding size would let it pass through zero in the end. */
void rf_unit_direction(const RfSystem *system, rf_index u, double *v) {
  rf_index d = system->d;
  memcpy(v, system->y + u * d, (size_t)d * sizeof(double));
  v[d] = system->y[system->units * d + u];
  double norm = rf_la_norm(v, d);
  if (system->balanced[u] && norm > 0) rf_la_scale(v, fabs(v[d]) / norm, d);
}

static double *unit_rho(RfSystem *system, rf_index u) {
  return &system->y[system->units * (system->d + 1) + u];
}

/* The clock at which unit u, followed to its end, reaches the size that matters; infinite when it never does.
 */
static double time_to_matter(const RfAlignNeuron *path, double main_rate, double start_rho,
                             double rho_matters) {
  if (start_rho >= rho_matters) return 0;
  if (!(path->G > main_rate) || isnan(path->log_amplitude)) return INFINITY;
  double joint = path->log_amplitude + 0.5 * log(2.0);
  return fmax(0, (rho_matters - joint) / (path->G - main_rate));
}

typedef struct JumpEvent {
  double clock;
  rf_index unit, sample;
  RfEventKind kind;
} JumpEvent;

static int by_clock(const void *left, const void *right) {
  const JumpEvent *a = left, *b = right;
  if (a->clock != b->clock) return a->clock < b->clock ? -1 : 1;
  if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
  return a->sample < b->sample ? -1 : a->sample > b->sample;
}

static double later(double log_t, double clock, double log_S) {
  if (isnan(log_S) || !(clock > 0)) return log_t;
  return rf_run_log_add(log_t, log(clock) - log_S);
}

/* Crossings of unit u up to t, its clock being scale times theirs, into list (not NULL); how many. */
static rf_index list_events(JumpEvent *list, rf_index u, const RfAlignNeuron *path, double t, double scale) {
  rf_index count = 0;
  for (rf_index c = 0; c < path->n_crossings && path->crossings[c].t <= t; c++) {
    const RfCrossing *crossing = &path->crossings[c];
    for (rf_index s = 0; s < crossing->n_samples; s++, count++)
      if (list)
        list[count] =
            (JumpEvent){scale * crossing->t, u, crossing->samples[s], (RfEventKind)crossing->kinds[s]};
  }
  return count;
}

/* Those of all small units; what happened before they were halfway is known from the alignment. */
static rf_index list_all(const RfRun *run, JumpEvent *list, const RfAlignNeuron *paths, const uint8_t *small,
                         double log_S, bool on) {
  const RfSystem *system = &run->system;
  rf_index at = 0;
  for (rf_index u = 0; u < system->units; u++) {
    if (!small[u]) continue;
    if (on)
      at += list_events(list ? list + at : NULL, u, &run->aligned->neurons[system->only[u]], run->halfway->t,
                        exp(log_S));
    at += list_events(list ? list + at : NULL, u, &paths[u], INFINITY, 1);
  }
  return at;
}

static RfStatus log_paths(RfRun *run, const RfAlignNeuron *paths, const uint8_t *small, double log_S,
                          bool on) {
  RfSystem *system = &run->system;
  rf_index count = list_all(run, NULL, paths, small, log_S, on);
  JumpEvent *list = RF_NEW(JumpEvent, count);
  if (!list) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for events");
  list_all(run, list, paths, small, log_S, on);
  qsort(list, (size_t)count, sizeof *list, by_clock);
  double before = system->log_t;
  RfStatus status = RF_OK;
  for (rf_index j = 0; j < count && !status; j++) {
    system->log_t = later(before, list[j].clock, log_S);
    status = rf_events_log(run, list[j].unit, list[j].sample, list[j].kind);
  }
  system->log_t = before;
  rf_free(list);
  return status;
}

/* Puts the end of a path into the system. */
static RfStatus store_path(RfRun *run, rf_index u, const RfAlignNeuron *path, double rho) {
  RfSystem *system = &run->system;
  rf_index d = system->d, n = system->n;
  memcpy(system->y + u * d, path->direction, (size_t)d * sizeof(double));
  system->y[system->units * d + u] = path->direction[d];
  *unit_rho(system, u) = rho;
  memcpy(system->sigma + u * n, path->sector, (size_t)n);
  if (run->problem->leak == 1) memset(system->sigma + u * n, 1, (size_t)n);
  return rf_system_refresh_unit(system, u);
}

/* The state at `end` of a path that was followed to its last event before that: only the rest is followed. */
static RfStatus continue_path(RfContext *context, RfAlignPath *path, RfAlignNeuron *neuron, double end) {
  RfAlignNeuron rest;
  RfStatus status = rf_align_path_follow(context, path, &rest, neuron->direction, neuron->log_norm,
                                         neuron->sector, end - neuron->t_state);
  if (!status && rest.n_crossings == 0) {
    double *direction = neuron->direction;
    int8_t *sector = neuron->sector;
    neuron->direction = rest.direction, rest.direction = direction;
    neuron->sector = rest.sector, rest.sector = sector;
    neuron->log_norm = rest.log_norm;
    neuron->t_state = end;
  }
  rf_align_neuron_free(&rest);
  return status;
}

/* The ends of the paths as the alignment of the start knows them, in the clock of the run. */
static void foresee(RfRun *run, RfAlignNeuron *paths, double log_S) {
  const RfSystem *system = &run->system;
  for (rf_index u = 0; u < system->units; u++) {
    const RfAlignNeuron *neuron = &run->aligned->neurons[system->only[u]];
    paths[u].destiny = neuron->destiny;
    paths[u].G = neuron->G * exp(-log_S);
    paths[u].log_amplitude = neuron->log_amplitude + run->problem->log_scale;
    paths[u].t_state = INFINITY;
  }
}

/* Whether all units are still the neurons of the start, and many: walkers take them on. */
static bool all_walk(const RfRun *run, const uint8_t *small) {
  const RfSystem *system = &run->system;
  if (!run->problem->gram || run->phase.part != 0) return false;
  for (rf_index u = 0; u < system->units; u++)
    if (!small[u] || system->dead[u] || system->only[u] < 0) return false;
  return true;
}

/* Whether the walkers can go on from where the alignment kept them. */
static bool goes_on(const RfRun *run, const uint8_t *small, double log_S, double end) {
  for (rf_index u = 0; u < run->system.units; u++)
    if (run->system.only[u] != u) return false;
  return run->halfway && run->halfway->w && run->aligned && !isnan(log_S) && all_walk(run, small) &&
         run->system.units == run->halfway->m && run->halfway->t * exp(log_S) <= end;
}

static RfStatus walk_on(RfRun *run, RfAlignNeuron *paths, const RfAlignData *data, double log_S, double end) {
  for (rf_index u = 0; u < run->system.units; u++) rf_align_neuron_free(&paths[u]);
  RfStatus status =
      rf_walk_align_on(run->context, paths, data->field, run->problem->gram, run->halfway,
                       run->problem->start->directions, exp(-log_S), run->problem->log_scale, end);
  return !status && rf_context_stop(run->context) ? RF_INTERRUPTED : status;
}

static RfStatus walk_all(RfRun *run, RfAlignNeuron *paths, const RfAlignData *data, double end) {
  RfSystem *system = &run->system;
  rf_index d = system->d, units = system->units;
  double *v = RF_NEW(double, units *(d + 1));
  if (!v) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a jump");
  for (rf_index u = 0; u < units; u++) rf_unit_direction(system, u, v + u * (d + 1));
  for (rf_index u = 0; u < units; u++) rf_align_neuron_free(&paths[u]);
  RfStatus status = rf_walk_align(run->context, paths, data->field, run->problem->gram, v,
                                  system->y + units * (d + 1), units, end, NULL, 0);
  if (!status && rf_context_stop(run->context)) status = RF_INTERRUPTED;
  rf_free(v);
  return status;
}

/* All small units at the clock `end`. afresh: from where they are; otherwise those whose last event lies
 * before go on from there, and only the others start again. */
static RfStatus follow_all(RfRun *run, RfAlignNeuron *paths, const RfAlignData *data, const uint8_t *small,
                           double end, bool afresh) {
  RfSystem *system = &run->system;
  RfAlignPath *path = NULL;
  if (all_walk(run, small)) return walk_all(run, paths, data, end);
  double *v = RF_NEW(double, system->d + 1);
  RfStatus status = v ? rf_align_path_new(run->context, &path, data)
                      : rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a jump");
  for (rf_index u = 0; u < system->units && !status; u++) {
    if (!small[u] || system->dead[u]) continue;
    if (rf_context_stop(run->context)) status = RF_INTERRUPTED;
    if (!status && !afresh && paths[u].t_state <= end)
      status = continue_path(run->context, path, &paths[u], end);
    if (status || (!afresh && paths[u].t_state == end)) continue;
    rf_unit_direction(system, u, v);
    rf_align_neuron_free(&paths[u]);
    status = rf_align_path_follow(run->context, path, &paths[u], v, *unit_rho(system, u),
                                  system->sigma + u * system->n, end);
  }
  rf_align_path_free(path);
  rf_free(v);
  return status;
}

static RfStatus carry_out(RfRun *run, RfAlignNeuron *paths, const RfAlignData *data, double main_rate,
                          const uint8_t *small, double log_S, double end) {
  RfSystem *system = &run->system;
  bool on = goes_on(run, small, log_S, end);
  RfStatus status =
      on ? walk_on(run, paths, data, log_S, end) : follow_all(run, paths, data, small, end, false);
  if (!status) status = log_paths(run, paths, small, log_S, on);
  for (rf_index u = 0; u < system->units && !status; u++) {
    if (!small[u] || system->dead[u]) continue;
    run->branched = run->branched || paths[u].branched;
    status = store_path(run, u, &paths[u], paths[u].log_norm - main_rate * end);
  }
  if (status) return status;
  system->log_t = later(system->log_t, end, log_S);
  if (!isnan(log_S)) system->tau += end;
  system->kappa += main_rate * end;
  rf_system_normalise(system, system->y);
  rf_run_reset(run);
  run->since_event = 0;
  run->stiff_count = 0;
  return RF_OK;
}

/* The group with the pattern and the sign in which a path ends; -1: none. */
static rf_index group_of_path(const RfPolish *polish, const RfSystem *system, const RfAlignNeuron *path) {
  rf_index n = system->n, d = system->d;
  for (rf_index g = 0; g < polish->n_groups; g++)
    if (polish->groups[g].sign == (path->direction[d] >= 0 ? 1 : -1) &&
        (system->problem->leak == 1 ||
         memcmp(system->sigma + polish->groups[g].unit * n, path->sector, (size_t)n) == 0))
      return g;
  return -1;
}

RfStatus rf_run_join(RfRun *run, RfPolish *polish, const double *c, const uint8_t *small) {
  RfSystem *system = &run->system;
  rf_index units = system->units;
  RfAlignField field = {
      .X = system->problem->X, .c = c, .n = system->n, .d = system->d, .leak = run->problem->leak};
  RfAlignData data = {0};
  RfAlignNeuron *paths = RF_NEW(RfAlignNeuron, units);
  RfStatus status = paths ? rf_align_data_new(run->context, &data, &field, units)
                          : rf_fail(run->context, RF_ERR_MEMORY, "out of memory for small units");
  if (!status) status = follow_all(run, paths, &data, small, INFINITY, true);
  polish->late = polish->left_out = -INFINITY;
  for (rf_index u = 0; u < units && !status; u++) {
    if (!small[u] || system->dead[u] || isnan(paths[u].log_amplitude)) continue;
    if (!(fabs(paths[u].G - 1) <= RF_TOL_ESCAPE)) continue;
    rf_index g = group_of_path(polish, system, &paths[u]);
    if (g < 0) polish->left_out = fmax(polish->left_out, paths[u].log_amplitude + 0.5 * log(2.0));
    if (g < 0) continue;
    polish->group_of[u] = g;
    polish->size[u] = paths[u].log_amplitude + 0.5 * log(2.0);
    if (paths[u].n_crossings > 0) polish->late = fmax(polish->late, polish->size[u]);
  }
  for (rf_index u = 0; paths && u < units; u++) rf_align_neuron_free(&paths[u]);
  rf_free(paths);
  rf_align_data_free(&data);
  return status;
}

RfStatus rf_run_jump(RfRun *run, bool *escaped, double *rate_excess, const double *c, double main_rate,
                     const uint8_t *small, double log_S, double rho_matters) {
  RfSystem *system = &run->system;
  rf_index units = system->units;
  RfAlignField field = {
      .X = system->problem->X, .c = c, .n = system->n, .d = system->d, .leak = run->problem->leak};
  RfAlignData data = {0};
  RfAlignNeuron *paths = RF_NEW(RfAlignNeuron, units);
  RfStatus status = paths ? rf_align_data_new(run->context, &data, &field, units)
                          : rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a jump");
  double end = INFINITY;
  *escaped = false;
  *rate_excess = -INFINITY;
  if (!status && run->aligned && !isnan(log_S) && all_walk(run, small))
    foresee(run, paths, log_S);
  else if (!status)
    status = follow_all(run, paths, &data, small, INFINITY, true);
  for (rf_index u = 0; u < units && !status; u++) {
    if (!small[u] || system->dead[u]) continue;
    *rate_excess = fmax(*rate_excess, paths[u].G - main_rate);
    if (!(paths[u].G > main_rate + run->escape_slack)) continue;
    end = fmin(end, time_to_matter(&paths[u], main_rate, *unit_rho(system, u), rho_matters));
  }
  if (!(end <= run->escape_within)) end = INFINITY;
  if (run->settings->until == RF_UNTIL_TIME && !isnan(log_S)) { /* not past the time asked for */
    double left = exp(rf_run_until_log_t(run) + log_S) - exp(system->log_t + log_S);
    if (left < end && left <= run->wait_within) {
      run->reached = true;
      end = left;
    }
  }
  *escaped = isfinite(end);
  if (!status && *escaped && end > 0) status = carry_out(run, paths, &data, main_rate, small, log_S, end);
  for (rf_index u = 0; paths && u < units; u++) rf_align_neuron_free(&paths[u]);
  rf_free(paths);
  rf_align_data_free(&data);
  return status;
}
