#!/usr/bin/env bash
# malloc_sweep.sh BUILD_DIR "ARGUMENTS...": runs build/reluflow with its k-th own allocation failing, for every k (all of
# the first 60, then spread over the rest). The program must end by itself with status 0..3, and after a failure
# (status not 0 or 1) say so in one line on standard error.
set -u
build=$1; arguments=$2
shim=$build/fail_malloc.so
[ -e "$shim" ] || cc -shared -fPIC -O1 -o "$shim" "$(dirname "$0")/fail_malloc.c" -ldl || exit 1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
run() { timeout 60 env RF_FAIL_AT=$1 RF_FAIL_COUNT_FILE=$work/count LD_PRELOAD=$PWD/$shim OMP_NUM_THREADS=1 "$build/reluflow" $arguments >"$work/out" 2>"$work/err"; }
run 0; total=$(cat "$work/count" 2>/dev/null || echo 0)
[ "$total" -gt 0 ] || { echo "no allocation seen: reluflow $arguments" >&2; [ "$arguments" = --version ] && exit 0; exit 1; }
step=1; [ "$total" -gt 160 ] && step=$(( (total - 60) / 100 + 1 ))
k=1
while [ "$k" -le "$total" ]; do
  run "$k"; status=$?
  if [ "$status" -gt 3 ]; then
    echo "allocation $k of $total failing: status $status: reluflow $arguments" >&2; head -3 "$work/err" >&2; exit 1
  fi
  if [ "$status" -ge 2 ] && [ "$(wc -l <"$work/err")" -ne 1 ]; then
    echo "allocation $k of $total failing: status $status but $(wc -l <"$work/err") lines on stderr: reluflow $arguments" >&2; head -3 "$work/err" >&2; exit 1
  fi
  if [ "$k" -lt 60 ]; then k=$((k + 1)); else k=$((k + step)); fi
done
