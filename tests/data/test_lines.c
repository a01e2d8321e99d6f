/* Lines: joined again they are the text, whatever the line ends, at every position of the buffer's edge. */
#include "data_test.h"

static void check_lines(const char *text, size_t size, const char *const *want, int count) {
  RfContext *context = fresh_context();
  RfStream stream;
  RfLines lines;
  const char *line, *limit;
  assert_ok(context, rf_stream_open_memory(context, &stream, "m", text, size));
  assert_ok(context, rf_lines_open(context, &lines, &stream));
  for (int k = 0; k < count; k++) {
    assert_ok(context, rf_lines_next(context, &lines, &line, &limit));
    assert_non_null(line);
    assert_int_equal(limit - line, strlen(want[k]));
    assert_memory_equal(line, want[k], strlen(want[k]));
    assert_true(*limit == '\n' || *limit == '\r');
    assert_int_equal(lines.number, k + 1);
  }
  for (int k = 0; k < 2; k++) { /* the end stays the end */
    assert_ok(context, rf_lines_next(context, &lines, &line, &limit));
    assert_null(line);
  }
  rf_lines_close(&lines);
  rf_stream_close(&stream);
}

static void line_ends(void **state) {
  (void)state;
  static const char *const two[] = {"ab", "c"}, *const gap[] = {"", "", "x"}, *const inner[] = {"a\rb"};
  check_lines("ab\nc\n", 5, two, 2);
  check_lines("ab\nc", 4, two, 2);
  check_lines("ab\r\nc\r\n", 7, two, 2);
  check_lines("ab\r\nc\r", 6, two, 2);
  check_lines("\n\nx", 3, gap, 3);
  check_lines("a\rb", 3, inner, 1);
  check_lines("", 0, NULL, 0);
  check_lines("\xef\xbb\xbf"
              "ab\nc",
              7, two, 2);
  check_lines("\xef\xbb\xbf", 3, NULL, 0);
}

/* Random lines around the size of the buffer (1 MiB). */
static void long_texts(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 3, 0);
  size_t size = (size_t)5 << 20;
  char *text = malloc(size + 1);
  for (rf_index trial = 0; trial < rf_test_iterations(3); trial++) {
    RfContext *context = fresh_context();
    RfStream stream;
    RfLines lines;
    const char *line, *limit;
    rf_index spread = trial == 0 ? 50 : trial == 1 ? 100000 : 3000000;
    for (size_t i = 0; i < size; i++) text[i] = (char)('a' + i % 26);
    for (size_t at = 0; at < size; at += 1 + (size_t)rf_random_below(&random, spread)) text[at] = '\n';
    text[size] = 0;
    assert_ok(context, rf_stream_open_memory(context, &stream, "m", text, size));
    stream.file_size = -1; /* as from a pipe */
    assert_ok(context, rf_lines_open(context, &lines, &stream));
    size_t at = 0;
    for (;;) {
      assert_ok(context, rf_lines_next(context, &lines, &line, &limit));
      if (!line) break;
      size_t length = strcspn(text + at, "\n");
      assert_int_equal(limit - line, length);
      assert_memory_equal(line, text + at, length);
      at += length + 1;
      assert_int_equal(lines.consumed, at);
    }
    assert_true(at >= size);
    rf_lines_close(&lines);
    rf_stream_close(&stream);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(line_ends), cmocka_unit_test(long_texts)};
  return cmocka_run_group_tests_name("data/lines", tests, NULL, NULL);
}
