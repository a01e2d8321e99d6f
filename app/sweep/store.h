/* Inside of the store: shared by the files that write it and the files that read it. */
#ifndef RF_SWEEP_STORE_H
#define RF_SWEEP_STORE_H

#include <sqlite3.h>

#include "sweep/sweep_internal.h"

struct SweepStore {
  sqlite3 *database;
  char *path;
  int lock; /* a file of its own that says "somebody runs cells here"; -1 = only reading */
  SweepColumns columns;
  sqlite3_stmt *put, *incident, *give_up;
  bool in_transaction;
};

/* The error of the database as a failure: "runs.db: database or disk is full". */
RfStatus sweep_store_wrong(RfContext *context, const SweepStore *store);
RfStatus sweep_store_do(RfContext *context, const SweepStore *store, const char *sql);
RfStatus sweep_store_prepare(RfContext *context, const SweepStore *store, sqlite3_stmt **statement,
                             const char *sql);

#endif
