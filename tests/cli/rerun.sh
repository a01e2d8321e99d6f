#!/usr/bin/env bash
# A saved result is repeated with the same answer; a changed answer, changed data and files that are no result are told.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
bad=0
fail() { echo "$*"; bad=1; }
expect() { # STATUS words...
  local want=$1; shift
  "$RELUFLOW" "$@" >out 2>err; local got=$?
  [ $got -eq "$want" ] || fail "reluflow $*: exit $got, expected $want: $(cat out err | head -3)"
}
printf '2,1,1\n1,2,1\n-3,1,-1\n-1,-2,-1\n' >points.csv
for words in "flow points.csv --width 4 --seed 3" "flow gen:DS-MC3 --width 3" "maxmargin points.csv" "inspect points.csv" \
             "explain points.csv --width 5" "train points.csv --steps 50" "data info points.csv" "data list"; do
  expect 0 $words -o saved.json --quiet
  expect 0 rerun saved.json
  grep -q '^.*the same.*: 0 of' out || fail "$words: not called the same: $(cat out)"
  expect 0 rerun saved.json --json
  [ "$(jq '.same and .different == 0 and .compared > 0' out)" = true ] || fail "$words: $(head -c 300 out)"
done
# the digest is that of the rows, by any tool
expect 0 inspect points.csv -o saved.json --quiet
want=$(python3 - <<'PY'
import hashlib, struct
rows = [l.strip().split(",") for l in open("points.csv")]
print(hashlib.sha256(b"".join(r[2].encode() + b"\0" + struct.pack("<2d", float(r[0]), float(r[1])) for r in rows)).hexdigest())
PY
)
[ "$(jq -r .run.data_sha256 saved.json)" = "$want" ] || fail "digest $(jq -r .run.data_sha256 saved.json), expected $want"
expect 0 flow points.csv --width 4 -o saved.json --quiet
jq '.limit.margin *= 1.001' saved.json >changed.json
expect 1 rerun changed.json
grep -q 'limit.margin' out || fail "the changed margin is not named"
expect 0 rerun changed.json --tol 0.01
printf '2,1,1\n1,3,1\n-3,1,-1\n-1,-2,-1\n' >points.csv
expect 1 rerun saved.json
grep -q 'the data are not the same' out || fail "other data are not told"
echo '{"W": [[1]], "a": [1]}' >net.json; expect 2 rerun net.json
echo '{"run": {"words": ["rerun", "x"]}}' >net.json; expect 2 rerun net.json
echo '{"run": {"words": [3]}}' >net.json; expect 2 rerun net.json
echo '{"run": ' >net.json; expect 2 rerun net.json
expect 2 rerun missing.json
expect 2 rerun
exit $bad
