/* Results into the store, and counts, statuses and digests out of it. */
#include "sweep/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static RfStatus begin(RfContext *context, SweepStore *store) {
  if (store->in_transaction) return RF_OK;
  RfStatus status = sweep_store_do(context, store, "BEGIN IMMEDIATE");
  store->in_transaction = !status;
  return status;
}

RfStatus sweep_store_commit(RfContext *context, SweepStore *store) {
  if (!store->in_transaction) return RF_OK;
  store->in_transaction = false;
  RfStatus status = sweep_store_do(context, store, "COMMIT");
  if (status) sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

/* Runs a statement whose parameters are bound. */
static RfStatus step(RfContext *context, SweepStore *store, sqlite3_stmt *statement) {
  bool fine = sqlite3_step(statement) == SQLITE_DONE;
  RfStatus status = fine ? RF_OK : sweep_store_wrong(context, store);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  if (status && store->in_transaction) { /* a full disk: keep what is durable, give up the rest */
    sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    store->in_transaction = false;
  }
  return status;
}

static RfStatus prepare_put(RfContext *context, SweepStore *store) {
  RfText sql = {0};
  rf_text_add(
      &sql,
      "UPDATE cells SET status=?2, exit_status=?3, seconds=?4, version=?5, digest=?6, error=?7, json=?8");
  for (rf_index k = 0; k < store->columns.count; k++) {
    rf_text_add(&sql, ", ");
    sweep_add_quoted(&sql, store->columns.items[k].name);
    rf_text_addf(&sql, "=?%lld", (long long)k + 9);
  }
  rf_text_add(&sql, " WHERE id=?1");
  RfStatus status =
      sql.failed ? sweep_out_of_memory(context) : sweep_store_prepare(context, store, &store->put, sql.data);
  rf_text_free(&sql);
  return status;
}

/* The next value of the payload as parameter `at`. */
static void bind_value(sqlite3_stmt *statement, int at, SweepReader *reader, bool blob) {
  int64_t integer;
  double number;
  const char *text;
  size_t length;
  switch (sweep_read_value(reader, &integer, &number, &text, &length)) {
  case SWEEP_INT: sqlite3_bind_int64(statement, at, integer); break;
  case SWEEP_DOUBLE: sqlite3_bind_double(statement, at, number); break;
  case SWEEP_STRING:
    if (reader->broken || length == 0) break; /* no digest, no error: NULL */
    if (blob)
      sqlite3_bind_blob64(statement, at, text, length, SQLITE_STATIC);
    else
      sqlite3_bind_text64(statement, at, text, length, SQLITE_STATIC, SQLITE_UTF8);
    break;
  case SWEEP_NULL: break;
  }
}

RfStatus sweep_store_put(RfContext *context, SweepStore *store, const SweepHeader *header,
                         const char *payload) {
  RfStatus status = store->put ? RF_OK : prepare_put(context, store);
  if (!status) status = begin(context, store);
  if (status) return status;
  SweepReader reader = {payload, payload + header->length, false};
  sqlite3_stmt *put = store->put;
  bool known = header->outcome > SWEEP_PENDING && header->outcome < SWEEP_OUTCOMES;
  sqlite3_bind_int64(put, 1, header->cell);
  sqlite3_bind_text(put, 2, sweep_outcome_names[known ? header->outcome : SWEEP_CRASHED], -1, SQLITE_STATIC);
  sqlite3_bind_int(put, 3, header->exit_status);
  sqlite3_bind_double(put, 4, header->seconds);
  sqlite3_bind_text(put, 5, RF_VERSION, -1, SQLITE_STATIC);
  for (rf_index k = 0; k < store->columns.count; k++) bind_value(put, (int)k + 9, &reader, false);
  bind_value(put, 6, &reader, false);
  bind_value(put, 7, &reader, false);
  bind_value(put, 8, &reader, true);
  if (reader.broken) return rf_fail(context, RF_ERR_INTERNAL, "a result of another shape than its columns");
  return step(context, store, put);
}

RfStatus sweep_store_incident(RfContext *context, SweepStore *store, rf_index cell, const char *what) {
  RfStatus status = begin(context, store);
  if (!status && !store->incident)
    status = sweep_store_prepare(context, store, &store->incident,
                                 "INSERT INTO incidents(cell, what) VALUES(?,?)");
  if (status) return status;
  sqlite3_bind_int64(store->incident, 1, cell);
  sqlite3_bind_text(store->incident, 2, what, -1, SQLITE_STATIC);
  return step(context, store, store->incident);
}

RfStatus sweep_store_give_up(RfContext *context, SweepStore *store, rf_index cell, SweepOutcome outcome,
                             const char *why) {
  RfStatus status = begin(context, store);
  if (!status && !store->give_up)
    status = sweep_store_prepare(context, store, &store->give_up,
                                 "UPDATE cells SET status=?2, error=?3, version=?4 WHERE id=?1");
  if (status) return status;
  sqlite3_bind_int64(store->give_up, 1, cell);
  sqlite3_bind_text(store->give_up, 2, sweep_outcome_names[outcome], -1, SQLITE_STATIC);
  sqlite3_bind_text(store->give_up, 3, why, -1, SQLITE_STATIC);
  sqlite3_bind_text(store->give_up, 4, RF_VERSION, -1, SQLITE_STATIC);
  return step(context, store, store->give_up);
}

/* ---- questions -------------------------------------------------------------------------------- */

RfStatus sweep_store_counts(RfContext *context, const SweepStore *store, SweepCounts *counts) {
  sqlite3_stmt *select = NULL;
  memset(counts, 0, sizeof *counts);
  rf_index *const places[SWEEP_OUTCOMES] = {&counts->pending,   &counts->holds,   &counts->does_not_hold,
                                            &counts->undecided, &counts->refused, &counts->timeout,
                                            &counts->crashed,   &counts->killed};
  RfStatus status = sweep_store_prepare(context, store, &select,
                                        "SELECT status, count(*), total(seconds) FROM cells GROUP BY status");
  int code = SQLITE_DONE;
  while (!status && (code = sqlite3_step(select)) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(select, 0);
    for (int k = 0; name && k < SWEEP_OUTCOMES; k++)
      if (strcmp(name, sweep_outcome_names[k]) == 0) *places[k] = sqlite3_column_int64(select, 1);
    counts->total += sqlite3_column_int64(select, 1);
    counts->seconds += sqlite3_column_double(select, 2);
  }
  if (!status && code != SQLITE_DONE) status = sweep_store_wrong(context, store);
  sqlite3_finalize(select);
  select = NULL;
  if (!status) status = sweep_store_prepare(context, store, &select, "SELECT count(*) FROM incidents");
  if (!status && sqlite3_step(select) == SQLITE_ROW) counts->incidents = sqlite3_column_int64(select, 0);
  sqlite3_finalize(select);
  return status;
}

RfStatus sweep_store_open_cells(RfContext *context, const SweepStore *store, rf_index **cells,
                                rf_index *count) {
  sqlite3_stmt *select = NULL;
  rf_index capacity = 0;
  *cells = NULL, *count = 0;
  RfStatus status = sweep_store_prepare(
      context, store, &select, "SELECT id FROM cells WHERE status IN ('pending','killed') ORDER BY id");
  int code = SQLITE_DONE;
  while (!status && (code = sqlite3_step(select)) == SQLITE_ROW) {
    if (*count == capacity) {
      capacity = capacity ? 2 * capacity : 1024;
      rf_index *more = rf_resize(*cells, capacity, sizeof *more);
      if (more) *cells = more;
      if (!more) status = sweep_out_of_memory(context);
    }
    if (!status) (*cells)[(*count)++] = sqlite3_column_int64(select, 0);
  }
  if (!status && code != SQLITE_DONE) status = sweep_store_wrong(context, store);
  sqlite3_finalize(select);
  return status;
}

/* As if they had never run: the results of before go too. */
RfStatus sweep_store_reopen(RfContext *context, SweepStore *store, const char *name, rf_index *count) {
  RfText sql = {0};
  sqlite3_stmt *update = NULL;
  rf_text_add(&sql,
              "UPDATE cells SET status='pending', exit_status=NULL, seconds=NULL, version=NULL, digest=NULL, "
              "error=NULL, json=NULL");
  for (rf_index k = 0; k < store->columns.count; k++) {
    rf_text_add(&sql, ", ");
    sweep_add_quoted(&sql, store->columns.items[k].name);
    rf_text_add(&sql, "=NULL");
  }
  rf_text_add(&sql, " WHERE status=?");
  RfStatus status =
      sql.failed ? sweep_out_of_memory(context) : sweep_store_prepare(context, store, &update, sql.data);
  if (!status) {
    sqlite3_bind_text(update, 1, name, -1, SQLITE_STATIC);
    if (sqlite3_step(update) != SQLITE_DONE) status = sweep_store_wrong(context, store);
    *count = sqlite3_changes(store->database);
  }
  sqlite3_finalize(update);
  rf_text_free(&sql);
  return status;
}

RfStatus sweep_store_cell(RfContext *context, const SweepStore *store, rf_index cell, char status_name[32],
                          char digest[72]) {
  sqlite3_stmt *select = NULL;
  RfStatus status =
      sweep_store_prepare(context, store, &select, "SELECT status, digest FROM cells WHERE id=?");
  if (status) return status;
  sqlite3_bind_int64(select, 1, cell);
  if (sqlite3_step(select) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(select, 0),
               *sum = (const char *)sqlite3_column_text(select, 1);
    rf_format(status_name, 32, "%s", name ? name : "");
    rf_format(digest, 72, "%s", sum ? sum : "");
  } else {
    status = rf_fail(context, RF_ERR_USAGE, "%s: has no cell %lld", store->path, (long long)cell);
  }
  sqlite3_finalize(select);
  return status;
}
