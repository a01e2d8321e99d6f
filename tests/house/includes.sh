#!/usr/bin/env bash
# Includes point one way (docs/design.md): a file of a room may include public headers of its own room and of rooms to
# its left, and internal headers of its own room only. ROOM/ROOM.h in src is the door of a room: what it shows to the
# rooms to its right and to the other buildings, but not to users. The ledger may use everything below cli.
set -u
cd "$RF_SOURCE"
order="core la data margin geometry net layers optimum train certify flow theory study present kit cross {pl mmv llwa wp vss neighbours} device sweep cli"
# rooms that stand side by side and must not include each other
declare -A rank=( [core]=0 [la]=1 [data]=2 [margin]=3 [geometry]=4 [net]=5 [layers]=6 [optimum]=7 [train]=7 [certify]=8
                  [flow]=9 [theory]=10 [study]=11 [present]=12 [kit]=13 [cross]=14 [pl]=15 [mmv]=15 [llwa]=15 [wp]=15 [vss]=15
                  [neighbours]=15
                  [device]=16 [sweep]=17 [cli]=18 )
bad=0 checked=0
wrong() { echo "$1"; bad=$((bad + 1)); }
check() { # FILE ROOM INCLUDED_ROOM
  checked=$((checked + 1))
  if [ -z "${rank[$3]+x}" ]; then wrong "$1 includes unknown room '$3'"; return; fi
  if [ "$2" != "$3" ] && [ "${rank[$3]}" -ge "${rank[$2]}" ]; then wrong "$1 (room $2) includes $3, which lies to its right"; fi
}
while read -r file; do
  case $file in
    include/reluflow/reluflow.h) continue ;;
    include/*) room=$(basename "$file" .h) ;;
    *) room=${file#*/}; room=${room%%/*} ;;
  esac
  [ -n "${rank[$room]+x}" ] || { wrong "$file: room '$room' is not in docs/design.md"; continue; }
  while read -r header; do
    case $header in
      reluflow/reluflow.h) [ "$room" = cli ] || wrong "$file includes the header of all rooms" ;;
      reluflow/*) check "$file" "$room" "$(basename "$header" .h)" ;;
      present/present.h | kit/* | cross/cross.h) check "$file" "$room" "${header%%/*}" ;; # the doors of rooms outside the library
      sweep/sweep.h) check "$file" "$room" sweep ;;
      device/device.h) check "$file" "$room" device ;;
      */*) other=${header%%/*}
        if [ "$header" = "$other/$other.h" ] && [ -e "src/$header" ]; then check "$file" "$room" "$other"; continue; fi
        [ "$other" = "$room" ] || wrong "$file includes $header, internal to another room" ;;
      *) [ -e "$(dirname "$file")/$header" ] || wrong "$file includes $header, which is not in its room" ;;
    esac
  done < <(sed -nE 's/^#include "([^"]+)".*/\1/p' "$file")
done < <(find src app ledger include/reluflow -name '*.[ch]')
echo "$checked includes checked, $bad wrong; order: $order"
[ "$bad" -eq 0 ] && [ "$checked" -gt 20 ]
