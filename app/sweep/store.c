/* The store: one SQLite file in WAL mode. Table `sweep` says what was asked for, `cells` has a row per cell
 * from the beginning, `columns` explains their columns, `incidents` remembers workers that were lost. One
 * process writes; results become durable a few times a second, and a cell whose result was not yet is simply
 * still pending. */
#include "sweep/store.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *const sweep_outcome_names[SWEEP_OUTCOMES] = {"pending", "holds",   "does-not-hold", "undecided",
                                                         "refused", "timeout", "crashed",       "killed"};

bool sweep_status_is_known(const char *status) {
  for (int k = 0; k < SWEEP_OUTCOMES; k++)
    if (strcmp(status, sweep_outcome_names[k]) == 0) return true;
  return false;
}

SweepOutcome sweep_outcome_of(int exit_status) {
  switch (exit_status) {
  case 0: return SWEEP_HOLDS;
  case 1: return SWEEP_DOES_NOT_HOLD;
  case 2: return SWEEP_REFUSED;
  case 130: return SWEEP_TIMEOUT;
  default: return SWEEP_UNDECIDED;
  }
}

RfStatus sweep_store_wrong(RfContext *context, const SweepStore *store) {
  return rf_fail(context, RF_ERR_IO, "%s: %s", store->path,
                 store->database ? sqlite3_errmsg(store->database) : "out of memory");
}

RfStatus sweep_store_do(RfContext *context, const SweepStore *store, const char *sql) {
  if (sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK) return RF_OK;
  return sweep_store_wrong(context, store);
}

RfStatus sweep_store_prepare(RfContext *context, const SweepStore *store, sqlite3_stmt **statement,
                             const char *sql) {
  if (sqlite3_prepare_v2(store->database, sql, -1, statement, NULL) == SQLITE_OK) return RF_OK;
  return sweep_store_wrong(context, store);
}

/* ---- what was asked for ----------------------------------------------------------------------- */

void sweep_spec_free(SweepSpec *spec) {
  rf_free(spec->command);
  rf_free(spec->zip);
  rf_free(spec->where);
  sweep_texts_free(&spec->words);
  memset(spec, 0, sizeof *spec);
}

static char *words_as_json(const SweepTexts *words) {
  json_t *list = json_array();
  for (rf_index k = 0; k < words->count; k++) json_array_append_new(list, json_string(words->items[k]));
  char *text = json_dumps(list, 0);
  json_decref(list);
  return text;
}

static RfStatus set_key(RfContext *context, SweepStore *store, const char *key, const char *value) {
  sqlite3_stmt *insert = NULL;
  RfStatus status = sweep_store_prepare(context, store, &insert, "INSERT INTO sweep VALUES(?,?)");
  if (status) return status;
  sqlite3_bind_text(insert, 1, key, -1, SQLITE_STATIC);
  if (value) sqlite3_bind_text(insert, 2, value, -1, SQLITE_STATIC);
  if (sqlite3_step(insert) != SQLITE_DONE) status = sweep_store_wrong(context, store);
  sqlite3_finalize(insert);
  return status;
}

static RfStatus write_spec(RfContext *context, SweepStore *store, const SweepSpec *spec) {
  char *words = words_as_json(&spec->words);
  RfStatus status = words ? RF_OK : sweep_out_of_memory(context);
  const char *const rows[][2] = {{"schema", "1"},
                                 {"version", RF_VERSION},
                                 {"command", spec->command},
                                 {"words", words},
                                 {"zip", spec->zip},
                                 {"where", spec->where},
                                 {"keep_json", spec->keep_json ? "1" : "0"}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0] && !status; k++)
    status = set_key(context, store, rows[k][0], rows[k][1]);
  free(words);
  return status;
}

static bool read_words(SweepTexts *words, const char *text) {
  json_error_t error;
  size_t index;
  json_t *word, *list = json_loads(text, 0, &error);
  bool fine = json_is_array(list);
  json_array_foreach(list, index, word) {
    fine = fine && json_is_string(word) && sweep_texts_add(words, rf_copy_text(json_string_value(word)));
  }
  json_decref(list);
  return fine;
}

static RfStatus read_spec(RfContext *context, const SweepStore *store, SweepSpec *spec) {
  sqlite3_stmt *select = NULL;
  memset(spec, 0, sizeof *spec);
  bool has_words = false;
  if (sqlite3_prepare_v2(store->database, "SELECT key, value FROM sweep", -1, &select, NULL) != SQLITE_OK)
    return rf_fail(context, RF_ERR_INPUT, "%s: not a store of a sweep: %s", store->path,
                   sqlite3_errmsg(store->database));
  while (sqlite3_step(select) == SQLITE_ROW) {
    const char *key = (const char *)sqlite3_column_text(select, 0),
               *value = (const char *)sqlite3_column_text(select, 1);
    if (!key || !value) continue;
    if (strcmp(key, "command") == 0) spec->command = rf_copy_text(value);
    if (strcmp(key, "zip") == 0) spec->zip = rf_copy_text(value);
    if (strcmp(key, "where") == 0) spec->where = rf_copy_text(value);
    if (strcmp(key, "keep_json") == 0) spec->keep_json = value[0] == '1';
    if (strcmp(key, "words") == 0) has_words = read_words(&spec->words, value);
  }
  sqlite3_finalize(select);
  if (spec->command && has_words) return RF_OK;
  sweep_spec_free(spec);
  return rf_fail(context, RF_ERR_INPUT, "%s: not a store of a sweep", store->path);
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_spec(const SweepSpec *a, const SweepSpec *b) {
  bool same = same_text(a->command, b->command) && same_text(a->zip, b->zip) &&
              same_text(a->where, b->where) && a->keep_json == b->keep_json &&
              a->words.count == b->words.count;
  for (rf_index k = 0; same && k < a->words.count; k++)
    same = same_text(a->words.items[k], b->words.items[k]);
  return same;
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* Only one process at a time may run the cells of a store. The lock stands on the file itself and is opened
 * before and closed after the database, whose own locks would otherwise fall with it. Workers of a run that
 * was just killed may hold it for a moment. */
static RfStatus take_lock(RfContext *context, SweepStore *store) {
  store->lock = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (store->lock < 0)
    return rf_fail(context, RF_ERR_IO, "%s: cannot open: %s", store->path, strerror(errno));
  for (int tries = 0; tries < 50; tries++) {
    if (flock(store->lock, LOCK_EX | LOCK_NB) == 0) return RF_OK;
    if (errno != EWOULDBLOCK && errno != EINTR) return RF_OK; /* no such locks on this file system */
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  }
  return rf_fail(context, RF_ERR_IO, "%s: another sweep is running on this store", store->path);
}

static RfStatus open_database(RfContext *context, SweepStore **out, const char *path, bool read_only) {
  SweepStore *store = RF_NEW(SweepStore, 1);
  *out = store;
  if (!store) return sweep_out_of_memory(context);
  store->lock = -1;
  store->path = rf_copy_text(path);
  if (!store->path) return sweep_out_of_memory(context);
  RfStatus status = read_only ? RF_OK : take_lock(context, store);
  /* who only reads opens for writing too when allowed: the last to close may then tidy the files beside away
   */
  int flags = read_only ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  bool good = !status && sqlite3_open_v2(path, &store->database, flags, NULL) == SQLITE_OK;
  if (!good && !status && read_only) {
    sqlite3_close(store->database);
    store->database = NULL;
    good = sqlite3_open_v2(path, &store->database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;
  }
  if (!good && !status) status = sweep_store_wrong(context, store);
  if (!status && read_only) sqlite3_exec(store->database, "PRAGMA query_only=1", NULL, NULL, NULL);
  if (!status) sqlite3_busy_timeout(store->database, 10000);
  return status;
}

RfStatus sweep_store_close(RfContext *context, SweepStore *store) {
  if (!store) return RF_OK;
  RfStatus status = store->in_transaction ? sweep_store_commit(context, store) : RF_OK;
  sqlite3_finalize(store->put);
  sqlite3_finalize(store->incident);
  sqlite3_finalize(store->give_up);
  sqlite3_close(store->database);
  if (store->lock >= 0) close(store->lock);
  sweep_columns_free(&store->columns);
  rf_free(store->path);
  rf_free(store);
  return status;
}

/* ---- making ----------------------------------------------------------------------------------- */

static const char *sql_type(RfFieldType type) {
  switch (type) {
  case RF_FIELD_BOOLEAN:
  case RF_FIELD_INTEGER: return " INTEGER";
  case RF_FIELD_NUMBER: return " REAL";
  case RF_FIELD_STRING: return " TEXT";
  default: return ""; /* a count: an integer, or a text above 2^53, kept as it is */
  }
}

static RfStatus make_tables(RfContext *context, SweepStore *store, const SweepPlan *plan) {
  RfText sql = {0};
  rf_text_add(&sql,
              "CREATE TABLE sweep(key TEXT PRIMARY KEY, value TEXT);"
              "CREATE TABLE incidents(number INTEGER PRIMARY KEY, cell INTEGER, what TEXT);"
              "CREATE TABLE columns(name TEXT PRIMARY KEY, kind TEXT, unit TEXT, meaning TEXT);"
              "CREATE TABLE cells(id INTEGER PRIMARY KEY, command TEXT, status TEXT, exit_status INTEGER, "
              "seconds REAL, version TEXT, digest TEXT, error TEXT");
  sweep_parameter_columns(&sql, plan);
  for (rf_index k = 0; k < store->columns.count; k++) {
    rf_text_add(&sql, ", ");
    sweep_add_quoted(&sql, store->columns.items[k].name);
    rf_text_add(&sql, sql_type(store->columns.items[k].type));
  }
  rf_text_add(&sql, ", json BLOB)");
  RfStatus status = sql.failed ? sweep_out_of_memory(context) : sweep_store_do(context, store, sql.data);
  rf_text_free(&sql);
  return status;
}

/* The row of the table of fields behind a column. */
static const RfField *field_of(const RfFieldTable *table, const char *path) {
  for (rf_index k = 0; table && k < table->count; k++) {
    const RfField *field = &table->fields[k];
    size_t length = strlen(field->path);
    if (strcmp(field->path, path) == 0) return field;
    if (field->type == RF_FIELD_SHAPE && strncmp(field->path, path, length) == 0 && path[length] == '.')
      return field_of(rf_field_table(field->shape), path + length + 1);
  }
  return NULL;
}

static RfStatus explain_columns(RfContext *context, SweepStore *store, const SweepPlan *plan) {
  static const char *const own[] = {
      "number of the cell, from 0",
      "the command line of the cell",
      "pending | holds | does-not-hold | undecided | refused | timeout | crashed | killed",
      "exit status of the command",
      "time that the cell took",
      "version of the program",
      "SHA-256 of the JSON object without times",
      "one line when there is no result",
      "the JSON object as a zlib stream, with --keep-json"};
  sqlite3_stmt *insert = NULL;
  RfStatus status = sweep_store_prepare(context, store, &insert, "INSERT INTO columns VALUES(?,?,?,?)");
  const RfFieldTable *table = rf_field_table(plan->command->table);
  rf_index n_own = (rf_index)(sizeof own / sizeof own[0]),
           total = n_own + plan->n_axes + store->columns.count;
  for (rf_index k = 0; k < total && !status; k++) {
    rf_index axis = k - n_own, column = axis - plan->n_axes;
    bool is_own = k < n_own, is_axis = !is_own && axis < plan->n_axes;
    const RfField *field = is_own || is_axis ? NULL : field_of(table, store->columns.items[column].path);
    const char *name = is_own    ? sweep_own_columns[k]
                       : is_axis ? plan->axes[axis].name
                                 : store->columns.items[column].name;
    sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, is_own ? "cell" : is_axis ? "parameter" : "field", -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, is_own && k == 4 ? "s" : field ? field->unit : "", -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 4, is_own ? own[k] : field ? field->meaning : "", -1, SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
      status = sweep_store_wrong(context, store);
  }
  sqlite3_finalize(insert);
  return status;
}

/* One row per cell, pending, with its parameters. */
static RfStatus insert_cells(RfContext *context, SweepStore *store, const SweepPlan *plan) {
  RfText sql = {0}, line = {0};
  sqlite3_stmt *insert = NULL;
  rf_text_add(&sql, "INSERT INTO cells(id, command, status");
  for (rf_index k = 0; k < plan->n_axes; k++) {
    rf_text_add(&sql, ", ");
    sweep_add_quoted(&sql, plan->axes[k].name);
  }
  rf_text_add(&sql, ") VALUES(?, ?, 'pending'");
  for (rf_index k = 0; k < plan->n_axes; k++) rf_text_add(&sql, ", ?");
  rf_text_add(&sql, ")");
  RfStatus status =
      sql.failed ? sweep_out_of_memory(context) : sweep_store_prepare(context, store, &insert, sql.data);
  for (rf_index cell = 0; cell < plan->n_cells && !status; cell++) {
    line.length = 0;
    sweep_plan_line(&line, plan, cell);
    if (line.failed) status = sweep_out_of_memory(context);
    sqlite3_bind_int64(insert, 1, cell);
    sqlite3_bind_text(insert, 2, rf_text_string(&line), (int)line.length, SQLITE_STATIC);
    for (rf_index k = 0; k < plan->n_axes; k++)
      sqlite3_bind_text(insert, (int)k + 3, sweep_plan_value(plan, cell, k), -1, SQLITE_STATIC);
    if (!status && (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK))
      status = sweep_store_wrong(context, store);
  }
  sqlite3_finalize(insert);
  rf_text_free(&sql);
  rf_text_free(&line);
  return status;
}

static void remove_store(const char *path) {
  static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
  for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
    char file[4096];
    rf_format(file, sizeof file, "%s%s", path, endings[k]);
    unlink(file);
  }
}

static RfStatus make(RfContext *context, SweepStore *store, const SweepPlan *plan, const SweepSpec *spec) {
  RfStatus status =
      sweep_store_do(context, store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; BEGIN");
  if (!status) status = make_tables(context, store, plan);
  if (!status) status = write_spec(context, store, spec);
  if (!status) status = explain_columns(context, store, plan);
  if (!status) status = insert_cells(context, store, plan);
  if (!status) status = sweep_store_do(context, store, "COMMIT");
  return status;
}

/* The store is there: it must be that of the same sweep. */
static RfStatus adopt(RfContext *context, SweepStore *store, const SweepPlan *plan, const SweepSpec *spec) {
  SweepSpec old = {0};
  RfStatus status = read_spec(context, store, &old);
  if (!status && !same_spec(&old, spec))
    status = rf_fail(context, RF_ERR_USAGE,
                     "%s: holds another sweep; take another file, or see reluflow sweep status", store->path);
  sweep_spec_free(&old);
  return status ? status : sweep_store_adapt(context, store, plan);
}

/* A file that was begun by a run that died before it had written its tables. */
static bool is_blank(const SweepStore *store) {
  sqlite3_stmt *count = NULL;
  bool blank = sqlite3_prepare_v2(store->database, "SELECT count(*) FROM sqlite_master", -1, &count, NULL) ==
                   SQLITE_OK &&
               sqlite3_step(count) == SQLITE_ROW && sqlite3_column_int64(count, 0) == 0;
  sqlite3_finalize(count);
  return blank;
}

RfStatus sweep_store_create(RfContext *context, SweepStore **store, const char *path, const SweepPlan *plan,
                            const SweepSpec *spec) {
  struct stat facts;
  bool exists = stat(path, &facts) == 0 && facts.st_size > 0;
  *store = NULL;
  if (exists && !S_ISREG(facts.st_mode)) return rf_fail(context, RF_ERR_IO, "%s: not a regular file", path);
  RfStatus status = open_database(context, store, path, false);
  if (!status) status = sweep_columns_new(context, &(*store)->columns, plan);
  if (!status)
    status = is_blank(*store) ? make(context, *store, plan, spec) : adopt(context, *store, plan, spec);
  if (!status) return RF_OK;
  RfContext quiet;
  bool ours = !exists && *store && (*store)->lock >= 0;
  rf_context_init(&quiet);
  sweep_store_close(&quiet, *store);
  *store = NULL;
  if (ours) remove_store(path);
  return status;
}

RfStatus sweep_store_open(RfContext *context, SweepStore **store, SweepSpec *spec, const char *path,
                          bool read_only) {
  struct stat facts;
  *store = NULL;
  if (stat(path, &facts) != 0)
    return rf_fail(context, RF_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
  if (!S_ISREG(facts.st_mode)) return rf_fail(context, RF_ERR_IO, "%s: not a regular file", path);
  RfStatus status = open_database(context, store, path, read_only);
  if (!status) status = read_spec(context, *store, spec);
  if (status) {
    RfContext quiet;
    rf_context_init(&quiet);
    sweep_store_close(&quiet, *store);
    *store = NULL;
  }
  return status;
}

/* A store made by a version with fewer fields gets their columns. */
RfStatus sweep_store_adapt(RfContext *context, SweepStore *store, const SweepPlan *plan) {
  rf_index rows = 0;
  sqlite3_stmt *count = NULL;
  RfStatus status = store->columns.count ? RF_OK : sweep_columns_new(context, &store->columns, plan);
  if (!status) status = sweep_store_do(context, store, "PRAGMA synchronous=NORMAL");
  if (!status) status = sweep_store_prepare(context, store, &count, "SELECT count(*) FROM cells");
  if (!status && sqlite3_step(count) == SQLITE_ROW) rows = sqlite3_column_int64(count, 0);
  sqlite3_finalize(count);
  if (!status && rows != plan->n_cells)
    status = rf_fail(context, RF_ERR_INPUT, "%s: has %lld cells where its sweep has %lld", store->path,
                     (long long)rows, (long long)plan->n_cells);
  for (rf_index k = 0; k < store->columns.count && !status; k++) {
    const SweepColumn *column = &store->columns.items[k];
    if (sqlite3_table_column_metadata(store->database, NULL, "cells", column->name, NULL, NULL, NULL, NULL,
                                      NULL) == SQLITE_OK)
      continue;
    RfText sql = {0};
    rf_text_add(&sql, "ALTER TABLE cells ADD COLUMN ");
    sweep_add_quoted(&sql, column->name);
    rf_text_add(&sql, sql_type(column->type));
    status = sql.failed ? sweep_out_of_memory(context) : sweep_store_do(context, store, sql.data);
    rf_text_free(&sql);
  }
  return status;
}
