#!/usr/bin/env bash
# Headings of sections (/* ---- text ---- */) fit one line: clang-format folds longer ones onto two.
set -u
cd "$RF_SOURCE"
found=$(grep -rnE '^/\* ---- ' --include='*.[ch]' src app ledger cuda include tests bench python/native | grep -vE '\*/$')
[ -z "$found" ] || { printf '%s\n' "$found" "shorten these headings: they span two lines"; exit 1; }
count=$(grep -rnE '^/\* ---- ' --include='*.[ch]' src app ledger include | wc -l)
echo "$count headings of sections, each on one line"
[ "$count" -gt 100 ]
