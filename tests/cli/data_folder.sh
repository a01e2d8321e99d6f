#!/usr/bin/env bash
# A data file that is not found as named: --data-dir alone when given, otherwise RELUFLOW_DATA, then the data that came
# with the program, in its build folder and installed. MNIST missing is said, with the folder that was looked at.
set -eu
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$1"; exit 1; }
rows() { "$@" --json | jq .n; }
unset RELUFLOW_DATA
mkdir mine empty
head -11 "$RF_SOURCE/data/iris.csv" >mine/iris.csv # ten rows of class 0, five of class 2
tail -5 "$RF_SOURCE/data/iris.csv" >>mine/iris.csv

[ "$(rows "$RELUFLOW" inspect iris.csv --classes 0,2)" = 100 ] || fail "the project's own iris is not found from a build folder"
[ "$(RELUFLOW_DATA=$work/mine rows "$RELUFLOW" inspect iris.csv --classes 0,2)" = 15 ] || fail "RELUFLOW_DATA does not come first"
[ "$(RELUFLOW_DATA=$work/empty rows "$RELUFLOW" inspect iris.csv --classes 0,2)" = 100 ] || fail "behind RELUFLOW_DATA come the project's own"
[ "$(rows "$RELUFLOW" inspect iris.csv --classes 0,2 --data-dir mine)" = 15 ] || fail "--data-dir is not used"
status=0; "$RELUFLOW" inspect iris.csv --data-dir empty 2>said >/dev/null || status=$?
[ $status -eq 2 ] || fail "--data-dir is not the only place when it is given"

# installed: relative to the program, wherever the prefix was moved
mkdir -p moved/bin moved/share/reluflow
ln "$RELUFLOW" moved/bin/reluflow 2>/dev/null || cp "$RELUFLOW" moved/bin/reluflow
cp -r "$RF_SOURCE/data" moved/share/reluflow/
[ "$(PATH=$work/moved/bin:$PATH rows reluflow inspect iris.csv --classes 0,2)" = 100 ] || fail "the installed data are not found"
rm -r moved/share
status=0; moved/bin/reluflow inspect iris.csv 2>said >/dev/null || status=$?
[ $status -eq 2 ] || fail "data come from nowhere"

# no MNIST: an error that names the folder, a claim that is skipped
status=0; "$RELUFLOW" inspect gen:digits --data-dir empty 2>said >/dev/null || status=$?
[ $status -eq 2 ] || fail "gen:digits without its files: status $status"
grep -q 'empty/mnist' said || fail "gen:digits does not say where it looked: $(cat said)"
"$RELUFLOW" verify MMV-30 --quiet --data-dir empty -o claim.json || true
jq -e '.claims[0].verdict == "skipped" and (.claims[0].note | test("no MNIST"))' claim.json >/dev/null ||
  fail "a claim without its data: $(jq -c '.claims[0] | {verdict, note}' claim.json)"
