#!/usr/bin/env bash
# Files that a checker once got wrong, or easily might: the verdict of both is stated here.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
bad=0
verdict() { # STATUS WHAT: the file on standard input
  cat >"$work/proof"
  "$(dirname "$RELUFLOW")/rfcheck" "$work/proof" >"$work/c"; local c=$?
  python3 "$RF_SOURCE/python/reluflow/checker.py" "$work/proof" >"$work/python"; local python=$?
  [ $c -eq "$1" ] && [ $python -eq "$1" ] || { echo "$2: $c $(cat "$work/c") / $python $(cat "$work/python"), not $1"; bad=$((bad + 1)); }
}
head="reluflow-proof 1"
verdict 1 "a row 0 before rows whose line does not cancel" <<END
$head
claim infeasible
leak 0
signs both
data 3 2
x +1 0 0
x +1 1 0
x +1 -1 0
farkas 1 1 1
qed
END
verdict 0 "a row 0 before a line that cancels" <<END
$head
claim infeasible
leak 0
signs both
data 3 2
x +1 0 0
x +1 1 0
x -1 2 0
farkas 1 2 1
qed
END
verdict 1 "opposite samples fixed by their side in lemma m" <<END
$head
claim infeasible
leak 0
signs +
data 2 1
x +1 1
x -1 -1
farkas 1 1
tree +1
s 1
m 0 -
e 0 /
m 0 -
e 0 /
qed
END
verdict 2 "no end" <<END
$head
claim inseparable
leak 0
data 1 1
x +1 0
alpha 1
END
verdict 0 "a row 0 is not separable" <<END
$head
claim inseparable
leak 0
data 1 1
x +1 0
alpha 1
qed
END
verdict 2 "a comment after qed" < <(printf '%s\nclaim inseparable\nleak 0\ndata 1 1\nx +1 0\nalpha 1\nqed\n# more\n' "$head")
verdict 2 "a NUL byte" < <(printf '%s\nclaim inseparable\nleak 0\ndata 1 1\nx +1 0\0\nalpha 1\nqed\n' "$head")
verdict 2 "huge sizes" < <(printf '%s\nclaim inseparable\nleak 0\ndata 999999999 999999999\nx +1 0\n' "$head")
# a path of 1,500 splits, more than Python recurses
verdict 0 "a deep tree" < <(python3 - <<'END'
n = 1501
print("reluflow-proof 1\nclaim optimum\nleak 0\nsigns +\ndata %d 1" % n)
print("\n".join(["x +1 1"] * n))
print("lower 1\ntau 1\nlambda 1" + " 0" * (n - 1))
print("tree +1\nm 0 +")
print("\n".join("s %d" % i for i in range(1, n)))
print("\n".join(["e 1 /"] * n))
print("qed")
END
)
[ $bad -eq 0 ]
