#!/usr/bin/env bash
# `reluflow train`: exit statuses, the members of its JSON, test data, several classes, float, the raised rate,
# interruption.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
complain() { echo "$*"; bad=$((bad + 1)); }
expect() { # STATUS ARGUMENTS...
  local want=$1; shift
  "$RELUFLOW" train "$@" >out 2>err
  local status=$?
  [ $status -eq "$want" ] || complain "train $*: exit $status instead of $want: $(cat err)"
}
member() { # NAME: the text after "NAME": in out
  sed -n "s/^  \"$1\": \(.*[^,]\),*$/\1/p" out
}
small=gen:orthant,n=40,d=3
expect 0 $small --steps 20 --json
for name in name steps epochs stop loss log_loss margin min_q norm train_error test_error leak W a seconds steps_per_second records; do
  grep -q "\"$name\":" out || complain "no member $name"
done
[ "$(member steps)" = 20 ] || complain "steps: $(member steps)"
[ "$(member test_error)" = null ] || complain "test_error without test data"
expect 0 $small --steps 20 --json --threads 2
cp out two; expect 0 $small --steps 20 --json --threads 1
cmp -s <(grep '"W"' two) <(grep '"W"' out) || complain "W depends on the threads"
expect 0 $small --steps 200 --rate 0.5 --test gen:orthant,n=200,d=3,seed=1 --json
[ "$(member test_error)" != null ] || complain "no test error"
expect 0 gen:multiclass-orthant,K=3 --steps 50 --json
[ "$(grep -c '"class"' out)" -ge 1 ] && grep -q per_class out || complain "no per_class"
expect 0 $small --steps 300 --rate 0.5 --precision float --json
awk "BEGIN{exit !($(member loss) < 0.2)}" || complain "float does not learn: loss $(member loss)"
# the raised rate drives the margins far beyond what the plain rate reaches
expect 0 $small --stop-margin 50 --raise 0.05 --rate 0.1 --steps 100000 --json
[ "$(member stop)" = '"margin"' ] || complain "raised rate: stopped by $(member stop)"
expect 0 $small --stop-loss 0.1 --rate 0.5 --json
[ "$(member stop)" = '"loss"' ] || complain "stopped by $(member stop), not the loss"
expect 0 $small --steps 20 --freeze second --json
expect 0 $small --steps 20 --report r.html --svg pictures
[ -s r.html ] && [ -s pictures/train.svg ] || complain "no report or picture"
expect 0 $small --steps 0 --json
expect 3 $small --steps 100 --rate 1e300
grep -q 'learning rate' err || complain "overflow: $(cat err)"
expect 2 $small --loss cubic
expect 2 $small --optimizer lbfgs
expect 2 $small --rate 0
expect 2 $small --resume missing.ckpt
expect 2 $small --optimizer adam --raise 1
expect 2 $small --test gen:orthant,n=20,d=4
expect 2 gen:multiclass-orthant,K=3 --checkpoint x.ckpt
printf 'not a checkpoint' >bad.ckpt
expect 2 $small --resume bad.ckpt
expect 0 $small --steps 5 --checkpoint good.ckpt
expect 2 $small --steps 5 --rate 0.02 --resume good.ckpt
grep -q 'other data, network or settings' err || complain "resumed with other settings: $(cat err)"
expect 0 $small --steps 9 --resume good.ckpt --json
cp out continued; expect 0 $small --steps 9 --json
cmp -s <(grep '"W"' continued) <(grep '"W"' out) || complain "a finished run cannot be continued"
head -c 100 good.ckpt >cut.ckpt
expect 2 $small --steps 9 --resume cut.ckpt
# interrupted: 130, the state so far is written and marked
"$RELUFLOW" train gen:orthant --steps 100000000 --json >out 2>err &
pid=$!; sleep 0.5; kill -INT $pid; wait $pid; status=$?
[ $status -eq 130 ] || complain "interrupted: exit $status"
[ "$(member stop)" = '"interrupted"' ] || complain "interrupted: stop is $(member stop)"
expect 130 gen:orthant --steps 100000000 --time 0.3 --json
[ $bad -eq 0 ]
