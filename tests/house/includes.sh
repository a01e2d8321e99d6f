#!/usr/bin/env bash
# Includes point one way (docs/design.md): a file of a room may include public headers of its own room and of rooms to
# its left, and internal headers of its own room only.
set -u
cd "$RF_SOURCE"
order="core la data margin geometry net layers optimum train certify flow theory report claims explain cli"
# rooms that stand side by side and must not include each other
declare -A rank=( [core]=0 [la]=1 [data]=2 [margin]=3 [geometry]=4 [net]=5 [layers]=6 [optimum]=7 [train]=7 [certify]=8
                  [flow]=9 [theory]=10 [report]=11 [claims]=12 [explain]=12 [cli]=13 )
bad=0 checked=0
check() { # FILE ROOM INCLUDED_ROOM
  checked=$((checked + 1))
  if [ -z "${rank[$3]+x}" ]; then echo "$1 includes unknown room '$3'"; bad=$((bad + 1)); return; fi
  if [ "$2" != "$3" ] && [ "${rank[$3]}" -ge "${rank[$2]}" ]; then echo "$1 (room $2) includes $3, which lies to its right"; bad=$((bad + 1)); fi
}
for file in src/*/*.c src/*/*.h include/reluflow/*.h; do
  [ -e "$file" ] || continue
  case $file in
    include/reluflow/reluflow.h) continue ;;
    include/*) room=$(basename "$file" .h) ;;
    *) room=$(basename "$(dirname "$file")") ;;
  esac
  [ -n "${rank[$room]+x}" ] || { echo "$file: room '$room' is not in docs/design.md"; bad=$((bad + 1)); continue; }
  while read -r header; do
    case $header in
      reluflow/reluflow.h) [ "$room" = cli ] || { echo "$file includes the header of all rooms"; bad=$((bad + 1)); } ;;
      reluflow/*) check "$file" "$room" "$(basename "$header" .h)" ;;
      */*) other=${header%%/*}; [ "$other" = "$room" ] || { echo "$file includes $header, internal to another room"; bad=$((bad + 1)); } ;;
      *) [ -e "$(dirname "$file")/$header" ] || { echo "$file includes $header, which is not in its room"; bad=$((bad + 1)); } ;;
    esac
  done < <(sed -nE 's/^#include "([^"]+)".*/\1/p' "$file")
done
echo "$checked includes checked, $bad wrong; order: $order"
[ "$bad" -eq 0 ] && [ "$checked" -gt 20 ]
