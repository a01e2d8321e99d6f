/* The state of a run between two steps as one array of doubles, and back: what the arrays hold, not what can
 * be computed from them, so that a run taken up again takes the same steps to the last bit. */
#include "flow/flow_internal.h"

#include <math.h>
#include <string.h>

static const double mark = 20261121; /* layout of this file */

/* One walk over the fields serves counting (values NULL), saving and loading. */
typedef struct Tape {
  double *values; /* NULL: only count */
  rf_index at, count;
  bool load, broken;
} Tape;

static void put(Tape *tape, double *value) {
  if (tape->values && tape->at < tape->count) {
    if (tape->load)
      *value = tape->values[tape->at];
    else
      tape->values[tape->at] = *value;
  } else if (tape->values) {
    tape->broken = true;
  }
  tape->at++;
}

static void put_doubles(Tape *tape, double *values, rf_index count) {
  for (rf_index j = 0; j < count; j++) put(tape, &values[j]);
}

static void put_index(Tape *tape, rf_index *value) {
  double copy = (double)*value;
  put(tape, &copy);
  if (tape->load && fabs(copy) < 9e15) *value = (rf_index)copy;
}

static void put_int(Tape *tape, int *value) {
  rf_index copy = *value;
  put_index(tape, &copy);
  *value = (int)copy;
}

static void put_bool(Tape *tape, bool *value) {
  rf_index copy = *value;
  put_index(tape, &copy);
  *value = copy != 0;
}

static void put_bytes(Tape *tape, void *bytes, rf_index count) {
  int8_t *values = bytes;
  for (rf_index j = 0; j < count; j++) {
    rf_index copy = (rf_index)(int)values[j]; /* signs -1, 0, 1 */
    put_index(tape, &copy);
    values[j] = (int8_t)copy;
  }
}

static void walk_system(Tape *tape, RfSystem *system) {
  rf_index n = system->n, d = system->d, m = system->m;
  put_index(tape, &system->units);
  if (system->units < 0 || system->units > m) {
    system->units = 0;
    tape->broken = true;
  }
  put_doubles(tape, system->y, rf_system_size(system));
  put_bytes(tape, system->sigma, system->units * n);
  put_bytes(tape, system->balanced, system->units);
  put_bytes(tape, system->dead, system->units);
  for (rf_index k = 0; k < m; k++) {
    put_index(tape, &system->unit_of[k]);
    if (system->unit_of[k] >= system->units) tape->broken = true;
  }
  if (tape->load && !tape->broken) rf_system_count_members(system); /* follows from unit_of */
  put_doubles(tape, system->offset, m);
  put_doubles(tape, system->stretch, m);
  bool kept = system->apart != NULL;
  put_bool(tape, &kept);
  if (tape->load && kept && !system->apart) system->apart = RF_NEW(double, m *(2 * d + 1));
  if (kept && !system->apart) tape->broken = true;
  if (kept && system->apart) put_doubles(tape, system->apart, m * (2 * d + 1));
  put_doubles(tape, system->rest, m * (d + 2));
  put_bytes(tape, system->is_dead, m);
  put_bytes(tape, system->flip, m);
  put_doubles(tape, system->conserved, 2 * m);
  put(tape, &system->tau);
  put(tape, &system->log_t);
  put(tape, &system->mu);
  put(tape, &system->kappa);
  put(tape, &system->known);
  put_index(tape, &system->evaluations);
}

static void walk_lift(Tape *tape, RfSystem *system) {
  RfLift *lift = &system->lift;
  bool made = lift->of && lift->grows;
  put_bool(tape, &lift->on);
  put_bool(tape, &lift->there);
  put(tape, &lift->by);
  put(tape, &lift->drive);
  put_bool(tape, &made);
  if (tape->load && made && !lift->of) lift->of = RF_NEW(double, system->n);
  if (tape->load && made && !lift->grows) lift->grows = RF_NEW(uint8_t, system->n);
  if ((made || lift->on) && !(lift->of && lift->grows)) {
    lift->on = made = false;
    tape->broken = true;
  }
  if (!made) return;
  put_doubles(tape, lift->of, system->n);
  put_bytes(tape, lift->grows, system->n);
}

static void walk_run(Tape *tape, RfRun *run) {
  put_bool(tape, &run->implicit);
  put_bool(tape, &run->at_infinity);
  put_bool(tape, &run->branched);
  put(tape, &run->h);
  put(tape, &run->h_low);
  put(tape, &run->gap);
  put(tape, &run->tau_cut);
  put(tape, &run->tol);
  put(tape, &run->tol_implicit);
  put_int(tape, &run->stuck);
  put_index(tape, &run->held.unit);
  put_index(tape, &run->held.sample);
  put_int(tape, &run->held.steps);
  put_int(tape, &run->care);
  put_int(tape, &run->repeats.used);
  put_int(tape, &run->repeats.next);
  if (run->repeats.used < 0 || run->repeats.used > RF_REPEATS) run->repeats.used = 0, tape->broken = true;
  for (int r = 0; r < run->repeats.used; r++) {
    put_index(tape, &run->repeats.unit[r]);
    put_index(tape, &run->repeats.sample[r]);
    put_int(tape, &run->repeats.count[r]);
  }
  put_index(tape, &run->steps_explicit);
  put_index(tape, &run->steps_implicit);
  put_index(tape, &run->since_event);
  put_index(tape, &run->stiff_count);
  put_index(tape, &run->escapes);
  put_int(tape, &run->phase.part);
  put_index(tape, &run->phase.steps);
  put(tape, &run->phase.tau_event);
  put(tape, &run->phase.best);
  put_index(tape, &run->phase.best_at);
  put(tape, &run->phase.size);
  put_int(tape, &run->phase.round);
  put_index(tape, &run->phase.left);
  put(tape, &run->phase.last);
  put(tape, &run->phase.growth);
  put(tape, &run->phase.reach);
  put_int(tape, &run->phase.drifting);
  put_int(tape, &run->phase.stalled);
  put_int(tape, &run->phase.crawling);
  put_int(tape, &run->phase.high);
  put_index(tape, &run->phase.crossed);
  put(tape, &run->phase.edge);
  put_doubles(tape, run->phase.fading, 6);
  put_doubles(tape, run->phase.marks, RF_MARKS);
  put_doubles(tape, run->phase.point, RF_MARKS);
  put_int(tape, &run->wakes);
  put_doubles(tape, run->log_t_class, 2);
  put(tape, &run->last_smoothed);
  put(tape, &run->monitors.balance_error);
  put(tape, &run->monitors.energy_error);
  put_bool(tape, &run->monitors.smoothed_margin_monotone);
  put_index(tape, &run->trace_stride);
  put_index(tape, &run->trace_count);
}

static void walk_way(Tape *tape, RfRun *run) {
  RfWay *way = &run->way;
  put(tape, &way->tau);
  put(tape, &way->arrives);
  put_bool(tape, &way->settled);
  put_index(tape, &way->units);
  if (way->units < 0 || way->units > run->system.m) way->units = 0, tape->broken = true;
  rf_index count = way->units * (run->system.d + 2);
  if (tape->load) {
    rf_free(way->y);
    way->y = RF_NEW(double, count);
    if (!way->y) tape->broken = true;
  }
  if (way->y) put_doubles(tape, way->y, count);
}

static void walk_event(Tape *tape, RfFlowEvent *event) {
  int kind = (int)event->kind;
  put(tape, &event->log_t);
  put_index(tape, &event->neuron);
  put_index(tape, &event->sample);
  put_int(tape, &kind);
  put(tape, &event->q_min);
  event->kind = (RfEventKind)kind;
}

static void walk_row(Tape *tape, RfFlowTrace *row) {
  put(tape, &row->log_t);
  put(tape, &row->log_loss);
  put(tape, &row->log_norm);
  put(tape, &row->margin);
  put(tape, &row->smoothed_margin);
  put(tape, &row->stable_rank);
  put(tape, &row->cos_plus_min);
  put(tape, &row->cos_minus_min);
}

/* Room for the lists whose lengths have just been loaded. */
static RfStatus make_room(Tape *tape, RfRun *run) {
  if (!tape->load) return RF_OK;
  if (run->n_events < 0 || run->n_trace < 0 || run->n_events > tape->count || run->n_trace > tape->count)
    return rf_fail(run->context, RF_ERR_INPUT, "the checkpoint is damaged");
  rf_free(run->events);
  rf_free(run->trace);
  rf_index rows = 2 * run->settings->trace + 1;
  run->cap_events = run->n_events;
  run->events = RF_NEW(RfFlowEvent, run->n_events);
  run->trace = RF_NEW(RfFlowTrace, rows > run->n_trace ? rows : run->n_trace);
  if (run->events && run->trace) return RF_OK;
  return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a checkpoint");
}

static RfStatus walk(Tape *tape, RfRun *run) {
  double head[4] = {mark, (double)run->system.n, (double)run->system.d, (double)run->system.m}, want[4];
  memcpy(want, head, sizeof head);
  put_doubles(tape, head, 4);
  bool same = true;
  for (int k = 0; k < 4; k++) same = same && want[k] == head[k];
  if (!same) return rf_fail(run->context, RF_ERR_INPUT, "the checkpoint belongs to another problem");
  walk_system(tape, &run->system);
  walk_lift(tape, &run->system);
  walk_run(tape, run);
  walk_way(tape, run);
  put_index(tape, &run->n_events);
  put_index(tape, &run->n_trace);
  if (tape->broken) return rf_fail(run->context, RF_ERR_INPUT, "the checkpoint is damaged");
  RfStatus status = make_room(tape, run);
  for (rf_index j = 0; j < run->n_events && !status; j++) walk_event(tape, &run->events[j]);
  for (rf_index j = 0; j < run->n_trace && !status; j++) walk_row(tape, &run->trace[j]);
  if (!status && tape->broken) status = rf_fail(run->context, RF_ERR_INPUT, "the checkpoint is damaged");
  return status;
}

RfStatus rf_run_save(const RfRun *run, RfFlowCheckpoint *checkpoint) {
  RfRun copy = *run; /* shallow: walking it without loading changes nothing */
  Tape tape = {0};
  memset(checkpoint, 0, sizeof *checkpoint);
  RfStatus status = walk(&tape, &copy);
  if (status) return status;
  checkpoint->count = tape.at;
  checkpoint->values = RF_NEW(double, tape.at);
  if (!checkpoint->values) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a checkpoint");
  tape = (Tape){.values = checkpoint->values, .count = checkpoint->count};
  return walk(&tape, &copy);
}

RfStatus rf_run_load(RfRun *run, const RfFlowCheckpoint *checkpoint) {
  Tape tape = {.values = checkpoint->values, .count = checkpoint->count, .load = true};
  RfStatus status = walk(&tape, run);
  if (!status && tape.at != checkpoint->count)
    status = rf_fail(run->context, RF_ERR_INPUT, "the checkpoint is damaged");
  for (rf_index u = 0; u < run->system.units && !status; u++)
    status = rf_system_refresh_unit(&run->system, u);
  if (!status) status = rf_run_resize(run);
  return status;
}
