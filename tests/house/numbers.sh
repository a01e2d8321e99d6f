#!/usr/bin/env bash
# Numbers go to and from text through src/core (format.c, number.c) and nowhere else: the C library's own routines follow
# the locale of the host, in which 1.5 may be written 1,5. fprintf is for texts that are finished.
set -u
cd "$RF_SOURCE"
found=$(grep -rnE '\b(v?sn?printf|v?asprintf|vf?printf|printf|strto(f|d|ld)|atof|v?f?s?scanf|strn?casecmp|setlocale|localeconv)\(' \
  --include='*.[ch]' src app ledger python/native | grep -v '^src/core/\(format\|number\)\.c:')
found+=$(grep -rnE 'fprintf\([^;]*%[-+ #0-9.*]*[eEfFgGaA]' --include='*.[ch]' src app ledger python/native)
if [ -n "$found" ]; then
  printf '%s\n' "$found" "use rf_format, rf_number_read, rf_letters_equal of core/core.h instead"
  exit 1
fi
grep -q 'vsnprintf(' src/core/format.c && echo "numbers to and from text: only in src/core"
