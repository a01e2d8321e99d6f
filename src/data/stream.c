/* Bytes from a file, standard input or memory, with gzip undone on the way. */
#include "data/data_internal.h"
#include "core/core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define PACKED_SIZE 65536

/* ---- messages -------------------------------------------------------------------------------- */

const char *rf_shown(char out[RF_SHOWN_SIZE], const char *text, size_t length) {
  size_t room = RF_SHOWN_SIZE - 4, used = length < room ? length : room;
  for (size_t k = 0; k < used; k++) {
    unsigned char c = (unsigned char)text[k];
    out[k] = c < 0x20 || c == 0x7f ? '?' : (char)c;
  }
  memcpy(out + used, length > room ? "..." : "", length > room ? 4 : 1);
  return out;
}

/* Paths of up to 240 characters are shown in full, longer ones by their end. */
static void show_name(char out[260], const char *name) {
  size_t length = strlen(name), start = length > 240 ? length - 237 : 0;
  size_t used = (size_t)rf_format(out, 260, "%s%s", start ? "..." : "", name + start);
  for (size_t k = 0; k < used; k++) {
    if ((unsigned char)out[k] < 0x20) out[k] = '?';
  }
}

RfStatus rf_fail_at(RfContext *context, const char *name, int64_t line, int64_t column, const char *format,
                    ...) {
  char shown[260], text[RF_ERROR_SIZE];
  va_list arguments;
  va_start(arguments, format);
  rf_format_list(text, sizeof text, format, arguments);
  va_end(arguments);
  show_name(shown, name);
  return rf_fail(context, RF_ERR_INPUT, "%s:%lld:%lld: %s", shown, (long long)line, (long long)column, text);
}

RfStatus rf_fail_offset(RfContext *context, const char *name, int64_t offset, const char *format, ...) {
  char shown[260], text[RF_ERROR_SIZE];
  va_list arguments;
  va_start(arguments, format);
  rf_format_list(text, sizeof text, format, arguments);
  va_end(arguments);
  show_name(shown, name);
  return rf_fail(context, RF_ERR_INPUT, "%s: offset %lld: %s", shown, (long long)offset, text);
}

static RfStatus fail_system(RfContext *context, const char *name, const char *what) {
  char shown[260];
  show_name(shown, name);
  return rf_fail(context, RF_ERR_IO, "%s: %s", shown, what);
}

/* ---- raw bytes ------------------------------------------------------------------------------- */

static RfStatus read_raw(RfContext *context, RfStream *stream, unsigned char *out, size_t want, size_t *got) {
  *got = 0;
  if (stream->raw_left >= 0) {
    if ((uint64_t)stream->raw_left < want) want = (size_t)stream->raw_left;
    stream->raw_left -= (int64_t)want;
  }
  if (stream->fd < 0) {
    size_t left = stream->memory_size - stream->memory_at;
    *got = want < left ? want : left;
    if (*got > 0) memcpy(out, stream->memory + stream->memory_at, *got);
    stream->memory_at += *got;
    return RF_OK;
  }
  while (*got < want) {
    ssize_t count = read(stream->fd, out + *got, want - *got);
    if (count == 0) break;
    if (count < 0 && errno == EINTR) {
      if (rf_context_stop(context)) return rf_fail(context, RF_INTERRUPTED, "interrupted");
      continue;
    }
    if (count < 0) return fail_system(context, stream->name, strerror(errno));
    *got += (size_t)count;
  }
  return RF_OK;
}

/* One gzip file may be several members one after the other. */
static RfStatus read_inflated(RfContext *context, RfStream *stream, unsigned char *out, size_t want,
                              size_t *got) {
  z_stream *z = stream->inflater;
  *got = 0;
  while (*got < want && !stream->ended) {
    if (z->avail_in == 0) {
      size_t count;
      RfStatus status = read_raw(context, stream, stream->packed, PACKED_SIZE, &count);
      if (status) return status;
      if (count == 0)
        return rf_fail_offset(context, stream->name, stream->taken, "compressed data stop too early");
      z->next_in = stream->packed, z->avail_in = (uInt)count;
    }
    size_t room = want - *got < (size_t)1 << 30 ? want - *got : (size_t)1 << 30;
    z->next_out = out + *got, z->avail_out = (uInt)room;
    int code = inflate(z, Z_NO_FLUSH);
    *got += room - z->avail_out;
    if (code == Z_MEM_ERROR) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return rf_fail_offset(context, stream->name, stream->taken, "damaged gzip data");
    }
    if (code != Z_STREAM_END) continue;
    if (z->avail_in == 0) {
      size_t count;
      RfStatus status = read_raw(context, stream, stream->packed, PACKED_SIZE, &count);
      if (status) return status;
      z->next_in = stream->packed, z->avail_in = (uInt)count;
    }
    if (stream->summed || z->avail_in == 0 || z->next_in[0] != 0x1f)
      stream->ended = true; /* padding behind the last member */
    else
      inflateReset(z);
  }
  return RF_OK;
}

RfStatus rf_stream_read(RfContext *context, RfStream *stream, void *out, size_t want, size_t *got) {
  unsigned char *bytes = out;
  size_t left = stream->head_size - stream->head_at, first = want < left ? want : left, rest = 0;
  if (first > 0) memcpy(bytes, stream->head + stream->head_at, first);
  stream->head_at += first;
  RfStatus status = RF_OK;
  if (first < want) {
    status = stream->inflater ? read_inflated(context, stream, bytes + first, want - first, &rest)
                              : read_raw(context, stream, bytes + first, want - first, &rest);
  }
  *got = first + rest;
  stream->taken += (int64_t)*got;
  if (stream->summed) stream->checksum = crc32_z(stream->checksum, bytes, *got);
  return status;
}

/* ---- opening --------------------------------------------------------------------------------- */

static RfStatus start_inflater(RfContext *context, RfStream *stream, int window_bits) {
  z_stream *z = (z_stream *)rf_alloc(1, sizeof *z);
  stream->packed = (unsigned char *)rf_alloc(PACKED_SIZE, 1);
  int code = z && stream->packed ? inflateInit2(z, window_bits) : Z_OK;
  if (code == Z_VERSION_ERROR) { /* a build without zlib, or with another one than it was made for */
    rf_free(z);
    return rf_fail(context, RF_ERR_IO, "%.200s is compressed, which this build cannot undo", stream->name);
  }
  if (!z || !stream->packed || code != Z_OK) {
    rf_free(z);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %.200s", stream->name);
  }
  stream->inflater = z;
  return RF_OK;
}

/* Looks at the first bytes; when they are a gzip header they go to the inflater, and the head is what comes
 * out. */
static RfStatus fill_head(RfContext *context, RfStream *stream) {
  RfStatus status = read_raw(context, stream, stream->head, RF_STREAM_HEAD, &stream->head_size);
  if (status || stream->head_size < 2 || stream->head[0] != 0x1f || stream->head[1] != 0x8b) return status;
  stream->file_size = -1;
  status = start_inflater(context, stream, 15 + 16); /* with a gzip header */
  if (status) return status;
  z_stream *z = stream->inflater;
  memcpy(stream->packed, stream->head, stream->head_size);
  z->next_in = stream->packed, z->avail_in = (uInt)stream->head_size;
  stream->head_size = 0;
  size_t got;
  status = read_inflated(context, stream, stream->head, RF_STREAM_HEAD, &got);
  if (!status) stream->head_size = got;
  return status;
}

RfStatus rf_stream_open(RfContext *context, RfStream *stream, const char *path) {
  memset(stream, 0, sizeof *stream);
  bool standard = strcmp(path, "-") == 0;
  stream->name = standard ? "<stdin>" : path;
  stream->file_size = -1, stream->raw_left = -1;
  stream->owned = !standard;
  stream->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (stream->fd < 0) return fail_system(context, path, strerror(errno));
  struct stat about;
  if (fstat(stream->fd, &about) == 0) {
    if (S_ISDIR(about.st_mode)) return fail_system(context, path, "is a directory");
    if (S_ISREG(about.st_mode) && !standard) stream->file_size = about.st_size;
  }
  return fill_head(context, stream);
}

RfStatus rf_stream_open_memory(RfContext *context, RfStream *stream, const char *name, const void *bytes,
                               size_t size) {
  memset(stream, 0, sizeof *stream);
  stream->name = name, stream->fd = -1, stream->raw_left = -1;
  stream->memory = bytes, stream->memory_size = size, stream->file_size = (int64_t)size;
  return fill_head(context, stream);
}

RfStatus rf_stream_open_member(RfContext *context, RfStream *stream, const char *name, int fd,
                               const void *memory, int64_t offset, int64_t packed, int64_t size,
                               bool deflated) {
  memset(stream, 0, sizeof *stream);
  stream->name = name, stream->fd = fd;
  stream->file_size = size, stream->raw_left = packed;
  stream->summed = true;
  if (fd < 0) {
    stream->memory = (const unsigned char *)memory + offset;
    stream->memory_size = (size_t)packed;
  } else if (lseek(fd, offset, SEEK_SET) < 0) {
    return fail_system(context, name, strerror(errno));
  }
  return deflated ? start_inflater(context, stream, -15) : RF_OK; /* without any header */
}

void rf_stream_close(RfStream *stream) {
  if (!stream) return;
  if (stream->inflater) inflateEnd(stream->inflater);
  rf_free(stream->inflater);
  rf_free(stream->packed);
  if (stream->owned && stream->fd >= 0) close(stream->fd);
  memset(stream, 0, sizeof *stream);
  stream->fd = -1;
}

RfStatus rf_stream_slurp(RfContext *context, RfStream *stream, unsigned char **bytes, size_t *size,
                         int64_t limit) {
  if (limit > PTRDIFF_MAX - 1) limit = PTRDIFF_MAX - 1; /* a size_t may have 32 bits */
  size_t capacity = 65536, got;
  if (stream->file_size > 0) capacity = (size_t)(stream->file_size < limit ? stream->file_size : limit) + 1;
  unsigned char *block = NULL;
  *bytes = NULL, *size = 0;
  for (;;) {
    if ((int64_t)capacity > limit) capacity = (size_t)limit + 1;
    unsigned char *larger = (unsigned char *)rf_resize(block, (rf_index)capacity, 1);
    if (!larger) {
      rf_free(block);
      return rf_fail(context, RF_ERR_MEMORY, "out of memory for %s", stream->name);
    }
    block = larger;
    RfStatus status = rf_stream_read(context, stream, block + *size, capacity - *size, &got);
    *size += got;
    if (!status && (int64_t)*size > limit) {
      status = rf_fail(context, RF_ERR_USAGE, "%s: more than the memory limit of %lld bytes (--memory)",
                       stream->name, (long long)limit);
    }
    if (status) {
      rf_free(block);
      return status;
    }
    if (*size < capacity) break;
    capacity += capacity / 2;
  }
  *bytes = block;
  return RF_OK;
}
