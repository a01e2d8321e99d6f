/* Comma, tab, semicolon or blank separated numbers with one label column. One pass, one line at a time.
 *
 * The separator is the first of comma, tab, semicolon, blank that occurs in the first line outside quotes (a
 * .tsv file asks for tab first). Empty lines and lines that start with # are skipped. The first row is a
 * header when a cell outside the label column is a text; when only the label cell is a text, it is a header
 * when the label below it is a number, when the other cells just count 0, 1, 2, ..., or when it says "label"
 * or the like. Cells may stand in double quotes, "" inside is one quote. A separator at the end of the first
 * row may stand at the end of every row. */
#include "data/data_internal.h"
#include "core/core.h"

#include <stdlib.h>
#include <string.h>

typedef struct CsvReader {
  RfContext *context;
  const char *name;
  RfLines lines;
  char separator; /* ' ' = any run of blanks */
  bool trailing;  /* the first row ends with a separator */
  rf_index columns, label;
  RfMatrix matrix;
  RfLabels labels;
  char *scratch; /* a quoted cell without its quotes */
  size_t scratch_size;
} CsvReader;

typedef struct CsvCell {
  const char *start; /* where it stands in the line */
  const char
      *text; /* content, without blanks around and quotes; text[length] is readable and ends a number */
  size_t length;
} CsvCell;

static inline bool is_blank(const CsvReader *reader, char c) {
  return c == ' ' || (c == '\t' && reader->separator != '\t');
}

static inline const char *skip_blanks(const CsvReader *reader, const char *p, const char *limit) {
  while (p < limit && is_blank(reader, *p)) p++;
  return p;
}

static RfStatus fail_cell(const CsvReader *reader, const char *line, const char *at, const char *what) {
  return rf_fail_at(reader->context, reader->name, reader->lines.number, at - line + 1, "%s", what);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static RfStatus take_quoted(CsvReader *reader, CsvCell *cell, const char *line, const char **at,
                            const char *limit) {
  size_t need = (size_t)(limit - cell->start) + 1;
  if (reader->scratch_size < need) {
    char *larger = (char *)rf_resize(reader->scratch, (rf_index)need, 1);
    if (!larger) return rf_fail(reader->context, RF_ERR_MEMORY, "out of memory for %s", reader->name);
    reader->scratch = larger, reader->scratch_size = need;
  }
  const char *p = cell->start + 1;
  size_t length = 0;
  for (;; p++) {
    if (p == limit) return fail_cell(reader, line, cell->start, "expected a closing quote on the same line");
    if (*p == '"') {
      if (p[1] != '"') break;
      p++;
    }
    reader->scratch[length++] = *p;
  }
  reader->scratch[length] = 0;
  cell->text = reader->scratch, cell->length = length;
  *at = p + 1;
  return RF_OK;
}

/* The cell at *at; afterwards *at is its separator or the end of the line (for blanks, the next cell). */
static RfStatus take_cell(CsvReader *reader, CsvCell *cell, const char *line, const char **at,
                          const char *limit) {
  const char *p = skip_blanks(reader, *at, limit), *stop;
  cell->start = p;
  if (p < limit && *p == '"') {
    RfStatus status = take_quoted(reader, cell, line, &p, limit);
    if (status) return status;
    stop = skip_blanks(reader, p, limit);
    bool ends = reader->separator == ' ' ? stop > p : stop < limit && *stop == reader->separator;
    if (stop < limit && !ends)
      return fail_cell(reader, line, stop, "expected a separator behind the closing quote");
    *at = stop;
    return RF_OK;
  }
  stop = p;
  if (reader->separator == ' ') {
    while (stop < limit && !is_blank(reader, *stop)) stop++;
  } else {
    stop = memchr(p, reader->separator, (size_t)(limit - p));
    if (!stop) stop = limit;
  }
  *at = reader->separator == ' ' ? skip_blanks(reader, stop, limit) : stop;
  while (stop > p && is_blank(reader, stop[-1])) stop--;
  cell->text = p, cell->length = (size_t)(stop - p);
  return RF_OK;
}

/* Says why a cell is not a finite number. */
static RfStatus fail_number(const CsvReader *reader, const CsvCell *cell, const char *line) {
  char shown[RF_SHOWN_SIZE];
  double value;
  int64_t column = cell->start - line + 1;
  if (cell->length == 0)
    return fail_cell(reader, line, cell->start, "expected a number, found an empty cell");
  const char *zero = memchr(cell->text, 0, cell->length);
  if (zero) return fail_cell(reader, line, cell->start, "expected text, found a NUL byte");
  rf_shown(shown, cell->text, cell->length < 40 ? cell->length : 40);
  RfNumberKind kind = rf_number_whole(&value, cell->text, cell->length);
  const char *what = kind == RF_NUMBER_NONFINITE  ? "expected a finite number"
                     : kind == RF_NUMBER_OVERFLOW ? "expected a number within the range of double"
                                                  : "expected a number";
  return rf_fail_at(reader->context, reader->name, reader->lines.number, column, "%s, found '%s'", what,
                    shown);
}

static RfStatus take_number_slowly(CsvReader *reader, double *value, const char *line, const char **at,
                                   const char *limit) {
  CsvCell cell;
  RfStatus status = take_cell(reader, &cell, line, at, limit);
  if (status) return status;
  if (rf_number_whole(value, cell.text, cell.length) == RF_NUMBER_FINITE) return RF_OK;
  return fail_number(reader, &cell, line);
}

static inline RfStatus take_number(CsvReader *reader, double *value, const char *line, const char **at,
                                   const char *limit) {
  const char *p = skip_blanks(reader, *at, limit), *end;
  if (rf_number_parse(value, &end, p, limit) == RF_NUMBER_FINITE) {
    const char *stop = skip_blanks(reader, end, limit);
    if (stop == limit || (reader->separator == ' ' ? stop > end : *stop == reader->separator)) {
      *at = stop;
      return RF_OK;
    }
  }
  return take_number_slowly(reader, value, line, at, limit);
}

static RfStatus take_label(CsvReader *reader, const char *line, const char **at, const char *limit) {
  CsvCell cell;
  double value;
  RfStatus status = take_cell(reader, &cell, line, at, limit);
  if (status) return status;
  if (cell.length == 0) return fail_cell(reader, line, cell.start, "expected a label, found an empty cell");
  if (memchr(cell.text, 0, cell.length)) return fail_number(reader, &cell, line);
  RfNumberKind kind = rf_number_whole(&value, cell.text, cell.length);
  if (kind == RF_NUMBER_NONFINITE || kind == RF_NUMBER_OVERFLOW) return fail_number(reader, &cell, line);
  status = rf_labels_add(reader->context, &reader->labels, cell.text, cell.length);
  if (status != RF_LIMIT) return status;
  return fail_cell(reader, line, cell.start,
                   "expected at most 65536 different labels; is this the label column (--label)?");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static RfStatus fail_ragged(const CsvReader *reader, const char *line, const char *at, rf_index found) {
  return rf_fail_at(reader->context, reader->name, reader->lines.number, at - line + 1,
                    found < reader->columns ? "expected %lld cells, found %lld"
                                            : "expected %lld cells, found more than %lld",
                    (long long)reader->columns, (long long)found);
}

static RfStatus read_row(CsvReader *reader, const char *line, const char *limit) {
  RfMatrix *matrix = &reader->matrix;
  if (matrix->rows == matrix->capacity) {
    int64_t size = reader->lines.stream->file_size;
    double share = (double)reader->lines.consumed / (double)(size > 0 ? size : 1);
    rf_index expected = size > 0 && matrix->rows > 0 ? (rf_index)((double)matrix->rows / share) : 0;
    RfStatus status = rf_matrix_make_room(reader->context, matrix, reader->name, expected);
    if (status) return status;
  }
  const char *p = skip_blanks(reader, line, limit);
  double *cell = matrix->values + matrix->rows * matrix->columns;
  for (rf_index column = 0; column < reader->columns; column++) {
    if (column > 0) {
      if (p == limit) return fail_ragged(reader, line, p, column);
      if (reader->separator != ' ') p++;
    }
    RfStatus status = column == reader->label ? take_label(reader, line, &p, limit)
                                              : take_number(reader, cell++, line, &p, limit);
    if (status) return status;
  }
  if (p < limit && !(reader->trailing && skip_blanks(reader, p + 1, limit) == limit)) {
    return fail_ragged(reader, line, p, reader->columns);
  }
  matrix->rows++;
  return RF_OK;
}

/* The next line that is neither blank nor a comment; *line is NULL at the end. */
static RfStatus next_row(CsvReader *reader, const char **line, const char **limit) {
  for (;;) {
    RfStatus status = rf_lines_next(reader->context, &reader->lines, line, limit);
    if (status || !*line) return status;
    const char *p = *line;
    while (p < *limit && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    if (p < *limit && *p != '#') return RF_OK;
  }
}

/* ---- the first row --------------------------------------------------------------------------- */

static char find_separator(const char *name, const char *line, const char *limit) {
  size_t length = strlen(name);
  bool tab_first = length >= 4 && rf_letters_equal(name + length - 4, ".tsv", 5);
  const char *order = tab_first ? "\t,;" : ",\t;";
  for (const char *separator = order; *separator; separator++) {
    bool quoted = false;
    for (const char *p = line; p < limit; p++) {
      if (*p == '"')
        quoted = !quoted;
      else if (*p == *separator && !quoted)
        return *separator;
    }
  }
  return ' ';
}

/* Number of cells, and whether an empty one ends the row. */
static RfStatus count_columns(CsvReader *reader, const char *line, const char *limit) {
  CsvCell cell = {0};
  const char *p = line;
  reader->columns = 0;
  for (;;) {
    RfStatus status = take_cell(reader, &cell, line, &p, limit);
    if (status) return status;
    reader->columns++;
    if (p == limit) break;
    if (reader->separator != ' ') p++;
  }
  if (reader->columns > 1 && cell.length == 0 && cell.start == limit && reader->separator != ' ') {
    reader->trailing = true;
    reader->columns--;
  }
  if (reader->columns >= 2) return RF_OK;
  return fail_cell(reader, line, line, "expected at least two columns, features and a label");
}

/* Column whose cell is `name` in the first row, -1 when there is none, -2 when there are two. */
static RfStatus find_name(CsvReader *reader, const char *name, const char *line, const char *limit,
                          rf_index *found) {
  CsvCell cell;
  const char *p = line;
  *found = -1;
  for (rf_index column = 0; column < reader->columns; column++) {
    RfStatus status = take_cell(reader, &cell, line, &p, limit);
    if (status) return status;
    if (cell.length == strlen(name) && memcmp(cell.text, name, cell.length) == 0)
      *found = *found == -1 ? column : -2;
    if (p < limit && reader->separator != ' ') p++;
  }
  return RF_OK;
}

/* --label: an index (from the end when negative) or a name. */
static RfStatus resolve_label(CsvReader *reader, const char *label, const char *line, const char *limit,
                              bool *by_name) {
  *by_name = false;
  reader->label = reader->columns - 1;
  if (!label) return RF_OK;
  size_t digits = strspn(label + (label[0] == '-'), "0123456789");
  if (digits > 0 && digits < 10 && label[digits + (label[0] == '-')] == 0) {
    rf_index index = strtol(label, NULL, 10);
    if (index < 0) index += reader->columns;
    reader->label = index;
    if (index >= 0 && index < reader->columns) return RF_OK;
  }
  RfStatus status = find_name(reader, label, line, limit, &reader->label);
  if (status) return status;
  *by_name = true;
  if (reader->label >= 0) return RF_OK;
  char shown[RF_SHOWN_SIZE];
  rf_shown(shown, label, strlen(label));
  return rf_fail(reader->context, RF_ERR_USAGE, "--label %s: %s in %.200s, which has %lld columns", shown,
                 reader->label == -2 ? "two columns have this name" : "no such column", reader->name,
                 (long long)reader->columns);
}

typedef struct FirstRow {
  bool feature_text; /* a cell outside the label column is a text */
  bool counts;       /* the cells outside the label column are 0, 1, 2, ... (three or more) */
  bool label_text;   /* the label cell is a text */
  bool label_word;   /* it says label, class, target or y */
} FirstRow;

static bool is_label_word(const CsvCell *cell) {
  static const char *const words[] = {"label", "labels", "class", "target", "y"};
  for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
    if (cell->length == strlen(words[k]) && rf_letters_equal(cell->text, words[k], cell->length)) return true;
  }
  return false;
}

/* Without --label: the first column, when the first row calls it, and no other, label, class, target or y.
 * (In the middle y may be a coordinate: x,y,kind.) */
static RfStatus find_label_word(CsvReader *reader, const char *line, const char *limit, bool *by_name) {
  CsvCell cell;
  const char *p = line;
  rf_index found = -1, count = 0;
  for (rf_index column = 0; column < reader->columns; column++) {
    RfStatus status = take_cell(reader, &cell, line, &p, limit);
    if (status) return status;
    if (is_label_word(&cell)) found = column, count++;
    if (p < limit && reader->separator != ' ') p++;
  }
  if (count != 1 || found != 0) return RF_OK;
  reader->label = found;
  *by_name = true;
  return RF_OK;
}

static RfStatus study_row(CsvReader *reader, FirstRow *row, const char *line, const char *limit) {
  CsvCell cell;
  const char *p = line;
  double value = 0;
  rf_index features = 0;
  *row = (FirstRow){.counts = true};
  for (rf_index column = 0; column < reader->columns; column++) {
    RfStatus status = take_cell(reader, &cell, line, &p, limit);
    if (status) return status;
    RfNumberKind kind = rf_number_whole(&value, cell.text, cell.length);
    bool text = cell.length > 0 && kind == RF_NUMBER_NONE;
    if (column == reader->label) {
      row->label_text = text;
      row->label_word = is_label_word(&cell);
    } else {
      row->feature_text |= text;
      row->counts &= kind == RF_NUMBER_FINITE && value == (double)features++;
    }
    if (p < limit && reader->separator != ' ')
      p++;
    else if (p == limit && column + 1 < reader->columns)
      break; /* a short row is reported when it is read */
  }
  row->counts &= features >= 3;
  return RF_OK;
}

/* Separator, columns, label column and header from the first row; `second` is NULL when there is no other
 * row. */
static RfStatus study_header(CsvReader *reader, const char *label, const char *line, const char *limit,
                             const char *second, const char *second_limit, bool *header) {
  bool by_name;
  FirstRow row, below = {0};
  reader->separator = find_separator(reader->name, line, limit);
  RfStatus status = count_columns(reader, line, limit);
  if (!status) status = resolve_label(reader, label, line, limit, &by_name);
  if (!status && !label) status = find_label_word(reader, line, limit, &by_name);
  if (!status) status = study_row(reader, &row, line, limit);
  if (status) return status;
  *header = by_name || row.feature_text;
  if (*header || !row.label_text || !second) return RF_OK;
  status = study_row(reader, &below, second, second_limit);
  *header = !below.label_text || row.counts || row.label_word;
  return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static RfStatus read_rows(CsvReader *reader, const char *label) {
  const char *line, *limit, *first_limit;
  char *first = NULL;
  bool header = false;
  RfStatus status = next_row(reader, &line, &limit);
  if (status) return status;
  if (!line)
    return rf_fail_at(reader->context, reader->name, reader->lines.number + 1, 1,
                      "expected rows, found none");
  int64_t first_number = reader->lines.number;
  size_t length = (size_t)(limit - line);
  first = (char *)rf_alloc((rf_index)length + 1, 1); /* the buffer moves on when the second row is read */
  if (!first) return rf_fail(reader->context, RF_ERR_MEMORY, "out of memory for %s", reader->name);
  memcpy(first, line, length);
  first[length] = '\n', first_limit = first + length;
  status = next_row(reader, &line, &limit);
  int64_t second_number = reader->lines.number;
  reader->lines.number = first_number;
  if (!status) status = study_header(reader, label, first, first_limit, line, limit, &header);
  reader->matrix.columns = reader->columns - 1;
  if (!status && !header) status = read_row(reader, first, first_limit);
  reader->lines.number = second_number;
  while (!status && line) {
    status = read_row(reader, line, limit);
    if (!status) status = next_row(reader, &line, &limit);
  }
  rf_free(first);
  if (!status && reader->matrix.rows == 0) {
    status = rf_fail_at(reader->context, reader->name, reader->lines.number + 1, 1,
                        "expected rows behind the header, found none");
  }
  return status;
}

RfStatus rf_csv_read(RfContext *context, RfDataset *dataset, RfStream *stream, const RfDataSource *source) {
  CsvReader reader = {.context = context, .name = stream->name};
  reader.matrix.memory_limit = rf_data_memory_limit(source);
  RfStatus status = rf_lines_open(context, &reader.lines, stream);
  if (!status) status = read_rows(&reader, source->label);
  rf_lines_close(&reader.lines);
  rf_free(reader.scratch);
  if (!status) {
    rf_matrix_trim(&reader.matrix);
    dataset->X = reader.matrix.values, dataset->n = reader.matrix.rows, dataset->d = reader.matrix.columns;
    reader.matrix.values = NULL;
    status = rf_labels_finish(context, dataset, &reader.labels);
  }
  rf_free(reader.matrix.values);
  rf_labels_free(&reader.labels);
  return status;
}
