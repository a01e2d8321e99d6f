#!/usr/bin/env bash
# valgrind.sh BUILD_DIR "ARGUMENTS...": build/reluflow under valgrind; any error or definite leak fails.
log=$(mktemp)
valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
  --suppressions="$(dirname "$0")/valgrind.supp" "$1/reluflow" $2 >"$log" 2>&1
status=$?
[ $status -ne 99 ] || cat "$log" >&2
rm -f "$log"
[ $status -ne 99 ]
