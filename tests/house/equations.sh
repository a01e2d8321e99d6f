#!/usr/bin/env bash
# Every equation that a source file or a page cites, (G.6) or F.7, is in docs/math.md under that number, and none has two places.
set -u
cd "$RF_SOURCE" || exit 1
number='[FGN]\.[0-9]+[a-z]?'
given=$( { grep -oE "\\\\tag\{$number\}" docs/math.md; grep -oE " {3,}\($number\)$" docs/math.md; grep -oE "^\*\*$number " docs/math.md; } | grep -oE "$number" | sort)
bad=0
twice=$(uniq -d <<<"$given")
[ -z "$twice" ] || { echo "two places for: $twice"; bad=1; }
[ "$(wc -l <<<"$given")" -ge 35 ] || { echo "only $(wc -l <<<"$given") numbers found in docs/math.md"; bad=1; }
cited=$( { grep -rhoE "\($number\)" include src app ledger check cuda web python docs --include='*.[ch]' --include='*.py' --include='*.js' --include='*.md'
           grep -hoE "(^|[^A-Za-z.])F\.[0-9]+" docs/math.md; } | grep -oE "$number" | sort -u)
for one in $cited; do
  grep -qx "${one//./\\.}" <<<"$given" || { echo "($one) is cited and not in docs/math.md"; bad=1; }
done
echo "checked $(wc -w <<<"$cited") citations of $(wc -l <<<"$given") equations"
exit $bad
