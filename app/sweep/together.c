/* Cells that are run together, on a device: one child process does all of them and sends back rows as they
 * come; the writer stays alone with the store. A child that is killed is replaced and goes on with the cells
 * that are left; whatever happens the store can be resumed. */
#include "sweep/store.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

/* A child may be lost this often without having finished a cell. */
enum { MOST_LOST = 2 };
/* Seconds between commits. */
static const double commit_every = 0.5;

/* ---- the child -------------------------------------------------------------------------------- */

typedef struct Wire {
  int socket;
  const SweepColumns *columns;
  bool keep_json;
} Wire;

static bool deliver(void *user, rf_index cell, const SweepAnswer *answer, double seconds) {
  const Wire *wire = user;
  SweepReply reply;
  bool fine;
  sweep_reply_new(&reply, wire->columns, cell, answer, wire->keep_json);
  reply.header.seconds = seconds;
#pragma omp critical(sweep_together_wire)
  fine = sweep_reply_send(wire->socket, &reply);
  rf_text_free(&reply.payload);
  return fine;
}

/* The last message: how the undertaking ended, with a line when it failed. */
static void child(int socket, RfContext *context, const SweepPlan *plan, const SweepColumns *columns,
                  const rf_index *cells, rf_index count, rf_index threads, bool keep_json) {
  Wire wire = {socket, columns, keep_json};
  context->on_progress = NULL, context->on_message = NULL, context->error[0] = '\0';
  RfStatus status = plan->command->run_together(context, plan, cells, count, threads, deliver, &wire);
  SweepHeader end = {-1, (int32_t)status, 0, 0, strlen(context->error)};
  if (sweep_send(socket, &end, sizeof end)) sweep_send(socket, context->error, strlen(context->error));
  _exit(0);
}

/* ---- the parent ------------------------------------------------------------------------------- */

typedef struct Together {
  RfContext *context;
  SweepStore *store;
  const SweepPlan *plan;
  rf_index total, done;
  double started, committed;
  RfText payload;
} Together;

static void show_progress(const Together *t) {
  char detail[160];
  double gone = rf_clock_seconds() - t->started, share = (double)t->done / (double)t->total;
  int used = rf_format(detail, sizeof detail, "%lld of %lld cells", (long long)t->done, (long long)t->total);
  if (share > 0)
    rf_format(detail + used, sizeof detail - (size_t)used, ", %.0f s to go", gone * (1 - share) / share);
  rf_progress(t->context, "sweep", share, detail);
}

/* Takes rows until the child says how it ended (*end) or is gone (*lost). */
static RfStatus listen_to(Together *t, SweepWorker *worker, RfStatus *end, bool *lost) {
  RfStatus status = RF_OK;
  *lost = false;
  for (;;) {
    struct pollfd news = {.fd = worker->socket, .events = POLLIN};
    SweepHeader header;
    if (rf_context_stop(t->context)) return RF_INTERRUPTED;
    int ready = poll(&news, 1, 100);
    double now = rf_clock_seconds();
    if (now - t->committed >= commit_every) {
      t->committed = now;
      show_progress(t);
      status = sweep_store_commit(t->context, t->store);
      if (status) return status;
    }
    if (ready <= 0) continue;
    if (!sweep_worker_receive(worker, &header, &t->payload)) {
      *lost = true;
      return RF_OK;
    }
    if (header.cell < 0) {
      *end = (RfStatus)header.outcome;
      return *end < 0 ? rf_fail(t->context, *end, "%.*s", (int)t->payload.length, rf_text_string(&t->payload))
                      : RF_OK;
    }
    if (header.cell >= t->plan->n_cells)
      return rf_fail(t->context, RF_ERR_INTERNAL, "a result for a cell that was not asked for");
    t->done++;
    status = sweep_store_put(t->context, t->store, &header, rf_text_string(&t->payload));
    if (status) return status;
  }
}

static RfStatus start(Together *t, SweepWorker *worker, const rf_index *cells, rf_index count,
                      rf_index threads, bool keep_json) {
  bool is_child;
  RfStatus status = sweep_worker_fork(t->context, worker, &is_child);
  if (!status && is_child)
    child(worker->socket, t->context, t->plan, &t->store->columns, cells, count, threads, keep_json);
  return status;
}

/* The open cells that ask for company, and no others. */
static RfStatus open_cells(const Together *t, rf_index **cells, rf_index *count) {
  const SweepPlan *plan = t->plan;
  rf_index axis = 0, kept = 0;
  *cells = NULL, *count = 0;
  while (axis < plan->n_axes && strcmp(plan->axes[axis].name, plan->command->together) != 0) axis++;
  if (axis == plan->n_axes) return RF_OK;
  RfStatus status = sweep_store_open_cells(t->context, t->store, cells, count);
  for (rf_index k = 0; !status && k < *count; k++)
    if (strcmp(sweep_plan_value(plan, (*cells)[k], axis), plan->command->apart) != 0)
      (*cells)[kept++] = (*cells)[k];
  *count = kept;
  return status;
}

RfStatus sweep_run_together(RfContext *context, SweepStore *store, const SweepPlan *plan, rf_index threads,
                            bool keep_json) {
  Together t = {.context = context, .store = store, .plan = plan};
  RfStatus status = RF_OK;
  if (!plan->command->together) return RF_OK;
  t.started = t.committed = rf_clock_seconds();
  for (int losses = 0; !status;) {
    SweepWorker worker = {0};
    rf_index count = 0, *cells = NULL, before = t.done;
    RfStatus end = RF_OK;
    bool lost = false;
    char why[64];
    status = open_cells(&t, &cells, &count);
    if (!status && t.total == 0) t.total = count;
    if (!status && count > 0) status = start(&t, &worker, cells, count, threads, keep_json);
    if (!status && count > 0) status = listen_to(&t, &worker, &end, &lost);
    if (worker.pid) sweep_worker_end(&worker, why);
    losses = t.done > before ? 0 : losses + 1;
    if (!status && lost) status = sweep_store_incident(context, store, cells[0], why);
    if (!status && lost && losses >= MOST_LOST)
      status = rf_fail(context, RF_ERR_IO, "%s before a cell was finished: the store can be resumed", why);
    RfStatus written = sweep_store_commit(context, store);
    if (status >= 0 && written) status = written;
    rf_free(cells);
    if (!lost) break;
  }
  rf_text_free(&t.payload);
  return status;
}
