/* Arrays in an .npz file: a zip archive of stored .npy members, with 64-bit sizes where they are needed. */
#include "data/data_internal.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define MARKER 0xffffffffu

static void put(unsigned char **at, uint64_t value, int bytes) {
  for (int k = 0; k < bytes; k++) *(*at)++ = (unsigned char)(value >> (8 * k));
}

/* Magic, version 1.0, and the dictionary padded so that the items start at a multiple of 64. */
static size_t npy_header(char out[256], const RfNpzMember *member) {
  char text[200];
  int length =
      rf_format(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", member->type);
  for (int k = 0; k < member->dimensions; k++) {
    length += rf_format(text + length, sizeof text - (size_t)length, "%s%lld%s", k > 0 ? ", " : "",
                        (long long)member->shape[k], member->dimensions == 1 ? "," : "");
  }
  length += rf_format(text + length, sizeof text - (size_t)length, "), }");
  size_t total = ((size_t)length + 1 + 10 + 63) / 64 * 64;
  memset(out, ' ', total);
  static const char start[8] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0}; /* version 1.0 */
  memcpy(out, start, sizeof start);
  unsigned char *at = (unsigned char *)out + sizeof start;
  put(&at, total - 10, 2);
  memcpy(out + 10, text, (size_t)length);
  out[total - 1] = '\n';
  return total;
}

/* Local header (central = false) or directory entry; offset is where the local header starts. */
static void write_entry(RfSink *sink, const RfNpzMember *member, int64_t size, uint32_t checksum,
                        int64_t offset, bool central) {
  unsigned char bytes[192], *at = bytes;
  bool wide = size >= MARKER || offset >= MARKER;
  char name[64];
  int length = rf_format(name, sizeof name, "%s.npy", member->name);
  put(&at, central ? 0x02014b50 : 0x04034b50, 4);
  if (central) put(&at, 45, 2);
  put(&at, wide ? 45 : 20, 2);
  put(&at, 0, 2);  /* flags */
  put(&at, 0, 2);  /* stored */
  put(&at, 0, 2);  /* time */
  put(&at, 33, 2); /* date: 1 January 1980, so that the same data give the same file */
  put(&at, checksum, 4);
  put(&at, wide ? MARKER : (uint64_t)size, 4);
  put(&at, wide ? MARKER : (uint64_t)size, 4);
  put(&at, (uint64_t)length, 2);
  put(&at, wide ? (central ? 28 : 20) : 0, 2);
  if (central) {
    put(&at, 0, 2); /* comment */
    put(&at, 0, 2); /* disk */
    put(&at, 0, 2); /* internal attributes */
    put(&at, 0, 4); /* external attributes */
    put(&at, wide ? MARKER : (uint64_t)offset, 4);
  }
  memcpy(at, name, (size_t)length);
  at += length;
  if (wide) {
    put(&at, 1, 2);
    put(&at, central ? 24 : 16, 2);
    put(&at, (uint64_t)size, 8);
    put(&at, (uint64_t)size, 8);
    if (central) put(&at, (uint64_t)offset, 8);
  }
  rf_sink_write(sink, bytes, (size_t)(at - bytes));
}

static void write_end(RfSink *sink, int count, int64_t start, int64_t size) {
  unsigned char bytes[128], *at = bytes;
  bool wide = start >= MARKER;
  if (wide) {
    put(&at, 0x06064b50, 4);
    put(&at, 44, 8);
    put(&at, 45, 2);
    put(&at, 45, 2);
    put(&at, 0, 8); /* disks */
    put(&at, (uint64_t)count, 8);
    put(&at, (uint64_t)count, 8);
    put(&at, (uint64_t)size, 8);
    put(&at, (uint64_t)start, 8);
    put(&at, 0x07064b50, 4);
    put(&at, 0, 4);
    put(&at, (uint64_t)(start + size), 8);
    put(&at, 1, 4);
  }
  put(&at, 0x06054b50, 4);
  put(&at, 0, 4); /* disks */
  put(&at, (uint64_t)count, 2);
  put(&at, (uint64_t)count, 2);
  put(&at, (uint64_t)size, 4);
  put(&at, wide ? MARKER : (uint64_t)start, 4);
  put(&at, 0, 2);
  rf_sink_write(sink, bytes, (size_t)(at - bytes));
}

void rf_save_npz(RfSink *sink, const RfNpzMember *members, int count) {
  char header[256];
  int64_t offsets[RF_NPZ_MEMBERS], sizes[RF_NPZ_MEMBERS];
  uint32_t sums[RF_NPZ_MEMBERS];
  for (int k = 0; k < count; k++) {
    size_t length = npy_header(header, members + k);
    uLong sum = crc32_z(crc32_z(0, NULL, 0), (const unsigned char *)header, length);
    sums[k] = (uint32_t)crc32_z(sum, members[k].items, members[k].bytes);
    sizes[k] = (int64_t)(length + members[k].bytes), offsets[k] = sink->written;
    write_entry(sink, members + k, sizes[k], sums[k], offsets[k], false);
    rf_sink_write(sink, header, length);
    rf_sink_write(sink, members[k].items, members[k].bytes);
  }
  int64_t start = sink->written;
  for (int k = 0; k < count; k++) write_entry(sink, members + k, sizes[k], sums[k], offsets[k], true);
  write_end(sink, count, start, sink->written - start);
}

const char *rf_npz_double_type(void) {
  const uint16_t probe = 1;
  return *(const unsigned char *)&probe == 1 ? "<f8" : ">f8";
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* One code point of UTF-8 at *text; a byte that is none stands for itself. */
static uint32_t take_code(const char **text) {
  const unsigned char *p = (const unsigned char *)*text;
  int more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
  uint32_t code = more ? p[0] & (0x3fu >> more) : p[0];
  for (int k = 1; k <= more; k++) {
    if ((p[k] & 0xc0) != 0x80) {
      *text += 1;
      return p[0];
    }
    code = code << 6 | (p[k] & 0x3fu);
  }
  *text += more + 1;
  return code;
}

/* Names as an array of fixed-size texts of 32-bit code points. */
static RfStatus text_labels(RfContext *context, const RfDataset *dataset, RfNpzMember *y, void **block) {
  size_t longest = 1;
  for (rf_index k = 0; k < dataset->n_classes; k++) {
    size_t length = strlen(dataset->class_names[k]); /* at least the number of code points */
    if (length > longest) longest = length;
  }
  unsigned char *items = (unsigned char *)rf_alloc(dataset->n, 4 * longest);
  if (!items) return rf_fail(context, RF_ERR_MEMORY, "out of memory for labels");
  for (rf_index i = 0; i < dataset->n; i++) {
    unsigned char *at = items + (size_t)i * 4 * longest;
    for (const char *text = dataset->class_names[dataset->class_of[i]]; *text;) put(&at, take_code(&text), 4);
  }
  rf_format(y->type, sizeof y->type, "<U%zu", longest);
  y->items = items, y->bytes = (size_t)dataset->n * 4 * longest;
  *block = items;
  return RF_OK;
}

/* Names that are numbers are written as doubles when that gives the same texts back, else as texts. */
static bool names_are_plain_numbers(const RfDataset *dataset) {
  char text[RF_NUMBER_SIZE];
  double value;
  for (rf_index k = 0; k < dataset->n_classes; k++) {
    const char *name = dataset->class_names[k];
    if (rf_number_whole(&value, name, strlen(name)) != RF_NUMBER_FINITE) return false;
    rf_number_format(text, value);
    if (strcmp(text, name) != 0) return false;
  }
  return true;
}

static RfStatus number_labels(RfContext *context, const RfDataset *dataset, bool names, RfNpzMember *y,
                              void **block) {
  double *items = RF_NEW(double, dataset->n);
  if (!items) return rf_fail(context, RF_ERR_MEMORY, "out of memory for labels");
  for (rf_index i = 0; i < dataset->n; i++) {
    const char *label = rf_save_label(dataset, i, names);
    rf_number_whole(items + i, label, strlen(label));
  }
  rf_format(y->type, sizeof y->type, "%s", rf_npz_double_type());
  y->items = items, y->bytes = (size_t)dataset->n * sizeof(double);
  *block = items;
  return RF_OK;
}

RfStatus rf_save_npz_dataset(RfContext *context, RfSink *sink, const RfDataset *dataset) {
  RfNpzMember members[2] = {
      {.name = "X", .dimensions = 2, .shape = {dataset->n, dataset->d}, .items = dataset->X},
      {.name = "y", .dimensions = 1, .shape = {dataset->n, 0}},
  };
  void *block = NULL;
  bool names = rf_save_names_keep_signs(dataset), plain = !names || names_are_plain_numbers(dataset);
  rf_format(members[0].type, sizeof members[0].type, "%s", rf_npz_double_type());
  members[0].bytes = (size_t)(dataset->n * dataset->d) * sizeof(double);
  RfStatus status = plain ? number_labels(context, dataset, names, members + 1, &block)
                          : text_labels(context, dataset, members + 1, &block);
  if (!status) rf_save_npz(sink, members, 2);
  rf_free(block);
  return status;
}
