/* data's door to the other rooms: files of arrays and their messages, what the readers of networks stand on.
 */
#ifndef RF_DATA_DATA_H
#define RF_DATA_DATA_H

#include "core/core.h"
#include "reluflow/data.h"

/* ---- files of arrays and their messages: what the readers of other rooms stand on ------------ */

/* One line "name:line:column: ..." or "name: offset N: ...", RF_ERR_INPUT. The name is cut to stay on one
 * line. */
RfStatus rf_fail_at(RfContext *context, const char *name, int64_t line, int64_t column, const char *format,
                    ...) RF_PRINTF(5, 6);
RfStatus rf_fail_offset(RfContext *context, const char *name, int64_t offset, const char *format, ...)
    RF_PRINTF(4, 5);
#define RF_SHOWN_SIZE 128
/* The text fit for a message: cut, and without control characters. */
const char *rf_shown(char out[RF_SHOWN_SIZE], const char *text, size_t length);

#define RF_ARRAY_DIMENSIONS 8

typedef enum RfItemKind {
  RF_ITEM_BOOL,
  RF_ITEM_SIGNED,
  RF_ITEM_UNSIGNED,
  RF_ITEM_FLOAT,
  RF_ITEM_BFLOAT, /* upper half of a 32-bit float */
  RF_ITEM_BYTES,  /* fixed-size byte text */
  RF_ITEM_UNICODE /* fixed-size text of 32-bit code points */
} RfItemKind;

typedef struct RfItemType {
  RfItemKind kind;
  int size; /* bytes of one item */
  bool big_endian;
} RfItemType;

typedef struct RfArray {
  int dimensions;
  rf_index shape[RF_ARRAY_DIMENSIONS];
  rf_index count;
  double *values; /* count numbers in C order, or NULL for texts */
  char *texts;    /* count zero-terminated texts of text_size bytes each, or NULL */
  rf_index text_size;
  int64_t offset; /* of the first item in its file, for messages */
  int item_size;
} RfArray;

/* Converts one item in memory; the type is numeric. */
double rf_item_value(const unsigned char *item, RfItemType type);

void rf_array_free(RfArray *array);

/* All bytes of a file ("-": standard input), gzip undone, in a fresh block. Refused beyond half of the
 * memory. */
RfStatus rf_data_read_file(RfContext *context, unsigned char **bytes, size_t *size, const char *path);
/* Writes a file beside the wanted one, then renames it. */
RfStatus rf_data_write_file(RfContext *context, const char *path, const void *bytes, size_t size);
/* The array NAME.npy in the bytes of an .npz file called `path`. *found tells whether there is one; damage is
 * a failure. */
RfStatus rf_data_npz_find(RfContext *context, RfArray *array, bool *found, const char *name, const char *path,
                          const void *bytes, size_t size);

#define RF_NPZ_MEMBERS 1024

typedef struct RfNpzMember {
  const char *name; /* without .npy */
  char type[32];    /* '<f8', ... */
  int dimensions;
  rf_index shape[2];
  const void *items;
  size_t bytes;
} RfNpzMember;

/* Writes up to RF_NPZ_MEMBERS arrays; beside, then renamed. */
RfStatus rf_data_npz_write(RfContext *context, const char *path, const RfNpzMember *members, int count);
/* The type of doubles in this machine's order. */
const char *rf_npz_double_type(void);

/* ---- sink.c: files that appear whole or not at all ------------------------------------------- */

typedef struct RfSink {
  const char *path;
  char *beside;  /* the name it has until it is complete; empty when written in place */
  unsigned mode; /* permissions of the file that is replaced; 0 = there was none */
  int fd, error;
  char *buffer;
  size_t used;
  int64_t written;
} RfSink;

/* After a failure there is nothing to close. Write errors are kept and reported by rf_sink_close. */
RfStatus rf_sink_open(RfContext *context, RfSink *sink, const char *path);
void rf_sink_write(RfSink *sink, const void *bytes, size_t size);
void rf_sink_text(RfSink *sink, const char *text);
/* With status RF_OK completes the file, else removes it; returns the first failure. */
RfStatus rf_sink_close(RfContext *context, RfSink *sink, RfStatus status);

#endif
