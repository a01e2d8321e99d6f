/* Lines of a stream, through one buffer that is refilled when it holds no complete line. */
#include "data/data_internal.h"

#include <string.h>

#define FIRST_CAPACITY ((size_t)1 << 20)
#define LONGEST_LINE   ((size_t)1 << 29)

RfStatus rf_lines_open(RfContext *context, RfLines *lines, RfStream *stream) {
  memset(lines, 0, sizeof *lines);
  lines->stream = stream;
  lines->capacity = FIRST_CAPACITY;
  if (stream->file_size >= 0 && stream->file_size < (int64_t)FIRST_CAPACITY - 2) {
    lines->capacity = (size_t)stream->file_size + 2;
  }
  lines->buffer = (char *)rf_resize(NULL, (rf_index)lines->capacity, 1);
  if (!lines->buffer) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %s", stream->name);
  if (stream->head_size >= 3 && memcmp(stream->head, "\xef\xbb\xbf", 3) == 0) { /* byte order mark of UTF-8 */
    size_t got;
    return rf_stream_read(context, stream, lines->buffer, 3, &got);
  }
  if (stream->head_size >= 2 &&
      (memcmp(stream->head, "\xff\xfe", 2) == 0 || memcmp(stream->head, "\xfe\xff", 2) == 0)) {
    return rf_fail_at(context, stream->name, 1, 1, "expected UTF-8 text, found UTF-16");
  }
  return RF_OK;
}

void rf_lines_close(RfLines *lines) {
  rf_free(lines->buffer);
  lines->buffer = NULL;
}

/* Moves the started line to the front, doubles the buffer when that line fills it, and reads on. One byte
 * stays free for the line end that the last line may lack. */
static RfStatus refill(RfContext *context, RfLines *lines) {
  if (rf_context_stop(context)) return rf_fail(context, RF_INTERRUPTED, "interrupted while reading");
  size_t kept = lines->end - lines->begin;
  if (kept > 0 && lines->begin > 0) memmove(lines->buffer, lines->buffer + lines->begin, kept);
  lines->begin = 0, lines->end = kept;
  if (kept + 1 >= lines->capacity) {
    if (lines->capacity >= LONGEST_LINE) {
      return rf_fail_at(context, lines->stream->name, lines->number + 1, 1, "expected lines below 512 MiB");
    }
    char *larger = (char *)rf_resize(lines->buffer, (rf_index)(2 * lines->capacity), 1);
    if (!larger) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %s", lines->stream->name);
    lines->buffer = larger, lines->capacity *= 2;
  }
  size_t want = lines->capacity - 1 - kept, got;
  RfStatus status = rf_stream_read(context, lines->stream, lines->buffer + kept, want, &got);
  if (status) return status;
  lines->end += got;
  lines->ended = got < want;
  if (lines->stream->file_size > 0) {
    rf_progress(context, "read", (double)lines->stream->taken / (double)lines->stream->file_size, "");
  }
  return RF_OK;
}

RfStatus rf_lines_next(RfContext *context, RfLines *lines, const char **text, const char **limit) {
  char *start, *stop = NULL;
  size_t searched = 0;
  *text = *limit = NULL;
  for (;;) {
    size_t left = lines->end - lines->begin;
    start = lines->buffer + lines->begin;
    if (left > searched) stop = memchr(start + searched, '\n', left - searched);
    if (stop) break;
    if (lines->ended) {
      if (left == 0) return RF_OK;
      stop = start + left; /* the last line, without its end */
      *stop = '\n';
      break;
    }
    searched = left;
    RfStatus status = refill(context, lines);
    if (status) return status;
  }
  lines->number++;
  lines->consumed += stop - start + 1;
  lines->begin = (size_t)(stop - lines->buffer) + 1;
  if (lines->begin > lines->end) lines->begin = lines->end;
  *text = start, *limit = stop > start && stop[-1] == '\r' ? stop - 1 : stop;
  return RF_OK;
}
