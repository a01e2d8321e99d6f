# `verify` as a whole: no claim fails, only heavy ones and those without their data are skipped, and every recipe has
# its picture or its series, listed in the index. RF_FIGURES=DIR with RF_VERIFY=FILE.json checks a run that was made
# before. RF_SKIP_VERIFY=1 leaves it out.
set -eu
[ "${RF_SKIP_VERIFY:-0}" = 0 ] || { echo "left out by RF_SKIP_VERIFY"; exit 77; }
fail() { echo "$*"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
figures=${RF_FIGURES:-$work/figures} result=${RF_VERIFY:-$work/result.json}
mnist=no # where the program looks for it, too
for folder in "${RELUFLOW_DATA:-}" "$RF_SOURCE/data"; do
  if [ -n "$folder" ] && [ -e "$folder/mnist/train-images-idx3-ubyte.gz" ]; then mnist=yes; fi
done
[ $mnist = yes ] || echo "skipped: no MNIST (the claims that need it)"

if [ -z "${RF_FIGURES:-}" ]; then
  start=$SECONDS
  "$RELUFLOW" verify --threads 2 --svg "$figures" -o "$result" --report "$work/ledger.html" --quiet || true
  echo "verify: $((SECONDS - start)) s on two threads"
fi
jq -r '.claims[] | select(.verdict == "fail") | "\(.id) fails: \(.note)"' "$result"
jq -r '.claims[] | select(.verdict == "incomplete") | "\(.id) is incomplete: \(.note)"' "$result"
jq -r '"\(.passed) passed, \(.failed) failed, \(.skipped) skipped"' "$result"
[ "$(jq .failed "$result")" -eq 0 ] || fail "claims fail"
[ "$(jq .incomplete "$result")" -eq 0 ] || fail "claims are incomplete"
skipped=$(jq -r '.claims[] | select(.verdict == "skipped") | select(.note | test("--heavy") | not) | .id' "$result")
if [ $mnist = yes ] && [ -n "$skipped" ]; then fail "skipped although the data are there: $skipped"; fi

recipes='E-WP-1 E-WP-2 E-WP-3 E-WP-4 E-WP-5 E-WP-6 E-WP-7 E-WP-8 E-LL-1 E-LL-2 E-LL-3 E-LL-4 E-LL-5 E-LL-6 E-LL-7 E-LL-8
  E-LL-9 E-VS-1 E-VS-2 E-VS-3 E-VS-4 E-MM-1 E-MM-2 E-MM-3 E-MM-4 E-MM-5 E-MM-6 E-MM-7 E-MM-8 E-MM-9 E-PL-1 E-PL-2 E-PL-3
  E-PL-4 E-PL-5 E-X-1 E-X-2 E-X-3 E-X-4'
excused=' E-PL-3 E-PL-4 ' # the convolutional network: --heavy
[ $mnist = yes ] || excused="$excused E-MM-2 E-MM-5 "
missing=
for id in $recipes; do
  grep -q "id=\"$id\"" "$figures/index.html" || fail "$id is not in the index"
  ls "$figures" | grep -qE "^$id(-.*)?\.svg\$" && continue
  case $excused in *" $id "*) ;; *) missing="$missing $id" ;; esac
done
[ -z "$missing" ] || fail "not drawn:$missing"

# Two seeds that nobody has seen. A claim that passes at neither is wrong; one that fails at one of them is a finding, told with its
# seed, and belongs into docs/claims.md.
if [ -z "${RF_FIGURES:-}" ]; then
  first=$(date +%s)
  "$RELUFLOW" verify --quick --threads 2 --seeds-from "$first" --times 2 -o "$work/fresh.json" --quiet || true
  [ "$(jq '[.claims[].seeds | length] | max' "$work/fresh.json")" -eq 2 ] || fail "fresh seeds: no result"
  jq -r '.claims[] | .id as $id | .seeds[]? | select(.verdict == "fail" or .verdict == "incomplete") |
    "finding: \($id), seed \(.seed): \(.verdict) \(.note)"' "$work/fresh.json"
  wrong=$(jq -r '.claims[] | select([.seeds[]? | select(.verdict == "fail" or .verdict == "incomplete")] | length > 1) | .id' "$work/fresh.json")
  [ -z "$wrong" ] || fail "verify --quick --seeds-from $first --times 2: at neither seed:" $wrong
fi
