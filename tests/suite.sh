# The test suite in its variants, sourced by ./bootstrap (needs configure_and_build, say, jobs, source_dir).
#   plain      every test, gcc, as shipped                clang   builds without a warning under clang as well
#   sanitize   every C test under ASan and UBSan          memory  small tests under valgrind
#   malloc     every subcommand with its k-th allocation failing
#   coverage   lines of src/ reached by the plain tests   style   clang-format and clang-tidy
# `test --quick` runs only plain. Each ctest case (or named check) counts as one; the last line is "N passed, N failed".

suite_passed=0
suite_failed=0

count_check() { # NAME STATUS
  if [ "$2" -eq 0 ]; then suite_passed=$((suite_passed + 1)); else suite_failed=$((suite_failed + 1)); say "FAILED: $1"; fi
}

# run_ctest TITLE DIR [ctest options...]
run_ctest() {
  local title=$1 dir=$2 log; shift 2
  log=$dir/ctest.log
  local start=$SECONDS
  ctest --test-dir "$dir" -j "$jobs" --output-on-failure "$@" >"$log" 2>&1 || true
  local passed failed skipped
  passed=$(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed ' "$log" || true)
  skipped=$(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*Skipped ' "$log" || true)
  failed=$(grep -E '^ *[0-9]+/[0-9]+ Test ' "$log" | grep -vE ' Passed |\*\*\*Skipped ' | wc -l)
  if [ $((passed + failed)) -eq 0 ]; then failed=1; fi
  suite_passed=$((suite_passed + passed)); suite_failed=$((suite_failed + failed))
  say "$title: $passed passed, $failed failed, $skipped skipped ($((SECONDS - start)) s)"
  grep -E '\*\*\*Skipped' "$log" >&2 || true
  if [ "$failed" -gt 0 ]; then grep -E '\*\*\*(Failed|Timeout|Exception)|Subprocess|SIG' "$log" >&2 || true; tail -150 "$log" >&2; fi
}

variant_plain() {
  configure_and_build build-test || { count_check "plain build" 1; return; }
  run_ctest plain build-test
}

variant_clang() {
  configure_and_build build-clang -DCMAKE_C_COMPILER=clang
  count_check "clang build without warnings" $?
}

variant_sanitize() {
  configure_and_build build-asan -DRF_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo || { count_check "sanitizer build" 1; return; }
  ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 RF_TEST_MULT=${RF_TEST_MULT:-0.1} \
    run_ctest "address and undefined-behaviour sanitizers" build-asan -LE "noasan"
}

# Valgrind: one small run of every subcommand that exists; any error or leak fails.
variant_memory() {
  local program=build-test/reluflow line
  while read -r line; do
    [ -n "$line" ] || continue
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
      --suppressions=tests/support/valgrind.supp "$program" $line >build-test/valgrind.log 2>&1
    if [ $? -eq 99 ]; then cat build-test/valgrind.log >&2; count_check "valgrind: reluflow $line" 1; else count_check valgrind 0; fi
  done <tests/support/small_commands.txt
  say "valgrind: $(grep -c . tests/support/small_commands.txt) commands"
}

# Fails allocation number 1, 2, 3, ... of each command: it must exit by itself with status 0..3, never by a signal.
variant_malloc() {
  local line
  while read -r line; do
    [ -n "$line" ] || continue
    bash tests/support/malloc_sweep.sh build-test "$line"
    count_check "failing malloc: reluflow $line" $?
  done <tests/support/small_commands.txt
}

variant_coverage() {
  configure_and_build build-coverage -DRF_COVERAGE=ON -DCMAKE_BUILD_TYPE=None || { count_check "coverage build" 1; return; }
  RF_TEST_MULT=${RF_TEST_MULT:-0.1} run_ctest "under coverage" build-coverage -LE "nocoverage"
  say "line coverage of src/ (aim: 95%)"
  gcovr --root . --filter 'src/' --object-directory build-coverage --gcov-ignore-parse-errors -s build-coverage 2>/dev/null |
    awk '/^src\// {sub("src/","",$1); split($1,p,"/"); t[p[1]]+=$2; c[p[1]]+=$3} /^TOTAL/ {total=$4}
         END {for (r in t) printf "  %-10s %5.1f%%  (%d of %d lines)\n", r, 100*c[r]/t[r], c[r], t[r] | "sort"; close("sort"); print "  total      " total}' >&2
}

variant_style() {
  git ls-files '*.c' '*.h' 2>/dev/null | xargs -r clang-format --dry-run --Werror >build-test/style.log 2>&1
  local status=$?
  [ $status -eq 0 ] || head -20 build-test/style.log >&2
  count_check "clang-format" $status
  git ls-files 'src/*.c' | xargs -r -P "$jobs" -n 8 clang-tidy -p build-clang --quiet >build-test/tidy.log 2>&1
  status=$?
  [ $status -eq 0 ] || grep -E 'error:|warning:' build-test/tidy.log | head -40 >&2
  count_check "clang-tidy" $status
}

run_suite() {
  set +e
  local start=$SECONDS
  cmake -E make_directory build-test
  if [ "${1:-}" = "--quick" ]; then
    variant_plain
  elif [ -n "${1:-}" ]; then
    for variant in "$@"; do "variant_$variant"; done
  else
    for variant in plain clang sanitize memory malloc coverage style; do
      say "== $variant"; local from=$SECONDS; "variant_$variant"; say "   $((SECONDS - from)) s"
    done
  fi
  say "whole suite: $((SECONDS - start)) s"
  printf '%d passed, %d failed\n' "$suite_passed" "$suite_failed"
  [ "$suite_failed" -eq 0 ]
}
