/* JSON, streamed into one growing text. The writer carries its position in the table of fields: a table, and
 * the path inside it. A member whose row is a shape moves the writer to that shape's table, with an empty
 * path. */
#include "present/present.h"
#include "core/core.h"
#include "present/present_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Frame {
  const RfFieldTable *table; /* table of the members or elements */
  size_t base, end;          /* path inside the table is json->path[base..end) */
  rf_index next_row;         /* where the search for the next row starts: members come in table order */
  bool is_array, has_member;
  bool is_map;      /* members have names of their own */
  uint64_t seen[2]; /* rows of members already written, of the first 128 */
} Frame;

struct RfJson {
  RfText text, path;
  Frame *frames;
  rf_index depth, capacity;
  bool failed;         /* memory, or a breach recorded in `breach` */
  RfJsonArrays *aside; /* see rf_json_set_aside; NULL = arrays are written out */
  char breach[256];
};

static void breach(RfJson *json, const char *why, const char *path) {
  if (json->failed) return;
  json->failed = true;
  rf_format(json->breach, sizeof json->breach, "JSON field '%s': %s", path, why);
}

static Frame *top(RfJson *json) { return &json->frames[json->depth - 1]; }

static bool push(RfJson *json, const RfFieldTable *table, size_t base, bool is_array) {
  if (json->depth == json->capacity) {
    rf_index capacity = json->capacity ? 2 * json->capacity : 8;
    Frame *frames = rf_resize(json->frames, capacity, sizeof *frames);
    if (!frames) return !(json->failed = true);
    json->frames = frames;
    json->capacity = capacity;
  }
  const Frame *above = json->depth > 0 ? &json->frames[json->depth - 1] : NULL;
  rf_index row = above && above->table == table ? above->next_row : 0; /* what is inside is listed below it */
  json->frames[json->depth++] = (Frame){table, base, json->path.length, row, is_array, false, false, {0, 0}};
  return true;
}

RfStatus rf_json_new(RfContext *context, RfJson **json, const char *table_name) {
  const RfFieldTable *table = rf_field_table(table_name);
  if (!table) return rf_fail(context, RF_ERR_INTERNAL, "no table of fields named '%s'", table_name);
  *json = RF_NEW(RfJson, 1);
  if (!*json || !push(*json, table, 0, false)) {
    rf_json_free(*json);
    *json = NULL;
    return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  }
  rf_text_add(&(*json)->text, "{");
  return RF_OK;
}

void rf_json_free(RfJson *json) {
  if (!json) return;
  rf_text_free(&json->text);
  rf_text_free(&json->path);
  rf_free(json->frames);
  rf_free(json);
}

void rf_json_fail(RfJson *json) { json->failed = true; }

/* ---- position in the table ------------------------------------------------------------------- */

static void path_cut(RfJson *json, size_t length) {
  json->path.length = length;
  if (json->path.data) json->path.data[length] = '\0';
}

/* The row for the path now in json->path; with `prefix` also a row of an array below it. */
static const RfField *find_row(RfJson *json, Frame *frame, bool prefix) {
  const char *path = rf_text_string(&json->path) + (json->path.data ? frame->base : 0);
  size_t length = strlen(path);
  rf_index from = frame->next_row > 0 ? frame->next_row - 1 : 0; /* elements are of the row just found */
  for (rf_index k = 0; k < frame->table->count; k++) {
    rf_index row = (from + k) % frame->table->count;
    const RfField *field = &frame->table->fields[row];
    if (strncmp(field->path, path, length) != 0) continue;
    if (field->path[length] == '\0' || (prefix && field->path[length] == '[')) {
      frame->next_row = row + 1;
      return field;
    }
  }
  return NULL;
}

/* The row just found was written before in this object. */
static bool repeats(Frame *frame) {
  rf_index row = frame->next_row - 1;
  if (row >= 128) return false;
  bool seen = rf_bits_get(frame->seen, row);
  rf_bits_set(frame->seen, row);
  return seen;
}

/* Extends the path by the key (or stays, for an element) and by "[]" for an array; finds the row. */
static const RfField *enter(RfJson *json, const char *key, bool is_array, bool prefix) {
  if (json->failed || json->path.failed) return NULL;
  if (json->depth == 0) {
    breach(json, "written after the end", key ? key : "");
    return NULL;
  }
  Frame *frame = top(json);
  path_cut(json, frame->end);
  if (key && json->path.length > frame->base) rf_text_add(&json->path, ".");
  if (key) rf_text_add(&json->path, key);
  if (is_array) rf_text_add(&json->path, "[]");
  if (json->path.failed) {
    json->failed = true;
    return NULL;
  }
  static const RfField free_member = {"", RF_FIELD_MAP, "", "", NULL};
  if (frame->is_map && key && !is_array) return &free_member;
  const RfField *field = find_row(json, frame, prefix);
  if (!key != frame->is_array)
    breach(json, key ? "an element has a key" : "a member has no key", json->path.data);
  else if (!field)
    breach(json, "not in the table of fields", rf_text_string(&json->path));
  else if (key && repeats(frame))
    breach(json, "written twice", rf_text_string(&json->path));
  return json->failed ? NULL : field;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void add_string(RfText *text, const char *value) {
  rf_text_add(text, "\"");
  while (*value) {
    size_t length = rf_utf8_length(value);
    unsigned char c = (unsigned char)*value;
    if (length == 0)
      rf_text_add(text, "\xEF\xBF\xBD");
    else if (c == '"' || c == '\\')
      rf_text_addf(text, "\\%c", c);
    else if (c == '\n')
      rf_text_add(text, "\\n");
    else if (c == '\t')
      rf_text_add(text, "\\t");
    else if (c < 0x20 || c == 0x7F)
      rf_text_addf(text, "\\u%04x", c);
    else
      rf_text_add_bytes(text, value, length);
    value += length ? length : 1;
  }
  rf_text_add(text, "\"");
}

static void add_number(RfText *text, double value) {
  if (isfinite(value))
    rf_text_addf(text, "%.17g", value);
  else
    rf_text_add(text, "null");
}

/* Comma, line and key: one member per line at the top level, compact below. */
static void add_key(RfJson *json, const char *key) {
  Frame *frame = top(json);
  if (frame->has_member) rf_text_add(&json->text, json->depth == 1 ? "," : ", ");
  if (json->depth == 1) rf_text_add(&json->text, "\n  ");
  frame->has_member = true;
  if (!key) return;
  add_string(&json->text, key);
  rf_text_add(&json->text, ": ");
}

/* True when a value of this type may be written here; then comma and key are out. */
static bool value(RfJson *json, const char *key, RfFieldType type) {
  const RfField *field = enter(json, key, false, false);
  if (!field) return false;
  bool fits = field->type == type || (field->type == RF_FIELD_NUMBER && type == RF_FIELD_INTEGER) ||
              (field->type == RF_FIELD_COUNT && type == RF_FIELD_INTEGER) || top(json)->is_map;
  if (!fits) breach(json, "written with another type than the table says", json->path.data);
  if (fits) add_key(json, key);
  return fits;
}

static void open_level(RfJson *json, const char *key, bool is_array) {
  const RfField *field = enter(json, key, is_array, is_array);
  if (!field) return;
  const RfFieldTable *table = top(json)->table;
  size_t base = top(json)->base;
  if (!is_array && field->type == RF_FIELD_SHAPE) {
    table = rf_field_table(field->shape);
    base = json->path.length;
    if (!table) return breach(json, "its shape has no table", json->path.data);
  } else if (!is_array && field->type != RF_FIELD_OBJECT &&
             (field->type != RF_FIELD_MAP || top(json)->is_map)) {
    return breach(json, "written as an object", json->path.data);
  }
  add_key(json, key);
  rf_text_add(&json->text, is_array ? "[" : "{");
  bool is_map = field->type == RF_FIELD_MAP;
  if (push(json, table, base, is_array)) top(json)->is_map = is_map;
}

void rf_json_object(RfJson *json, const char *key) { open_level(json, key, false); }

void rf_json_array(RfJson *json, const char *key) { open_level(json, key, true); }

void rf_json_end(RfJson *json) {
  if (json->failed) return;
  if (json->depth <= 1) return breach(json, "more ends than beginnings", rf_text_string(&json->path));
  rf_text_add(&json->text, top(json)->is_array ? "]" : "}");
  json->depth--;
  path_cut(json, top(json)->end);
}

void rf_json_null(RfJson *json, const char *key) {
  if (!enter(json, key, false, true)) return;
  add_key(json, key);
  rf_text_add(&json->text, "null");
}

void rf_json_boolean(RfJson *json, const char *key, bool flag) {
  if (value(json, key, RF_FIELD_BOOLEAN)) rf_text_add(&json->text, flag ? "true" : "false");
}

void rf_json_integer(RfJson *json, const char *key, rf_index number) {
  if (value(json, key, RF_FIELD_INTEGER)) rf_text_addf(&json->text, "%lld", (long long)number);
}

void rf_json_number(RfJson *json, const char *key, double number) {
  if (value(json, key, RF_FIELD_NUMBER)) add_number(&json->text, number);
}

void rf_json_string(RfJson *json, const char *key, const char *string) {
  if (!string)
    rf_json_null(json, key);
  else if (value(json, key, RF_FIELD_STRING))
    add_string(&json->text, string);
}

void rf_json_count(RfJson *json, const char *key, const char *decimal) {
  static const char largest[] = "9007199254740992"; /* 2^53 */
  if (!decimal) {
    rf_json_null(json, key);
  } else if (value(json, key, RF_FIELD_COUNT)) {
    size_t length = strlen(decimal), limit = sizeof largest - 1;
    bool small = length < limit || (length == limit && strcmp(decimal, largest) <= 0);
    rf_text_addf(&json->text, small ? "%s" : "\"%s\"", decimal);
  }
}

/* ---- whole arrays ---------------------------------------------------------------------------- */

/* Opens a flat array of this type; the elements need no further checks. */
static bool open_flat(RfJson *json, const char *key, RfFieldType type) {
  const RfField *field = enter(json, key, true, false);
  if (!field) return false;
  bool fits = field->type == type || (field->type == RF_FIELD_NUMBER && type == RF_FIELD_INTEGER);
  if (!fits) breach(json, "written with another type than the table says", json->path.data);
  if (fits) add_key(json, key);
  return fits;
}

void rf_json_arrays_free(RfJsonArrays *arrays) {
  for (rf_index k = 0; k < arrays->count; k++) {
    rf_free(arrays->items[k].numbers);
    rf_free(arrays->items[k].integers);
  }
  rf_free(arrays->items);
  memset(arrays, 0, sizeof *arrays);
}

void rf_json_set_aside(RfJson *json, RfJsonArrays *arrays) { json->aside = arrays; }

/* The next array set aside, its place in the text written; NULL when memory is out. */
static RfJsonArray *next_aside(RfJson *json) {
  RfJsonArrays *arrays = json->aside;
  if (arrays->count == arrays->capacity) {
    rf_index capacity = arrays->capacity ? 2 * arrays->capacity : 64;
    RfJsonArray *items = rf_resize(arrays->items, capacity, sizeof *items);
    if (!items) {
      json->failed = true;
      return NULL;
    }
    arrays->items = items;
    arrays->capacity = capacity;
  }
  rf_text_addf(&json->text, "{\"array\": %lld}", (long long)arrays->count);
  RfJsonArray *item = &arrays->items[arrays->count++];
  *item = (RfJsonArray){0};
  return item;
}

static void set_aside_numbers(RfJson *json, const double *values, rf_index rows, rf_index cols) {
  RfJsonArray *item = next_aside(json);
  if (!item) return;
  item->rows = rows, item->cols = cols;
  item->numbers = rf_copy_doubles(values, cols < 0 ? rows : rows * cols);
  json->failed = json->failed || !item->numbers;
}

static void set_aside_integers(RfJson *json, const rf_index *values, rf_index count) {
  RfJsonArray *item = next_aside(json);
  if (!item) return;
  item->rows = count, item->cols = -1;
  item->integers = RF_NEW(rf_index, count);
  json->failed = json->failed || !item->integers;
  for (rf_index i = 0; item->integers && i < count; i++) item->integers[i] = values[i];
}

void rf_json_numbers(RfJson *json, const char *key, const double *values, rf_index count) {
  if (!values) return rf_json_null(json, key);
  if (!open_flat(json, key, RF_FIELD_NUMBER)) return;
  if (json->aside) return set_aside_numbers(json, values, count, -1);
  for (rf_index i = 0; i < count; i++) {
    rf_text_add(&json->text, i ? ", " : "[");
    add_number(&json->text, values[i]);
  }
  rf_text_add(&json->text, count > 0 ? "]" : "[]");
}

void rf_json_integers(RfJson *json, const char *key, const rf_index *values, rf_index count) {
  if (!values) return rf_json_null(json, key);
  if (!open_flat(json, key, RF_FIELD_INTEGER)) return;
  if (json->aside) return set_aside_integers(json, values, count);
  for (rf_index i = 0; i < count; i++)
    rf_text_addf(&json->text, "%s%lld", i ? ", " : "[", (long long)values[i]);
  rf_text_add(&json->text, count > 0 ? "]" : "[]");
}

void rf_json_matrix(RfJson *json, const char *key, const double *values, rf_index rows, rf_index cols) {
  if (!values) return rf_json_null(json, key);
  if (json->aside) {
    if (enter(json, key, true, true)) {
      add_key(json, key);
      set_aside_numbers(json, values, rows, cols);
    }
    return;
  }
  rf_json_array(json, key);
  for (rf_index i = 0; i < rows; i++) rf_json_numbers(json, NULL, values + i * cols, cols);
  rf_json_end(json);
}

RfStatus rf_json_finish(RfContext *context, RfText *out, RfJson *json) {
  if (!json->failed && json->depth != 1) breach(json, "not closed", rf_text_string(&json->path));
  if (json->breach[0]) return rf_fail(context, RF_ERR_INTERNAL, "%s", json->breach);
  json->depth = 0;
  rf_text_add(&json->text, "\n}\n");
  if (!json->failed && !json->text.failed && !json->path.failed)
    rf_text_add_bytes(out, rf_text_string(&json->text), json->text.length);
  if (json->failed || json->text.failed || json->path.failed || out->failed)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  return RF_OK;
}
