/* Arrays of plain numbers or texts from binary files, converted item by item to doubles, and datasets made of
 * them. */
#include "data/data_internal.h"
#include "core/core.h"

#include <math.h>
#include <string.h>

#define CHUNK_SIZE 65536

/* ---- items ----------------------------------------------------------------------------------- */

static uint64_t item_bits(const unsigned char *item, RfItemType type) {
  uint64_t bits = 0;
  for (int k = 0; k < type.size; k++) {
    bits |= (uint64_t)item[type.big_endian ? type.size - 1 - k : k] << (8 * k);
  }
  return bits;
}

static double half_value(uint64_t bits) {
  int exponent = (int)(bits >> 10 & 31);
  double fraction = (double)(bits & 1023), value;
  if (exponent == 31)
    value = fraction == 0 ? INFINITY : NAN;
  else if (exponent == 0)
    value = ldexp(fraction, -24);
  else
    value = ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 & 1 ? -value : value;
}

static double float_value(uint64_t bits, int size) {
  if (size == 2) return half_value(bits);
  if (size == 4) {
    uint32_t narrow = (uint32_t)bits;
    float value;
    memcpy(&value, &narrow, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

double rf_item_value(const unsigned char *item, RfItemType type) {
  uint64_t bits = item_bits(item, type);
  switch (type.kind) {
  case RF_ITEM_BOOL: return bits != 0;
  case RF_ITEM_UNSIGNED: return (double)bits;
  case RF_ITEM_FLOAT: return float_value(bits, type.size);
  case RF_ITEM_BFLOAT: return float_value(bits << 16, 4);
  default: { /* two's complement: the top bit counts negative */
    uint64_t sign = (uint64_t)1 << (8 * type.size - 1);
    return (double)(int64_t)((bits ^ sign) - sign);
  }
  }
}

static bool is_native_double(RfItemType type) {
  const uint16_t probe = 1;
  bool little = *(const unsigned char *)&probe == 1;
  return type.kind == RF_ITEM_FLOAT && type.size == 8 && type.big_endian != little;
}

/* UTF-8 of the code points up to the first zero; anything that is no code point becomes '?'. */
static void take_unicode(char *out, const unsigned char *item, RfItemType type) {
  static const unsigned char lead[4] = {0, 0xc0, 0xe0, 0xf0};
  RfItemType unit = {RF_ITEM_UNSIGNED, 4, type.big_endian};
  for (int k = 0; k < type.size; k += 4) {
    uint64_t c = item_bits(item + k, unit);
    if (c == 0) break;
    if (c > 0x10ffff) c = '?';
    if (c < 0x80) {
      *out++ = (char)c;
    } else {
      int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
      *out++ = (char)(lead[more] | (c >> 6 * more));
      while (more-- > 0) *out++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    }
  }
  *out = 0;
}

static void take_bytes(char *out, const unsigned char *item, RfItemType type) {
  memcpy(out, item, (size_t)type.size);
  out[type.size] = 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static RfStatus read_exactly(RfContext *context, RfStream *stream, void *out, size_t want) {
  size_t got;
  int64_t offset = stream->taken;
  RfStatus status = rf_stream_read(context, stream, out, want, &got);
  if (status || got == want) return status;
  return rf_fail_offset(context, stream->name, offset + (int64_t)got, "expected %lld more bytes of data",
                        (long long)(want - got));
}

static RfStatus make_room(RfContext *context, RfArray *array, RfStream *stream, RfItemType type,
                          int64_t memory_limit) {
  bool text = type.kind == RF_ITEM_BYTES || type.kind == RF_ITEM_UNICODE;
  rf_index item = text ? type.size + 1 : (rf_index)sizeof(double), bytes, packed;
  if (!rf_multiply_sizes(&bytes, array->count, item) || bytes > memory_limit) {
    return rf_fail(context, RF_ERR_USAGE,
                   "%.200s: an array of %lld items exceeds the memory limit of %lld bytes (--memory)",
                   stream->name, (long long)array->count, (long long)memory_limit);
  }
  if (rf_multiply_sizes(&packed, array->count, type.size) && stream->file_size >= 0 &&
      packed > stream->file_size - stream->taken) {
    return rf_fail_offset(context, stream->name, stream->taken, "expected %lld bytes of data, found %lld",
                          (long long)packed, (long long)(stream->file_size - stream->taken));
  }
  array->offset = stream->taken, array->item_size = type.size;
  if (text) {
    array->text_size = item;
    array->texts = RF_NEW_TABLE(char, array->count, item);
  } else {
    array->values = RF_NEW(double, array->count);
  }
  if (array->texts || array->values) return RF_OK;
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for %.200s", stream->name);
}

static void take_items(RfArray *array, const unsigned char *chunk, rf_index first, rf_index items,
                       RfItemType type, bool column_major) {
  rf_index rows = array->shape[0], columns = rows > 0 ? array->count / rows : 0;
  if (type.kind == RF_ITEM_UNSIGNED && type.size == 1 && !column_major) { /* images */
    for (rf_index k = 0; k < items; k++) array->values[first + k] = chunk[k];
    return;
  }
  for (rf_index k = 0; k < items; k++) {
    const unsigned char *item = chunk + k * type.size;
    rf_index at = first + k;
    if (column_major) at = at % rows * columns + at / rows;
    if (type.kind == RF_ITEM_BYTES)
      take_bytes(array->texts + at * array->text_size, item, type);
    else if (type.kind == RF_ITEM_UNICODE)
      take_unicode(array->texts + at * array->text_size, item, type);
    else
      array->values[at] = rf_item_value(item, type);
  }
}

RfStatus rf_array_read_items(RfContext *context, RfArray *array, RfStream *stream, RfItemType type,
                             bool column_major, int64_t memory_limit) {
  RfStatus status = make_room(context, array, stream, type, memory_limit);
  if (status) return status;
  rf_index piece = CHUNK_SIZE / type.size > 0 ? CHUNK_SIZE / type.size : 1;
  if (is_native_double(type) &&
      !column_major) { /* straight into place, in pieces so that it can be stopped */
    piece = CHUNK_SIZE;
  }
  unsigned char *chunk = RF_NEW_TABLE(unsigned char, piece, type.size);
  if (!chunk) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %.200s", stream->name);
  for (rf_index first = 0; first < array->count && !status; first += piece) {
    rf_index items = array->count - first < piece ? array->count - first : piece;
    if (rf_context_stop(context)) {
      status = rf_fail(context, RF_INTERRUPTED, "interrupted while reading");
    } else if (is_native_double(type) && !column_major) {
      status = read_exactly(context, stream, array->values + first, (size_t)items * sizeof(double));
    } else {
      status = read_exactly(context, stream, chunk, (size_t)(items * type.size));
      if (!status) take_items(array, chunk, first, items, type, column_major);
    }
  }
  rf_free(chunk);
  return status;
}

RfStatus rf_array_expect_end(RfContext *context, RfStream *stream) {
  unsigned char byte;
  size_t got;
  int64_t offset = stream->taken;
  RfStatus status = rf_stream_read(context, stream, &byte, 1, &got);
  if (status || got == 0) return status;
  return rf_fail_offset(context, stream->name, offset, "expected the end of the file");
}

void rf_array_free(RfArray *array) {
  rf_free(array->values);
  rf_free(array->texts);
  memset(array, 0, sizeof *array);
}

/* ---- datasets -------------------------------------------------------------------------------- */

static RfStatus check_features(RfContext *context, const RfArray *X, const char *name, rf_index *n,
                               rf_index *d) {
  if (!X->values) return rf_fail_offset(context, name, X->offset, "expected numbers in X, found texts");
  if (X->dimensions < 2)
    return rf_fail_offset(context, name, X->offset, "expected a matrix X, n rows of d numbers");
  *n = X->shape[0], *d = *n > 0 ? X->count / *n : 0;
  if (*n < 1) return rf_fail_offset(context, name, X->offset, "expected rows, found none");
  if (*d < 1) return rf_fail_offset(context, name, X->offset, "expected at least one column");
  for (rf_index k = 0; k < X->count; k++) {
    if (isfinite(X->values[k])) continue;
    return rf_fail_offset(context, name, X->offset, "expected a finite number in row %lld, column %lld of X",
                          (long long)(k / *d), (long long)(k % *d));
  }
  return RF_OK;
}

static RfStatus take_labels(RfContext *context, RfLabels *labels, const RfArray *y, const char *name) {
  char text[RF_NUMBER_SIZE];
  RfStatus status = RF_OK;
  for (rf_index i = 0; i < y->count && !status; i++) {
    const char *label = text;
    double value;
    if (y->texts) {
      label = y->texts + i * y->text_size;
      RfNumberKind kind = rf_number_whole(&value, label, strlen(label));
      if (!*label)
        return rf_fail_offset(context, name, y->offset, "expected a label in entry %lld", (long long)i);
      if (kind == RF_NUMBER_OVERFLOW || kind == RF_NUMBER_NONFINITE)
        value = NAN;
      else
        value = 0;
    } else {
      value = y->values[i];
      if (isfinite(value)) rf_number_format(text, value == 0 ? 0 : value);
    }
    if (!isfinite(value)) {
      return rf_fail_offset(context, name, y->offset + i * y->item_size,
                            "expected a finite label in entry %lld", (long long)i);
    }
    status = rf_labels_add(context, labels, label, strlen(label));
  }
  if (status == RF_LIMIT)
    return rf_fail_offset(context, name, y->offset, "expected at most 65536 different labels");
  return status;
}

RfStatus rf_array_to_dataset(RfContext *context, RfDataset *dataset, RfArray *X, const char *X_name,
                             RfArray *y, const char *y_name) {
  rf_index n = 0, d = 0;
  RfLabels labels = {0};
  RfStatus status = check_features(context, X, X_name, &n, &d);
  if (status) return status;
  rf_index longest = 0;
  for (int k = 0; k < y->dimensions; k++) longest = y->shape[k] > longest ? y->shape[k] : longest;
  if (y->dimensions < 1 || longest != y->count || y->count != n) {
    return rf_fail_offset(context, y_name, y->offset,
                          "expected %lld labels in one dimension, found %lld in %d", (long long)n,
                          (long long)y->count, y->dimensions);
  }
  status = take_labels(context, &labels, y, y_name);
  if (!status) {
    dataset->X = X->values, dataset->n = n, dataset->d = d;
    X->values = NULL;
    status = rf_labels_finish(context, dataset, &labels);
  }
  rf_labels_free(&labels);
  return status;
}

/* One array from an .npy or idx stream, by its first bytes. */
static RfStatus read_either(RfContext *context, RfArray *array, RfStream *stream, int64_t memory_limit) {
  bool npy = stream->head_size >= 1 && stream->head[0] == 0x93;
  RfStatus status = npy ? rf_npy_read(context, array, stream, memory_limit)
                        : rf_idx_read(context, array, stream, memory_limit);
  return status ? status : rf_array_expect_end(context, stream);
}

RfStatus rf_array_pair_read(RfContext *context, RfDataset *dataset, RfStream *stream,
                            const RfDataSource *source) {
  RfArray X = {0}, y = {0};
  RfStream second = {.fd = -1};
  int64_t limit = rf_data_memory_limit(source);
  if (!source->labels_path) {
    return rf_fail(context, RF_ERR_USAGE, "%.200s holds no labels: expected --labels FILE", stream->name);
  }
  RfStatus status = read_either(context, &X, stream, limit);
  if (!status) status = rf_stream_open(context, &second, source->labels_path);
  if (!status) status = read_either(context, &y, &second, limit);
  if (!status) status = rf_array_to_dataset(context, dataset, &X, stream->name, &y, source->labels_path);
  rf_stream_close(&second);
  rf_array_free(&X);
  rf_array_free(&y);
  return status;
}
