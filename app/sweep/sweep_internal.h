/* Shared by the files of sweep. */
#ifndef RF_SWEEP_INTERNAL_H
#define RF_SWEEP_INTERNAL_H

#include "core/core.h"
#include "sweep/sweep.h"

RfStatus sweep_out_of_memory(RfContext *context);
/* Takes ownership of `text` (NULL = out of memory). */
bool sweep_texts_add(SweepTexts *texts, char *text);
/* The whole text is a number: true, with what it is. */
bool sweep_is_integer(const char *text, int64_t *value);
bool sweep_is_number(const char *text, double *value);

/* One element at *at, up to one of `stops` outside parentheses and braces; *at moves there. */
RfStatus sweep_expand_element(RfContext *context, SweepTexts *out, const char *label, const char *text,
                              const char **at, const char *stops);
/* "LABEL TEXT: column C: WHAT", as a failure. */
RfStatus sweep_wrong(RfContext *context, const char *label, const char *text, const char *at,
                     const char *what);
/* Leaves the cells of `plan` for which the expression does not hold out. */
RfStatus sweep_where(RfContext *context, SweepPlan *plan, const char *where);
/* The words of `CREATE TABLE` for the parameters: "name" TYPE, ... */
void sweep_parameter_columns(RfText *sql, const SweepPlan *plan);
void sweep_add_quoted(RfText *sql, const char *name);

/* ---- columns of results ----------------------------------------------------------------------- */

/* A scalar field of the command's table. */
typedef struct SweepColumn {
  char *name; /* in the store */
  char *path; /* in the JSON object: members joined by '.' */
  RfFieldType type;
} SweepColumn;

typedef struct SweepColumns {
  rf_index count, capacity;
  SweepColumn *items;
} SweepColumns;

/* Columns of every store, besides parameters and fields. */
extern const char *const sweep_own_columns[];
bool sweep_is_own_column(const char *name);

RfStatus sweep_columns_new(RfContext *context, SweepColumns *columns, const SweepPlan *plan);
void sweep_columns_free(SweepColumns *columns);

typedef enum SweepKind { SWEEP_NULL = 0, SWEEP_INT = 1, SWEEP_DOUBLE = 2, SWEEP_STRING = 3 } SweepKind;

/* Outcomes of a cell, in the order of their names. */
typedef enum SweepOutcome {
  SWEEP_PENDING = 0,
  SWEEP_HOLDS,
  SWEEP_DOES_NOT_HOLD,
  SWEEP_UNDECIDED,
  SWEEP_REFUSED,
  SWEEP_TIMEOUT,
  SWEEP_CRASHED,
  SWEEP_KILLED,
  SWEEP_OUTCOMES
} SweepOutcome;

extern const char *const sweep_outcome_names[SWEEP_OUTCOMES];
SweepOutcome sweep_outcome_of(int exit_status);

/* What a worker sends back about a cell: this header, then `length` bytes: per column a kind and a value,
 * then the digest, the error line and, when kept, the compressed JSON. */
typedef struct SweepHeader {
  int64_t cell;
  int32_t outcome, exit_status;
  double seconds;
  uint64_t length;
} SweepHeader;

/* Appends the payload for an answer. */
RfStatus sweep_pack(RfContext *context, RfText *out, const SweepColumns *columns, const SweepAnswer *answer,
                    bool keep_json);

/* A reader of a payload; every step checks that the bytes are there. */
typedef struct SweepReader {
  const char *at, *end;
  bool broken;
} SweepReader;

SweepKind sweep_read_value(SweepReader *reader, int64_t *integer, double *number, const char **text,
                           size_t *length);

/* ---- the store, for the engine ---------------------------------------------------------------- */

RfStatus sweep_store_put(RfContext *context, SweepStore *store, const SweepHeader *header,
                         const char *payload);
/* A worker ended before its cell did: remembered beside the cells. */
RfStatus sweep_store_incident(RfContext *context, SweepStore *store, rf_index cell, const char *what);
/* Ends a cell that has no answer: crashed, killed, timeout. */
RfStatus sweep_store_give_up(RfContext *context, SweepStore *store, rf_index cell, SweepOutcome outcome,
                             const char *why);
/* Results since the last call become durable. */
RfStatus sweep_store_commit(RfContext *context, SweepStore *store);

/* ---- cells in progress, whatever carries them ------------------------------------------------- */

enum { SWEEP_AHEAD = 2 }; /* cells handed to a worker at a time: it need not wait for the next one */

/* Bookkeeping of who does what: the same for processes and ranks. */
typedef struct SweepSeat {
  rf_index cells[SWEEP_AHEAD]; /* first in, first out */
  int n_cells;
  double since; /* clock at which the first of them was begun */
} SweepSeat;

typedef struct SweepDesk {
  RfContext *context;
  SweepStore *store;
  const SweepPlan *plan;
  rf_index *queue, n_queue, next; /* cells in the order they are handed out */
  rf_index *again, n_again;       /* cells that lost their worker and go first */
  uint8_t *lost;                  /* per cell: workers it has cost */
  rf_index done, total;
  rf_index counts[SWEEP_OUTCOMES];
  double started, committed;
} SweepDesk;

RfStatus sweep_desk_new(SweepDesk *desk, RfContext *context, SweepStore *store, const SweepPlan *plan);
void sweep_desk_free(SweepDesk *desk);
/* The next cell for a seat, -1 when none is left; it is noted there. */
rf_index sweep_desk_hand_out(SweepDesk *desk, SweepSeat *seat);
/* A result arrived at a seat. */
RfStatus sweep_desk_take(SweepDesk *desk, SweepSeat *seat, const SweepHeader *header, const char *payload);
/* The worker of a seat is gone; `reason` for the record. blame: the cell itself did it (a crash or no end),
 * otherwise somebody killed the worker. */
RfStatus sweep_desk_lost(SweepDesk *desk, SweepSeat *seat, const char *reason, SweepOutcome blame);
/* Commits now and then, and shows progress. */
RfStatus sweep_desk_breathe(SweepDesk *desk);
bool sweep_desk_finished(const SweepDesk *desk);

/* ---- cells on a device ------------------------------------------------------------------------ */

/* Runs the open cells that ask for company (SweepCommand.together); the others stay as they are. */
RfStatus sweep_run_together(RfContext *context, SweepStore *store, const SweepPlan *plan, rf_index threads,
                            bool keep_json);

/* ---- a worker process ------------------------------------------------------------------------- */

typedef struct SweepWorker {
  int pid; /* 0 = not running */
  int socket;
} SweepWorker;

/* A pair of sockets and a fork; the child ends with its parent and leaves Ctrl-C to it. `worker` has the own
 * end of either. */
RfStatus sweep_worker_fork(RfContext *context, SweepWorker *worker, bool *is_child);
bool sweep_send(int socket, const void *data, size_t length);

/* What a child sends of a cell; an answer that cannot be packed is sent as a failure. The caller sets
 * header.seconds and frees the payload. */
typedef struct SweepReply {
  SweepHeader header;
  RfText payload;
} SweepReply;

void sweep_reply_new(SweepReply *reply, const SweepColumns *columns, rf_index cell, const SweepAnswer *answer,
                     bool keep_json);
bool sweep_reply_send(int socket, const SweepReply *reply);

/* Forks. `others`: sockets of the parent that the child must not keep. */
RfStatus sweep_worker_start(RfContext *context, SweepWorker *worker, const SweepPlan *plan,
                            const SweepColumns *columns, bool keep_json, const SweepWorker *others,
                            rf_index n_others);
bool sweep_worker_send(const SweepWorker *worker, rf_index cell);
/* Reads one whole result; false when the worker is gone. */
bool sweep_worker_receive(const SweepWorker *worker, SweepHeader *header, RfText *payload);
/* Kills (if still alive) and reaps; says how it ended. */
SweepOutcome sweep_worker_end(SweepWorker *worker, char why[64]);

#endif
