#!/usr/bin/env bash
# A real sweep through the program: the same store with one worker and with two; status, resume, retry, export, show; a
# worker killed from outside.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=$((bad + 1)); }
spec=(flow 'gen:orthant,n={6,9},d=2' --scale 1e-2,limit --seed 0..3 --width 4)
"$RELUFLOW" sweep "${spec[@]}" --workers 1 --store one.db --quiet || complain "one worker: exit $?"
"$RELUFLOW" sweep "${spec[@]}" --workers 2 --store two.db --keep-json --json >two.json || complain "two workers: exit $?"
"$RELUFLOW" sweep export one.db --csv one.csv --npz one.npz || complain "export: exit $?"
"$RELUFLOW" sweep export two.db --csv two.csv || complain "export: exit $?"
without_seconds() { python3 - "$1" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for row in rows: row.pop("seconds")
print(rows)
PY
}
without_seconds one.csv >one.txt; without_seconds two.csv >two.txt
cmp -s one.txt two.txt || complain "one and two workers differ"
[ "$(wc -l <one.csv)" -eq 17 ] || complain "16 cells and a header, not $(wc -l <one.csv) lines"
python3 - <<'PY' || complain "the store read by Python's sqlite3"
import csv, sqlite3, json, zlib
store = sqlite3.connect("two.db")
names = [row[1] for row in store.execute("PRAGMA table_info(cells)")]
assert {"id", "status", "seconds", "digest", "n", "scale", "seed", "limit.margin", "verdict.global"} <= set(names), names
described = {row[0] for row in store.execute("SELECT name FROM columns")}
assert described == set(names), described ^ set(names)
for margin, blob, status in store.execute('SELECT "limit.margin", json, status FROM cells'):
    whole = json.loads(zlib.decompress(blob))
    assert whole["limit"]["margin"] == margin and status in ("holds", "does-not-hold"), (margin, status)
rows = list(csv.DictReader(open("one.csv")))
assert [row["id"] for row in rows] == [str(k) for k in range(16)]
PY
if command -v sqlite3 >/dev/null; then # as docs/commands/sweep.md has it
  sqlite3 -header -column one.db 'select scale, count(*), avg("limit.margin") from cells group by scale' >groups.txt || complain "sqlite3"
  grep -qE '^limit +8 ' groups.txt || complain "sqlite3: $(cat groups.txt)"
fi
"$RELUFLOW" sweep status two.db --json | grep -q '"pending": 0' || complain "status"
"$RELUFLOW" sweep resume two.db --json | grep -q '"cells": 16' || complain "resume of a store that is done"
"$RELUFLOW" sweep "${spec[@]}" --workers 2 --store two.db --keep-json --quiet || complain "the same sweep again: exit $?"
"$RELUFLOW" sweep retry two.db --status holds --workers 2 --quiet || complain "retry: exit $?"
"$RELUFLOW" sweep export two.db --csv two.csv && without_seconds two.csv | cmp -s - one.txt || complain "retry changed the results"
"$RELUFLOW" sweep show two.db 5 --report five.html >five.txt || complain "show: exit $?"
grep -q 'the same result as in the store' five.txt || complain "show: $(tail -2 five.txt)"
grep -q '</html>' five.html || complain "show wrote no page"
"$RELUFLOW" sweep "${spec[@]}" --seed 0..4 --store two.db 2>err; [ $? -eq 2 ] || complain "a store of another sweep was taken"
"$RELUFLOW" sweep maxmargin gen:gaussian,n=6,d=2,seed=0..3 --where 'seed <> 2' --store best.db --quiet || complain "maxmargin"
"$RELUFLOW" sweep inspect gen:pair,sep={0.1,0.2} --store look.db --quiet || complain "inspect: exit $?"
"$RELUFLOW" sweep train gen:DS-PL2 --steps 5,10 --rate 0.1 --width 3 --store train.db --quiet || complain "train: exit $?"
"$RELUFLOW" sweep verify {VSS-07,VSS-11} --quick --store claims.db --quiet || complain "verify: exit $?"
"$RELUFLOW" sweep flow gen:gaussian,n=30,d=5,seed=0..1 --time 0 --width 8 --store time.db --json | grep -q '"timeout": 2' || complain "timeouts"
# every worker is killed from outside, again and again; resume finishes, and the store is that of an undisturbed run. Without a search for leaks: its
# helper is a child, too, and the search waits forever for a helper that was killed.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$RELUFLOW" sweep "${spec[@]}" --workers 2 --store hit.db --quiet &
parent=$!
for _ in 1 2 3 4 5 6; do
  sleep 0.05
  for worker in $(ps -o pid= --ppid $parent 2>/dev/null); do kill -9 "$worker" 2>/dev/null; done
done
wait $parent 2>/dev/null
"$RELUFLOW" sweep resume hit.db --quiet || complain "resume after kills: exit $?"
"$RELUFLOW" sweep export hit.db --csv hit.csv && without_seconds hit.csv | cmp -s - one.txt || complain "kills changed the results"
[ "$bad" -eq 0 ]
