/* LIBSVM text, "label index:value index:value ...", indices from 1 and ascending, into a dense matrix.
 *
 * The number of columns is the largest index, known only at the end. When the file can be read twice, a first
 * sweep looks at the last index of every line (at the speed of memchr) and the matrix has its final shape at
 * once; else the rows that are there are widened when a larger index appears, by at least an eighth each
 * time, and packed at the end. */
#include "data/data_internal.h"
#include "core/core.h"

#include <string.h>
#include <unistd.h>

#define SWEEP_SIZE    ((size_t)1 << 20)
#define LARGEST_INDEX ((rf_index)1 << 48)

typedef struct SvmReader {
  RfContext *context;
  const char *name;
  RfLines lines;
  RfMatrix matrix;
  RfLabels labels;
  rf_index width;    /* largest index so far */
  rf_index expected; /* rows, from the first sweep */
  rf_index *indices; /* entries of the current row */
  double *values;
  rf_index count, capacity;
} SvmReader;

static inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* ---- first sweep ----------------------------------------------------------------------------- */

typedef struct Sweep {
  rf_index rows, width;
} Sweep;

/* The line counts as a row when it has content; its last "index:" is the largest. */
static void sweep_line(Sweep *sweep, const char *line, const char *limit) {
  const char *comment = memchr(line, '#', (size_t)(limit - line));
  if (comment) limit = comment;
  while (limit > line && is_blank(limit[-1])) limit--;
  if (limit == line) return;
  sweep->rows++;
  const char *p = limit;
  while (p > line && p[-1] != ':' && !is_blank(p[-1])) p--;
  if (p == line || p[-1] != ':') return;
  const char *digits = --p;
  while (digits > line && digits[-1] >= '0' && digits[-1] <= '9') digits--;
  if (p - digits > 15) return;
  rf_index index = 0;
  for (; digits < p; digits++) index = index * 10 + (*digits - '0');
  if (index > sweep->width) sweep->width = index;
}

/* Whole lines of [text, text+size); returns how many bytes were used. */
static size_t sweep_lines(Sweep *sweep, const char *text, size_t size) {
  const char *p = text, *limit = text + size, *stop;
  while (p < limit && (stop = memchr(p, '\n', (size_t)(limit - p))) != NULL) {
    sweep_line(sweep, p, stop);
    p = stop + 1;
  }
  return (size_t)(p - text);
}

/* Through the file by position, so that the stream does not move. False when it cannot be read that way. */
static bool sweep_file(RfContext *context, Sweep *sweep, const RfStream *stream) {
  char *buffer = (char *)rf_resize(NULL, (rf_index)SWEEP_SIZE, 1);
  int64_t offset = 0;
  size_t kept = 0;
  ssize_t got = buffer ? 1 : -1;
  while (got > 0 && kept < SWEEP_SIZE && !rf_context_stop(context)) {
    got = pread(stream->fd, buffer + kept, SWEEP_SIZE - kept, offset);
    if (got <= 0) break;
    offset += got;
    size_t size = kept + (size_t)got, used = sweep_lines(sweep, buffer, size);
    kept = size - used;
    memmove(buffer, buffer + used, kept);
  }
  if (got == 0 && kept > 0) sweep_line(sweep, buffer, buffer + kept);
  rf_free(buffer);
  return got == 0;
}

static RfStatus first_sweep(SvmReader *reader, const RfStream *stream) {
  Sweep sweep = {0, 0};
  bool whole = false;
  if (stream->inflater || stream->file_size < 0) return RF_OK;
  if (stream->fd >= 0) {
    whole = sweep_file(reader->context, &sweep, stream);
  } else {
    size_t used = sweep_lines(&sweep, (const char *)stream->memory, stream->memory_size);
    if (used < stream->memory_size) {
      sweep_line(&sweep, (const char *)stream->memory + used,
                 (const char *)stream->memory + stream->memory_size);
    }
    whole = true;
  }
  if (!whole) return RF_OK;
  reader->expected = sweep.rows;
  reader->matrix.columns = sweep.width;
  return rf_matrix_check(reader->context, &reader->matrix, reader->name, sweep.rows, sweep.width);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static RfStatus fail_text(const SvmReader *reader, const char *line, const char *at, const char *limit,
                          const char *what) {
  const char *stop = at;
  char shown[RF_SHOWN_SIZE];
  while (stop < limit && !is_blank(*stop) && stop - at < 40) stop++;
  rf_shown(shown, at, (size_t)(stop - at));
  return rf_fail_at(reader->context, reader->name, reader->lines.number, at - line + 1,
                    "expected %s, found '%s'", what, shown);
}

static RfStatus take_label(SvmReader *reader, const char *line, const char **at, const char *limit) {
  const char *stop = *at, *end;
  double value;
  RfNumberKind kind = rf_number_parse(&value, &end, *at, limit);
  while (stop < limit && !is_blank(*stop)) stop++;
  if (kind != RF_NUMBER_FINITE || end != stop)
    return fail_text(reader, line, *at, limit, "a finite number as label");
  RfStatus status = rf_labels_add(reader->context, &reader->labels, *at, (size_t)(stop - *at));
  *at = stop;
  if (status != RF_LIMIT) return status;
  return fail_text(reader, line, line, limit, "at most 65536 different labels");
}

static RfStatus keep_entry(SvmReader *reader, rf_index index, double value) {
  if (reader->count == reader->capacity) {
    rf_index capacity = 2 * reader->capacity + 64;
    rf_index *indices = (rf_index *)rf_resize(reader->indices, capacity, sizeof *indices);
    if (indices) reader->indices = indices;
    double *values = (double *)rf_resize(reader->values, capacity, sizeof *values);
    if (values) reader->values = values;
    if (!indices || !values)
      return rf_fail(reader->context, RF_ERR_MEMORY, "out of memory for %s", reader->name);
    reader->capacity = capacity;
  }
  reader->indices[reader->count] = index - 1;
  reader->values[reader->count++] = value;
  return RF_OK;
}

/* index:value at *at, the index above `last`. */
static RfStatus take_entry(SvmReader *reader, rf_index *last, const char *line, const char **at,
                           const char *limit) {
  const char *p = *at, *end;
  rf_index index = 0;
  double value;
  while (p < limit && *p >= '0' && *p <= '9' && index < LARGEST_INDEX) index = index * 10 + (*p++ - '0');
  if (p == *at || p == limit || *p != ':') return fail_text(reader, line, *at, limit, "index:value");
  if (index < 1 || index > LARGEST_INDEX) return fail_text(reader, line, *at, limit, "an index of 1 or more");
  if (index <= *last) return fail_text(reader, line, *at, limit, "ascending indices");
  p++;
  RfNumberKind kind = rf_number_parse(&value, &end, p, limit);
  if (kind != RF_NUMBER_FINITE || (end < limit && !is_blank(*end))) {
    return fail_text(reader, line, p, limit, "a finite number behind the colon");
  }
  *last = index, *at = end;
  return keep_entry(reader, index, value);
}

static RfStatus store_row(SvmReader *reader) {
  RfMatrix *matrix = &reader->matrix;
  RfStatus status = RF_OK;
  if (reader->width > matrix->columns) {
    rf_index wide = matrix->rows > 0 ? matrix->columns + matrix->columns / 8 : 0;
    status =
        rf_matrix_widen(reader->context, matrix, reader->name, reader->width > wide ? reader->width : wide);
  }
  if (!status) status = rf_matrix_make_room(reader->context, matrix, reader->name, reader->expected);
  if (status) return status;
  double *row = matrix->values + matrix->rows * matrix->columns;
  memset(row, 0, (size_t)matrix->columns * sizeof *row);
  for (rf_index k = 0; k < reader->count; k++) row[reader->indices[k]] = reader->values[k];
  matrix->rows++;
  return RF_OK;
}

static RfStatus read_line(SvmReader *reader, const char *line, const char *limit) {
  const char *comment = memchr(line, '#', (size_t)(limit - line)), *p = line;
  if (comment) limit = comment;
  while (p < limit && is_blank(*p)) p++;
  if (p == limit) return RF_OK;
  rf_index last = 0;
  reader->count = 0;
  RfStatus status = take_label(reader, line, &p, limit);
  while (!status) {
    while (p < limit && is_blank(*p)) p++;
    if (p == limit) break;
    if (limit - p > 4 &&
        memcmp(p, "qid:", 4) == 0) { /* the query number of ranking files says nothing here */
      while (p < limit && !is_blank(*p)) p++;
      continue;
    }
    status = take_entry(reader, &last, line, &p, limit);
  }
  if (last > reader->width) reader->width = last;
  return status ? status : store_row(reader);
}

/* ---- the file -------------------------------------------------------------------------------- */

static RfStatus read_lines(SvmReader *reader) {
  const char *line, *limit;
  RfStatus status;
  while (!(status = rf_lines_next(reader->context, &reader->lines, &line, &limit)) && line) {
    status = read_line(reader, line, limit);
    if (status) return status;
  }
  if (status) return status;
  int64_t behind = reader->lines.number + 1;
  if (reader->matrix.rows == 0)
    return rf_fail_at(reader->context, reader->name, behind, 1, "expected rows, found none");
  if (reader->width == 0)
    return rf_fail_at(reader->context, reader->name, behind, 1, "expected at least one index:value");
  return RF_OK;
}

/* Columns behind the largest index go. */
static void pack_rows(SvmReader *reader) {
  RfMatrix *matrix = &reader->matrix;
  rf_index old = matrix->columns, width = reader->width;
  for (rf_index i = 1; i < matrix->rows && width < old; i++) {
    memmove(matrix->values + i * width, matrix->values + i * old, (size_t)width * sizeof(double));
  }
  matrix->columns = width;
  rf_matrix_trim(matrix);
}

RfStatus rf_libsvm_read(RfContext *context, RfDataset *dataset, RfStream *stream,
                        const RfDataSource *source) {
  SvmReader reader = {.context = context, .name = stream->name};
  reader.matrix.memory_limit = rf_data_memory_limit(source);
  RfStatus status = first_sweep(&reader, stream);
  if (!status) status = rf_lines_open(context, &reader.lines, stream);
  if (!status) status = read_lines(&reader);
  rf_lines_close(&reader.lines);
  rf_free(reader.indices);
  rf_free(reader.values);
  if (!status) {
    pack_rows(&reader);
    dataset->X = reader.matrix.values, dataset->n = reader.matrix.rows, dataset->d = reader.matrix.columns;
    reader.matrix.values = NULL;
    status = rf_labels_finish(context, dataset, &reader.labels);
  }
  rf_free(reader.matrix.values);
  rf_labels_free(&reader.labels);
  return status;
}
