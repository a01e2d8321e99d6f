#!/usr/bin/env bash
# What goes out goes out whole: JSON alone on standard output, -o by renaming, closed and full outputs, interruption.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=$((bad + 1)); }
expect() { # STATUS COMMAND...
  local want=$1; shift
  "$@" >out 2>err
  local status=$?
  [ $status -eq "$want" ] || complain "$*: exit $status instead of $want: $(cat err)"
}
data=gen:DS-PL2

expect 0 "$RELUFLOW" inspect $data --json
[ -s err ] && complain "--json writes to standard error"
head -c1 out | grep -q '{' || complain "--json does not start an object"
cp out first
# the same but for the words and the time of the run
same() { cmp -s <(grep -v '^  "run"' "$1") <(grep -v '^  "run"' "$2"); }
expect 0 "$RELUFLOW" inspect $data --json -o file.json
same first out && same out file.json || complain "-o differs from --json"
expect 0 "$RELUFLOW" inspect $data -o file2.json
same first file2.json || complain "-o without --json is not the object"
grep -q 'Orthogonally separable' out || complain "-o swallowed the page"
expect 0 "$RELUFLOW" inspect $data -o page.txt
cmp -s page.txt out || complain "-o page.txt is not the page"
expect 0 "$RELUFLOW" inspect $data --quiet
[ -s out ] && complain "--quiet prints"
expect 0 "$RELUFLOW" inspect $data --quiet --json
same first out || complain "--quiet changes --json"
expect 0 "$RELUFLOW" inspect $data --report r.html --svg pictures
for f in r.html pictures/plane.svg pictures/potential.svg pictures/margins.svg; do [ -s $f ] || complain "no $f"; done
tail -1 r.html | grep -q '</html>' || complain "r.html is not whole"
grep -q $'\033' out && complain "colours without a terminal"
ls | grep -q part && complain "a partial file was left: $(ls)"

# the old file stays when the new one cannot be written
echo old >kept.json; mkdir locked; echo old >locked/f.json; chmod 555 locked
if [ "$(id -u)" -ne 0 ]; then
  expect 2 "$RELUFLOW" inspect $data -o locked/f.json
  [ "$(cat locked/f.json)" = old ] || complain "a failed -o changed the file"
fi
chmod 755 locked
expect 2 "$RELUFLOW" inspect missing.csv -o kept.json
[ "$(cat kept.json)" = old ] || complain "a failed run changed -o"

# standard output closed, full, or a reader that is gone
for arguments in "inspect $data" "inspect $data --json" "help" "--version" "data list" "help fields"; do
  "$RELUFLOW" $arguments >&- 2>err; [ $? -eq 2 ] || complain "$arguments >&-: wrong exit"
  [ "$(wc -l <err)" -eq 1 ] || complain "$arguments >&-: $(cat err)"
  "$RELUFLOW" $arguments >/dev/full 2>err; [ $? -eq 2 ] || complain "$arguments >/dev/full: wrong exit"
done
{ "$RELUFLOW" data list 2>err; echo $? >status; } | :
case $(cat status) in 0|2) ;; *) complain "broken pipe: exit $(cat status)" ;; esac

# exit statuses of outcomes
expect 1 "$RELUFLOW" maxmargin gen:xor --linear
expect 0 "$RELUFLOW" maxmargin $data --linear
expect 0 "$RELUFLOW" inspect gen:xor

# a deadline: partial, marked, still one object
expect 130 "$RELUFLOW" inspect gen:gaussian,n=60,d=6 --json --time 0
grep -q '"status": "interrupted"' out || complain "a stopped run is not marked"
tail -1 out | grep -q '^}' || complain "a stopped run is not whole"

# SIGINT and SIGTERM: exit 130, with the result so far; sent twice at once, as `timeout` does, they are one
for signal in INT TERM; do
  set -m # a background job of a script would ignore SIGINT otherwise
  "$RELUFLOW" train gen:orthant,n=400,d=20 --steps 1000000000 --json >out 2>err &
  pid=$!
  set +m
  sleep 0.3
  kill -$signal $pid; sleep 0.002; kill -$signal $pid 2>/dev/null
  wait $pid; status=$?
  [ $status -eq 130 ] || complain "SIG$signal: exit $status: $(cat err)"
  tail -1 out | grep -q '^}' || complain "SIG$signal: no result"
done

# data by other roads
expect 0 "$RELUFLOW" data make $data -o d.csv
expect 0 "$RELUFLOW" inspect - <d.csv
mkdir store; mv d.csv store/stored.csv
expect 0 "$RELUFLOW" inspect stored.csv --data-dir store
expect 0 "$RELUFLOW" data make --limit=3 -o e.npz -- $data
[ "$bad" -eq 0 ]
