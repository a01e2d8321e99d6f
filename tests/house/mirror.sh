#!/usr/bin/env bash
# Tests mirror sources: src/flow/fit/events.c is tested by tests/flow/fit/test_events.c (or events.sh), app/ROOM/NAME.c by
# tests/ROOM/..., ledger/PAPER/NAME.c by tests/ledger/PAPER/.... Prints the share, per room with VERBOSE=1, and fails when
# it is below what was reached before. A test whose name mirrors nothing is fine: it may be about several files.
set -u
cd "$RF_SOURCE"
reached=110 # of the C files of src, app and ledger: raise it when tests are added, never lower it
all=0 mirrored=0
declare -A room_all room_mirrored
while read -r file; do
  case $file in
    src/*) path=${file#src/} ;;
    app/*) path=${file#app/} ;;
    *) path=$file ;;
  esac
  folder=tests/$(dirname "$path") name=$(basename "$path" .c) room=$(dirname "$path")
  all=$((all + 1)); room_all[$room]=$((${room_all[$room]:-0} + 1))
  if [ -e "$folder/test_$name.c" ] || [ -e "$folder/$name.sh" ]; then
    mirrored=$((mirrored + 1)); room_mirrored[$room]=$((${room_mirrored[$room]:-0} + 1))
  elif [ "${VERBOSE:-0}" = 2 ]; then echo "not mirrored: $file"; fi
done < <(find src app ledger -name '*.c' | sort)
if [ "${VERBOSE:-0}" != 0 ]; then
  for room in "${!room_all[@]}"; do echo "  $room ${room_mirrored[$room]:-0} of ${room_all[$room]}"; done | sort
fi
echo "$mirrored of $all source files have a test of their own name ($((100 * mirrored / all)) %)"
[ "$mirrored" -ge "$reached" ] || { echo "it was $reached before"; exit 1; }
