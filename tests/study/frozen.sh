#!/usr/bin/env bash
# One question, one answer, with a frozen second layer: what `flow --freeze second` says of its limit is what
# `certify --freeze second` says of the same network, and a limit of converged flow is a KKT point of the first layer.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
bad=0 judged=0 global=0
fail() { echo "$*"; bad=1; }
for name in orthogonal,n=4 xor DS-SYM6 DS-V1 'DS-GEN(6,3,1)' 'DS-GEN(8,5,2)' 'DS-SEP(8,3,1)' 'DS-OS(3,3,3,0.3)'; do
  for leak in 0 0.3; do
    for seed in 1 2; do
      what="gen:$name --leak $leak --seed $seed"
      "$RELUFLOW" flow "gen:$name" --leak $leak --seed $seed --width 6 --freeze second --detail full --quiet -o "$work/flow.json" 2>/dev/null
      [ "$(jq -r .limit.status "$work/flow.json")" = converged ] || continue
      jq --argjson leak $leak '{W: .limit.W, a: .limit.a, leak: $leak}' "$work/flow.json" >"$work/net.json"
      "$RELUFLOW" certify "gen:$name" "$work/net.json" --freeze second --local --quiet -o "$work/certify.json" 2>/dev/null
      judged=$((judged + 1))
      [ "$(jq '.verdict.kkt' "$work/flow.json")" = true ] || fail "$what: the limit is no KKT point of the first layer"
      one=$(jq -c '.verdict | [.kkt, .local, .global]' "$work/flow.json") other=$(jq -c '.frozen | [.holds, .local, .global]' "$work/certify.json")
      [ "$one" = "$other" ] || fail "$what: flow says $one, certify $other"
      [ "$(jq -r '.verdict.global' "$work/flow.json")" = optimum ] && global=$((global + 1))
    done
  done
done
echo "$judged limits judged twice, $global of them proved global"
[ $judged -ge 12 ] || fail "only $judged"
[ $global -ge 4 ] || fail "only $global are proved global"
exit $bad
