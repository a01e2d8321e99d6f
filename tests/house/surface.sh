#!/usr/bin/env bash
# The public surface: how many functions the headers promise, that their names follow one rule (include/reluflow/README.md),
# that every header says who owns what and which calls may run at the same time, and that the shared library exports
# exactly what the headers declare.
set -u
cd "$RF_SOURCE"
most=140
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
bad=0
wrong() { echo "$1"; bad=$((bad + 1)); }
# One declaration per line: "header return-type name"
for header in include/reluflow/*.h; do
  room=$(basename "$header" .h)
  [ "$room" != reluflow ] || continue
  perl -0pe 's{/\*.*?\*/}{}gs; s{\s+}{ }g; s{RF_API }{\nRF_API }g; $_ .= "\n"' "$header" |
    sed -nE 's/^RF_API ([^;(]*[ *])(rf_[a-z0-9_]+)\(.*/\2 \1/p' | sed "s/^/$room /" >>"$work/functions"
  # the nouns of a room: its own name and its public types in small letters
  { echo "$room"; grep -oE '\bRf[A-Z][A-Za-z0-9]*' "$header" | sort -u | sed -E 's/^Rf//; s/([A-Z])/_\L\1/g; s/^_//'; } >"$work/nouns.$room"
  grep -q 'Ownership:' "$header" || wrong "$header does not say who owns what (Ownership: ...)"
  grep -q 'Threads:' "$header" || wrong "$header does not say which calls may run at the same time (Threads: ...)"
done
count=$(wc -l <"$work/functions")
[ "$count" -ge 50 ] || wrong "only $count public functions found: this test does not see them"
[ "$count" -le "$most" ] || wrong "$count public functions, more than $most: does a user need the new ones, or a door (src/ROOM/ROOM.h)?"
while read -r room name type; do
  case $name in rf_alloc | rf_free) continue ;; esac # core's two words without a noun
  fits=no
  while read -r noun; do case $name in rf_"$noun" | rf_"$noun"_*) fits=yes; break ;; esac; done <"$work/nouns.$room"
  [ $fits = yes ] || wrong "$room.h: $name begins neither with its room nor with a public type of that header"
  case $name in
    *_text | *_string | *_default | *_defaults | *_destroy | *_delete | *_create | *_release | *_str | *_get_*)
      wrong "$room.h: $name: the words are _name, _settings_init, _new, _free" ;;
  esac
  case $type in "const char *") case $name in *_name) ;; *) wrong "$room.h: $name gives a text, so its name ends with _name" ;; esac ;; esac
done <"$work/functions"
# what the library exports
library=$RF_BUILD/libreluflow.so
if [ -e "$library" ]; then
  nm -D --defined-only "$library" | awk '$2 ~ /[TDBRVWi]/ {print $3}' | grep -vE '^(\.gomp|_init|_fini|__gcov|__asan|__ubsan|__odr|_edata|_end|__bss_start)' | sort >"$work/exported"
  awk '{print $2}' "$work/functions" | sort >"$work/declared"
  diff "$work/declared" "$work/exported" >"$work/difference" || { cat "$work/difference"; wrong "exported (>) and declared (<) functions differ"; }
else
  wrong "$library is missing"
fi
echo "$count public functions, $bad wrong"
[ "$bad" -eq 0 ]
