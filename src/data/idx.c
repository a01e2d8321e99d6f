/* The idx format of the MNIST files: two zero bytes, a type, the number of dimensions, their sizes and then
 * the items, all big-endian. */
#include "data/data_internal.h"

#include <string.h>

static bool item_type(RfItemType *type, unsigned char code) {
  static const struct {
    unsigned char code;
    RfItemKind kind;
    int size;
  } types[] = {{0x08, RF_ITEM_UNSIGNED, 1}, {0x09, RF_ITEM_SIGNED, 1}, {0x0b, RF_ITEM_SIGNED, 2},
               {0x0c, RF_ITEM_SIGNED, 4},   {0x0d, RF_ITEM_FLOAT, 4},  {0x0e, RF_ITEM_FLOAT, 8}};
  for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
    if (types[k].code != code) continue;
    *type = (RfItemType){types[k].kind, types[k].size, true};
    return true;
  }
  return false;
}

RfStatus rf_idx_read(RfContext *context, RfArray *array, RfStream *stream, int64_t memory_limit) {
  unsigned char start[4], sizes[4 * RF_ARRAY_DIMENSIONS];
  size_t got;
  RfItemType type;
  memset(array, 0, sizeof *array);
  RfStatus status = rf_stream_read(context, stream, start, 4, &got);
  if (status) return status;
  if (got < 4 || start[0] != 0 || start[1] != 0)
    return rf_fail_offset(context, stream->name, 0, "expected an idx file");
  if (!item_type(&type, start[2]))
    return rf_fail_offset(context, stream->name, 2, "expected an idx type 8 to 14");
  if (start[3] < 1 || start[3] > RF_ARRAY_DIMENSIONS) {
    return rf_fail_offset(context, stream->name, 3, "expected 1 to %d dimensions", RF_ARRAY_DIMENSIONS);
  }
  array->dimensions = start[3], array->count = 1;
  size_t want = 4 * (size_t)array->dimensions;
  status = rf_stream_read(context, stream, sizes, want, &got);
  if (status) return status;
  if (got < want) return rf_fail_offset(context, stream->name, 4, "expected %d sizes", array->dimensions);
  RfItemType word = {RF_ITEM_UNSIGNED, 4, true};
  for (int k = 0; k < array->dimensions; k++) {
    array->shape[k] = (rf_index)rf_item_value(sizes + 4 * (size_t)k, word);
    if (!rf_multiply_sizes(&array->count, array->count, array->shape[k])) {
      return rf_fail_offset(context, stream->name, 4, "expected a smaller array");
    }
  }
  status = rf_array_read_items(context, array, stream, type, false, memory_limit);
  if (status) rf_array_free(array);
  return status;
}
