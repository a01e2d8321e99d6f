/* Files that appear whole or not at all: bytes go to a new file beside the wanted one, which is renamed at
 * the end. */
#include "data/data_internal.h"
#include "core/core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SINK_BUFFER ((size_t)1 << 18)

static RfStatus fail_sink(RfContext *context, const RfSink *sink, int code) {
  return rf_fail(context, RF_ERR_IO, "%.200s: cannot write: %s", sink->path, strerror(code));
}

/* Devices and pipes are written to directly, they cannot be replaced. */
static int open_beside(RfSink *sink) {
  struct stat about;
  size_t room = strlen(sink->path) + 40;
  bool exists = stat(sink->path, &about) == 0;
  if (exists && !S_ISREG(about.st_mode)) return open(sink->path, O_WRONLY | O_CLOEXEC);
  if (exists) sink->mode = about.st_mode & 07777;
  for (int attempt = 0; attempt < 100; attempt++) {
    rf_format(sink->beside, room, "%s.%ld.%d.part", sink->path, (long)getpid(), attempt);
    int fd = open(sink->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

RfStatus rf_sink_open(RfContext *context, RfSink *sink, const char *path) {
  memset(sink, 0, sizeof *sink);
  sink->path = path, sink->fd = -1;
  sink->beside = (char *)rf_alloc((rf_index)strlen(path) + 40, 1);
  sink->buffer = (char *)rf_resize(NULL, (rf_index)SINK_BUFFER, 1);
  if (!sink->beside || !sink->buffer) {
    rf_sink_close(context, sink, RF_ERR_MEMORY);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %.200s", path);
  }
  sink->fd = open_beside(sink);
  if (sink->fd >= 0) return RF_OK;
  int code = errno;
  sink->beside[0] = 0;
  RfStatus status = fail_sink(context, sink, code);
  return rf_sink_close(context, sink, status);
}

static void flush(RfSink *sink) {
  for (size_t done = 0; done < sink->used && !sink->error;) {
    ssize_t count = write(sink->fd, sink->buffer + done, sink->used - done);
    if (count >= 0)
      done += (size_t)count;
    else if (errno != EINTR)
      sink->error = errno;
  }
  sink->used = 0;
}

void rf_sink_write(RfSink *sink, const void *bytes, size_t size) {
  const char *from = bytes;
  sink->written += (int64_t)size;
  while (size > 0) {
    size_t room = SINK_BUFFER - sink->used, part = size < room ? size : room;
    memcpy(sink->buffer + sink->used, from, part);
    sink->used += part, from += part, size -= part;
    if (sink->used == SINK_BUFFER) flush(sink);
  }
}

void rf_sink_text(RfSink *sink, const char *text) { rf_sink_write(sink, text, strlen(text)); }

RfStatus rf_sink_close(RfContext *context, RfSink *sink, RfStatus status) {
  bool renames = sink->beside && sink->beside[0];
  if (sink->fd >= 0) {
    if (!status) flush(sink);
    if (!status && renames && !sink->error && fsync(sink->fd) != 0)
      sink->error = errno; /* a full disk may show here */
    if (sink->mode && renames) (void)fchmod(sink->fd, sink->mode);
    if (close(sink->fd) != 0 && !sink->error) sink->error = errno;
    if (!status && !sink->error && renames && rename(sink->beside, sink->path) != 0) sink->error = errno;
    if ((status || sink->error) && renames) unlink(sink->beside);
    if (!status && sink->error) status = fail_sink(context, sink, sink->error);
  }
  rf_free(sink->beside);
  rf_free(sink->buffer);
  memset(sink, 0, sizeof *sink);
  sink->fd = -1;
  return status;
}
