#!/usr/bin/env bash
# Populations on the emulated device in a sweep: the rows are those of cells run alone, whoever is killed on the way; a
# card that is missing or too small is one line and leaves a store that can be resumed.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*"; exit 1; }
sql() { sqlite3 "$1" "$2"; }
cells=(train gen:orthant,n={12,16},d=3 --width 6,9 --steps 400 --stop-loss 0.2 --rate 0.2,0.4 --device emulated --seed 0..24 --then flow)
rows='select id,command,status,exit_status,version,digest,"json.steps",stop,margin,"then.status","then.margin" from cells order by id'

timeout 120 "$RELUFLOW" sweep "${cells[@]}" --store a.db --quiet || fail "the sweep ended with $?"
[ "$(sql a.db 'select count(*) from cells where status="holds"')" = 200 ] || fail "not all cells hold"
[ "$(sql a.db 'select count(*) from cells where "then.status"="converged"')" -gt 100 ] || fail "few flows converged"
# a cell alone gives the digest of the cell in company
"$RELUFLOW" sweep show a.db 77 | grep -q "the same result as in the store" || fail "a cell alone differs"
# the processor's own training agrees to rounding
timeout 120 "$RELUFLOW" sweep "${cells[@]/emulated/cpu}" --store c.db --quiet
sqlite3 a.db "attach 'c.db' as c; select count(*) from cells a join c.cells b on a.id=b.id where a.\"json.steps\"<>b.\"json.steps\" or abs(a.loss-b.loss)>1e-9*b.loss" |
  grep -qx 0 || fail "the device and the processor differ"

# killed: the device's worker, then everybody
killed=0
for round in 1 2 3; do
  "$RELUFLOW" sweep "${cells[@]}" --store b.db --quiet & parent=$!
  for _ in $(seq 200); do
    child=$(cat "/proc/$parent/task/$parent/children" 2>/dev/null); [ -n "$child" ] && break; sleep 0.01
  done
  sleep "0.0$round"
  for one in $child; do kill -9 "$one" 2>/dev/null && killed=$((killed + 1)); done
  sleep 0.1
  kill -9 $parent 2>/dev/null && killed=$((killed + 1))
  wait $parent 2>/dev/null
done
[ $killed -ge 2 ] || fail "only $killed kills hit"
timeout 120 "$RELUFLOW" sweep resume b.db --quiet || fail "resume ended with $?"
cmp <(sql a.db "$rows") <(sql b.db "$rows") || fail "after $killed kills the store differs"

# too little memory: one line, nothing lost, resumable
RELUFLOW_EMULATED_MEMORY=500 timeout 60 "$RELUFLOW" sweep "${cells[@]}" --store m.db --quiet 2>err; code=$?
[ $code -eq 3 ] && [ "$(wc -l <err)" = 1 ] && grep -q "too little memory" err || fail "memory: $code, $(cat err)"
[ "$(sql m.db 'select count(*) from cells where status="pending"')" = 200 ] || fail "cells were lost"
timeout 120 "$RELUFLOW" sweep resume m.db --quiet && cmp <(sql a.db "$rows") <(sql m.db "$rows") || fail "resumed after too little memory"

# no card: one line, a store that waits
timeout 60 "$RELUFLOW" sweep "${cells[@]/emulated/cuda}" --store n.db --quiet 2>err; code=$?
if [ $code -ne 0 ]; then
  [ $code -eq 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "--device cuda: " err || fail "no card: $code, $(cat err)"
  [ "$(sql n.db 'select count(*) from cells where status="pending"')" = 200 ] || fail "cells were lost without a card"
fi
# pictures
for color in destiny limit; do
  for device in cpu emulated; do "$RELUFLOW" basins gen:gaussian,n=12,d=3 --grid 80x40 --color $color --device $device -o $device.png --quiet || fail "basins"; done
  cmp cpu.png emulated.png || fail "the picture of the device differs: $color"
done
for words in "train gen:orthant --device emulated --optimizer adam" "train gen:orthant --device emulated --checkpoint x" "train gen:orthant --device gpu"; do
  # shellcheck disable=SC2086
  "$RELUFLOW" $words --quiet 2>err; [ $? -eq 2 ] && [ "$(wc -l <err)" = 1 ] || fail "$words: $(cat err)"
done
echo "200 cells in company, $killed kills, memory and cards that are missing: the same rows"
