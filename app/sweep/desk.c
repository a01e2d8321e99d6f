/* Who does which cell: the bookkeeping that processes and MPI ranks share. A cell that loses its worker goes
 * first again; the second time it is given up, as crashed when the cell itself did it and as killed when
 * somebody else did. */
#include "sweep/sweep_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A cell may cost this many workers. */
enum { MOST_LOST = 2 };
/* Seconds between commits: what a crash of the writer can lose, as work, never as consistency. */
static const double commit_every = 0.5;

RfStatus sweep_desk_new(SweepDesk *desk, RfContext *context, SweepStore *store, const SweepPlan *plan) {
  memset(desk, 0, sizeof *desk);
  desk->context = context, desk->store = store, desk->plan = plan;
  RfStatus status = sweep_store_open_cells(context, store, &desk->queue, &desk->n_queue);
  if (!status) status = sweep_plan_order(context, plan, desk->queue, desk->n_queue);
  desk->total = desk->n_queue;
  desk->again = RF_NEW(rf_index, desk->n_queue + 1);
  desk->lost = RF_NEW(uint8_t, plan->n_cells);
  if (!status && (!desk->again || !desk->lost)) status = sweep_out_of_memory(context);
  desk->started = desk->committed = rf_clock_seconds();
  return status;
}

void sweep_desk_free(SweepDesk *desk) {
  rf_free(desk->queue);
  rf_free(desk->again);
  rf_free(desk->lost);
}

rf_index sweep_desk_hand_out(SweepDesk *desk, SweepSeat *seat) {
  rf_index cell = -1;
  if (seat->n_cells == SWEEP_AHEAD) return -1;
  if (desk->n_again > 0) {
    /* a cell that has cost a worker goes alone, so that no other can be blamed for it */
    if (seat->n_cells > 0 && desk->lost[desk->again[desk->n_again - 1]]) return -1;
    cell = desk->again[--desk->n_again];
  } else if (desk->next < desk->n_queue) {
    cell = desk->queue[desk->next++];
  }
  if (cell < 0) return -1;
  if (seat->n_cells == 0) seat->since = rf_clock_seconds();
  seat->cells[seat->n_cells++] = cell;
  return cell;
}

/* The first cell of a seat has ended one way or another. */
static void shift(SweepSeat *seat) {
  seat->n_cells--;
  memmove(seat->cells, seat->cells + 1, (size_t)seat->n_cells * sizeof seat->cells[0]);
  seat->since = rf_clock_seconds();
}

RfStatus sweep_desk_take(SweepDesk *desk, SweepSeat *seat, const SweepHeader *header, const char *payload) {
  if (seat->n_cells == 0 || header->cell != seat->cells[0])
    return rf_fail(desk->context, RF_ERR_INTERNAL, "a result for a cell that was not asked for");
  shift(seat);
  desk->done++;
  if (header->outcome >= 0 && header->outcome < SWEEP_OUTCOMES) desk->counts[header->outcome]++;
  return sweep_store_put(desk->context, desk->store, header, payload);
}

RfStatus sweep_desk_lost(SweepDesk *desk, SweepSeat *seat, const char *reason, SweepOutcome blame) {
  RfStatus status = RF_OK;
  if (seat->n_cells == 0) return RF_OK;
  rf_index cell = seat->cells[0];
  while (seat->n_cells > 1) desk->again[desk->n_again++] = seat->cells[--seat->n_cells];
  shift(seat);
  status = sweep_store_incident(desk->context, desk->store, cell, reason);
  desk->lost[cell]++;
  if (blame != SWEEP_TIMEOUT &&
      desk->lost[cell] < MOST_LOST) { /* one that has run out of time would do so again */
    desk->again[desk->n_again++] = cell;
  } else if (!status) {
    desk->done++;
    desk->counts[blame]++;
    status = sweep_store_give_up(desk->context, desk->store, cell, blame, reason);
  }
  return status;
}

static void show_progress(const SweepDesk *desk) {
  char detail[160];
  double gone = rf_clock_seconds() - desk->started, share = (double)desk->done / (double)desk->total;
  rf_index open = desk->counts[SWEEP_UNDECIDED] + desk->counts[SWEEP_TIMEOUT];
  rf_index lost = desk->counts[SWEEP_CRASHED] + desk->counts[SWEEP_KILLED];
  int used =
      rf_format(detail, sizeof detail, "%lld of %lld cells", (long long)desk->done, (long long)desk->total);
  if (open)
    used += rf_format(detail + used, sizeof detail - (size_t)used, ", %lld undecided", (long long)open);
  if (lost) used += rf_format(detail + used, sizeof detail - (size_t)used, ", %lld lost", (long long)lost);
  if (share > 0)
    rf_format(detail + used, sizeof detail - (size_t)used, ", %.0f s to go", gone * (1 - share) / share);
  rf_progress(desk->context, "sweep", share, detail);
}

RfStatus sweep_desk_breathe(SweepDesk *desk) {
  double now = rf_clock_seconds();
  if (now - desk->committed < commit_every) return RF_OK;
  desk->committed = now;
  if (desk->total > 0) show_progress(desk);
  return sweep_store_commit(desk->context, desk->store);
}

bool sweep_desk_finished(const SweepDesk *desk) { return desk->done == desk->total; }
