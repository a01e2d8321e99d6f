#!/usr/bin/env bash
# Proof files that the program itself writes: KKT points at optima, near them, in single precision and far from them, and the
# optima. Both checkers accept every one, and none with a false claim after mutations.
set -eu
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
folder=$(dirname "$RELUFLOW")
model() { # ROUNDING: the network of best.json, its weights rounded to single precision or moved
  python3 -c '
import json, math, struct, sys
best, how = json.load(open("best.json"))["global"], sys.argv[1]
change = {"exact": lambda v: v, "single": lambda v: struct.unpack("f", struct.pack("f", v))[0],
          "moved": lambda v: v * 1.01 + 1e-3}[how]
W, a = [], []
for neuron in best["neurons"]:  # u = |a| w, |w| = |a|
    root = math.sqrt(math.hypot(*neuron["u"]))
    W.append([change(v / root) for v in neuron["u"]])
    a.append(change(math.copysign(root, neuron["sign"])))
json.dump({"W": W, "a": a, "leak": best["leak"]}, sys.stdout)' "$1"
}
number=0
for data in gen:xor gen:DS-PL2 gen:gaussian,n=10,d=3,seed=1 gen:gaussian,n=12,d=2,seed=2; do
  for leak in 0 0.25; do
    "$RELUFLOW" maxmargin "$data" --leak $leak --json --proof "best$number.proof" --check >best.json
    for how in exact single moved; do
      model $how >net.json
      "$RELUFLOW" certify "$data" net.json --json --local --proof "kkt$number$how.proof" --check >out.json || [ $? -eq 1 ]
      [ "$(jq .proof.accepted out.json)" = true ] || { cat out.json; exit 1; }
      [ "$(jq '.kkt.stationarity <= .proof.upper * 1.000001 + 1e-13' out.json)" = true ] || { cat out.json; exit 1; }
      [ $how != single ] || [ "$(jq '.kkt.nearest.distance < 1e-5' out.json)" = true ] || { jq .kkt.nearest out.json; exit 1; }
    done
    number=$((number + 1))
  done
done
# Where it is the global optimum the second file says so; explain writes both kinds, nothing half-written, and says how to check.
"$RELUFLOW" maxmargin gen:DS-PL2 --json >best.json && model exact >net.json
"$RELUFLOW" certify gen:DS-PL2 net.json --json --proof global.proof --check >out.json
[ "$(jq -r '.optimum_proof.accepted, .optimum_proof.claim, .global.verdict' out.json | paste -sd' ')" = "true optimum optimum" ] || { cat out.json; exit 1; }
mv global.proof.optimum global-optimum.proof
"$RELUFLOW" explain gen:DS-PL2 --width 8 --proof told --report page.html >page.txt
[ "$(ls told | paste -sd' ')" = "limit.proof maxmargin.proof" ] || { ls told; exit 1; }
grep -q 'rfcheck told/maxmargin.proof' page.txt && grep -q 'told/limit.proof (kkt)' page.html || { cat page.txt; exit 1; }
mv told/limit.proof told-limit.proof && mv told/maxmargin.proof told-maxmargin.proof
# A proof that cannot be finished leaves what was there before, and no part of itself.
echo mine >kept.proof
"$RELUFLOW" maxmargin gen:gaussian,n=60,d=10,seed=1 --time 0.05 --proof kept.proof >out.txt 2>&1 || true
[ "$(head -1 kept.proof)" = mine ] || "$folder/rfcheck" kept.proof || { head -3 kept.proof; exit 1; }
rm -f kept.proof
[ -z "$(ls | grep part || true)" ] || { ls; exit 1; }
for file in *.proof; do python3 "$RF_SOURCE/python/reluflow/checker.py" "$file" >/dev/null || { echo "$file"; exit 1; }; done
python3 "$RF_SOURCE/tests/check/mutations.py" "$folder/rfcheck" "$RF_SOURCE/python/reluflow/checker.py" 200 3 *.proof
