/* Growing text, wrapping, escapes. */
#include "rf_test.h"

#include "present/present.h"

static void text_grows(void **state) {
  (void)state;
  RfText text = {0};
  assert_string_equal(rf_text_string(&text), "");
  for (int i = 0; i < 1000; i++) rf_text_addf(&text, "%04d", i);
  assert_int_equal(text.length, 4000);
  assert_int_equal(strncmp(text.data + 3996, "0999", 5), 0);
  char long_piece[1000];
  memset(long_piece, 'x', sizeof long_piece - 1);
  long_piece[999] = '\0';
  rf_text_addf(&text, "<%s>", long_piece);
  assert_int_equal(text.length, 5001);
  assert_int_equal(text.data[5000], '>');
  rf_text_style(&text, RF_BAD);
  assert_int_equal(text.length, 5001); /* no colour unless asked for */
  rf_text_free(&text);
  assert_null(text.data);
}

static void colours_when_asked(void **state) {
  (void)state;
  RfText text = {.colour = true};
  rf_text_styled(&text, RF_GOOD, "yes");
  assert_string_equal(rf_text_string(&text), "\033[1;32myes\033[0m");
  rf_text_free(&text);
}

static void wrapping(void **state) {
  (void)state;
  RfText text = {0};
  rf_text_wrap(&text, "one two  three\nfour", 2, 9);
  assert_string_equal(rf_text_string(&text), "one two\n  three\n  four\n");
  rf_text_free(&text);
  rf_text_wrap(&text, "", 2, 9);
  assert_string_equal(rf_text_string(&text), "\n");
  rf_text_free(&text);
  rf_text_wrap(&text, "averyveryverylongword x", 0, 5);
  assert_string_equal(rf_text_string(&text), "averyveryverylongword\nx\n");
  rf_text_free(&text);
}

static void escapes(void **state) {
  (void)state;
  RfText text = {0};
  rf_text_add_escaped(&text, "<a & \"b\">\xFF\x02\xC3\xA9");
  assert_string_equal(rf_text_string(&text), "&lt;a &amp; &quot;b&quot;&gt;\xEF\xBF\xBD\xEF\xBF\xBD\xC3\xA9");
  rf_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(text_grows), cmocka_unit_test(colours_when_asked),
                                     cmocka_unit_test(wrapping), cmocka_unit_test(escapes)};
  return cmocka_run_group_tests_name("present/text", tests, NULL, NULL);
}
