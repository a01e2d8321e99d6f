/* Lists and ranges: {a,b}, a..b, a..b..step, log(a..b..k). A recursive reader over one text; every complaint
 * names the column, counted from 1. */
#include "sweep/sweep_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 1000000, DEEPEST = 16 };

RfStatus sweep_out_of_memory(RfContext *context) { return rf_fail(context, RF_ERR_MEMORY, "out of memory"); }

bool sweep_texts_add(SweepTexts *texts, char *text) {
  if (!text) return false;
  if (texts->count == texts->capacity) {
    rf_index capacity = texts->capacity ? 2 * texts->capacity : 8;
    char **items = rf_resize(texts->items, capacity, sizeof *items);
    if (!items) {
      rf_free(text);
      return false;
    }
    texts->items = items, texts->capacity = capacity;
  }
  texts->items[texts->count++] = text;
  return true;
}

void sweep_texts_free(SweepTexts *texts) {
  for (rf_index i = 0; i < texts->count; i++) rf_free(texts->items[i]);
  rf_free(texts->items);
  memset(texts, 0, sizeof *texts);
}

bool sweep_is_integer(const char *text, int64_t *value) {
  size_t digits = strspn(text + (*text == '-'), "0123456789");
  char *end;
  errno = 0;
  if (digits == 0) return false;
  *value = strtoll(text, &end, 10);
  return *end == '\0' && errno == 0;
}

bool sweep_is_number(const char *text, double *value) {
  return *text && strspn(text, "+-.0123456789eE") == strlen(text) && rf_number_read(value, text) &&
         isfinite(*value);
}

/* ---- the reader ------------------------------------------------------------------------------- */

typedef struct Reader {
  RfContext *context;
  const char *label, *text, *at;
  bool numeric;
  int depth;
} Reader;

static RfStatus wrong(const Reader *reader, const char *at, const char *what) {
  return rf_fail(reader->context, RF_ERR_USAGE, "%s%s%.120s: column %ld: %s", reader->label,
                 reader->label[0] ? " " : "", reader->text, (long)(at - reader->text) + 1, what);
}

/* ---- ranges ----------------------------------------------------------------------------------- */

typedef struct Range {
  int count;             /* numbers given */
  const char *starts[3]; /* where they stand */
  char texts[3][40];
  double values[3];
} Range;

/* The numbers of "a..b..c" from `from` up to `end`. */
static RfStatus read_range(const Reader *reader, Range *range, const char *from, const char *end) {
  const char *at = from;
  range->count = 0;
  for (;;) {
    const char *dots = at;
    while (dots + 1 < end && !(dots[0] == '.' && dots[1] == '.')) dots++;
    const char *stop = dots + 1 < end ? dots : end;
    size_t length = (size_t)(stop - at);
    if (range->count == 3) return wrong(reader, at, "a range has at most three parts, a..b..step");
    if (length == 0) return wrong(reader, at, "expected a number");
    if (length >= sizeof range->texts[0]) return wrong(reader, at, "expected a number");
    memcpy(range->texts[range->count], at, length);
    range->texts[range->count][length] = '\0';
    if (!sweep_is_number(range->texts[range->count], &range->values[range->count]))
      return wrong(reader, at, "expected a number");
    range->starts[range->count++] = at;
    if (stop == end) return RF_OK;
    at = stop + 2;
  }
}

static bool add_number(SweepTexts *out, double value, bool integer) {
  char text[40];
  if (integer)
    rf_format(text, sizeof text, "%.0f", value);
  else
    rf_format(text, sizeof text, "%.15g", value + 0.0);
  return sweep_texts_add(out, rf_copy_text(text));
}

static RfStatus add_linear(const Reader *reader, SweepTexts *out, const Range *range) {
  int64_t whole;
  bool integer = sweep_is_integer(range->texts[0], &whole);
  double low = range->values[0], high = range->values[1], step = range->count == 3 ? range->values[2] : 1;
  if (range->count == 2 && !(integer && sweep_is_integer(range->texts[1], &whole)))
    return wrong(reader, range->starts[0],
                 "a range of numbers that are not integers needs a step: a..b..step");
  if (range->count == 3) integer = integer && sweep_is_integer(range->texts[2], &whole);
  if (integer && (fabs(low) > 9e15 || fabs(high) > 9e15))
    return wrong(reader, range->starts[0], "integers of a range go up to 9e15");
  if (!(fabs(step) > 0)) return wrong(reader, range->starts[2], "the step is 0");
  double steps = (high - low) / step;
  if (steps < 0)
    return wrong(reader, range->starts[1], "the range is empty: its step leads away from its end");
  if (!(steps < MOST_VALUES))
    return wrong(reader, range->starts[1], "the range has more than a million values");
  double last = floor(steps + 1e-9); /* 0..1..0.1 ends at 1 although 1/0.1 need not round to 10 */
  for (double k = 0; k <= last; k += 1)
    if (!add_number(out, low + k * step, integer)) return sweep_out_of_memory(reader->context);
  return RF_OK;
}

/* k values from a to b in equal ratios; the ends are the texts that were given. */
static RfStatus add_log(const Reader *reader, SweepTexts *out, const Range *range) {
  int64_t points;
  double low = range->values[0], high = range->values[1];
  if (range->count != 3) return wrong(reader, range->starts[range->count - 1], "expected log(a..b..k)");
  if (!(low > 0)) return wrong(reader, range->starts[0], "a logarithmic range needs positive ends");
  if (!(high > 0)) return wrong(reader, range->starts[1], "a logarithmic range needs positive ends");
  if (!sweep_is_integer(range->texts[2], &points) || points < 2 || points > MOST_VALUES)
    return wrong(reader, range->starts[2], "the number of values is an integer from 2 to a million");
  for (int64_t k = 0; k < points; k++) {
    char text[40];
    double share = (double)k / (double)(points - 1);
    rf_format(text, sizeof text, "%.12g", exp((1 - share) * log(low) + share * log(high)));
    const char *value = k == 0 ? range->texts[0] : k == points - 1 ? range->texts[1] : text;
    if (!sweep_texts_add(out, rf_copy_text(value))) return sweep_out_of_memory(reader->context);
  }
  return RF_OK;
}

/* ---- elements --------------------------------------------------------------------------------- */

static RfStatus read_list(Reader *reader, SweepTexts *out, const char *stops);

/* Where the element at reader->at ends when it holds no group: at a stop outside parentheses. */
static const char *plain_end(const Reader *reader, const char *stops) {
  int nesting = 0;
  const char *at = reader->at;
  for (; *at; at++) {
    if (*at == '{' || *at == '\\') return NULL;
    if (nesting == 0 && strchr(stops, *at)) return at;
    if (*at == '(') nesting++;
    if (*at == ')' && nesting > 0) nesting--;
  }
  return at;
}

static bool has_dots(const char *from, const char *end) {
  for (const char *at = from; at + 1 < end; at++)
    if (at[0] == '.' && at[1] == '.') return true;
  return false;
}

static bool begins_number(const char *text) {
  if (*text == '-' || *text == '+') text++;
  if (*text == '.') text++;
  return *text >= '0' && *text <= '9';
}

/* A range as the whole element; *is says whether there is one. */
static RfStatus read_number_range(Reader *reader, SweepTexts *out, const char *stops, bool *is) {
  Range range;
  const char *from = reader->at, *end = plain_end(reader, stops);
  bool log_range = strncmp(from, "log(", 4) == 0;
  *is = log_range || (end && has_dots(from, end) && (reader->numeric || begins_number(from)));
  if (!*is) return RF_OK;
  if (log_range) {
    const char *close = strchr(from, ')');
    if (!close) return wrong(reader, from + 3, "this parenthesis is not closed");
    if (!end || end != close + 1) return wrong(reader, close + 1, "expected the end of the value after ')'");
    RfStatus status = read_range(reader, &range, from + 4, close);
    reader->at = end;
    return status ? status : add_log(reader, out, &range);
  }
  RfStatus status = read_range(reader, &range, from, end);
  reader->at = end;
  return status ? status : add_linear(reader, out, &range);
}

/* Every text of `out` followed by every text of `tails`. */
static RfStatus multiply(const Reader *reader, SweepTexts *out, const SweepTexts *tails, const char *at) {
  SweepTexts product = {0};
  if (out->count * tails->count > MOST_VALUES) return wrong(reader, at, "more than a million values");
  for (rf_index i = 0; i < out->count; i++) {
    for (rf_index j = 0; j < tails->count; j++) {
      size_t head = strlen(out->items[i]), tail = strlen(tails->items[j]);
      char *text = rf_alloc((rf_index)(head + tail) + 1, 1);
      if (text) {
        memcpy(text, out->items[i], head);
        memcpy(text + head, tails->items[j], tail);
      }
      if (!sweep_texts_add(&product, text)) {
        sweep_texts_free(&product);
        return sweep_out_of_memory(reader->context);
      }
    }
  }
  sweep_texts_free(out);
  *out = product;
  return RF_OK;
}

static RfStatus read_group(Reader *reader, SweepTexts *out) {
  const char *open = reader->at++;
  SweepTexts choices = {0};
  if (++reader->depth > DEEPEST) return wrong(reader, open, "braces are nested too deeply");
  RfStatus status = read_list(reader, &choices, ",}");
  if (!status && *reader->at != '}') status = wrong(reader, open, "this brace is not closed");
  if (!status) status = multiply(reader, out, &choices, open);
  if (!status) reader->at++;
  reader->depth--;
  sweep_texts_free(&choices);
  return status;
}

/* Ordinary characters up to a stop, a group or the end; *nesting counts parentheses. */
static RfStatus read_literal(Reader *reader, SweepTexts *out, const char *stops, int *nesting) {
  RfText piece = {0};
  RfStatus status = RF_OK;
  SweepTexts one = {0};
  const char *from = reader->at;
  for (; *reader->at && *reader->at != '{'; reader->at++) {
    char c = *reader->at;
    if (*nesting == 0 && strchr(stops, c)) break;
    if (c == '}') {
      status = wrong(reader, reader->at, "this brace was never opened");
      break;
    }
    if (c == '\\' && !*++reader->at) {
      status = wrong(reader, reader->at - 1, "nothing follows the backslash");
      break;
    }
    if (c == '(') ++*nesting;
    if (c == ')' && *nesting > 0) --*nesting;
    rf_text_add_bytes(&piece, reader->at, 1);
  }
  if (!status && (piece.failed || !sweep_texts_add(&one, rf_copy_text(rf_text_string(&piece)))))
    status = sweep_out_of_memory(reader->context);
  if (!status) status = multiply(reader, out, &one, from);
  rf_text_free(&piece);
  sweep_texts_free(&one);
  return status;
}

/* One element of a list: a range, or ordinary text with groups in it. */
static RfStatus read_element(Reader *reader, SweepTexts *out, const char *stops) {
  bool range;
  int nesting = 0;
  const char *from = reader->at;
  RfStatus status = read_number_range(reader, out, stops, &range);
  if (status || range) return status;
  SweepTexts texts = {0};
  if (!sweep_texts_add(&texts, rf_copy_text(""))) return sweep_out_of_memory(reader->context);
  while (!status && *reader->at && (nesting > 0 || !strchr(stops, *reader->at)))
    status = *reader->at == '{' ? read_group(reader, &texts) : read_literal(reader, &texts, stops, &nesting);
  if (!status && reader->at == from) status = wrong(reader, from, "a value is missing");
  if (!status && out->count + texts.count > MOST_VALUES)
    status = wrong(reader, from, "more than a million values");
  for (rf_index i = 0; !status && i < texts.count; i++)
    if (!sweep_texts_add(out, rf_copy_text(texts.items[i]))) status = sweep_out_of_memory(reader->context);
  sweep_texts_free(&texts);
  return status;
}

static RfStatus read_list(Reader *reader, SweepTexts *out, const char *stops) {
  RfStatus status = read_element(reader, out, stops);
  while (!status && *reader->at == ',') {
    reader->at++;
    status = read_element(reader, out, stops);
  }
  return status;
}

RfStatus sweep_expand(RfContext *context, SweepTexts *out, const char *label, const char *text, bool commas,
                      bool numeric) {
  Reader reader = {context, label, text, text, numeric, 0};
  RfStatus status = commas ? read_list(&reader, out, ",") : read_element(&reader, out, "");
  if (!status && *reader.at) status = wrong(&reader, reader.at, "expected the end of the value");
  return status;
}

RfStatus sweep_expand_element(RfContext *context, SweepTexts *out, const char *label, const char *text,
                              const char **at, const char *stops) {
  Reader reader = {context, label, text, *at, false, 0};
  RfStatus status = read_element(&reader, out, stops);
  *at = reader.at;
  return status;
}

RfStatus sweep_wrong(RfContext *context, const char *label, const char *text, const char *at,
                     const char *what) {
  Reader reader = {context, label, text, at, false, 0};
  return wrong(&reader, at, what);
}
