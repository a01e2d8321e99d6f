/* Tables of texts: aligned for the terminal, as <table> for pages. */
#include "present/present.h"
#include "core/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_COLUMNS = 16 };

void rf_table_init(RfTable *table, const char *align, const char *header) {
  memset(table, 0, sizeof *table);
  table->columns = (rf_index)strlen(align);
  if (table->columns > MAX_COLUMNS) table->columns = MAX_COLUMNS;
  table->align = align;
  table->header = header;
}

void rf_table_free(RfTable *table) {
  if (!table) return;
  for (rf_index i = 0; i < table->count; i++) rf_free(table->cells[i]);
  rf_free(table->cells);
  memset(table, 0, sizeof *table);
}

void rf_table_cell(RfTable *table, const char *format, ...) {
  if (table->failed) return;
  if (table->count == table->capacity) {
    rf_index capacity = table->capacity ? 2 * table->capacity : 32;
    char **cells = rf_resize(table->cells, capacity, sizeof *cells);
    if (!cells) {
      table->failed = true;
      return;
    }
    table->cells = cells;
    table->capacity = capacity;
  }
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  rf_format_list(text, sizeof text, format, arguments);
  va_end(arguments);
  char *cell = rf_copy_text(text);
  if (!cell)
    table->failed = true;
  else
    table->cells[table->count++] = cell;
}

/* Column c of the header, copied into `out`. */
static void header_cell(char *out, size_t size, const RfTable *table, rf_index c) {
  const char *from = table->header ? table->header : "";
  for (rf_index k = 0; k < c && from; k++) {
    from = strchr(from, '|');
    if (from) from++;
  }
  rf_format(out, size, "%.*s", from ? (int)strcspn(from, "|") : 0, from ? from : "");
}

static rf_index column_width(const RfTable *table, rf_index c) {
  char title[128];
  header_cell(title, sizeof title, table, c);
  rf_index width = rf_text_width(title);
  for (rf_index i = c; i < table->count; i += table->columns) {
    rf_index cell = rf_text_width(table->cells[i]);
    if (cell > width) width = cell;
  }
  return width;
}

static void print_cell(RfText *out, const char *cell, rf_index width, char align, bool last) {
  rf_index space = width - rf_text_width(cell);
  if (align == 'r') rf_text_repeat(out, " ", space);
  rf_text_add(out, cell);
  if (align != 'r' && !last) rf_text_repeat(out, " ", space);
  rf_text_add(out, last ? "\n" : "  ");
}

void rf_table_print(RfText *out, const RfTable *table, int indent) {
  if (table->failed) out->failed = true;
  if (table->columns == 0 || table->failed) return;
  rf_index widths[MAX_COLUMNS];
  for (rf_index c = 0; c < table->columns; c++) widths[c] = column_width(table, c);
  if (table->header) {
    rf_text_repeat(out, " ", indent);
    rf_text_style(out, RF_DIM);
    for (rf_index c = 0; c < table->columns; c++) {
      char title[128];
      header_cell(title, sizeof title, table, c);
      print_cell(out, title, widths[c], table->align[c], c == table->columns - 1);
    }
    rf_text_style(out, RF_PLAIN);
  }
  for (rf_index i = 0; i + table->columns <= table->count; i += table->columns) {
    rf_text_repeat(out, " ", indent);
    for (rf_index c = 0; c < table->columns; c++)
      print_cell(out, table->cells[i + c], widths[c], table->align[c], c == table->columns - 1);
  }
}

void rf_table_html(RfText *out, const RfTable *table) {
  if (table->failed) out->failed = true;
  if (table->columns == 0 || table->failed) return;
  /* a number and words about it: on a phone the words go below */
  bool remarks = table->columns > 2 && table->align[table->columns - 1] == 'l' &&
                 table->align[table->columns - 2] == 'r';
  rf_text_addf(out, "<div class=\"scroll\"><table%s>\n", remarks ? " class=\"remarks\"" : "");
  if (table->header) {
    rf_text_add(out, "<tr>");
    for (rf_index c = 0; c < table->columns; c++) {
      char title[128];
      header_cell(title, sizeof title, table, c);
      rf_text_addf(out, "<th class=\"%c\">", table->align[c]);
      rf_text_add_escaped(out, title);
      rf_text_add(out, "</th>");
    }
    rf_text_add(out, "</tr>\n");
  }
  for (rf_index i = 0; i + table->columns <= table->count; i += table->columns) {
    rf_text_add(out, "<tr>");
    for (rf_index c = 0; c < table->columns; c++) {
      rf_text_addf(out, "<td class=\"%c\">", table->align[c]);
      rf_text_add_escaped(out, table->cells[i + c]);
      rf_text_add(out, "</td>");
    }
    rf_text_add(out, "</tr>\n");
  }
  rf_text_add(out, "</table></div>\n");
}
