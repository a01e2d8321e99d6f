/* Rows of a store for a picture. The wishes are SQL expressions in which columns may be written without
 * quotes, and a word behind = or <> is a text. A cell has an answer when its status is holds or does-not-hold
 * and the value is there; `unknown` and `undecided` are no values. */
#include "sweep/plot.h"
#include "sweep/store.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 400 };

/* ---- expressions ------------------------------------------------------------------------------ */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static bool is_column(const SweepStore *store, const char *name, const char **type) {
  return sqlite3_table_column_metadata(store->database, NULL, "cells", name, type, NULL, NULL, NULL, NULL) ==
         SQLITE_OK;
}

/* One word of an expression: a column, a text behind a comparison, or SQL. */
static void add_word(RfText *sql, const SweepStore *store, const char *word, char before, bool as_value) {
  const char *type;
  if (is_column(store, word, &type)) {
    bool text = as_value && type && strcmp(type, "TEXT") == 0;
    rf_text_add(sql, text ? "nullif(nullif(" : "");
    sweep_add_quoted(sql, word);
    rf_text_add(sql, text ? ",'unknown'),'undecided')" : "");
  } else if ((before == '=' || before == '>') && !isdigit((unsigned char)word[0]) && word[0] != '.') {
    rf_text_addf(sql, "'%s'", word);
  } else {
    rf_text_add(sql, word);
  }
}

static void add_expression(RfText *sql, const SweepStore *store, const char *text, bool as_value) {
  char before = '(';
  rf_text_add(sql, "(");
  while (*text) {
    if (*text == '\'' || *text == '"') {
      const char *end = strchr(text + 1, *text);
      size_t length = end ? (size_t)(end - text) + 1 : strlen(text);
      rf_text_add_bytes(sql, text, length);
      text += length, before = '"';
    } else if (is_word(*text)) {
      char word[128];
      size_t length = 0;
      bool value = before == '=' || before == '>';
      while (is_word(text[length]) ||
             (value && text[length] == '-' && isalpha((unsigned char)text[length + 1])))
        length++;
      rf_format(word, sizeof word, "%.*s", (int)length, text);
      add_word(sql, store, word, before, as_value);
      text += length, before = 'a';
    } else {
      if (*text != ' ') before = *text;
      rf_text_add_bytes(sql, text++, 1);
    }
  }
  rf_text_add(sql, "\n)");
}

/* ---- levels ----------------------------------------------------------------------------------- */

static void levels_free(Levels *levels) {
  for (rf_index k = 0; k < levels->count; k++) rf_free(levels->labels[k]);
  rf_free(levels->labels);
  rf_free(levels->numbers);
}

/* The level of a value, added when it is new; -1 when there are too many or memory is out. */
static rf_index level_of(Levels *levels, sqlite3_stmt *row, int column) {
  const char *text = (const char *)sqlite3_column_text(row, column);
  int type = sqlite3_column_type(row, column);
  const char *label = text ? text : "no value";
  for (rf_index k = levels->count - 1; k >= 0; k--)
    if (strcmp(levels->labels[k], label) == 0) return k;
  if (levels->count == MOST_LEVELS) return -1;
  if (levels->count == levels->capacity) {
    rf_index capacity = levels->capacity ? 2 * levels->capacity : 16;
    char **labels = rf_resize(levels->labels, capacity, sizeof *labels);
    if (labels) levels->labels = labels;
    double *numbers = labels ? rf_resize(levels->numbers, capacity, sizeof *numbers) : NULL;
    if (!numbers) return -1;
    levels->numbers = numbers, levels->capacity = capacity;
  }
  bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
  levels->numbers[levels->count] = number ? sqlite3_column_double(row, column) : NAN;
  levels->labels[levels->count] = rf_copy_text(label);
  return levels->labels[levels->count] ? levels->count++ : -1;
}

static bool comes_before(const Levels *levels, rf_index a, rf_index b) {
  double p = levels->numbers[a], q = levels->numbers[b];
  if (isnan(p) != isnan(q)) return isnan(q);
  return isnan(p) ? strcmp(levels->labels[a], levels->labels[b]) < 0 : p < q;
}

/* Sorts the levels; place[k] says where level k went. */
static void sort_levels(Levels *levels, rf_index place[MOST_LEVELS]) {
  rf_index order[MOST_LEVELS];
  Levels sorted = {.count = levels->count};
  for (rf_index k = 0; k < levels->count; k++) {
    rf_index at = k;
    for (; at > 0 && comes_before(levels, k, order[at - 1]); at--) order[at] = order[at - 1];
    order[at] = k;
  }
  sorted.labels = RF_NEW(char *, levels->capacity), sorted.numbers = RF_NEW(double, levels->capacity);
  for (rf_index k = 0; k < levels->count; k++) place[k] = k;
  if (!sorted.labels || !sorted.numbers) {
    rf_free(sorted.labels), rf_free(sorted.numbers);
    return;
  }
  for (rf_index k = 0; k < levels->count; k++) {
    place[order[k]] = k;
    sorted.labels[k] = levels->labels[order[k]], sorted.numbers[k] = levels->numbers[order[k]];
  }
  sorted.capacity = levels->capacity;
  rf_free(levels->labels), rf_free(levels->numbers);
  *levels = sorted;
}

static void sort_all_levels(PlotData *data) {
  rf_index x[MOST_LEVELS], y[MOST_LEVELS], colour[MOST_LEVELS], facet[MOST_LEVELS];
  sort_levels(&data->x, x), sort_levels(&data->y, y);
  sort_levels(&data->colour, colour), sort_levels(&data->facet, facet);
  for (rf_index k = 0; k < data->n_rows; k++) {
    PlotRow *row = &data->rows[k];
    row->x = x[row->x], row->y_level = y[row->y_level];
    row->colour = colour[row->colour], row->facet = facet[row->facet];
  }
}

/* ---- reading ---------------------------------------------------------------------------------- */

void plot_data_free(PlotData *data) {
  levels_free(&data->x), levels_free(&data->y);
  levels_free(&data->colour), levels_free(&data->facet);
  rf_free(data->rows);
}

/* The value is y, but in a heat map, where y is an axis and the colour the value. */
static RfStatus prepare(RfContext *context, const SweepStore *store, const SweepPlotWish *wish,
                        sqlite3_stmt **rows) {
  bool heat = wish->kind == SWEEP_PLOT_HEAT;
  const char *const axes[] = {wish->x, heat ? wish->y : NULL, heat ? NULL : wish->colour, wish->facet};
  static const char *const flags[] = {"--x", "--y", "--color", "--facet"};
  RfText sql = {0};
  rf_text_add(&sql, "SELECT ");
  add_expression(&sql, store, heat ? wish->colour : wish->y, true);
  for (int k = 0; k < 4; k++) {
    rf_text_add(&sql, ", ");
    if (axes[k])
      add_expression(&sql, store, axes[k], false);
    else
      rf_text_add(&sql, "''");
  }
  rf_text_add(&sql, ", status IN ('holds','does-not-hold') FROM cells");
  if (wish->where) {
    rf_text_add(&sql, " WHERE ");
    add_expression(&sql, store, wish->where, false);
  }
  RfStatus status = sql.failed ? sweep_out_of_memory(context) : RF_OK;
  if (!status && sqlite3_prepare_v2(store->database, sql.data, -1, rows, NULL) != SQLITE_OK) {
    const char *wrong = heat ? wish->colour : wish->y, *flag = heat ? "--color" : "--y";
    for (int k = 0; k < 4; k++) { /* which of them is it? */
      RfText one = {0};
      sqlite3_stmt *alone = NULL;
      rf_text_add(&one, "SELECT ");
      if (axes[k]) add_expression(&one, store, axes[k], false);
      rf_text_add(&one, " FROM cells");
      if (axes[k] && !one.failed &&
          sqlite3_prepare_v2(store->database, one.data, -1, &alone, NULL) != SQLITE_OK)
        wrong = axes[k], flag = flags[k];
      sqlite3_finalize(alone);
      rf_text_free(&one);
    }
    sqlite3_stmt *again = NULL; /* for the message of the whole */
    sqlite3_prepare_v2(store->database, sql.data, -1, &again, NULL);
    status = rf_fail(context, RF_ERR_USAGE, "%s %s: %s", flag, wrong, sqlite3_errmsg(store->database));
    sqlite3_finalize(again);
  }
  rf_text_free(&sql);
  return status;
}

static bool add_row(PlotData *data, sqlite3_stmt *row) {
  if (data->n_rows == data->capacity) {
    rf_index capacity = data->capacity ? 2 * data->capacity : 256;
    PlotRow *rows = rf_resize(data->rows, capacity, sizeof *rows);
    if (!rows) return false;
    data->rows = rows, data->capacity = capacity;
  }
  int type = sqlite3_column_type(row, 0);
  bool answer = sqlite3_column_int(row, 5) && (type == SQLITE_INTEGER || type == SQLITE_FLOAT);
  PlotRow new = {level_of(&data->x, row, 1), level_of(&data->y, row, 2), level_of(&data->colour, row, 3),
                 level_of(&data->facet, row, 4), answer ? sqlite3_column_double(row, 0) : NAN};
  data->proportion =
      data->proportion && (!answer || new.value == 0 || new.value == 1); /* NOLINT: exact marks */
  data->rows[data->n_rows++] = new;
  return new.x >= 0 && new.y_level >= 0 && new.colour >= 0 && new.facet >= 0;
}

RfStatus plot_data_new(RfContext *context, PlotData *data, const SweepStore *store,
                       const SweepPlotWish *wish) {
  sqlite3_stmt *row = NULL;
  memset(data, 0, sizeof *data);
  data->proportion = true;
  RfStatus status = prepare(context, store, wish, &row);
  int code = SQLITE_DONE;
  while (!status && (code = sqlite3_step(row)) == SQLITE_ROW)
    if (!add_row(data, row))
      status =
          rf_fail(context, RF_ERR_USAGE, "an axis, --color or --facet has more than %d values", MOST_LEVELS);
  if (!status && code != SQLITE_DONE) status = sweep_store_wrong(context, store);
  sqlite3_finalize(row);
  if (!status && data->n_rows == 0)
    status = rf_fail(context, RF_ERR_USAGE, "there are no such cells to draw");
  if (!status && wish->kind != SWEEP_PLOT_HEAT && data->colour.count > 8)
    status = rf_fail(context, RF_ERR_USAGE, "--color %s: %lld values, and there are 8 colours", wish->colour,
                     (long long)data->colour.count);
  if (!status && data->facet.count > 12)
    status = rf_fail(context, RF_ERR_USAGE, "--facet %s: %lld values; at most 12 panels", wish->facet,
                     (long long)data->facet.count);
  if (!status) sort_all_levels(data);
  return status;
}

/* ---- groups ----------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

static double quantile(const double *sorted, rf_index count, double share) {
  double at = share * (double)(count - 1);
  rf_index below = (rf_index)floor(at), above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

/* Shares: what has no answer may be a yes or a no, so the interval reaches from the low end for all no to the
 * high end for all yes. */
static void set_share(Group *group, const double *values, rf_index count) {
  rf_index yes = 0;
  for (rf_index k = 0; k < count; k++) yes += values[k] > 0.5;
  group->middle = (double)yes / (double)count;
  group->low = sweep_interval_low(yes, group->n);
  group->high = sweep_interval_high(yes + group->missing, group->n);
}

Group plot_group(const PlotData *data, rf_index x, rf_index y, rf_index colour, rf_index facet,
                 double *values, rf_index *n_values) {
  Group group = {0, 0, NAN, NAN, NAN};
  rf_index count = 0;
  for (rf_index k = 0; k < data->n_rows; k++) {
    const PlotRow *row = &data->rows[k];
    if ((x >= 0 && row->x != x) || (y >= 0 && row->y_level != y) || (colour >= 0 && row->colour != colour) ||
        (facet >= 0 && row->facet != facet))
      continue;
    group.n++;
    if (isnan(row->value))
      group.missing++;
    else
      values[count++] = row->value;
  }
  if (count > 1) qsort(values, (size_t)count, sizeof *values, ascending);
  if (count > 0 && data->proportion) {
    set_share(&group, values, count);
  } else if (count > 0) {
    group.low = quantile(values, count, 0.25);
    group.middle = quantile(values, count, 0.5);
    group.high = quantile(values, count, 0.75);
  }
  if (n_values) *n_values = count;
  return group;
}
