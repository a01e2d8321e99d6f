/* Streams: the same bytes from a file, memory, gzip in one or several members; damage is noticed. */
#include "data_test.h"

#include <zlib.h>

static size_t pack(unsigned char *out, size_t room, const unsigned char *bytes, size_t size) {
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = (unsigned char *)(uintptr_t)bytes, z.avail_in = (uInt)size;
  z.next_out = out, z.avail_out = (uInt)room;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  deflateEnd(&z);
  return room - z.avail_out;
}

/* Reads in pieces of random size and compares. */
static void check_stream(RfContext *context, RfStream *stream, const unsigned char *want, size_t size,
                         RfRandom *random) {
  unsigned char piece[5000];
  size_t at = 0, got;
  do {
    size_t ask = (size_t)rf_random_below(random, sizeof piece) + 1;
    assert_ok(context, rf_stream_read(context, stream, piece, ask, &got));
    assert_true(at + got <= size);
    assert_memory_equal(piece, want + at, got);
    at += got;
    if (got < ask) break;
  } while (true);
  assert_int_equal(at, size);
  assert_int_equal(stream->taken, size);
  rf_stream_close(stream);
}

static void same_bytes(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfRandom random;
  rf_random_init(&random, 4, 0);
  static unsigned char bytes[200000], packed[400000];
  static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 65536, 200000};
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (unsigned char)rf_random_below(&random, i % 2 ? 4 : 256);
  bytes[0] = 'x';
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    RfStream stream;
    size_t size = sizes[k], half = size / 2;
    assert_ok(context, rf_stream_open_memory(context, &stream, "m", bytes, size));
    assert_int_equal(stream.file_size, size);
    check_stream(context, &stream, bytes, size, &random);
    const char *path = scratch_path("stream");
    write_file(path, bytes, size);
    assert_ok(context, rf_stream_open(context, &stream, path));
    check_stream(context, &stream, bytes, size, &random);
    size_t used = pack(packed, sizeof packed, bytes, half);
    used += pack(packed + used, sizeof packed - used, bytes + half, size - half); /* two members, one file */
    write_file(path, packed, used);
    assert_ok(context, rf_stream_open(context, &stream, path));
    assert_int_equal(stream.file_size, -1);
    check_stream(context, &stream, bytes, size, &random);
    unlink(path);
  }
}

static void slurp(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  static unsigned char zeros[300000], packed[4000];
  size_t used = pack(packed, sizeof packed, zeros, sizeof zeros), size;
  RfStream stream;
  unsigned char *bytes;
  assert_ok(context, rf_stream_open_memory(context, &stream, "m", packed, used));
  assert_ok(context, rf_stream_slurp(context, &stream, &bytes, &size, 300000));
  assert_int_equal(size, sizeof zeros);
  rf_free(bytes);
  rf_stream_close(&stream);
  assert_ok(context, rf_stream_open_memory(context, &stream, "m", packed, used));
  assert_int_equal(rf_stream_slurp(context, &stream, &bytes, &size, 299999), RF_ERR_USAGE); /* a small bomb */
  assert_null(bytes);
  rf_stream_close(&stream);
}

static void damage(void **state) {
  (void)state;
  static unsigned char bytes[20000], packed[30000];
  RfRandom random;
  rf_random_init(&random, 5, 0);
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)rf_random_below(&random, 16);
  size_t used = pack(packed, sizeof packed, bytes, sizeof bytes);
  for (rf_index trial = 0; trial < rf_test_iterations(300); trial++) {
    RfContext *context = fresh_context();
    RfStream stream;
    size_t at = (size_t)rf_random_below(&random, (rf_index)used), cut = trial % 2 ? used : at, got;
    unsigned char piece[4096];
    if (trial % 2) packed[at] ^= 0x20;
    RfStatus status = rf_stream_open_memory(context, &stream, "m", packed, cut);
    while (!status) {
      status = rf_stream_read(context, &stream, piece, sizeof piece, &got);
      if (got < sizeof piece) break;
    }
    bool plain =
        cut < 2 || at < 10; /* the magic or the header is hit: other things may happen, crashes may not */
    if (!plain && trial % 2 == 0) assert_int_equal(status, RF_ERR_INPUT);
    if (!plain && trial % 2 == 1 && at < used) assert_int_equal(status, RF_ERR_INPUT);
    if (trial % 2) packed[at] ^= 0x20;
    rf_stream_close(&stream);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bytes), cmocka_unit_test(slurp),
                                     cmocka_unit_test(damage)};
  return cmocka_run_group_tests_name("data/stream", tests, NULL, NULL);
}
