/* Formatting in the C locale, whatever the host has chosen. The thread's locale is switched for the call
 * rather than the text repaired after it: a decimal separator may be several bytes long and may stand
 * elsewhere in the text too. newlocale of "C" hands out a constant in glibc and musl: it neither fails nor
 * allocates. */
#include "core/core.h"

#include <stdio.h>
#include <string.h>

locale_t rf_locale_enter(void) { return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); }

void rf_locale_leave(locale_t before) {
  locale_t plain = uselocale(before);
  if (plain != before) freelocale(plain);
}

int rf_format_list(char *out, size_t size, const char *format, va_list arguments) {
  locale_t before = rf_locale_enter();
  int length = vsnprintf(out, size, format, arguments);
  rf_locale_leave(before);
  return length;
}

int rf_format(char *out, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = rf_format_list(out, size, format, arguments);
  va_end(arguments);
  return length;
}

static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

bool rf_letters_equal(const char *a, const char *b, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (lower(a[i]) != lower(b[i])) return false;
    if (!a[i]) return true;
  }
  return true;
}
