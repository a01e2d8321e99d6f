#!/usr/bin/env bash
# Training killed by SIGKILL at random times and resumed from its checkpoint ends with the same bits as training that
# was left alone. RF_TEST_KILLS kills in all (10; 50 in the full form), shared by gd, sgd and adam, double and float.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
kills=${RF_TEST_KILLS:-10} bad=0 done_kills=0
RANDOM=${RF_TEST_SEED:-7}
weights() { grep -E '^  "(W|a|loss|steps|epochs)":' "$1"; }
common="gen:orthant,n=100,d=5 --width 20 --quiet --checkpoint run.ckpt --checkpoint-every 0.01"
case_of() {
  case $(($1 % 4)) in
  0) echo "--steps 30000 --rate 0.05" ;;
  1) echo "--optimizer sgd --batch 7 --epochs 1500 --rate 0.05" ;;
  2) echo "--optimizer adam --batch 25 --epochs 3000 --rate 0.001" ;;
  3) echo "--optimizer sgd --batch 50 --epochs 6000 --rate 0.05 --precision float --raise 0.0001" ;;
  esac
}
k=0
while [ $done_kills -lt "$kills" ] && [ $k -lt $((4 * kills)) ]; do
  flags="$common $(case_of $k)"
  rm -f run.ckpt run.ckpt.part
  "$RELUFLOW" train $flags -o whole.json || { echo "train $flags failed"; exit 1; }
  rm -f run.ckpt out.json
  resume=
  for attempt in 1 2 3; do
    "$RELUFLOW" train $flags $resume -o out.json &
    pid=$!
    sleep 0.0$((RANDOM % 90 + 10))
    kill -9 $pid 2>/dev/null && done_kills=$((done_kills + 1))
    wait $pid 2>/dev/null
    [ -e out.json ] && break
    [ -e run.ckpt ] && resume="--resume run.ckpt"
  done
  [ -e out.json ] || "$RELUFLOW" train $flags $resume -o out.json || { echo "resumed: train $flags failed"; bad=$((bad + 1)); }
  if ! cmp -s <(weights whole.json) <(weights out.json); then
    echo "other bits after resuming: train $flags"; diff <(weights whole.json) <(weights out.json) | cut -c1-200; bad=$((bad + 1))
  fi
  k=$((k + 1))
done
echo "$done_kills kills in $k runs, $bad wrong"
[ "$done_kills" -ge "$kills" ] || { echo "only $done_kills kills"; bad=$((bad + 1)); }
[ $bad -eq 0 ]
