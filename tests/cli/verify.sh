# `verify --quick`: the fast claims of all papers pass within a minute, the ledger and the files hold what they say,
# an interrupted run keeps what it has, and the figures that quick claims draw are where the index says.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$1"; exit 1; }

start=$SECONDS
"$RELUFLOW" verify --quick --threads 2 --json -o quick.json --report ledger.html --svg figures >out.json ||
  { jq -r '.claims[] | select(.verdict == "fail" or .verdict == "incomplete") | "\(.id): \(.note)"' out.json; fail "verify --quick does not pass"; }
spent=$((SECONDS - start))
echo "verify --quick: $(jq -r '"\(.passed) passed, \(.failed) failed, \(.incomplete) incomplete, \(.skipped) skipped"' out.json), $spent s"
[ "$spent" -le 60 ] || echo "slower than a minute (a busy machine?)"
cmp quick.json out.json
[ "$(jq .failed out.json)" -eq 0 ] || fail "a claim fails"
[ "$(jq .incomplete out.json)" -eq 0 ] || fail "a claim is incomplete"
jq -e 'all(.claims[] | select(.verdict == "pass"); all(.counts[]; .made >= .required))' out.json >/dev/null ||
  fail "a claim passes with less than it needs"
[ "$(jq .passed out.json)" -ge 50 ] || fail "hardly any claim is quick"
[ "$(jq '[.claims[].paper] | unique | length' out.json)" -eq 6 ] || fail "a paper is missing"
[ "$(jq '[.claims[] | select(.verdict == "pass") | .kind] | unique | length' out.json)" -ge 8 ] || fail "kinds are missing"
# every judged number is within its tolerance, and what is compared is named
jq -e 'all(.claims[] | select(.verdict == "pass"); .checks > 0 and .error <= .tolerance and (.compared | length) > 0)' out.json >/dev/null ||
  fail "a claim passes without a comparison"
for id in $(jq -r '.claims[].id' out.json); do
  grep -q "id=\"$id\"" ledger.html || fail "$id is not in the ledger"
done
! grep -q 'http://\|https://' <(sed 's|http://www.w3.org/2000/svg||g' ledger.html) || fail "the ledger points elsewhere"
ls figures/*.svg >/dev/null || fail "no figure was drawn"
for picture in figures/E-*.svg; do
  grep -q "src=\"${picture#figures/}\"" figures/index.html || fail "$picture is not in the index"
done

# Ctrl-C: what has ended is there, the rest says why it is not, exit status 130. The files are renewed on the way.
"$RELUFLOW" verify PL-18 PL-19 LLWA-40 VSS-04 --threads 1 -o part.json --report part.html >/dev/null & # long ones first
pid=$!
sleep 4
kill -INT $pid
status=0; wait $pid || status=$?
[ $status -eq 130 ] || fail "exit status $status after an interruption"
[ "$(jq '.claims | length' part.json)" -eq 4 ] || fail "claims are lost"
jq -e 'any(.claims[]; (.verdict == "skipped" or .verdict == "incomplete") and (.note | contains("interrupted")))' part.json >/dev/null || fail "nothing says interrupted"
grep -q '</html>' part.html || fail "no ledger after an interruption"
