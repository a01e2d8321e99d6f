/* The engine of one machine: worker processes around one writer. */
#include "sweep/store.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

typedef struct Engine {
  SweepDesk desk;
  bool keep_json;
  rf_index n_workers;
  SweepWorker *workers;
  SweepSeat *seats;
  struct pollfd *polls;
  RfText payload;
} Engine;

static RfStatus start(Engine *engine, rf_index k) {
  return sweep_worker_start(engine->desk.context, &engine->workers[k], engine->desk.plan,
                            &engine->desk.store->columns, engine->keep_json, engine->workers,
                            engine->n_workers);
}

/* Somebody or something ended worker k (or we do, when its time is up): the cell is dealt with, a new worker
 * comes. */
static RfStatus replace(Engine *engine, rf_index k, bool out_of_time) {
  char why[64];
  SweepOutcome blame = sweep_worker_end(&engine->workers[k], why);
  if (out_of_time) rf_format(why, sizeof why, "did not end in %.6g s", engine->desk.plan->cell_limit);
  RfStatus status =
      sweep_desk_lost(&engine->desk, &engine->seats[k], why, out_of_time ? SWEEP_TIMEOUT : blame);
  return status ? status : start(engine, k);
}

/* Fills the seat of worker k. */
static RfStatus feed(Engine *engine, rf_index k) {
  rf_index cell;
  while ((cell = sweep_desk_hand_out(&engine->desk, &engine->seats[k])) >= 0)
    if (!sweep_worker_send(&engine->workers[k], cell)) return replace(engine, k, false);
  return RF_OK;
}

static RfStatus collect(Engine *engine, rf_index k) {
  SweepHeader header;
  if (!sweep_worker_receive(&engine->workers[k], &header, &engine->payload)) return replace(engine, k, false);
  return sweep_desk_take(&engine->desk, &engine->seats[k], &header, rf_text_string(&engine->payload));
}

static RfStatus wait_for_news(Engine *engine) {
  const double limit = engine->desk.plan->cell_limit;
  for (rf_index k = 0; k < engine->n_workers; k++)
    engine->polls[k] = (struct pollfd){.fd = engine->workers[k].socket, .events = POLLIN};
  int ready = poll(engine->polls, (nfds_t)engine->n_workers, 100);
  RfStatus status = RF_OK;
  if (ready < 0 && errno != EINTR)
    return rf_fail(engine->desk.context, RF_ERR_IO, "cannot wait for workers: %s", strerror(errno));
  for (rf_index k = 0; k < engine->n_workers && !status; k++) {
    bool news = ready > 0 && (engine->polls[k].revents & (POLLIN | POLLHUP | POLLERR));
    if (news)
      status = collect(engine, k);
    else if (limit > 0 && engine->seats[k].n_cells > 0 && rf_clock_seconds() - engine->seats[k].since > limit)
      status = replace(engine, k, true);
  }
  return status;
}

static RfStatus run(Engine *engine) {
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < engine->n_workers && !status; k++) status = start(engine, k);
  while (!status && !sweep_desk_finished(&engine->desk)) {
    if (rf_context_stop(engine->desk.context)) {
      status = RF_INTERRUPTED; /* cells in progress stay pending */
      break;
    }
    for (rf_index k = 0; k < engine->n_workers && !status; k++) status = feed(engine, k);
    if (!status) status = wait_for_news(engine);
    if (!status) status = sweep_desk_breathe(&engine->desk);
  }
  return status;
}

RfStatus sweep_run(RfContext *context, SweepStore *store, const SweepPlan *plan, rf_index workers,
                   bool keep_json) {
  Engine engine = {.keep_json = keep_json};
  char why[64];
  RfStatus status = sweep_run_together(context, store, plan, workers, keep_json);
  if (status) return status;
  status = sweep_desk_new(&engine.desk, context, store, plan);
  engine.n_workers = workers < engine.desk.total ? workers : engine.desk.total;
  engine.workers = RF_NEW(SweepWorker, engine.n_workers);
  engine.seats = RF_NEW(SweepSeat, engine.n_workers);
  engine.polls = RF_NEW(struct pollfd, engine.n_workers);
  if (!status && (!engine.workers || !engine.seats || !engine.polls)) status = sweep_out_of_memory(context);
  if (!status) status = run(&engine);
  for (rf_index k = 0; engine.workers && k < engine.n_workers; k++) sweep_worker_end(&engine.workers[k], why);
  if (status >= 0) {
    RfStatus written = sweep_store_commit(context, store);
    if (written) status = written;
  }
  rf_text_free(&engine.payload);
  rf_free(engine.workers);
  rf_free(engine.seats);
  rf_free(engine.polls);
  sweep_desk_free(&engine.desk);
  return status;
}
