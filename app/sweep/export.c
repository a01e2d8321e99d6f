/* A store as comma-separated values and as NumPy arrays. */
#include "data/data.h"
#include "sweep/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char all_cells[] = "SELECT * FROM cells ORDER BY id";

/* ---- comma-separated values ------------------------------------------------------------------- */

static void add_field(RfText *out, const char *text) {
  if (!strpbrk(text, ",\"\r\n")) return rf_text_add(out, text);
  rf_text_add(out, "\"");
  for (; *text; text++) rf_text_add_bytes(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
  rf_text_add(out, "\"");
}

static void add_value(RfText *out, sqlite3_stmt *row, int column) {
  if (sqlite3_column_type(row, column) == SQLITE_FLOAT)
    rf_text_addf(out, "%.17g", sqlite3_column_double(row, column));
  else if (sqlite3_column_type(row, column) != SQLITE_NULL)
    add_field(out, (const char *)sqlite3_column_text(row, column));
}

static bool is_json(sqlite3_stmt *row, int column) {
  return strcmp(sqlite3_column_name(row, column), "json") == 0;
}

RfStatus sweep_store_export_csv(RfContext *context, const SweepStore *store, const char *path) {
  sqlite3_stmt *row = NULL;
  RfText out = {0};
  int code = SQLITE_DONE;
  RfStatus status = sweep_store_prepare(context, store, &row, all_cells);
  int columns = status ? 0 : sqlite3_column_count(row);
  for (int k = 0; k < columns; k++) {
    if (is_json(row, k)) continue;
    if (k) rf_text_add(&out, ",");
    add_field(&out, sqlite3_column_name(row, k));
  }
  while (!status && (code = sqlite3_step(row)) == SQLITE_ROW) {
    rf_text_add(&out, "\n");
    for (int k = 0; k < columns; k++) {
      if (is_json(row, k)) continue;
      if (k) rf_text_add(&out, ",");
      add_value(&out, row, k);
    }
  }
  rf_text_add(&out, "\n");
  if (!status && code != SQLITE_DONE) status = sweep_store_wrong(context, store);
  if (!status && out.failed) status = sweep_out_of_memory(context);
  if (!status) status = rf_file_write(context, path, rf_text_string(&out), out.length);
  sqlite3_finalize(row);
  rf_text_free(&out);
  return status;
}

/* ---- NumPy arrays ----------------------------------------------------------------------------- */

typedef struct Array {
  RfText bytes;
  int kind;    /* SQLITE_INTEGER, SQLITE_FLOAT or SQLITE_TEXT */
  size_t wide; /* longest text, in characters */
} Array;

/* Integers only when all values are; texts when one is. NULL among integers makes them numbers: it becomes
 * NaN. */
static void widen(Array *array, sqlite3_stmt *row, int column) {
  int type = sqlite3_column_type(row, column);
  if (type == SQLITE_TEXT) array->kind = SQLITE_TEXT;
  if ((type == SQLITE_FLOAT || type == SQLITE_NULL) && array->kind == SQLITE_INTEGER)
    array->kind = SQLITE_FLOAT;
  const char *text = (const char *)sqlite3_column_text(row, column);
  size_t wide = text ? (size_t)rf_text_width(text) : 0;
  if (wide > array->wide) array->wide = wide;
}

/* Code points of well-formed UTF-8 as 32-bit integers, padded with zeros. */
static void add_characters(RfText *out, const char *text, size_t wide) {
  size_t done = 0;
  for (const unsigned char *c = (const unsigned char *)text; *c && done < wide; done++) {
    int more = *c >= 0xF0 ? 3 : *c >= 0xE0 ? 2 : *c >= 0xC0 ? 1 : 0;
    uint32_t point = more == 3 ? *c & 7u : more == 2 ? *c & 15u : more == 1 ? *c & 31u : *c;
    for (c++; more > 0 && *c; more--, c++) point = point << 6 | (*c & 63u);
    rf_text_add_bytes(out, (const char *)&point, 4);
  }
  for (uint32_t zero = 0; done < wide; done++) rf_text_add_bytes(out, (const char *)&zero, 4);
}

static void add_element(Array *array, sqlite3_stmt *row, int column) {
  if (array->kind == SQLITE_TEXT) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    add_characters(&array->bytes, text ? text : "", array->wide);
  } else if (array->kind == SQLITE_INTEGER) {
    int64_t value = sqlite3_column_int64(row, column);
    rf_text_add_bytes(&array->bytes, (const char *)&value, sizeof value);
  } else {
    bool null = sqlite3_column_type(row, column) == SQLITE_NULL;
    double value = null ? NAN : sqlite3_column_double(row, column);
    rf_text_add_bytes(&array->bytes, (const char *)&value, sizeof value);
  }
}

/* Two passes over the cells: what the columns hold, then their values. */
static RfStatus read_arrays(RfContext *context, const SweepStore *store, sqlite3_stmt *row, Array *arrays,
                            int columns, rf_index *count) {
  int code;
  for (int k = 0; k < columns; k++) arrays[k] = (Array){.kind = SQLITE_INTEGER, .wide = 1};
  for (int pass = 0; pass < 2; pass++) {
    *count = 0;
    while ((code = sqlite3_step(row)) == SQLITE_ROW) {
      ++*count;
      for (int k = 0; k < columns; k++) {
        if (is_json(row, k)) continue;
        if (pass == 0)
          widen(&arrays[k], row, k);
        else
          add_element(&arrays[k], row, k);
      }
    }
    if (code != SQLITE_DONE) return sweep_store_wrong(context, store);
    sqlite3_reset(row);
  }
  return RF_OK;
}

static RfNpzMember member_of(const Array *array, const char *name, rf_index count) {
  RfNpzMember member = {.name = name, .dimensions = 1, .shape = {count, 0}};
  const char *number = rf_npz_double_type(); /* "<f8" or ">f8": the order of bytes is the machine's */
  if (array->kind == SQLITE_TEXT)
    rf_format(member.type, sizeof member.type, "%cU%zu", number[0], array->wide);
  else
    rf_format(member.type, sizeof member.type, "%c%s", number[0],
              array->kind == SQLITE_INTEGER ? "i8" : "f8");
  member.items = rf_text_string(&array->bytes), member.bytes = array->bytes.length;
  return member;
}

RfStatus sweep_store_export_npz(RfContext *context, const SweepStore *store, const char *path) {
  sqlite3_stmt *row = NULL;
  rf_index count = 0;
  int n_members = 0;
  RfStatus status = sweep_store_prepare(context, store, &row, all_cells);
  int columns = status ? 0 : sqlite3_column_count(row);
  Array *arrays = RF_NEW(Array, columns);
  RfNpzMember *members = RF_NEW(RfNpzMember, columns);
  if (!status && (!arrays || !members)) status = sweep_out_of_memory(context);
  if (!status) status = read_arrays(context, store, row, arrays, columns, &count);
  for (int k = 0; !status && k < columns; k++) {
    if (is_json(row, k)) continue;
    if (arrays[k].bytes.failed) status = sweep_out_of_memory(context);
    members[n_members++] = member_of(&arrays[k], sqlite3_column_name(row, k), count);
  }
  if (!status) status = rf_data_npz_write(context, path, members, n_members);
  for (int k = 0; arrays && k < columns; k++) rf_text_free(&arrays[k].bytes);
  rf_free(arrays);
  rf_free(members);
  sqlite3_finalize(row);
  return status;
}
