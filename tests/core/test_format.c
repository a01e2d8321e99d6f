/* Formatting: a point in every locale of the host, which is the same before and after; cut short like
 * snprintf; letters compared without the locale's idea of them. */
#include "core/core.h"
#include "rf_test.h"

#include <locale.h>

static void as_snprintf(void **state) {
  (void)state;
  char out[16];
  assert_int_equal(rf_format(out, sizeof out, "%d|%.3f|%s", -7, 1.5, "x"), 10);
  assert_string_equal(out, "-7|1.500|x");
  assert_int_equal(rf_format(out, 4, "%s", "long text"), 9); /* the length it would have had */
  assert_string_equal(out, "lon");
  assert_int_equal(rf_format(NULL, 0, "%g", 0.25), 4);
}

/* Any locale of this machine whose separator is not a point; none is installed everywhere. */
static void point_in_every_locale(void **state) {
  (void)state;
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8",
                                      "ru_RU.UTF-8"};
  int found = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char out[16];
    if (!setlocale(LC_ALL, names[k])) continue;
    found += strcmp(localeconv()->decimal_point, ".") != 0;
    locale_t before = uselocale((locale_t)0);
    rf_format(out, sizeof out, "%.2f", 1234.5);
    assert_string_equal(out, "1234.50");
    assert_true(uselocale((locale_t)0) == before);
    locale_t mine = rf_locale_enter();
    assert_string_equal(localeconv()->decimal_point, ".");
    rf_locale_leave(mine);
    assert_true(uselocale((locale_t)0) == before);
  }
  setlocale(LC_ALL, "C");
  if (!found) print_message("no locale with another decimal separator is installed\n");
}

static void letters(void **state) {
  (void)state;
  assert_true(rf_letters_equal("Infinity", "iNFINITY", 8));
  assert_true(rf_letters_equal("nan(1)", "NAN", 3));
  assert_true(rf_letters_equal("abc", "abc", 99)); /* both end */
  assert_false(rf_letters_equal("abc", "abcd", 4));
  assert_false(rf_letters_equal("[", "{", 1));       /* not letters, though 32 apart */
  assert_false(rf_letters_equal("\xc4", "\xe4", 1)); /* A-Z only */
  assert_true(rf_letters_equal("x", "y", 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_snprintf), cmocka_unit_test(point_in_every_locale),
                                     cmocka_unit_test(letters)};
  return cmocka_run_group_tests_name("core/format", tests, NULL, NULL);
}
