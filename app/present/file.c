/* Files that are never half written: a neighbour with a fresh name, flushed, then renamed over the target. */
#include "present/present.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int file, const char *data, size_t length) {
  while (length > 0) {
    ssize_t done = write(file, data, length);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    data += done;
    length -= (size_t)done;
  }
  return true;
}

static RfStatus refuse(RfContext *context, const char *path) {
  return rf_fail(context, RF_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
}

static RfStatus write_in_place(RfContext *context, const char *path, const char *data, size_t length) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return refuse(context, path);
  bool good = write_all(file, data, length);
  int saved = errno;
  good = close(file) == 0 && good;
  if (!good && saved) errno = saved;
  return good ? RF_OK : refuse(context, path);
}

RfStatus rf_file_write(RfContext *context, const char *path, const char *data, size_t length) {
  struct stat facts;
  bool exists = stat(path, &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) return rf_fail(context, RF_ERR_IO, "%s: is a directory", path);
  if (exists && !S_ISREG(facts.st_mode)) return write_in_place(context, path, data, length);
  RfText beside = {0};
  rf_text_addf(&beside, "%s.part-%ld", path, (long)getpid());
  if (beside.failed) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  RfStatus status = RF_OK;
  int file = open(beside.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    status = refuse(context, path);
  } else {
    bool good = write_all(file, data, length);
    good = fsync(file) == 0 && good; /* a full disk may speak up only here */
    good = close(file) == 0 && good;
    if (good && exists) (void)chmod(beside.data, facts.st_mode & 07777);
    if (!good || rename(beside.data, path) != 0) {
      status = refuse(context, path);
      unlink(beside.data);
    }
  }
  rf_text_free(&beside);
  return status;
}
