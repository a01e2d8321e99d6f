/* The engine of many machines. Rank 0 keeps the store and hands out cells; every other rank keeps one worker
 * process, so that a cell that crashes costs a worker and not the whole job. Every rank makes the plan from
 * the same words. A rank whose worker was lost says so and starts an epoch: cells sent to it before rank 0
 * knew are not its business any more. */
#include "sweep/store.h"
#include "sweep/transport.h"

#include <dlfcn.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct SweepRanks {
  void *library;
  const SweepTransport *transport;
  int rank, size;
};

typedef enum Kind { PLAN = 1, CELL, RESULT, LOST, QUIT } Kind;

/* What every message begins with. */
typedef struct Envelope {
  int32_t kind, epoch;
  int64_t cell;    /* CELL */
  int32_t outcome; /* LOST */
  char why[68];    /* LOST */
  SweepHeader header;
} Envelope;

static void pause_briefly(void) { nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); }

/* ---- opening ---------------------------------------------------------------------------------- */

static void *load_beside(void) {
  static const char *const places[] = {"", "/../lib/reluflow", "/../lib"};
  char self[3800], path[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return NULL;
  self[length] = '\0';
  char *slash = strrchr(self, '/');
  if (slash) *slash = '\0';
  for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
    rf_format(path, sizeof path, "%s%s/libreluflow_mpi.so", self, places[k]);
    void *library = access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (library) return library;
  }
  return NULL;
}

RfStatus sweep_ranks_open(RfContext *context, SweepRanks **out) {
  const char *size = getenv("OMPI_COMM_WORLD_SIZE");
  *out = NULL;
  if (!size || strtol(size, NULL, 10) < 2) return RF_OK;
  SweepRanks *ranks = RF_NEW(SweepRanks, 1);
  if (!ranks) return sweep_out_of_memory(context);
  ranks->library = load_beside();
  if (ranks->library) ranks->transport = dlsym(ranks->library, SWEEP_TRANSPORT_ENTRY);
  if (!ranks->transport || !ranks->transport->start(&ranks->rank, &ranks->size)) {
    rf_free(ranks);
    return rf_fail(context, RF_ERR_IO, "under mpirun, but libreluflow_mpi.so cannot be used: %s",
                   dlerror() ? "it does not load" : "it is not beside the program");
  }
  *out = ranks;
  return RF_OK;
}

int sweep_ranks_rank(const SweepRanks *ranks) { return ranks->rank; }
int sweep_ranks_size(const SweepRanks *ranks) { return ranks->size; }

void sweep_ranks_close(SweepRanks *ranks) {
  Envelope quit = {.kind = QUIT};
  if (!ranks) return;
  for (int to = 1; ranks->rank == 0 && to < ranks->size; to++) ranks->transport->send(to, &quit, sizeof quit);
  /* results that were on their way are taken off the wire, so that their senders can leave */
  for (int idle = 0; ranks->rank == 0 && idle < 100;) {
    int from;
    size_t length;
    if (!ranks->transport->ready(&from, &length)) {
      idle++;
      pause_briefly();
      continue;
    }
    void *bytes = rf_alloc((rf_index)length, 1);
    if (bytes) ranks->transport->receive(from, bytes, length);
    rf_free(bytes);
    idle = bytes ? 0 : 100;
  }
  ranks->transport->stop();
  rf_free(ranks); /* the library stays: MPI does not like to be unloaded */
}

/* One message, whole; the buffer grows as needed. */
static bool take_message(const SweepRanks *ranks, int from, size_t length, RfText *buffer) {
  char *data = rf_resize(buffer->data, (rf_index)length + 1, 1);
  if (!data) return false;
  buffer->data = data, buffer->capacity = length + 1, buffer->length = length;
  return length >= sizeof(Envelope) && ranks->transport->receive(from, data, length);
}

/* ---- the plan, as words ----------------------------------------------------------------------- */

static RfStatus send_plan(RfContext *context, const SweepRanks *ranks, const SweepSpec *spec) {
  json_t *words = json_array();
  for (rf_index k = 0; k < spec->words.count; k++)
    json_array_append_new(words, json_string(spec->words.items[k]));
  json_t *root = json_pack("{s:s, s:o, s:s?, s:s?, s:b}", "command", spec->command, "words", words, "zip",
                           spec->zip, "where", spec->where, "keep", spec->keep_json);
  char *text = root ? json_dumps(root, 0) : NULL;
  Envelope envelope = {.kind = PLAN};
  RfText message = {0};
  rf_text_add_bytes(&message, (const char *)&envelope, sizeof envelope);
  if (text) rf_text_add(&message, text);
  bool fine = text && !message.failed;
  for (int to = 1; fine && to < ranks->size; to++)
    fine = ranks->transport->send(to, message.data, message.length);
  free(text);
  json_decref(root);
  rf_text_free(&message);
  return fine ? RF_OK : rf_fail(context, RF_ERR_IO, "cannot send the plan to the other ranks");
}

static RfStatus read_plan(RfContext *context, SweepSpec *spec, const char *text) {
  json_error_t error;
  json_t *root = json_loads(text, 0, &error), *word;
  size_t index;
  const char *command = json_string_value(json_object_get(root, "command"));
  const char *zip = json_string_value(json_object_get(root, "zip"));
  const char *where = json_string_value(json_object_get(root, "where"));
  bool fine = command != NULL;
  json_array_foreach(json_object_get(root, "words"), index, word) {
    const char *value = json_string_value(word);
    fine = fine && value && sweep_texts_add(&spec->words, rf_copy_text(value));
  }
  spec->command = command ? rf_copy_text(command) : NULL;
  spec->zip = zip ? rf_copy_text(zip) : NULL;
  spec->where = where ? rf_copy_text(where) : NULL;
  spec->keep_json = json_is_true(json_object_get(root, "keep"));
  json_decref(root);
  return fine ? RF_OK : rf_fail(context, RF_ERR_INTERNAL, "the plan did not arrive whole");
}

/* ---- rank 0 ----------------------------------------------------------------------------------- */

typedef struct Head {
  SweepDesk desk;
  const SweepRanks *ranks;
  SweepSeat *seats; /* by rank */
  int32_t *epochs;
  RfText buffer;
} Head;

static RfStatus feed(Head *head, int rank) {
  rf_index cell;
  while ((cell = sweep_desk_hand_out(&head->desk, &head->seats[rank])) >= 0) {
    Envelope envelope = {.kind = CELL, .epoch = head->epochs[rank], .cell = cell};
    if (!head->ranks->transport->send(rank, &envelope, sizeof envelope))
      return rf_fail(head->desk.context, RF_ERR_IO, "cannot reach rank %d", rank);
  }
  return RF_OK;
}

static RfStatus take(Head *head, int from, size_t length) {
  Envelope envelope;
  if (!take_message(head->ranks, from, length, &head->buffer))
    return rf_fail(head->desk.context, RF_ERR_IO, "a message of rank %d did not arrive", from);
  memcpy(&envelope, head->buffer.data, sizeof envelope);
  if (envelope.kind == LOST) {
    head->epochs[from]++;
    envelope.why[sizeof envelope.why - 1] = '\0';
    bool known = envelope.outcome > SWEEP_PENDING && envelope.outcome < SWEEP_OUTCOMES;
    return sweep_desk_lost(&head->desk, &head->seats[from], envelope.why,
                           known ? (SweepOutcome)envelope.outcome : SWEEP_CRASHED);
  }
  if (envelope.kind != RESULT || envelope.header.length != length - sizeof envelope)
    return rf_fail(head->desk.context, RF_ERR_INTERNAL, "a message of rank %d makes no sense", from);
  return sweep_desk_take(&head->desk, &head->seats[from], &envelope.header,
                         head->buffer.data + sizeof envelope);
}

static RfStatus lead(Head *head) {
  RfStatus status = RF_OK;
  for (int rank = 1; rank < head->ranks->size && !status; rank++) status = feed(head, rank);
  while (!status && !sweep_desk_finished(&head->desk)) {
    int from;
    size_t length;
    if (rf_context_stop(head->desk.context)) return RF_INTERRUPTED;
    if (head->ranks->transport->ready(&from, &length)) {
      status = take(head, from, length);
      if (!status) status = feed(head, from);
      if (!status && head->desk.n_again) /* somebody may have been told that there was nothing left */
        for (int rank = 1; rank < head->ranks->size && !status; rank++) status = feed(head, rank);
    } else {
      pause_briefly();
    }
    if (!status) status = sweep_desk_breathe(&head->desk);
  }
  return status;
}

RfStatus sweep_ranks_run(RfContext *context, const SweepRanks *ranks, SweepStore *store,
                         const SweepPlan *plan, const SweepSpec *spec) {
  Head head = {
      .ranks = ranks, .seats = RF_NEW(SweepSeat, ranks->size), .epochs = RF_NEW(int32_t, ranks->size)};
  RfStatus status = head.seats && head.epochs ? sweep_desk_new(&head.desk, context, store, plan)
                                              : sweep_out_of_memory(context);
  if (!status) status = send_plan(context, ranks, spec);
  if (!status) status = lead(&head);
  if (status >= 0) {
    RfStatus written = sweep_store_commit(context, store);
    if (written) status = written;
  }
  rf_text_free(&head.buffer);
  rf_free(head.seats);
  rf_free(head.epochs);
  sweep_desk_free(&head.desk);
  return status;
}

/* ---- the other ranks -------------------------------------------------------------------------- */

typedef struct Hand {
  RfContext *context;
  const SweepRanks *ranks;
  SweepSpec spec;
  SweepPlan plan;
  SweepColumns columns;
  SweepWorker worker;
  int n_cells; /* with the worker */
  int32_t epoch;
  double since;
  RfText buffer, payload;
} Hand;

static RfStatus start_worker(Hand *hand) {
  hand->n_cells = 0;
  return sweep_worker_start(hand->context, &hand->worker, &hand->plan, &hand->columns, hand->spec.keep_json,
                            NULL, 0);
}

static RfStatus tell(Hand *hand, const Envelope *envelope, const RfText *payload) {
  RfText message = {0};
  rf_text_add_bytes(&message, (const char *)envelope, sizeof *envelope);
  if (payload) rf_text_add_bytes(&message, rf_text_string(payload), payload->length);
  bool fine = !message.failed && hand->ranks->transport->send(0, message.data, message.length);
  rf_text_free(&message);
  return fine ? RF_OK : rf_fail(hand->context, RF_ERR_IO, "cannot reach rank 0");
}

static RfStatus worker_lost(Hand *hand, bool out_of_time) {
  Envelope lost = {.kind = LOST, .epoch = hand->epoch++};
  char why[64];
  lost.outcome = (int32_t)sweep_worker_end(&hand->worker, why);
  if (out_of_time) {
    lost.outcome = SWEEP_TIMEOUT;
    rf_format(why, sizeof why, "did not end in %.6g s", hand->plan.cell_limit);
  }
  rf_format(lost.why, sizeof lost.why, "%s", why);
  RfStatus status = tell(hand, &lost, NULL);
  return status ? status : start_worker(hand);
}

static RfStatus pass_result_on(Hand *hand) {
  Envelope result = {.kind = RESULT};
  if (!sweep_worker_receive(&hand->worker, &result.header, &hand->payload)) return worker_lost(hand, false);
  hand->n_cells--;
  hand->since = rf_clock_seconds();
  return tell(hand, &result, &hand->payload);
}

/* One message of rank 0; *quit when it was the last. */
static RfStatus obey(Hand *hand, size_t length, SweepFindCommand find, SweepCommand *command, bool *quit) {
  Envelope envelope;
  if (!take_message(hand->ranks, 0, length, &hand->buffer))
    return rf_fail(hand->context, RF_ERR_IO, "a message of rank 0 did not arrive");
  memcpy(&envelope, hand->buffer.data, sizeof envelope);
  *quit = envelope.kind == QUIT;
  if (envelope.kind == PLAN) {
    SweepSpec *spec = &hand->spec;
    hand->buffer.data[length] = '\0';
    RfStatus status = read_plan(hand->context, spec, hand->buffer.data + sizeof envelope);
    if (!status) status = find(hand->context, command, spec->command);
    if (!status)
      status = sweep_plan_new(hand->context, &hand->plan, command, (int)spec->words.count, spec->words.items,
                              spec->zip, spec->where);
    if (!status) status = sweep_columns_new(hand->context, &hand->columns, &hand->plan);
    return status ? status : start_worker(hand);
  }
  if (envelope.kind != CELL || envelope.epoch != hand->epoch) return RF_OK;
  if (!sweep_worker_send(&hand->worker, envelope.cell)) return RF_OK; /* its end is seen on the socket */
  if (hand->n_cells++ == 0) hand->since = rf_clock_seconds();
  return RF_OK;
}

RfStatus sweep_ranks_serve(RfContext *context, const SweepRanks *ranks, SweepFindCommand find) {
  Hand hand = {.context = context, .ranks = ranks};
  SweepCommand command = {0};
  bool quit = false;
  char why[64];
  RfStatus status = RF_OK;
  while (!status && !quit) {
    int from;
    size_t length;
    struct pollfd news = {.fd = hand.worker.pid ? hand.worker.socket : -1, .events = POLLIN};
    if (ranks->transport->ready(&from, &length))
      status = obey(&hand, length, find, &command, &quit);
    else if (poll(&news, 1, 1) > 0)
      status = pass_result_on(&hand);
    else if (hand.plan.cell_limit > 0 && hand.n_cells > 0 &&
             rf_clock_seconds() - hand.since > hand.plan.cell_limit)
      status = worker_lost(&hand, true);
  }
  if (hand.worker.pid) sweep_worker_end(&hand.worker, why);
  sweep_columns_free(&hand.columns);
  sweep_plan_free(&hand.plan);
  sweep_spec_free(&hand.spec);
  rf_text_free(&hand.buffer);
  rf_text_free(&hand.payload);
  return status;
}
