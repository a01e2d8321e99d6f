/* The .npy format of NumPy, versions 1 to 3: magic, version, length of the header, a Python dictionary with
 * descr, fortran_order and shape, then the items. */
#include "data/data_internal.h"

#include <string.h>

#define LONGEST_HEADER 65536

typedef struct NpyHeader {
  RfContext *context;
  const char *name, *text, *at, *limit;
  int64_t offset; /* of text in the file */
  RfItemType type;
  bool column_major, has_type, has_order, has_shape;
} NpyHeader;

static RfStatus fail_header(const NpyHeader *header, const char *what) {
  return rf_fail_offset(header->context, header->name, header->offset + (header->at - header->text),
                        "expected %s", what);
}

static void skip_blanks(NpyHeader *header) {
  while (header->at < header->limit && (*header->at == ' ' || *header->at == '\n')) header->at++;
}

static bool take_char(NpyHeader *header, char c) {
  skip_blanks(header);
  if (header->at == header->limit || *header->at != c) return false;
  header->at++;
  return true;
}

static bool take_word(NpyHeader *header, const char *word) {
  size_t length = strlen(word);
  skip_blanks(header);
  if ((size_t)(header->limit - header->at) < length || memcmp(header->at, word, length) != 0) return false;
  header->at += length;
  return true;
}

/* A text in single or double quotes, without escapes. */
static bool take_text(NpyHeader *header, char *out, size_t size) {
  skip_blanks(header);
  if (header->at == header->limit || (*header->at != '\'' && *header->at != '"')) return false;
  char quote = *header->at++;
  const char *stop = memchr(header->at, quote, (size_t)(header->limit - header->at));
  if (!stop || (size_t)(stop - header->at) >= size) return false;
  memcpy(out, header->at, (size_t)(stop - header->at));
  out[stop - header->at] = 0;
  header->at = stop + 1;
  return true;
}

/* '<f8', '>i4', '|u1', '<U7', ...: order, kind, bytes (for U: characters of four bytes). */
static RfStatus parse_type(NpyHeader *header) {
  char text[32], *p = text;
  static const char wanted[] = "a plain type of numbers or texts ('<f8', '>i4', '|u1', '<U7', ...)";
  if (!take_text(header, text, sizeof text)) return fail_header(header, wanted);
  bool big = *p == '>';
  const uint16_t probe = 1;
  if (*p == '=') big = *(const unsigned char *)&probe == 0;
  if (*p == '<' || *p == '>' || *p == '|' || *p == '=') p++;
  char kind = *p ? *p++ : 0;
  int size = 0;
  while (*p >= '0' && *p <= '9' && size < 1000000) size = size * 10 + (*p++ - '0');
  bool small = size == 1 || size == 2 || size == 4 || size == 8, good = *p == 0;
  header->type = (RfItemType){RF_ITEM_FLOAT, size, big};
  switch (kind) {
  case 'f': good &= size == 2 || size == 4 || size == 8; break;
  case 'i': header->type.kind = RF_ITEM_SIGNED, good &= small; break;
  case 'u': header->type.kind = RF_ITEM_UNSIGNED, good &= small; break;
  case 'b': header->type.kind = RF_ITEM_BOOL, good &= size == 1; break;
  case 'S':
  case 'a': header->type.kind = RF_ITEM_BYTES, good &= size >= 1 && size < 10000; break;
  case 'U':
    header->type.kind = RF_ITEM_UNICODE, good &= size >= 1 && size < 10000;
    header->type.size = 4 * size;
    break;
  default: good = false;
  }
  header->has_type = true;
  return good ? RF_OK : fail_header(header, wanted);
}

static RfStatus parse_shape(NpyHeader *header, RfArray *array) {
  array->dimensions = 0, array->count = 1;
  if (!take_char(header, '(')) return fail_header(header, "a shape (n, d)");
  while (!take_char(header, ')')) {
    skip_blanks(header);
    rf_index size = 0;
    const char *digits = header->at;
    while (header->at < header->limit && *header->at >= '0' && *header->at <= '9' &&
           size < (rf_index)1 << 56) {
      size = size * 10 + (*header->at++ - '0');
    }
    if (header->at == digits) return fail_header(header, "a size in the shape");
    take_word(header, "L"); /* Python 2 wrote long integers so */
    if (array->dimensions == RF_ARRAY_DIMENSIONS) return fail_header(header, "at most 8 dimensions");
    array->shape[array->dimensions++] = size;
    if (!rf_multiply_sizes(&array->count, array->count, size)) return fail_header(header, "a smaller array");
    if (take_char(header, ',')) continue;
    if (!take_char(header, ')')) return fail_header(header, "a comma or ) in the shape");
    break;
  }
  header->has_shape = true;
  return RF_OK;
}

static RfStatus parse_item(NpyHeader *header, RfArray *array) {
  char key[32];
  if (!take_text(header, key, sizeof key)) return fail_header(header, "a key in quotes");
  if (!take_char(header, ':')) return fail_header(header, "a colon");
  if (strcmp(key, "descr") == 0) return parse_type(header);
  if (strcmp(key, "shape") == 0) return parse_shape(header, array);
  if (strcmp(key, "fortran_order") != 0) return fail_header(header, "one of descr, fortran_order, shape");
  header->has_order = true;
  header->column_major = take_word(header, "True");
  if (header->column_major || take_word(header, "False")) return RF_OK;
  return fail_header(header, "True or False");
}

static RfStatus parse_header(NpyHeader *header, RfArray *array) {
  if (!take_char(header, '{')) return fail_header(header, "a dictionary");
  while (!take_char(header, '}')) {
    RfStatus status = parse_item(header, array);
    if (status) return status;
    if (take_char(header, ',')) continue;
    if (!take_char(header, '}')) return fail_header(header, "a comma or }");
    break;
  }
  skip_blanks(header);
  if (header->at < header->limit) return fail_header(header, "blanks up to the end of the header");
  if (!header->has_type || !header->has_order || !header->has_shape) {
    return fail_header(header, "descr, fortran_order and shape");
  }
  return RF_OK;
}

/* Length and start of the header text. */
static RfStatus read_preamble(RfContext *context, RfStream *stream, size_t *length) {
  unsigned char start[12];
  size_t got, extra;
  RfStatus status = rf_stream_read(context, stream, start, 10, &got);
  if (status) return status;
  if (got < 10 || memcmp(start, "\x93NUMPY", 6) != 0)
    return rf_fail_offset(context, stream->name, 0, "expected an .npy file");
  *length = (size_t)start[8] | (size_t)start[9] << 8;
  if (start[6] < 1 || start[6] > 3)
    return rf_fail_offset(context, stream->name, 6, "expected .npy version 1, 2 or 3");
  if (start[6] > 1) {
    status = rf_stream_read(context, stream, start + 10, 2, &extra);
    if (status) return status;
    if (extra < 2) return rf_fail_offset(context, stream->name, 10, "expected the length of the header");
    *length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
  }
  if (*length > LONGEST_HEADER)
    return rf_fail_offset(context, stream->name, 8, "expected a header below 64 KiB");
  return RF_OK;
}

RfStatus rf_npy_read(RfContext *context, RfArray *array, RfStream *stream, int64_t memory_limit) {
  size_t length = 0, got;
  memset(array, 0, sizeof *array);
  RfStatus status = read_preamble(context, stream, &length);
  if (status) return status;
  char *text = (char *)rf_alloc((rf_index)length + 1, 1);
  if (!text) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %.200s", stream->name);
  NpyHeader header = {
      .context = context, .name = stream->name, .text = text, .at = text, .limit = text + length};
  header.offset = stream->taken;
  status = rf_stream_read(context, stream, text, length, &got);
  if (!status && got < length) {
    status = rf_fail_offset(context, stream->name, stream->taken, "expected a header of %zu bytes", length);
  }
  if (!status) status = parse_header(&header, array);
  if (!status && header.column_major && array->dimensions > 2) {
    status =
        rf_fail_offset(context, stream->name, header.offset, "expected C order for more than two dimensions");
  }
  rf_free(text);
  bool turned = header.column_major && array->dimensions == 2;
  if (!status) status = rf_array_read_items(context, array, stream, header.type, turned, memory_limit);
  if (status) rf_array_free(array);
  return status;
}
