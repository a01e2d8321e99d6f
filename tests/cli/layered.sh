#!/usr/bin/env bash
# Layered networks on the command line: train --model, its result as a model again, certify.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=$((bad + 1)); }
expect() { # STATUS ARGUMENTS...
  local want=$1; shift
  "$RELUFLOW" "$@" >out 2>err
  local status=$?
  [ $status -eq "$want" ] || complain "$*: exit $status instead of $want: $(cat err)"
}
value() { sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p" out | head -1; }
small=gen:orthant,n=30,d=4
cat >shapes.json <<'J'
{"activation": "relu", "residual": [1],
 "layers": [{"kind": "dense", "shape": [6, 4]}, {"kind": "dense", "shape": [6, 6]}, {"kind": "dense", "shape": [1, 6]}]}
J
expect 0 train $small --model shapes.json --steps 500 --rate 0.1 --json -o trained.json
grep -q '"W": null' out && grep -q '"kind": "dense"' out || complain "no layers in the result"
awk "BEGIN{exit !($(value loss) < 0.3)}" || complain "the layered network does not learn: $(value loss)"
loss=$(value loss)
expect 0 train $small --model trained.json --steps 0 --json # a result is a model
[ "$(value loss)" = "$loss" ] || complain "read back: loss $(value loss) instead of $loss"
expect 2 certify $small trained.json
grep -q residual err || complain "certify of a residual network: $(cat err)"
expect 2 train gen:orthant,n=30,d=5 --model shapes.json --steps 1
expect 2 train $small --model shapes.json --leak 0.5 --steps 1
expect 2 certify $small shapes.json
# (1,1)/sqrt 2 in two layers, every layer scaled to the same norm: the global optimum for the sample (1,1)
printf '1,1,1\n-1,-1,-1\n' >pair.csv
echo '{"activation": "linear", "layers": [{"kind": "dense", "shape": [1, 2], "weights": [0.5946035575013605, 0.5946035575013605]},
  {"kind": "dense", "shape": [1, 1], "weights": [0.8408964152537145]}]}' >best.json
expect 0 certify pair.csv best.json --json
[ "$(value holds)" = true ] && grep -q '"global": {"verdict": "optimum"' out || complain "optimum not found: $(cat out)"
[ "$(grep -o '"layer": [01], "verdict": "optimum"' out | wc -l)" = 2 ] || complain "layers: $(grep layers out)"
# all of depth 3, diagonal, equal weights (VSS Theorem 5.1): KKT, every layer optimal, nothing known about the whole
printf '1,1,1\n' >one.csv
echo '{"activation": "linear", "layers": [{"kind": "diagonal", "shape": [2], "weights": [1, 1]}, {"kind": "diagonal", "shape": [2],
  "weights": [1, 1]}, {"kind": "dense", "shape": [1, 2], "weights": [1, 1]}]}' >diagonal.json
expect 0 certify one.csv diagonal.json --json
grep -q '"local": {"verdict": "unknown"' out || complain "diagonal: $(grep local out)"
# a first layer that leans: not KKT, and the layer says so
echo '{"activation": "linear", "layers": [{"kind": "dense", "shape": [1, 2], "weights": [1, 0.2]}, {"kind": "dense", "shape": [1, 1],
  "weights": [1]}]}' >leaning.json
expect 1 certify pair.csv leaning.json --json
grep -q '"layer": 0, "verdict": "not-optimum"' out || complain "leaning: $(grep layers out)"
expect 0 certify one.csv diagonal.json
expect 0 certify one.csv diagonal.json --report r.html
# flow: three linear layers end at the max-margin vector, |theta|^3 * 3^{3/2} margin = its margin; ReLU ones slide and end
echo '{"activation": "linear", "layers": [{"kind": "dense", "shape": [3, 2]}, {"kind": "dense", "shape": [3, 3]}, {"kind": "dense", "shape": [1, 3]}]}' >deep.json
expect 0 maxmargin gen:planar --linear --json
best=$(value margin)
expect 0 flow gen:planar --weights deep.json --json --report flow.html
[ "$(value status)" = '"converged"' ] || complain "deep linear flow: $(value status)"
margin=$(grep -o '"margin": [0-9.e-]*' out | head -1 | sed 's/.*: //')
awk "BEGIN{r = $margin*3^1.5/$best - 1; exit !(r < 1e-10 && r > -1e-10)}" || complain "deep linear margin $margin, best $best"
sed 's/linear/relu/' deep.json >relu.json
expect 0 flow gen:planar --weights relu.json --seed 3
grep -q converged out || complain "deep ReLU flow: $(cat out)"
expect 0 flow gen:planar --weights relu.json --until loss=0.1 --json
[ "$(value status)" = '"stopped"' ] || complain "until: $(value status)"
for flags in '--freeze second' '--width 3' '--scale limit' '--leak 0.5' '--checkpoint c' '--branches all'; do
  expect 2 flow gen:planar --weights relu.json $flags
done
expect 2 flow gen:orthant,n=5,d=3 --weights relu.json
expect 2 flow gen:DS-MC3 --weights relu.json
[ $bad -eq 0 ]
