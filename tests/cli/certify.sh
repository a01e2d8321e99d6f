#!/usr/bin/env bash
# certify: exit statuses, verdicts and fields on points that are known, and on a network trained by PyTorch.
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
  [ "$want" -ne 2 ] || [ "$(wc -l <err)" -eq 1 ] || complain "$*: not one line: $(cat err)"
}
has() { grep -q -- "$1" out || complain "missing: $1 in $(head -c 600 out)"; }

# two samples (+-1, 1/4): (0,2)->2 with a zero neuron is KKT, not local, 48.5% of the best margin
printf '1,0.25,1\n-1,0.25,1\n' >pair.csv
echo '{"W": [[0, 2], [0, 0]], "a": [2, 0]}' >kkt.json
expect 0 "$RELUFLOW" certify pair.csv kkt.json --json
has '"holds": true'
has '"local": {"verdict": "not-optimum"'
has '"global": {"verdict": "not-optimum"'
has '"norm2_drop": 0.1'
has '"margin": 0.125'
expect 0 "$RELUFLOW" certify pair.csv kkt.json
has 'A stationary (KKT) point, but not a local optimum; its margin is 48.51% of the best possible'
expect 0 "$RELUFLOW" certify pair.csv kkt.json --local --json
has '"global": {"verdict": "unknown"'
# of width one it is optimal among its own width: locally an optimum, and globally not known
echo '{"W": [[0, 2]], "a": [2]}' >one.json
expect 0 "$RELUFLOW" certify pair.csv one.json --json
has '"local": {"verdict": "optimum"'
has '"global": {"verdict": "unknown"'
# not balanced, not KKT
echo '{"W": [[0, 4]], "a": [1]}' >off.json
expect 1 "$RELUFLOW" certify pair.csv off.json --json
has '"holds": false'
has '"witness": {"W"'
# wrong sign: does not separate
echo '{"W": [[0, 2]], "a": [-2]}' >wrong.json
expect 1 "$RELUFLOW" certify pair.csv wrong.json --json
has '"margins": null'
has '"objective": null'
expect 1 "$RELUFLOW" certify pair.csv wrong.json
has 'does not separate'
# a zero network, a single sample, conflicting labels
echo '{"W": [[0, 0]], "a": [0]}' >zero.json
expect 1 "$RELUFLOW" certify pair.csv zero.json --json
printf '2,1\n' >single.csv
echo '{"W": [[1]], "a": [1]}' >unit.json
expect 0 "$RELUFLOW" certify single.csv unit.json --json
has '"global": {"verdict": "optimum"'
printf '1,1\n1,-1\n' >conflict.csv
expect 1 "$RELUFLOW" certify conflict.csv unit.json --json
has '"holds": false'

# trained elsewhere: both files say the same
for file in trained.npz trained.safetensors; do
  expect 1 "$RELUFLOW" certify gen:orthant,n=60,d=4 "$RF_SOURCE/tests/net/data/$file" --json
  has '"local": {"verdict": "not-optimum"'
  grep -vE '"model"|^  "run"' out >"$file.out"
done
cmp -s trained.npz.out trained.safetensors.out || complain "the two files of one network differ"
expect 1 "$RELUFLOW" certify gen:orthant,n=60,d=4 "$RF_SOURCE/tests/net/data/trained.safetensors" --report page.html
has 'of the best possible'
tail -1 page.html | grep -q '</html>' || complain "page.html is not whole"

# distances to the decision boundary: f = <x, (0.6,0.8)> is linear, so they are |f|
printf '1,0,1\n0,1,1\n-2,0,-1\n' >line.csv
echo '{"W": [[0.6, 0.8], [-0.6, -0.8]], "a": [1, -1]}' >line.json
expect 1 "$RELUFLOW" certify line.csv line.json --robustness --json
has '"exact": true'
jq -e '.robustness | (.distance | map(. * 1e9 | round)) == [6e8, 8e8, 12e8] and .universal >= 1.2 and .lower == .distance' out >/dev/null ||
  complain "distances of a linear network"
expect 1 "$RELUFLOW" certify line.csv line.json --json
has '"robustness": null'
expect 1 "$RELUFLOW" certify line.csv line.json --robustness
has 'distance to the decision boundary: 0.6 at least'

# a frozen second layer: one neuron a sample, orthogonal samples, is the global optimum of its first layer
printf '1,0,1\n0,1,-1\n' >axes.csv
echo '{"W": [[1, 0], [0, 1]], "a": [1, -1]}' >axes.json
expect 0 "$RELUFLOW" certify axes.csv axes.json --freeze second --json
jq -e '.frozen | .holds and .global == "optimum" and .gap < 1e-7' out >/dev/null || complain "verdicts of a frozen layer"
expect 0 "$RELUFLOW" certify axes.csv axes.json --freeze second
has 'second layer frozen: a KKT point'

# bad usage
expect 2 "$RELUFLOW" certify pair.csv
expect 2 "$RELUFLOW" certify pair.csv unit.json
expect 2 "$RELUFLOW" certify pair.csv nothing.json
expect 2 "$RELUFLOW" certify pair.csv pair.csv
echo '{"W": [[0, 2]], "a": [2], "leak": 0.5}' >leaky.json
expect 2 "$RELUFLOW" certify pair.csv leaky.json --leak 0.1
expect 0 "$RELUFLOW" certify pair.csv one.json --leak 0
printf '1,0,a\n0,1,b\n1,1,c\n' >three.csv
expect 2 "$RELUFLOW" certify three.csv one.json
[ $bad -eq 0 ]
