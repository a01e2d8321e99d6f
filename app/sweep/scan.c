/* One pass over the JSON text of an answer: the scalars that are columns, and the text of the digest, which
 * is the object as printed without blanks and without members that tell times. The writer of the text is our
 * own, and a full parser would cost more than a small cell. */
#include "sweep/scan.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64, PATH_SIZE = 256 };

typedef struct Scan {
  const char *at, *end;
  bool broken;
  RfText *plain; /* the text of the digest */
  const SweepColumns *columns;
  SweepScalar *scalars; /* one per column; NULL = only the digest */
  RfText *texts;        /* characters of strings */
  rf_index next;        /* column at which the search starts: members come in the order of the table */
  char path[PATH_SIZE];
} Scan;

static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

static char peek(Scan *scan) {
  while (scan->at < scan->end && is_blank(*scan->at)) scan->at++;
  return scan->at < scan->end ? *scan->at : '\0';
}

static bool expect(Scan *scan, char c) {
  if (peek(scan) == c)
    scan->at++;
  else
    scan->broken = true;
  return !scan->broken;
}

/* ---- scalars ---------------------------------------------------------------------------------- */

/* Past a string; *text is what stands between the quotes. */
static bool take_string(Scan *scan, const char **text, size_t *length) {
  if (!expect(scan, '"')) return false;
  *text = scan->at;
  while (scan->at < scan->end && *scan->at != '"')
    scan->at += *scan->at == '\\' && scan->at + 1 < scan->end ? 2 : 1;
  *length = (size_t)(scan->at - *text);
  return expect(scan, '"');
}

static void add_character(RfText *out, unsigned code) { /* the writer escapes only control characters as \u */
  char c = (char)code;
  rf_text_add_bytes(out, &c, 1);
}

static void add_unescaped(RfText *out, const char *text, size_t length) {
  for (size_t k = 0; k < length; k++) {
    if (text[k] != '\\' || k + 1 == length) {
      rf_text_add_bytes(out, text + k, 1);
      continue;
    }
    char c = text[++k], digits[5] = {0};
    if (c == 'u' && k + 4 < length) {
      memcpy(digits, text + k + 1, 4);
      add_character(out, (unsigned)strtoul(digits, NULL, 16) & 0x7Fu);
      k += 4;
    } else {
      char plain = c == 'n'   ? '\n'
                   : c == 't' ? '\t'
                   : c == 'r' ? '\r'
                   : c == 'b' ? '\b'
                   : c == 'f' ? '\f'
                              : c;
      rf_text_add_bytes(out, &plain, 1);
    }
  }
}

static SweepScalar *scalar_here(Scan *scan) {
  const SweepColumns *columns = scan->columns;
  for (rf_index k = 0; scan->scalars && k < columns->count; k++) {
    rf_index column = (scan->next + k) % columns->count;
    if (strcmp(columns->items[column].path, scan->path) != 0) continue;
    scan->next = column + 1;
    return &scan->scalars[column];
  }
  return NULL;
}

/* A number or a word: true, false, null. */
static void set_plain(Scan *scan, SweepScalar *scalar, const char *text, size_t length) {
  char number[64];
  if (length >= sizeof number) {
    scan->broken = true;
    return;
  }
  memcpy(number, text, length);
  number[length] = '\0';
  if (strcmp(number, "true") == 0 || strcmp(number, "false") == 0) {
    scalar->kind = SWEEP_INT, scalar->integer = number[0] == 't';
  } else if (sweep_is_integer(number, &scalar->integer)) {
    scalar->kind = SWEEP_INT;
  } else if (sweep_is_number(number, &scalar->number)) {
    scalar->kind = SWEEP_DOUBLE;
  } else if (strcmp(number, "null") != 0) {
    scan->broken = true;
  }
}

/* ---- values ----------------------------------------------------------------------------------- */

static void value(Scan *scan, bool named, int depth);

static bool tells_time(const char *key, size_t length) {
  static const char *const times[] = {"seconds", "steps_per_second", "started", "run"};
  for (size_t k = 0; k < sizeof times / sizeof times[0]; k++)
    if (strlen(times[k]) == length && memcmp(times[k], key, length) == 0) return true;
  return false;
}

/* One member, its comma and key included; `named`: it is a member of members, not inside an array. */
static void member(Scan *scan, bool named, int depth, bool *first) {
  const char *key;
  size_t length, before = strlen(scan->path);
  if (!take_string(scan, &key, &length) || !expect(scan, ':')) return;
  bool dropped = tells_time(key, length);
  size_t mark = scan->plain->length;
  if (!*first) rf_text_add(scan->plain, ",");
  rf_text_add(scan->plain, "\"");
  rf_text_add_bytes(scan->plain, key, length);
  rf_text_add(scan->plain, "\":");
  bool fits = before + length + 2 < PATH_SIZE;
  if (named && fits) {
    size_t end = before;
    if (before) scan->path[end++] = '.';
    memcpy(scan->path + end, key, length);
    scan->path[end + length] = '\0';
  }
  value(scan, named && fits && !dropped, depth + 1);
  scan->path[before] = '\0';
  if (dropped)
    scan->plain->length = mark;
  else
    *first = false;
}

static void object(Scan *scan, bool named, int depth) {
  bool first = true;
  scan->at++;
  rf_text_add(scan->plain, "{");
  if (peek(scan) != '}') {
    member(scan, named, depth, &first);
    while (!scan->broken && peek(scan) == ',') {
      scan->at++;
      member(scan, named, depth, &first);
    }
  }
  if (!scan->broken && expect(scan, '}')) rf_text_add(scan->plain, "}");
}

/* Numbers, which are most of the text, go over without being looked at one by one: everything up to the
 * bracket but the blanks. False when there is something else in the array. */
static bool numbers(Scan *scan) {
  const char *close = memchr(scan->at, ']', (size_t)(scan->end - scan->at));
  char bytes[1024];
  size_t used = 0;
  if (!close) return false;
  for (const char *at = scan->at; at < close; at++)
    if (*at == '{' || *at == '[' || *at == '"') return false;
  for (const char *at = scan->at; at < close; at++) {
    if (is_blank(*at)) continue;
    bytes[used++] = *at;
    if (used < sizeof bytes) continue;
    rf_text_add_bytes(scan->plain, bytes, used);
    used = 0;
  }
  rf_text_add_bytes(scan->plain, bytes, used);
  scan->at = close;
  return true;
}

static void array(Scan *scan, int depth) {
  scan->at++;
  rf_text_add(scan->plain, "[");
  char next = peek(scan);
  if ((next == '-' || (next >= '0' && next <= '9')) && numbers(scan)) {
    if (expect(scan, ']')) rf_text_add(scan->plain, "]");
    return;
  }
  if (peek(scan) != ']') {
    value(scan, false, depth + 1);
    while (!scan->broken && peek(scan) == ',') {
      scan->at++;
      rf_text_add(scan->plain, ",");
      value(scan, false, depth + 1);
    }
  }
  if (!scan->broken && expect(scan, ']')) rf_text_add(scan->plain, "]");
}

static void value(Scan *scan, bool named, int depth) {
  const char *from, *text;
  size_t length;
  char c = peek(scan);
  from = scan->at;
  if (depth > DEEPEST) {
    scan->broken = true;
  } else if (c == '{') {
    object(scan, named, depth);
  } else if (c == '[') {
    array(scan, depth);
  } else if (c == '"') {
    if (!take_string(scan, &text, &length)) return;
    rf_text_add_bytes(scan->plain, from, (size_t)(scan->at - from));
    SweepScalar *scalar = named ? scalar_here(scan) : NULL;
    if (!scalar) return;
    scalar->kind = SWEEP_STRING, scalar->start = scan->texts->length;
    add_unescaped(scan->texts, text, length);
    scalar->length = scan->texts->length - scalar->start;
  } else {
    while (scan->at < scan->end && !is_blank(*scan->at) && !strchr(",]}", *scan->at)) scan->at++;
    length = (size_t)(scan->at - from);
    rf_text_add_bytes(scan->plain, from, length);
    SweepScalar *scalar = named ? scalar_here(scan) : NULL;
    if (scalar) set_plain(scan, scalar, from, length);
    if (length == 0) scan->broken = true;
  }
}

bool sweep_scan(RfText *plain, SweepScalar *scalars, RfText *texts, const SweepColumns *columns,
                const char *json, size_t length) {
  Scan scan = {.at = json,
               .end = json + length,
               .plain = plain,
               .columns = columns,
               .scalars = scalars,
               .texts = texts};
  value(&scan, true, 0);
  return !scan.broken && peek(&scan) == '\0' && !plain->failed;
}
