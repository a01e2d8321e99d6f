/* From the JSON object of a cell to a row: one column per scalar field of the command's table, shapes
 * expanded. Fields that tell how long something took are no columns: the row's own `seconds` does. */
#include "sweep/scan.h"
#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

const char *const sweep_own_columns[] = {"id",      "command", "status", "exit_status", "seconds",
                                         "version", "digest",  "error",  "json",        NULL};

bool sweep_is_own_column(const char *name) {
  for (int k = 0; sweep_own_columns[k]; k++)
    if (strcmp(sweep_own_columns[k], name) == 0) return true;
  return false;
}

void sweep_columns_free(SweepColumns *columns) {
  for (rf_index k = 0; k < columns->count; k++) {
    rf_free(columns->items[k].name);
    rf_free(columns->items[k].path);
  }
  rf_free(columns->items);
  memset(columns, 0, sizeof *columns);
}

/* ---- which columns ---------------------------------------------------------------------------- */

static bool is_parameter(const SweepPlan *plan, const char *name) {
  for (rf_index k = 0; k < plan->n_axes; k++)
    if (strcmp(plan->axes[k].name, name) == 0) return true;
  return false;
}

static bool add_column(SweepColumns *columns, const SweepPlan *plan, const char *path, RfFieldType type) {
  char name[256];
  if (columns->count == columns->capacity) {
    rf_index capacity = columns->capacity ? 2 * columns->capacity : 64;
    SweepColumn *items = rf_resize(columns->items, capacity, sizeof *items);
    if (!items) return false;
    columns->items = items, columns->capacity = capacity;
  }
  /* a parameter keeps its name: it is known before the cell has run */
  bool taken = sweep_is_own_column(path) || is_parameter(plan, path);
  rf_format(name, sizeof name, taken ? "json.%s" : "%s", path);
  SweepColumn *column = &columns->items[columns->count++];
  *column = (SweepColumn){rf_copy_text(name), rf_copy_text(path), type};
  return column->name && column->path;
}

/* How long it took, how the run was asked for: not a result. */
static bool is_about_the_run(const RfField *field) {
  return strcmp(field->unit, "s") == 0 || strcmp(field->unit, "1/s") == 0 ||
         strcmp(field->path, "run") == 0 || strncmp(field->path, "run.", 4) == 0;
}

static bool add_table(SweepColumns *columns, const SweepPlan *plan, const RfFieldTable *table,
                      const char *prefix, int depth) {
  bool fine = true;
  for (rf_index k = 0; table && depth < 4 && fine && k < table->count; k++) {
    const RfField *field = &table->fields[k];
    char path[256];
    if (strchr(field->path, '[') || field->type == RF_FIELD_OBJECT || is_about_the_run(field)) continue;
    rf_format(path, sizeof path, "%s%s", prefix, field->path);
    if (field->type == RF_FIELD_SHAPE) {
      size_t length = strlen(path);
      rf_format(path + length, sizeof path - length, ".");
      fine = add_table(columns, plan, rf_field_table(field->shape), path, depth + 1);
    } else {
      fine = add_column(columns, plan, path, field->type);
    }
  }
  return fine;
}

RfStatus sweep_columns_new(RfContext *context, SweepColumns *columns, const SweepPlan *plan) {
  memset(columns, 0, sizeof *columns);
  const RfFieldTable *table = rf_field_table(plan->command->table);
  if (!table) return rf_fail(context, RF_ERR_INTERNAL, "no table of fields named '%s'", plan->command->table);
  if (add_table(columns, plan, table, "", 0)) return RF_OK;
  sweep_columns_free(columns);
  return sweep_out_of_memory(context);
}

/* ---- digests and packing ---------------------------------------------------------------------- */

static void sha256_of(char digest[72], const RfText *text) {
  RfSha256 sha;
  rf_sha256_init(&sha);
  rf_sha256_add(&sha, rf_text_string(text), text->length);
  rf_sha256_text(&sha, digest);
}

RfStatus sweep_digest(RfContext *context, char digest[72], const char *json, size_t length) {
  RfText plain = {0};
  bool fine = sweep_scan(&plain, NULL, NULL, NULL, json, length);
  if (fine) sha256_of(digest, &plain);
  rf_text_free(&plain);
  return fine ? RF_OK : rf_fail(context, RF_ERR_INTERNAL, "the answer is not JSON");
}

static void pack_text(RfText *out, const char *text, size_t length) {
  char kind = SWEEP_STRING;
  uint32_t size = (uint32_t)length;
  rf_text_add_bytes(out, &kind, 1);
  rf_text_add_bytes(out, (const char *)&size, sizeof size);
  rf_text_add_bytes(out, text, length);
}

static void pack_scalar(RfText *out, const SweepScalar *scalar, const RfText *texts) {
  char kind = (char)scalar->kind;
  if (scalar->kind == SWEEP_STRING)
    return pack_text(out, rf_text_string(texts) + scalar->start, scalar->length);
  rf_text_add_bytes(out, &kind, 1);
  if (scalar->kind == SWEEP_INT)
    rf_text_add_bytes(out, (const char *)&scalar->integer, sizeof scalar->integer);
  if (scalar->kind == SWEEP_DOUBLE)
    rf_text_add_bytes(out, (const char *)&scalar->number, sizeof scalar->number);
}

/* The JSON as a zlib stream. */
static bool pack_json(RfText *out, const RfText *json) {
  uLongf size = compressBound((uLong)json->length);
  Bytef *bytes = rf_alloc((rf_index)size, 1);
  bool fine =
      bytes && compress2(bytes, &size, (const Bytef *)rf_text_string(json), (uLong)json->length, 6) == Z_OK;
  if (fine) pack_text(out, (const char *)bytes, size);
  rf_free(bytes);
  return fine;
}

RfStatus sweep_pack(RfContext *context, RfText *out, const SweepColumns *columns, const SweepAnswer *answer,
                    bool keep_json) {
  static const SweepScalar none = {0};
  SweepScalar *scalars = RF_NEW(SweepScalar, columns->count);
  RfText plain = {0}, texts = {0};
  char digest[72] = "";
  bool answered = !answer->failed, fine = scalars != NULL;
  if (fine && answered &&
      !sweep_scan(&plain, scalars, &texts, columns, rf_text_string(&answer->json), answer->json.length)) {
    rf_free(scalars);
    rf_text_free(&plain), rf_text_free(&texts);
    return rf_fail(context, RF_ERR_INTERNAL, "the answer is not JSON");
  }
  for (rf_index k = 0; fine && k < columns->count; k++) pack_scalar(out, &scalars[k], &texts);
  if (answered) sha256_of(digest, &plain);
  pack_text(out, digest, strlen(digest));
  pack_text(out, answer->error, strlen(answer->error));
  if (fine && answered && keep_json)
    fine = pack_json(out, &answer->json);
  else
    pack_scalar(out, &none, &texts);
  fine = fine && !texts.failed && !out->failed;
  rf_free(scalars);
  rf_text_free(&plain), rf_text_free(&texts);
  return fine ? RF_OK : sweep_out_of_memory(context);
}

static const char *take(SweepReader *reader, size_t size) {
  const char *at = reader->at;
  if (reader->broken || (size_t)(reader->end - at) < size) {
    reader->broken = true;
    return NULL;
  }
  reader->at += size;
  return at;
}

SweepKind sweep_read_value(SweepReader *reader, int64_t *integer, double *number, const char **text,
                           size_t *length) {
  uint32_t size;
  const char *kind = take(reader, 1), *bytes = NULL;
  if (!kind) return SWEEP_NULL;
  switch ((SweepKind)*kind) {
  case SWEEP_INT:
    if ((bytes = take(reader, sizeof *integer))) memcpy(integer, bytes, sizeof *integer);
    return SWEEP_INT;
  case SWEEP_DOUBLE:
    if ((bytes = take(reader, sizeof *number))) memcpy(number, bytes, sizeof *number);
    return SWEEP_DOUBLE;
  case SWEEP_STRING:
    if ((bytes = take(reader, sizeof size))) memcpy(&size, bytes, sizeof size);
    *length = bytes ? size : 0;
    *text = bytes ? take(reader, size) : NULL;
    return SWEEP_STRING;
  case SWEEP_NULL: return SWEEP_NULL;
  }
  reader->broken = true;
  return SWEEP_NULL;
}
