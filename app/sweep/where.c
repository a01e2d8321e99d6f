/* --where: an SQL expression over the parameters, evaluated by SQLite on a table in memory. */
#include "sweep/sweep_internal.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

void sweep_add_quoted(RfText *sql, const char *name) {
  rf_text_add(sql, "\"");
  for (; *name; name++) rf_text_add_bytes(sql, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
  rf_text_add(sql, "\"");
}

void sweep_parameter_columns(RfText *sql, const SweepPlan *plan) {
  static const char *const types[] = {"INTEGER", "REAL", "TEXT", "NUMERIC"};
  for (rf_index k = 0; k < plan->n_axes; k++) {
    rf_text_add(sql, ", ");
    sweep_add_quoted(sql, plan->axes[k].name);
    rf_text_addf(sql, " %s", types[plan->axes[k].type]);
  }
}

static RfStatus database_wrong(RfContext *context, sqlite3 *database) {
  return rf_fail(context, RF_ERR_INTERNAL, "--where: %s", sqlite3_errmsg(database));
}

/* All cells as rows of a table of parameters. */
static RfStatus fill(RfContext *context, sqlite3 *database, const SweepPlan *plan) {
  RfText sql = {0};
  sqlite3_stmt *insert = NULL;
  rf_text_add(&sql, "CREATE TABLE cells(\"id\" INTEGER PRIMARY KEY");
  sweep_parameter_columns(&sql, plan);
  rf_text_add(&sql, ")");
  bool fine = !sql.failed && sqlite3_exec(database, sql.data, NULL, NULL, NULL) == SQLITE_OK;
  rf_text_free(&sql);
  rf_text_add(&sql, "INSERT INTO cells VALUES(?");
  for (rf_index k = 0; k < plan->n_axes; k++) rf_text_add(&sql, ",?");
  rf_text_add(&sql, ")");
  fine = fine && !sql.failed && sqlite3_prepare_v2(database, sql.data, -1, &insert, NULL) == SQLITE_OK;
  rf_text_free(&sql);
  fine = fine && sqlite3_exec(database, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
  for (rf_index cell = 0; fine && cell < plan->n_cells; cell++) {
    sqlite3_bind_int64(insert, 1, cell);
    for (rf_index k = 0; k < plan->n_axes; k++)
      sqlite3_bind_text(insert, (int)k + 2, sweep_plan_value(plan, cell, k), -1, SQLITE_STATIC);
    fine = sqlite3_step(insert) == SQLITE_DONE && sqlite3_reset(insert) == SQLITE_OK;
  }
  sqlite3_finalize(insert);
  return fine ? RF_OK : database_wrong(context, database);
}

static RfStatus refused(RfContext *context, sqlite3 *database, const char *where, size_t before) {
  int offset = sqlite3_error_offset(database);
  size_t at = offset < (int)before ? 0 : (size_t)offset - before;
  if (at > strlen(where)) at = strlen(where);
  return sweep_wrong(context, "--where", where, where + at, sqlite3_errmsg(database));
}

/* The cells for which the expression is true. */
static RfStatus select_cells(RfContext *context, sqlite3 *database, SweepPlan *plan, const char *where) {
  static const char head[] = "SELECT id FROM cells WHERE (";
  RfText sql = {0};
  sqlite3_stmt *select = NULL;
  const char *tail = "";
  rf_text_addf(&sql, "%s%s\n) ORDER BY id", head, where);
  if (sql.failed) return sweep_out_of_memory(context);
  int code = sqlite3_prepare_v2(database, sql.data, -1, &select, &tail);
  RfStatus status = RF_OK;
  rf_index kept = 0, *cells = RF_NEW(rf_index, plan->n_cells);
  if (!cells)
    status = sweep_out_of_memory(context);
  else if (code != SQLITE_OK)
    status = refused(context, database, where, sizeof head - 1);
  else if (*tail || !sqlite3_stmt_readonly(select) || sqlite3_column_count(select) != 1)
    status = sweep_wrong(context, "--where", where, where, "expected one expression");
  while (!status && (code = sqlite3_step(select)) == SQLITE_ROW && kept < plan->n_cells)
    cells[kept++] = sqlite3_column_int64(select, 0);
  if (!status && code != SQLITE_DONE) status = refused(context, database, where, sizeof head - 1);
  if (!status && kept == 0)
    status = sweep_wrong(context, "--where", where, where, "it holds for none of the cells");
  sqlite3_finalize(select);
  rf_text_free(&sql);
  if (!status)
    plan->kept = cells, plan->n_cells = kept;
  else
    rf_free(cells);
  return status;
}

RfStatus sweep_where(RfContext *context, SweepPlan *plan, const char *where) {
  sqlite3 *database = NULL;
  RfStatus status = RF_OK;
  if (sqlite3_open(":memory:", &database) != SQLITE_OK) status = sweep_out_of_memory(context);
  if (!status) { /* an unknown name in double quotes is an error, not a text */
    sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    status = fill(context, database, plan);
  }
  if (!status) status = select_cells(context, database, plan, where);
  sqlite3_close(database);
  return status;
}
