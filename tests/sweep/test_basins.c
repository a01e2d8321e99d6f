/* Basins: pixels against single neurons, whatever the number of threads; PNG read back. */
#include "rf_test.h"

#include <zlib.h>

#include "sweep/sweep.h"

static void load(RfContext *context, RfDataset *data, const char *name) {
  RfDataSource source;
  rf_context_init(context);
  rf_data_source_init(&source);
  source.path = name;
  assert_ok(context, rf_data_load(context, data, &source));
}

/* Orthogonally separable data: every neuron with a > 0 ends in S+, or dead; a < 0 in S-. */
static void circle_of_separable_data(void **state) {
  (void)state;
  RfContext context;
  RfDataset data = {0};
  SweepBasins basins;
  SweepBasinsWish wish = {.width = 61, .height = 61, .sign = 1, .reach = 1};
  load(&context, &data, "gen:DS-PL2");
  assert_ok(&context, sweep_basins(&context, &basins, &wish, &data, 0));
  rf_index seen = 0;
  for (rf_index i = 0; i < 61; i++)
    for (rf_index j = 0; j < 61; j++) {
      double pixel = basins.pixels[i * 61 + j], radius = hypot((double)j - 30, (double)i - 30) / 30.5;
      bool start = (radius <= 1 && radius > 0.58) || (radius < 0.52 && radius > 0.1);
      assert_int_equal(start, pixel >= 0);
      if (!start) continue;
      const char *name = basins.places[(rf_index)pixel].name;
      bool fits = strcmp(name, radius > 0.55 ? "S+" : "S-") == 0 || strcmp(name, "dead") == 0 ||
                  strcmp(name, "stuck") == 0;
      if (!fits) fail_msg("pixel %lld %lld: %s", (long long)i, (long long)j, name);
      seen++;
    }
  assert_true(seen > 2000);
  sweep_basins_free(&basins);
  rf_dataset_free(&data);
}

static void threads_do_not_matter(void **state) {
  (void)state;
  RfContext context;
  RfDataset data = {0};
  SweepBasins one, many;
  SweepBasinsWish wish = {
      .shape = SWEEP_BASINS_SPHERE, .colour = SWEEP_BASINS_LIMIT, .width = 80, .height = 40, .sign = -1};
  load(&context, &data, "gen:gaussian,n=9,d=3,seed=4");
  assert_ok(&context, sweep_basins(&context, &one, &wish, &data, 0.1));
  context.threads = 3;
  assert_ok(&context, sweep_basins(&context, &many, &wish, &data, 0.1));
  assert_int_equal(one.n_places, many.n_places);
  assert_true(one.n_places >= 2);
  for (rf_index k = 0; k < one.n_places; k++) {
    assert_string_equal(one.places[k].name, many.places[k].name);
    assert_int_equal(one.places[k].pixels, many.places[k].pixels);
  }
  assert_memory_equal(one.pixels, many.pixels, 80 * 40 * sizeof(double));
  sweep_basins_free(&one);
  sweep_basins_free(&many);
  rf_dataset_free(&data);
}

/* A plane of starts, pixel by pixel, against the library. */
static void plane_against_neurons(void **state) {
  (void)state;
  RfContext context;
  RfDataset data = {0};
  SweepBasins basins;
  SweepBasinsWish wish = {.shape = SWEEP_BASINS_PLANE,
                          .width = 12,
                          .height = 9,
                          .axis_x = 2,
                          .axis_y = 0,
                          .sign = -1,
                          .reach = 2};
  double c[7];
  load(&context, &data, "gen:gaussian,n=7,d=4,seed=1");
  for (int k = 0; k < 7; k++) c[k] = 0.5 * data.y[k];
  RfAlignField field = {.X = data.X, .c = c, .n = 7, .d = 4};
  assert_ok(&context, sweep_basins(&context, &basins, &wish, &data, 0));
  for (rf_index i = 0; i < 9; i++)
    for (rf_index j = 0; j < 12; j++) {
      double start[5] = {2 * (1 - (2 * (double)i + 1) / 9), 0, 2 * ((2 * (double)j + 1) / 12 - 1), 0, -1};
      double norm = sqrt(start[0] * start[0] + start[2] * start[2] + 1);
      RfAlignNeuron neuron = {0};
      for (int k = 0; k < 5; k++) start[k] /= norm;
      assert_ok(&context, rf_flow_align_neuron(&context, &neuron, &field, start, 0, NULL, INFINITY));
      const char *name = neuron.branched ? "several continuations" : rf_destiny_name(neuron.destiny);
      assert_string_equal(basins.places[(rf_index)basins.pixels[i * 12 + j]].name, name);
      rf_align_neuron_free(&neuron);
    }
  sweep_basins_free(&basins);
  rf_dataset_free(&data);
}

static uint32_t number_at(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Chunks with right checksums, and rows of the right size that unpack. */
static void png_is_whole(void **state) {
  (void)state;
  RfContext context;
  RfDataset data = {0};
  SweepBasins basins;
  RfText png = {0};
  SweepBasinsWish wish = {.width = 40, .height = 30, .sign = 1};
  load(&context, &data, "gen:DS-PL2");
  assert_ok(&context, sweep_basins(&context, &basins, &wish, &data, 0));
  assert_ok(&context, sweep_basins_png(&context, &png, &basins, &wish));
  const unsigned char *at = (const unsigned char *)png.data + 8,
                      *end = (const unsigned char *)png.data + png.length;
  assert_memory_equal(png.data, "\x89PNG\r\n\x1a\n", 8);
  int chunks = 0;
  for (; at < end; chunks++) {
    uint32_t length = number_at(at);
    assert_int_equal(crc32(crc32(0, NULL, 0), at + 4, length + 4), number_at(at + 8 + length));
    if (memcmp(at + 4, "IHDR", 4) == 0) assert_true(number_at(at + 8) == 40 && number_at(at + 12) == 30);
    if (memcmp(at + 4, "IDAT", 4) == 0) {
      unsigned char rows[30 * 121];
      uLongf size = sizeof rows;
      assert_int_equal(uncompress(rows, &size, at + 8, length), Z_OK);
      assert_int_equal(size, sizeof rows);
      assert_int_equal(rows[0], 2);
      assert_int_equal(rows[1], 255); /* the corner is outside of the circle */
    }
    at += 12 + length;
  }
  assert_int_equal(chunks, 3);
  rf_text_free(&png);
  sweep_basins_free(&basins);
  rf_dataset_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(circle_of_separable_data),
                                     cmocka_unit_test(threads_do_not_matter),
                                     cmocka_unit_test(plane_against_neurons), cmocka_unit_test(png_is_whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
