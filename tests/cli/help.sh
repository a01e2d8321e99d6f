#!/usr/bin/env bash
# Every command explains itself; the documents made from the tables are whole and up to date.
set -u
bad=0
complain() { echo "$*"; bad=$((bad + 1)); }
commands=$("$RELUFLOW" help | sed -nE '/^Commands/,/^$/s/^  ([a-z]+( [a-z]+)?) .*/\1/p' | grep -vE '^(help|completion)')
[ "$(echo "$commands" | wc -l)" -ge 5 ] || complain "too few commands in the overview: $commands"
while read -r command; do
  "$RELUFLOW" $command --help >/tmp/help.$$ || complain "$command --help failed"
  grep -q -- '--json' /tmp/help.$$ || complain "$command --help shows no --json"
  "$RELUFLOW" help $command | cmp -s - /tmp/help.$$ || complain "help $command differs from $command --help"
  [ "$(awk '{ if (length($0) > longest) longest = length($0) } END { print longest }' /tmp/help.$$)" -le 110 ] || complain "$command --help has long lines"
done <<<"$commands"
rm -f /tmp/help.$$
"$RELUFLOW" | grep -q '^Commands' || complain "no overview"
"$RELUFLOW" --version | grep -qE '^reluflow [0-9]+\.[0-9]+\.[0-9]+$' || complain "--version"
"$RELUFLOW" help fields inspect | grep -q 'linear ' || complain "help fields inspect"
"$RELUFLOW" help fields --markdown | cmp -s - "$RF_SOURCE/docs/fields.md" ||
  complain "docs/fields.md is out of date: cmake --build build --target docs"
"$RELUFLOW" help --man >/tmp/man.$$
grep -q '^\.SH EXIT STATUS' /tmp/man.$$ || complain "man page"
if command -v groff >/dev/null; then
  warnings=$(groff -man -Tutf8 -ww -z /tmp/man.$$ 2>&1 | head -5)
  [ -z "$warnings" ] || complain "man page: $warnings"
fi
rm -f /tmp/man.$$
[ "$bad" -eq 0 ]
