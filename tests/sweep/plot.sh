#!/usr/bin/env bash
# Pictures of a store: every kind is well-formed, no cell is dropped silently, and the numbers are those of the store.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=$((bad + 1)); }
"$RELUFLOW" sweep flow 'gen:gaussian,n={5,8},d=2,seed=0..5' --scale 1e-2,limit --width 3,6 --verdict 0 --store p.db --quiet || complain "sweep: exit $?"
# some cells without an answer, of every sort
python3 - <<'PY' || complain "sqlite3"
import sqlite3
store = sqlite3.connect("p.db")
store.execute("update cells set status='undecided' where id % 7 = 0")
store.execute("update cells set status='crashed', \"limit.margin\"=null where id % 11 = 1")
store.commit()
PY
draw() { # NAME ARGUMENTS...
  local name=$1; shift
  "$RELUFLOW" sweep plot p.db "$@" -o "$name.svg" --report "$name.html" --json >"$name.json" || complain "$name: exit $?"
}
draw line --x n --y limit.margin --color scale --facet width
draw share --x width --y limit.status=converged --color n
draw level --x scale --y limit.margin --color width
draw heat --kind heat --x n --y width --color 'limit.margin' --facet scale
draw violin --kind violin --x scale --y alignment.t1 --color n
draw survival --kind survival --y alignment.t1 --color n --where "width=3"
python3 - <<'PY' || complain "the pictures"
import json, math, sqlite3, statistics, xml.dom.minidom
store = sqlite3.connect("p.db")
for name, cells in dict(line=48, share=48, level=48, heat=48, violin=48, survival=24).items():
    numbers = json.load(open(name + ".json"))
    assert numbers["cells"] == cells == sum(group["cells"] for group in numbers["groups"]), (name, numbers["cells"])
    assert numbers["without_answer"] == sum(group["without_answer"] for group in numbers["groups"]) > 0, name
    svg = xml.dom.minidom.parse(name + ".svg")
    assert len(svg.getElementsByTagName("title")) > 3 or name == "survival", name
    assert "without an answer" in open(name + ".html").read(), name
for group in json.load(open("line.json"))["groups"]:
    rows = [row[0] for row in store.execute(
        "select \"limit.margin\" from cells where n=? and cast(scale as text)=? and width=? and status in ('holds','does-not-hold')",
        (int(group["x"]), group["series"], int(group["facet"]))) if row[0] is not None]
    assert math.isclose(group["middle"], statistics.median(rows), rel_tol=1e-14, abs_tol=1e-300), (group, rows)
for group in json.load(open("share.json"))["groups"]:
    yes, = store.execute("select count(*) from cells where n=? and width=? and \"limit.status\"='converged' and status in ('holds','does-not-hold')",
                         (int(group["series"]), int(group["x"]))).fetchone()
    answered = group["cells"] - group["without_answer"]
    assert math.isclose(group["middle"], yes / answered) and group["low"] <= yes / group["cells"] <= group["high"], group
PY
for wrong in "--x n" "--y limit.margin" "--x nn --y limit.margin" "--x n --y limit.marginn" "--x n --y seed --color id" "--kind heat --x n --y width"; do
  "$RELUFLOW" sweep plot p.db $wrong -o no.svg >out 2>err
  [ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -e no.svg ] || complain "plot $wrong: $(cat err)"
done
"$RELUFLOW" basins gen:DS-PL2 --grid 50x40 -o b.png >/dev/null || complain "basins: exit $?"
"$RELUFLOW" basins gen:gaussian,n=6,d=3 --grid 60x30 --color limit -o b.svg >/dev/null || complain "basins: exit $?"
"$RELUFLOW" basins gen:DS-PL2 --grid 8x8 --color margin --json | grep -q '"margin": 0.5' || complain "basins by margin"
for wrong in "gen:DS-PL2 -o b.gif" "gen:DS-PL2 --grid 5" "gen:DS-PL2 --grid 0x5" "gen:DS-PL2 --shape sphere" "gen:DS-PL2 --axes 0,2" "gen:DS-MC3"; do
  "$RELUFLOW" basins $wrong >out 2>err
  [ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] || complain "basins $wrong: $(cat err)"
done
[ "$bad" -eq 0 ]
