#!/usr/bin/env bash
# One question, one answer: on every set of the catalogue the objects flow, maxmargin, inspect inside `explain` are those
# that the commands print at the same flags, no page states more than 100 % of the best margin, and the best network
# is at least as good as the flow's limit. A verdict that a command leaves open for want of time may be decided in explain.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cat >"$work/plain.jq" <<'JQ'
def plain: walk(if type == "object" then del(.seconds, .run) else . end);
def undecided: walk(if type == "object" and has("verdict") then .verdict = null else . end);
JQ
bad=0 sets=0
fail() { echo "$*"; bad=1; }
# same WHAT FILTER FILE PATH: the objects agree
same() {
  jq -S -L "$work" "include \"plain\"; plain | $2" "$work/$3" >"$work/a"
  jq -S -L "$work" "include \"plain\"; $4 | plain | $2" "$work/explain" >"$work/b"
  cmp -s "$work/a" "$work/b" || fail "$1: $3 and explain differ: $(diff "$work/a" "$work/b" | head -4 | tr '\n' ' ')"
}
names=$("$RELUFLOW" data list --json | jq -r '.generators[] | select(.name | test("mnist|digits") | not) | .name')
for name in $names; do
  for flags in "--width 6" "--width 8 --leak 0.1 --seed 5 --loss exp"; do
    data="gen:$name" common="--detail full --quiet"
    # shellcheck disable=SC2086
    "$RELUFLOW" explain $data $flags --best-time 2 --flow-time 10 $common -o "$work/explain" 2>/dev/null
    [ $? -le 3 ] && [ -s "$work/explain" ] || continue
    leak=$(sed -n 's/.*\(--leak [0-9.]*\).*/\1/p' <<<"$flags") loss=$(sed -n 's/.*\(--loss [a-z]*\).*/\1/p' <<<"$flags")
    seed=$(sed -n 's/.*\(--seed [0-9]*\).*/\1/p' <<<"$flags")
    "$RELUFLOW" flow $data $flags --time 10 $common -o "$work/flow" 2>/dev/null
    "$RELUFLOW" maxmargin $data $leak $seed --time 2 $common -o "$work/maxmargin" 2>/dev/null
    "$RELUFLOW" inspect $data $leak $loss $common -o "$work/inspect" 2>/dev/null
    sets=$((sets + 1))
    late=$(cat "$work"/{explain,flow,maxmargin} | jq '[.. | objects | select(.status? == "interrupted" or .stopped? == true)] | length' | sort -n | tail -1)
    [ "$late" = 0 ] || { rm -f "$work"/{explain,flow,maxmargin,inspect}; continue; } # cut short: not comparable
    same "$name $flags" undecided flow .flow
    same "$name $flags" . maxmargin .maxmargin
    [ "$(jq '.run.flags.detail' "$work/inspect")" = '"full"' ] && same "$name $flags" . inspect .inspect
    # verdicts: equal, or open in the command
    jq -e --slurpfile f "$work/flow" '
      def verdicts: [.. | objects | .verdict? // empty | objects | {kkt, local, global}];
      [[.flow | verdicts] + [$f[0] | verdicts] | transpose[] |
        .[0].kkt == .[1].kkt and (.[1].local == .[0].local or .[1].local == "unknown" or .[1].local == null) and
        (.[1].global == .[0].global or .[1].global == "unknown" or .[1].global == null)] | all' "$work/explain" >/dev/null ||
      fail "$name $flags: verdicts differ"
    # the best network is at least the flow's limit; nothing above 100 %
    jq -e '[([.flow] + (.flow.per_class // []) | map(select(.limit != null))) as $f |
            ([.maxmargin] + (.maxmargin.per_class // []) | map(select(.linear != null))) as $m |
            [$f, $m] | transpose[] | select(.[0].limit.status == "converged" and .[0].limit.margin != null) |
            .[1].global.margin >= .[0].limit.margin * (1 - 1e-8)] | all' "$work/explain" >/dev/null ||
      fail "$name $flags: the flow beats the best margin"
    jq -r '.sentences[]' "$work/explain" | grep -oE '[0-9.]+(e[-+][0-9]+)?%' | tr -d % |
      awk '$1 > 100.00001 {bad = 1; print $1} END {exit bad}' || fail "$name $flags: more than 100 % of the best margin"
    rm -f "$work"/{explain,flow,maxmargin,inspect}
  done
done
echo "$sets explanations compared with flow, maxmargin and inspect"
[ $sets -gt 40 ] || fail "only $sets"
exit $bad
