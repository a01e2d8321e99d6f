#!/usr/bin/env bash
# The global part of `reluflow maxmargin`: exit statuses and the fields that scripts read.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=$((bad + 1)); }
expect() { # STATUS PATTERN COMMAND...
  local want=$1 pattern=$2; shift 2
  "$@" >out 2>err
  local status=$?
  [ $status -eq "$want" ] || complain "$*: exit $status instead of $want: $(cat err)"
  [ -z "$pattern" ] || grep -q -- "$pattern" out || complain "$*: no '$pattern' in the output"
}
expect 0 '"status": "optimal"' "$RELUFLOW" maxmargin gen:xor --json
expect 0 '"objective": 2.82842712474' "$RELUFLOW" maxmargin gen:xor --json
expect 0 '"objective": 7.2426406871' "$RELUFLOW" maxmargin gen:DS-MC3 --json
expect 0 '"global": null' "$RELUFLOW" maxmargin gen:DS-PL2 --linear --json
expect 0 '"attained": false' "$RELUFLOW" maxmargin gen:vee --width 1 --json
expect 0 '"attained": true' "$RELUFLOW" maxmargin gen:vee --width 2 --json
expect 1 '"status": "infeasible"' "$RELUFLOW" maxmargin gen:vee --signs - --json
expect 1 'no network fits' "$RELUFLOW" maxmargin gen:xor --leak 1
expect 1 'not separable' "$RELUFLOW" maxmargin gen:xor --linear
printf '1,2,1\n2,4,-1\n' >ray.csv
expect 1 '"farkas": \[0.6' "$RELUFLOW" maxmargin ray.csv --json
printf '0,0,1\n2,4,-1\n' >zero.csv
expect 1 '"farkas": \[1, 0\]' "$RELUFLOW" maxmargin zero.csv --json
printf '5,1\n' >one.csv
expect 0 '"width_needed": 1' "$RELUFLOW" maxmargin one.csv --json
expect 2 '' "$RELUFLOW" maxmargin gen:xor --leak 2
expect 2 '' "$RELUFLOW" maxmargin gen:xor --width 0
expect 2 '' "$RELUFLOW" maxmargin gen:xor --signs x
expect 130 '"status": "interrupted"' "$RELUFLOW" maxmargin gen:gaussian,n=100,d=12 --time 0.3 --json
expect 0 'Best network of any width' "$RELUFLOW" maxmargin gen:gaussian,n=20,d=3 --leak 0.3
# proof files: written, checked by the program beside this one, and said so
expect 0 '"accepted": true' "$RELUFLOW" maxmargin gen:xor --proof xor.proof --check --json
expect 0 'accepted optimum' "$RELUFLOW" maxmargin gen:xor --proof xor.proof --check
expect 1 '"verdict": "accepted infeasible"' "$RELUFLOW" maxmargin ray.csv --proof ray.proof --check --json
expect 1 'accepted inseparable' "$RELUFLOW" maxmargin gen:xor --linear --proof xor.proof --check
expect 0 'accepted separable' "$RELUFLOW" maxmargin gen:DS-PL2 --linear --proof pl.proof --check
expect 2 '' "$RELUFLOW" maxmargin gen:xor --check
expect 2 '' "$RELUFLOW" maxmargin gen:DS-MC3 --proof mc.proof
# pictures for two samples; otherwise a word and no file
expect 0 '' "$RELUFLOW" maxmargin gen:DS-WP1 --svg pictures
for f in ellipsoid polar; do tail -1 pictures/$f.svg | grep -q '</svg>' || complain "$f.svg is not whole"; done
rm -rf pictures
expect 0 '' "$RELUFLOW" maxmargin gen:xor --svg pictures
grep -q 'two samples' err || complain "no word about missing pictures"
[ -e pictures ] && complain "pictures of four samples"
[ $bad -eq 0 ]
