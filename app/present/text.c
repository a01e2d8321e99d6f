/* Text that grows by doubling, with a sticky failure flag, and the escapes that HTML and SVG need. */
#include "present/present.h"
#include "core/core.h"
#include "present/present_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rf_text_free(RfText *text) {
  if (!text) return;
  rf_free(text->data);
  memset(text, 0, sizeof *text);
}

const char *rf_text_string(const RfText *text) { return text->data ? text->data : ""; }

/* Room for `more` bytes and the closing zero. */
static bool reserve(RfText *text, size_t more) {
  if (text->failed) return false;
  if (more < text->capacity - text->length && text->data) return true;
  rf_index need = (rf_index)text->length + 1, capacity = text->capacity ? (rf_index)text->capacity : 256;
  bool counted = more <= PTRDIFF_MAX && rf_add_sizes(&need, need, (rf_index)more);
  while (counted && capacity < need) counted = rf_multiply_sizes(&capacity, capacity, 2);
  char *data = counted ? rf_resize(text->data, capacity, 1) : NULL;
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = (size_t)capacity;
  return true;
}

void rf_text_add_bytes(RfText *text, const char *piece, size_t length) {
  if (!reserve(text, length)) return;
  if (length) memcpy(text->data + text->length, piece, length);
  text->length += length;
  text->data[text->length] = '\0';
}

void rf_text_add(RfText *text, const char *piece) { rf_text_add_bytes(text, piece, strlen(piece)); }

void rf_text_addf(RfText *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char small[256];
  va_list again;
  va_copy(again, arguments);
  int length = rf_format_list(small, sizeof small, format, arguments);
  va_end(arguments);
  if (length < 0)
    text->failed = true;
  else if ((size_t)length < sizeof small)
    rf_text_add_bytes(text, small, (size_t)length);
  else if (reserve(text, (size_t)length)) {
    rf_format_list(text->data + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

void rf_text_repeat(RfText *text, const char *piece, rf_index times) {
  for (rf_index i = 0; i < times; i++) rf_text_add(text, piece);
}

void rf_text_style(RfText *text, RfStyle style) {
  static const char *const codes[] = {"\033[0m",    "\033[1m",    "\033[2m",
                                      "\033[1;32m", "\033[1;31m", "\033[36m"};
  if (text->colour) rf_text_add(text, codes[style]);
}

void rf_text_styled(RfText *text, RfStyle style, const char *piece) {
  rf_text_style(text, style);
  rf_text_add(text, piece);
  rf_text_style(text, RF_PLAIN);
}

rf_index rf_text_width(const char *utf8) {
  rf_index width = 0;
  for (; *utf8; utf8++) width += ((unsigned char)*utf8 & 0xC0) != 0x80;
  return width;
}

void rf_text_wrap(RfText *text, const char *prose, int indent, int width) {
  int column = indent;
  while (*prose) {
    size_t length = strcspn(prose, " \n");
    rf_index cells = 0;
    for (size_t i = 0; i < length; i++) cells += ((unsigned char)prose[i] & 0xC0) != 0x80;
    if (column > indent && column + 1 + cells > width) {
      rf_text_add(text, "\n");
      rf_text_repeat(text, " ", indent);
      column = indent;
    }
    if (column > indent && length) {
      rf_text_add(text, " ");
      column++;
    }
    rf_text_add_bytes(text, prose, length);
    column += (int)cells;
    prose += length;
    while (*prose == ' ' || *prose == '\n') prose++;
  }
  rf_text_add(text, "\n");
}

void rf_text_vector(RfText *text, const double *values, rf_index count, rf_index most) {
  rf_index shown = count > most ? most : count;
  double largest = 0;
  for (rf_index i = 0; i < count; i++) largest = fmax(largest, fabs(values[i]));
  rf_text_add(text, "(");
  for (rf_index i = 0; i < shown; i++) { /* rounding noise reads as 0 */
    double value = fabs(values[i]) > 1e-13 * largest ? values[i] : 0;
    rf_text_addf(text, "%s%.4g", i ? ", " : "", value);
  }
  if (shown < count) rf_text_addf(text, ", ... %lld entries", (long long)count);
  rf_text_add(text, ")");
}

void rf_text_rows(RfText *text, const rf_index *rows, rf_index count, rf_index most) {
  rf_index shown = count > most ? most : count;
  for (rf_index i = 0; i < shown; i++) rf_text_addf(text, "%s%lld", i ? " " : "", (long long)rows[i]);
  if (shown < count) rf_text_addf(text, " ... %lld in all", (long long)count);
  if (count == 0) rf_text_add(text, "none");
}

/* ---- UTF-8 and markup ------------------------------------------------------------------------ */

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t rf_utf8_length(const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  if (s[0] < 0x80) return 1;
  size_t length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
  if (s[0] < 0xC2 || s[0] > 0xF4) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((s[i] & 0xC0) != 0x80) return 0;
  }
  bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
  bool out_of_range = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
  return overlong || out_of_range ? 0 : length;
}

void rf_text_add_escaped(RfText *text, const char *prose) {
  while (*prose) {
    size_t length = rf_utf8_length(prose);
    switch (*prose) {
    case '&': rf_text_add(text, "&amp;"); break;
    case '<': rf_text_add(text, "&lt;"); break;
    case '>': rf_text_add(text, "&gt;"); break;
    case '"': rf_text_add(text, "&quot;"); break;
    default: {
      bool control = (unsigned char)*prose < 0x20 && *prose != '\n' && *prose != '\t';
      if (length == 0 || control)
        rf_text_add(text, "\xEF\xBF\xBD");
      else
        rf_text_add_bytes(text, prose, length);
    }
    }
    prose += length ? length : 1;
  }
}
