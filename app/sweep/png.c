/* PNG (RFC 2083): 8-bit RGB, no interlace, rows filtered by "up". */
#include "sweep/basins_internal.h"

#include <string.h>
#include <zlib.h>

static void add_number(RfText *out, uint32_t value) {
  const unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                  (unsigned char)(value >> 8), (unsigned char)value};
  rf_text_add_bytes(out, (const char *)bytes, 4);
}

static void add_chunk(RfText *out, const char *type, const unsigned char *data, size_t length) {
  uLong sum = crc32_z(crc32_z(0, NULL, 0), (const Bytef *)type, 4);
  if (length) sum = crc32_z(sum, data, length);
  add_number(out, (uint32_t)length);
  rf_text_add_bytes(out, type, 4);
  if (length) rf_text_add_bytes(out, (const char *)data, length);
  add_number(out, (uint32_t)sum);
}

RfStatus sweep_png(RfContext *context, RfText *out, const unsigned char *rgb, rf_index width,
                   rf_index height) {
  size_t row = 3 * (size_t)width, raw_size = (row + 1) * (size_t)height;
  uLongf packed_size = compressBound((uLong)raw_size);
  unsigned char *raw = rf_alloc((rf_index)raw_size, 1), *packed = rf_alloc((rf_index)packed_size, 1);
  RfText header = {0};
  bool fine = raw && packed;
  for (rf_index i = 0; fine && i < height; i++) {
    unsigned char *line = raw + (size_t)i * (row + 1);
    const unsigned char *here = rgb + (size_t)i * row;
    line[0] = 2;
    for (size_t k = 0; k < row; k++) line[k + 1] = (unsigned char)(here[k] - (i ? here[k - row] : 0));
  }
  fine = fine && compress2(packed, &packed_size, raw, (uLong)raw_size, 9) == Z_OK;
  add_number(&header, (uint32_t)width);
  add_number(&header, (uint32_t)height);
  rf_text_add_bytes(&header, "\x08\x02\x00\x00\x00", 5);
  if (fine && !header.failed) {
    rf_text_add_bytes(out, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(out, "IHDR", (const unsigned char *)header.data, header.length);
    add_chunk(out, "IDAT", packed, packed_size);
    add_chunk(out, "IEND", NULL, 0);
  }
  bool good = fine && !header.failed && !out->failed;
  rf_text_free(&header);
  rf_free(raw);
  rf_free(packed);
  return good ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory");
}
