/* Members of a zip archive, stored or deflated, with 64-bit sizes: what .npz files are. Only the central
 * directory at the end is trusted; checksums are compared. */
#include "data/data_internal.h"
#include "core/core.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define END_SIZE          22
#define END64_LOCATOR     20
#define END64_SIZE        56
#define ENTRY_SIZE        46
#define LOCAL_SIZE        30
#define LONGEST_END       (END_SIZE + 65535 + END64_LOCATOR)
#define LARGEST_DIRECTORY ((int64_t)1 << 26)

typedef struct ZipEntry {
  int method, flags;
  uint64_t checksum;
  int64_t packed, size, offset;
} ZipEntry;

static uint64_t little(const unsigned char *p, int bytes) {
  return (uint64_t)rf_item_value(p, (RfItemType){RF_ITEM_UNSIGNED, bytes < 4 ? bytes : 4, false}) |
         (bytes == 8 ? little(p + 4, 4) << 32 : 0);
}

static RfStatus read_at(RfContext *context, const RfZip *zip, void *out, int64_t offset, int64_t size) {
  if (offset < 0 || size < 0 || offset > zip->size || size > zip->size - offset) {
    return rf_fail_offset(context, zip->name, offset, "expected %lld bytes of a zip archive",
                          (long long)size);
  }
  if (zip->fd < 0) {
    if (size > 0) memcpy(out, zip->memory + offset, (size_t)size);
    return RF_OK;
  }
  for (int64_t done = 0; done < size;) {
    ssize_t got = pread(zip->fd, (char *)out + done, (size_t)(size - done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return rf_fail(context, RF_ERR_IO, "%.200s: %s", zip->name, strerror(errno));
    if (got == 0)
      return rf_fail_offset(context, zip->name, offset + done, "the file became shorter while it was read");
    done += got;
  }
  return RF_OK;
}

/* ---- directory ------------------------------------------------------------------------------- */

/* Offset and size of the central directory, from the end record in `end` (the last `size` bytes of the
 * archive). */
static RfStatus find_directory(RfContext *context, RfZip *zip, const unsigned char *end, int64_t size,
                               int64_t *offset) {
  int64_t at = size - END_SIZE;
  while (at >= 0 && memcmp(end + at, "PK\5\6", 4) != 0) at--;
  if (at < 0)
    return rf_fail_offset(context, zip->name, zip->size, "expected the end record of a zip archive");
  zip->directory_size = (int64_t)little(end + at + 12, 4);
  *offset = (int64_t)little(end + at + 16, 4);
  if (at < END64_LOCATOR || memcmp(end + at - END64_LOCATOR, "PK\6\7", 4) != 0) return RF_OK;
  unsigned char wide[END64_SIZE];
  int64_t wide_at = (int64_t)(little(end + at - END64_LOCATOR + 8, 8) & INT64_MAX);
  RfStatus status = read_at(context, zip, wide, wide_at, END64_SIZE);
  if (status) return status;
  if (memcmp(wide, "PK\6\6", 4) != 0)
    return rf_fail_offset(context, zip->name, wide_at, "expected a 64-bit end record");
  zip->directory_size = (int64_t)(little(wide + 40, 8) & INT64_MAX);
  *offset = (int64_t)(little(wide + 48, 8) & INT64_MAX);
  return RF_OK;
}

static RfStatus read_directory(RfContext *context, RfZip *zip) {
  int64_t size = zip->size < LONGEST_END ? zip->size : LONGEST_END, offset = 0;
  unsigned char *end = (unsigned char *)rf_alloc(size, 1);
  if (!end) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %.200s", zip->name);
  RfStatus status = read_at(context, zip, end, zip->size - size, size);
  if (!status) status = find_directory(context, zip, end, size, &offset);
  rf_free(end);
  if (status) return status;
  if (zip->directory_size > LARGEST_DIRECTORY) {
    return rf_fail_offset(context, zip->name, offset, "expected a directory below 64 MiB");
  }
  zip->directory = (unsigned char *)rf_alloc(zip->directory_size, 1);
  if (!zip->directory) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %.200s", zip->name);
  return read_at(context, zip, zip->directory, offset, zip->directory_size);
}

RfStatus rf_zip_open(RfContext *context, RfZip *zip, RfStream *stream, int64_t memory_limit) {
  memset(zip, 0, sizeof *zip);
  zip->name = stream->name, zip->fd = -1;
  if (stream->file_size >= 0) {
    zip->fd = stream->fd, zip->memory = stream->memory, zip->size = stream->file_size;
  } else { /* a pipe or compressed once more: the directory is at the end, so all of it is needed */
    size_t size;
    RfStatus status = rf_stream_slurp(context, stream, &zip->slurped, &size, memory_limit);
    if (status) return status;
    zip->memory = zip->slurped, zip->size = (int64_t)size;
  }
  return read_directory(context, zip);
}

void rf_zip_close(RfZip *zip) {
  rf_free(zip->slurped);
  rf_free(zip->directory);
  memset(zip, 0, sizeof *zip);
}

/* Sizes of 0xffffffff stand in the extra field 1, eight bytes each, in this order. */
static bool widen_entry(ZipEntry *entry, const unsigned char *extra, int64_t size) {
  const int64_t marker = 0xffffffff;
  int64_t *fields[3] = {&entry->size, &entry->packed, &entry->offset};
  if (entry->size != marker && entry->packed != marker && entry->offset != marker) return true;
  while (size >= 4) {
    int64_t length = (int64_t)little(extra + 2, 2), at = 4;
    if (length > size - 4) return false;
    for (int k = 0; k < 3 && little(extra, 2) == 1; k++) {
      if (*fields[k] != marker) continue;
      if (at + 8 > length + 4) return false;
      *fields[k] = (int64_t)(little(extra + at, 8) & INT64_MAX);
      at += 8;
    }
    if (little(extra, 2) == 1) return true;
    extra += 4 + length, size -= 4 + length;
  }
  return true; /* the sizes really are 2^32 - 1 */
}

static RfStatus find_entry(RfContext *context, const RfZip *zip, const char *name, ZipEntry *entry,
                           bool *found) {
  size_t name_length = strlen(name);
  *found = false;
  for (int64_t at = 0; at < zip->directory_size;) {
    const unsigned char *p = zip->directory + at;
    int64_t left = zip->directory_size - at, names, extras, comments;
    if (left < ENTRY_SIZE || memcmp(p, "PK\1\2", 4) != 0) break;
    names = (int64_t)little(p + 28, 2), extras = (int64_t)little(p + 30, 2),
    comments = (int64_t)little(p + 32, 2);
    if (names + extras + comments > left - ENTRY_SIZE) break;
    if (names == (int64_t)name_length && memcmp(p + ENTRY_SIZE, name, name_length) == 0) {
      *entry = (ZipEntry){.method = (int)little(p + 10, 2),
                          .flags = (int)little(p + 8, 2),
                          .checksum = little(p + 16, 4),
                          .packed = (int64_t)little(p + 20, 4),
                          .size = (int64_t)little(p + 24, 4),
                          .offset = (int64_t)little(p + 42, 4)};
      *found = true;
      if (widen_entry(entry, p + ENTRY_SIZE + names, extras)) return RF_OK;
      break;
    }
    at += ENTRY_SIZE + names + extras + comments;
    if (at == zip->directory_size) return RF_OK;
  }
  return zip->directory_size == 0 ? RF_OK
                                  : rf_fail_offset(context, zip->name, zip->size, "damaged zip directory");
}

/* ---- members --------------------------------------------------------------------------------- */

static RfStatus open_entry(RfContext *context, RfStream *stream, const RfZip *zip, const ZipEntry *entry) {
  unsigned char local[LOCAL_SIZE];
  RfStatus status = read_at(context, zip, local, entry->offset, LOCAL_SIZE);
  if (status) return status;
  if (memcmp(local, "PK\3\4", 4) != 0)
    return rf_fail_offset(context, zip->name, entry->offset, "expected a zip member");
  int64_t start =
      entry->offset + LOCAL_SIZE + (int64_t)little(local + 26, 2) + (int64_t)little(local + 28, 2);
  if (start > zip->size || entry->packed > zip->size - start) {
    return rf_fail_offset(context, zip->name, start, "expected %lld bytes of a member",
                          (long long)entry->packed);
  }
  if (entry->flags & 1)
    return rf_fail_offset(context, zip->name, entry->offset, "expected a member without encryption");
  if (entry->method != 0 && entry->method != 8) {
    return rf_fail_offset(context, zip->name, entry->offset, "expected a stored or deflated member");
  }
  if (entry->method == 0 && entry->size != entry->packed) {
    return rf_fail_offset(context, zip->name, entry->offset, "expected equal sizes of a stored member");
  }
  return rf_stream_open_member(context, stream, zip->name, zip->fd, zip->memory, start, entry->packed,
                               entry->size, entry->method == 8);
}

RfStatus rf_zip_read_npy(RfContext *context, RfArray *array, const RfZip *zip, const char *name,
                         int64_t memory_limit, bool *found) {
  char member[160];
  ZipEntry entry;
  RfStream stream = {.fd = -1};
  memset(array, 0, sizeof *array);
  rf_format(member, sizeof member, "%s.npy", name);
  RfStatus status = find_entry(context, zip, member, &entry, found);
  if (status || !*found) return status;
  status = open_entry(context, &stream, zip, &entry);
  if (!status) status = rf_npy_read(context, array, &stream, memory_limit);
  if (!status) status = rf_array_expect_end(context, &stream);
  if (!status && stream.taken != entry.size) {
    status = rf_fail_offset(context, zip->name, entry.offset, "expected %lld bytes in %s",
                            (long long)entry.size, member);
  }
  if (!status && stream.checksum != entry.checksum) {
    status = rf_fail_offset(context, zip->name, entry.offset, "checksum of %s does not match", member);
  }
  rf_stream_close(&stream);
  if (status) rf_array_free(array);
  return status;
}

/* The names of the arrays, as far as there is room: "A, t". */
static void list_names(char *out, size_t size, const RfZip *zip) {
  size_t used = 0;
  out[0] = 0;
  for (int64_t at = 0; zip->directory_size - at >= ENTRY_SIZE;) {
    const unsigned char *p = zip->directory + at;
    int64_t names = (int64_t)little(p + 28, 2),
            rest = (int64_t)little(p + 30, 2) + (int64_t)little(p + 32, 2);
    if (names + rest > zip->directory_size - at - ENTRY_SIZE) return;
    const char *name = (const char *)p + ENTRY_SIZE;
    bool array = names > 4 && memcmp(name + names - 4, ".npy", 4) == 0;
    size_t length = (size_t)(array ? names - 4 : names);
    if (used + length + 3 > size) return;
    rf_format(out + used, size - used, "%s%.*s", used ? ", " : "", (int)length, name);
    used = strlen(out);
    at += ENTRY_SIZE + names + rest;
  }
}

/* ---- datasets -------------------------------------------------------------------------------- */

RfStatus rf_npz_read(RfContext *context, RfDataset *dataset, RfStream *stream, const RfDataSource *source) {
  RfZip zip;
  RfArray X = {0}, y = {0};
  bool has_X = false, has_y = false;
  int64_t limit = rf_data_memory_limit(source);
  RfStatus status = rf_zip_open(context, &zip, stream, limit);
  if (!status) status = rf_zip_read_npy(context, &X, &zip, "X", limit, &has_X);
  if (!status) status = rf_zip_read_npy(context, &y, &zip, "y", limit, &has_y);
  if (!status && (!has_X || !has_y)) {
    char names[200];
    list_names(names, sizeof names, &zip);
    status = rf_fail_offset(context, stream->name, 0, "expected arrays X and y, found no %s; there are: %s",
                            has_X ? "y" : "X", names[0] ? names : "none");
  }
  if (!status) status = rf_array_to_dataset(context, dataset, &X, stream->name, &y, stream->name);
  rf_array_free(&X);
  rf_array_free(&y);
  rf_zip_close(&zip);
  return status;
}
