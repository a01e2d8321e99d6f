/* Check sums, and no unpacking: a browser unpacks .gz files itself before the engine sees them. */
#ifndef RF_STAND_ZLIB_H
#define RF_STAND_ZLIB_H

#include <stddef.h>

typedef unsigned int uInt;
typedef unsigned long uLong;
typedef struct z_stream {
  unsigned char *next_in, *next_out;
  uInt avail_in, avail_out;
  char *msg;
} z_stream;

enum { Z_OK = 0, Z_STREAM_END = 1, Z_MEM_ERROR = -4, Z_BUF_ERROR = -5, Z_VERSION_ERROR = -6, Z_NO_FLUSH = 0 };

static inline int inflateInit2(z_stream *z, int window_bits) {
  (void)z, (void)window_bits;
  return Z_VERSION_ERROR;
}
static inline int inflate(z_stream *z, int flush) {
  (void)z, (void)flush;
  return Z_VERSION_ERROR;
}
static inline int inflateReset(z_stream *z) {
  (void)z;
  return Z_VERSION_ERROR;
}
static inline int inflateEnd(z_stream *z) {
  (void)z;
  return Z_OK;
}

/* CRC-32 of zip archives, bit by bit. */
static inline uLong crc32_z(uLong sum, const unsigned char *bytes, size_t size) {
  if (!bytes) return 0;
  sum = ~sum & 0xffffffffUL;
  for (size_t i = 0; i < size; i++) {
    sum ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? sum >> 1 ^ 0xedb88320UL : sum >> 1;
  }
  return ~sum & 0xffffffffUL;
}

#endif
