/* What the readers and writers share: byte streams, lines, growing matrices, label tables.
 */
#ifndef RF_DATA_INTERNAL_H
#define RF_DATA_INTERNAL_H

#include "data/data.h"

/* A column is constant when centring leaves less than this of its largest entry: 16 roundings. */
#define RF_DATA_CONSTANT 4e-15
/* More different numbers than this among labels that are not all integers are measurements, not classes. */
#define RF_DATA_MOST_FRACTIONS 10

/* ---- stream.c: bytes from a file, standard input or memory, gzip undone ---------------------- */

#define RF_STREAM_HEAD 4096

typedef struct RfStream {
  const char *name; /* for messages */
  int fd;           /* -1: from memory */
  const unsigned char *memory;
  size_t memory_size, memory_at;
  int64_t file_size;                  /* bytes when that is known and they are not compressed, else -1 */
  int64_t taken;                      /* bytes handed out */
  unsigned char head[RF_STREAM_HEAD]; /* first bytes, so that readers can look before they read */
  size_t head_size, head_at;
  void *inflater; /* z_stream when compressed */
  unsigned char *packed;
  bool ended;
  bool owned;        /* close fd */
  int64_t raw_left;  /* bytes that may still be read below the inflater; negative = all */
  uint64_t checksum; /* CRC-32 of what was handed out, kept for members of an archive */
  bool summed;
} RfStream;

/* Opens a path ("-" is standard input), or bytes that stay the caller's. Afterwards `head` holds the first
 * bytes. Close in every case. */
RfStatus rf_stream_open(RfContext *context, RfStream *stream, const char *path);
RfStatus rf_stream_open_memory(RfContext *context, RfStream *stream, const char *name, const void *bytes,
                               size_t size);
/* `packed` bytes at `offset` of an open file (fd >= 0) or of memory: a member of a zip archive, deflated or
 * not, of `size` bytes when unpacked. The file or memory stays the caller's. */
RfStatus rf_stream_open_member(RfContext *context, RfStream *stream, const char *name, int fd,
                               const void *memory, int64_t offset, int64_t packed, int64_t size,
                               bool deflated);
void rf_stream_close(RfStream *stream);
/* Fills `out` with `want` bytes; *got is smaller only at the end. */
RfStatus rf_stream_read(RfContext *context, RfStream *stream, void *out, size_t want, size_t *got);
/* All that is left, in a fresh block; refused beyond `limit` bytes. */
RfStatus rf_stream_slurp(RfContext *context, RfStream *stream, unsigned char **bytes, size_t *size,
                         int64_t limit);

/* ---- lines.c: lines of a stream -------------------------------------------------------------- */

typedef struct RfLines {
  RfStream *stream;
  char *buffer;
  size_t capacity, begin, end; /* unread bytes are buffer[begin..end) */
  bool ended;
  int64_t number;   /* of the current line, from 1 */
  int64_t consumed; /* bytes up to the end of the current line */
} RfLines;

RfStatus rf_lines_open(RfContext *context, RfLines *lines, RfStream *stream);
void rf_lines_close(RfLines *lines);
/* The next line without its end (LF or CRLF), valid until the next call; *text is NULL at the end of the
 * stream. The byte at *limit is readable and is a line end. */
RfStatus rf_lines_next(RfContext *context, RfLines *lines, const char **text, const char **limit);

/* ---- matrix.c: rows that arrive one by one --------------------------------------------------- */

typedef struct RfMatrix {
  double *values;
  rf_index rows, columns;
  rf_index capacity;    /* rows there is room for */
  int64_t memory_limit; /* bytes */
} RfMatrix;

/* The limit of a source: its own, or half of the machine's memory. */
int64_t rf_data_memory_limit(const RfDataSource *source);
/* Refuses with RF_ERR_USAGE when rows x columns doubles exceed the limit. */
RfStatus rf_matrix_check(RfContext *context, const RfMatrix *matrix, const char *name, rf_index rows,
                         rf_index columns);
/* Room for one more row; `expected` is a guess of the final number of rows (0 = none). */
RfStatus rf_matrix_make_room(RfContext *context, RfMatrix *matrix, const char *name, rf_index expected);
/* More columns for the rows that are there, zeros behind them. */
RfStatus rf_matrix_widen(RfContext *context, RfMatrix *matrix, const char *name, rf_index columns);
/* Gives back what was reserved too much. */
void rf_matrix_trim(RfMatrix *matrix);

/* ---- labels.c: label texts to classes -------------------------------------------------------- */

typedef struct RfLabels {
  int32_t *ids; /* one per row: index into texts */
  rf_index count, capacity;
  char **texts; /* distinct, in order of appearance */
  rf_index n_texts, texts_capacity;
  int32_t *slots; /* hash table of indices into texts, -1 empty */
  rf_index n_slots;
} RfLabels;

#define RF_LABELS_MAX 65536 /* more distinct labels than this are no class labels */

/* RF_LIMIT when there are more than RF_LABELS_MAX distinct texts. */
RfStatus rf_labels_add(RfContext *context, RfLabels *labels, const char *text, size_t length);
/* Moves the labels into the dataset: class_of, class_names, n_classes, y. */
RfStatus rf_labels_finish(RfContext *context, RfDataset *dataset, RfLabels *labels);
void rf_labels_free(RfLabels *labels);
/* Order of class names: numerical when all are numbers, else bytewise. */
bool rf_labels_all_numbers(char *const *texts, rf_index count);
/* y from class_of: two classes give -1, +1; one class +1 unless it is a number <= 0; more classes no y. */
RfStatus rf_dataset_set_signs(RfContext *context, RfDataset *dataset);

/* ---- array.c: arrays of plain numbers or texts from binary files ----------------------------- */

/* Reads `count` items (shape is set) into values or texts. column_major: two dimensions, first index fastest.
 */
RfStatus rf_array_read_items(RfContext *context, RfArray *array, RfStream *stream, RfItemType type,
                             bool column_major, int64_t memory_limit);
/* Refuses bytes behind the last item. */
RfStatus rf_array_expect_end(RfContext *context, RfStream *stream);
/* Moves X (n x d, more dimensions are flattened) and labels y (n) into a dataset; *_name are for messages. */
RfStatus rf_array_to_dataset(RfContext *context, RfDataset *dataset, RfArray *X, const char *X_name,
                             RfArray *y, const char *y_name);
RfStatus rf_npy_read(RfContext *context, RfArray *array, RfStream *stream, int64_t memory_limit);
RfStatus rf_idx_read(RfContext *context, RfArray *array, RfStream *stream, int64_t memory_limit);

/* ---- zip.c: members of a zip archive --------------------------------------------------------- */

typedef struct RfZip {
  const char *name;
  int fd; /* -1: memory */
  const unsigned char *memory;
  int64_t size;
  unsigned char *slurped;   /* memory that is ours */
  unsigned char *directory; /* central directory */
  int64_t directory_size;
} RfZip;

/* The stream must stay open as long as the archive. */
RfStatus rf_zip_open(RfContext *context, RfZip *zip, RfStream *stream, int64_t memory_limit);
void rf_zip_close(RfZip *zip);
/* The array in member `name`.npy. *found tells whether there is one; damaged members are failures. */
RfStatus rf_zip_read_npy(RfContext *context, RfArray *array, const RfZip *zip, const char *name,
                         int64_t memory_limit, bool *found);

/* ---- formats: each fills a dataset (X, labels) from a stream --------------------------------- */

RfStatus rf_csv_read(RfContext *context, RfDataset *dataset, RfStream *stream, const RfDataSource *source);
RfStatus rf_libsvm_read(RfContext *context, RfDataset *dataset, RfStream *stream, const RfDataSource *source);

RfStatus rf_npz_read(RfContext *context, RfDataset *dataset, RfStream *stream, const RfDataSource *source);
/* X from an .npy or idx stream, labels from source->labels_path (.npy or idx, whichever it is). */
RfStatus rf_array_pair_read(RfContext *context, RfDataset *dataset, RfStream *stream,
                            const RfDataSource *source);

/* By the ending, .gz left aside; RF_FORMAT_AUTO when it is none of ours. */
RfDataFormat rf_data_format_of_path(const char *path);

/* ---- save_*.c -------------------------------------------------------------------------------- */

RfStatus rf_save_csv(RfContext *context, RfSink *sink, const RfDataset *dataset, char separator);
RfStatus rf_save_libsvm(RfContext *context, RfSink *sink, const RfDataset *dataset);
RfStatus rf_save_npz_dataset(RfContext *context, RfSink *sink, const RfDataset *dataset);
/* Whether reading the class names again gives the same y; else -1 and 1 are to be written. */
bool rf_save_names_keep_signs(const RfDataset *dataset);
const char *rf_save_label(const RfDataset *dataset, rf_index i, bool names);

/* Up to RF_NPZ_MEMBERS arrays. */
void rf_save_npz(RfSink *sink, const RfNpzMember *members, int count);
/* ---- transform.c ----------------------------------------------------------------------------- */

RfStatus rf_data_transform(RfContext *context, RfDataset *dataset, const RfDataSource *source);

/* RF_ERR_INPUT with advice when the labels are measurements: numbers, not all integers, and many of them. */
RfStatus rf_labels_check(RfContext *context, const RfDataset *dataset);

#endif
