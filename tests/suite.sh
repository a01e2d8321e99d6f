# The test suite in its variants, sourced by ./bootstrap (needs configure, configure_and_build, say, jobs, source_dir). Each
# variant makes what it needs, so that any of them may run alone.
#   plain      every test, gcc, as shipped                clang   builds without a warning under clang as well
#   sanitize   every C test under ASan and UBSan          memory  small commands under valgrind
#   malloc     every subcommand with its k-th allocation failing
#   coverage   lines of src/ reached by the plain tests   style   clang-format and clang-tidy
#   web        the engine as WebAssembly and the explorer in a browser (tests/web/run)
# `test --quick` runs plain without the tests labelled slow (tests/costs.txt), with a tenth of the random cases. A line is
# printed whenever a test ends. Each ctest case (or named check) counts as one; the last line is "N passed, N failed".

suite_variants=(plain clang sanitize memory malloc coverage style web)
suite_passed=0
suite_failed=0

count_check() { # NAME STATUS
  if [ "$2" -eq 0 ]; then suite_passed=$((suite_passed + 1)); else suite_failed=$((suite_failed + 1)); say "FAILED: $1"; fi
}

# Lines of ctest become "plain 12/108 flow/golden 0.6 s"; everything goes to the log.
show_progress() { # TITLE LOG
  local line
  while IFS= read -r line; do
    printf '%s\n' "$line" >&3
    [[ $line =~ ^\ *([0-9]+/[0-9]+)\ Test\ +#[0-9]+:\ ([^ ]+)\ [.\ ]*(.*[A-Za-z])\ +([0-9.]+)\ sec ]] || continue
    local outcome=${BASH_REMATCH[3]}
    [ "$outcome" = Passed ] && outcome=
    printf '  %s %s %s %s s %s\n' "$1" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[4]}" "$outcome" >&2
  done 3>"$2"
}

# What each failed test printed (its last 80 lines), and their names.
show_failures() { # LOG
  awk '/^ *[0-9]+\/[0-9]+ Test +#|^ *Start +[0-9]+:|^[0-9]+% tests passed/ { flush(); keep = /\*\*\*/ && !/\*\*\*Skipped/ }
       function flush(  k) { for (k = n > 80 ? n - 79 : 1; k <= n; k++) print line[k]; n = 0 }
       keep { line[++n] = $0 }' "$1"
  sed -n '/^The following tests FAILED/,$p' "$1"
}

# run_ctest TITLE DIR [ctest options...]
run_ctest() {
  local title=$1 dir=$2 log; shift 2
  log=$dir/ctest.log
  local start=$SECONDS
  ctest --test-dir "$dir" -j "$jobs" --output-on-failure "$@" 2>&1 | show_progress "${title%% *}" "$log"
  local passed failed skipped
  passed=$(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed ' "$log" || true)
  skipped=$(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*Skipped ' "$log" || true)
  failed=$(grep -E '^ *[0-9]+/[0-9]+ Test ' "$log" | grep -vE ' Passed |\*\*\*Skipped ' | wc -l)
  if [ $((passed + failed)) -eq 0 ]; then failed=1; fi
  suite_passed=$((suite_passed + passed)); suite_failed=$((suite_failed + failed))
  say "$title: $passed passed, $failed failed, $skipped skipped ($((SECONDS - start)) s)"
  grep -E '\*\*\*Skipped' "$log" >&2 || true
  if [ "$failed" -gt 0 ]; then show_failures "$log" >&2; fi
  # what each case cost, in the form of tests/costs.txt
  sed -nE 's|^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*|\2 \1|p' "$log" | sort -rn >"$dir/costs.txt"
}

# As `xargs -P`, one named check per line of small_commands.txt: COMMAND LINE must succeed.
each_small_command() { # TITLE COMMAND...
  local title=$1 log=build-test/small.log lines; shift
  lines=$(grep -c . tests/support/small_commands.txt)
  grep . tests/support/small_commands.txt | tr '\n' '\0' |
    xargs -0 -P "$jobs" -I{} bash -c 'if "${@:2}" "$1" >&2; then echo "passed $1"; else echo "failed $1"; fi; echo "  $0 $1" >&2' \
      "$title" {} "$@" >"$log"
  local passed; passed=$(grep -c '^passed' "$log")
  suite_passed=$((suite_passed + passed)); suite_failed=$((suite_failed + lines - passed))
  grep '^failed' "$log" | sed "s/^failed/FAILED: $title: reluflow/" >&2
  say "$title: $passed of $lines commands"
}

variant_plain() {
  configure_and_build build-test -DRF_WERROR=ON || { count_check "plain build" 1; return; }
  run_ctest plain build-test "$@"
  [ -n "${RELUFLOW_DATA:-}" ] || [ -d data/mnist ] || say "no MNIST (RELUFLOW_DATA): the cases that need it were skipped"
}

clang_flags=(-DRF_WERROR=ON -DCMAKE_C_COMPILER=clang)

variant_clang() {
  configure_and_build build-clang "${clang_flags[@]}"
  count_check "clang build without warnings" $?
}

variant_sanitize() {
  configure_and_build build-asan -DRF_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo || { count_check "sanitizer build" 1; return; }
  ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 RF_TEST_MULT=${RF_TEST_MULT:-0.1} \
    run_ctest "address and undefined-behaviour sanitizers" build-asan -LE "noasan"
}

# Valgrind: one small run of every subcommand that exists; any error or leak fails.
variant_memory() {
  configure_and_build build-test -DRF_WERROR=ON || { count_check "plain build" 1; return; }
  each_small_command valgrind bash tests/support/valgrind.sh build-test
}

# Fails allocation number 1, 2, 3, ... of each command: it must exit by itself with status 0..3, never by a signal.
variant_malloc() {
  configure_and_build build-test -DRF_WERROR=ON || { count_check "plain build" 1; return; }
  cc -shared -fPIC -O1 -o build-test/fail_malloc.so tests/support/fail_malloc.c -ldl || { count_check "fail_malloc.so" 1; return; }
  each_small_command "failing malloc" bash tests/support/malloc_sweep.sh build-test
}

variant_coverage() {
  configure_and_build build-coverage -DRF_COVERAGE=ON -DCMAKE_BUILD_TYPE=None || { count_check "coverage build" 1; return; }
  RF_TEST_MULT=${RF_TEST_MULT:-0.1} run_ctest "under coverage" build-coverage -LE "nocoverage"
  say "line coverage of src/ (aim: 95%)"
  gcovr -j "$jobs" --root . --filter 'src/' --object-directory build-coverage --gcov-ignore-parse-errors -s build-coverage 2>/dev/null |
    awk '/^src\// {sub("src/","",$1); split($1,p,"/"); t[p[1]]+=$2; c[p[1]]+=$3} /^TOTAL/ {total=$4}
         END {for (r in t) printf "  %-10s %5.1f%%  (%d of %d lines)\n", r, 100*c[r]/t[r], c[r], t[r] | "sort"; close("sort"); print "  total      " total}' >&2
}

# Files by ending; the same in a clone and in an unpacked tarball.
source_files() { # ENDINGS FOLDER...
  local endings=$1; shift
  find "$@" -regextype posix-extended -regex ".*\.($endings)" -not -path '*/csrc/*' -not -path '*/.venv/*' | sort
}

variant_style() {
  local folders=(src app ledger cuda include tests bench python) status
  for folder in check web; do [ ! -d $folder ] || folders+=($folder); done
  source_files 'c|h' "${folders[@]}" | xargs -P "$jobs" -n 40 clang-format --dry-run --Werror >build-test/style.log 2>&1
  status=$?
  [ $status -eq 0 ] || head -20 build-test/style.log >&2
  count_check "clang-format" $status
  configure build-clang "${clang_flags[@]}" || { count_check "clang-tidy" 1; return; } # how each file is compiled
  source_files c src app ledger | xargs -P "$jobs" -n 8 clang-tidy -p build-clang --quiet >build-test/tidy.log 2>&1
  status=$?
  [ $status -eq 0 ] || grep -E 'error:|warning:' build-test/tidy.log | head -40 >&2
  count_check "clang-tidy" $status
}

# The page is built and tried: under node, and in Chromium when playwright can be had from PyPI.
variant_web() {
  configure_and_build build-test -DRF_WERROR=ON || { count_check "plain build" 1; return; }
  RF_WEB_TESTS=ON RF_JOBS=$jobs web/build.sh build-web >&2
  local status=$?
  count_check "web build" $status
  [ $status -eq 0 ] || return
  local name log=build-test/web.log
  for name in $(tests/web/run --list); do
    RELUFLOW=$source_dir/build-test/reluflow tests/web/run "$name" build-web >"$log" 2>&1
    status=$?
    if [ $status -eq 77 ]; then say "  web $name skipped: $(tail -1 "$log")"; continue; fi
    [ $status -eq 0 ] || tail -40 "$log" >&2
    say "  web $name: $(tail -1 "$log")"
    count_check "web $name" $status
  done
}

# False, with a word, when the arguments of `test` make no sense.
suite_arguments() {
  local word
  [ "${1:-}" != --quick ] || { [ $# -eq 1 ] || { echo "test --quick stands alone" >&2; return 1; }; return 0; }
  for word in "$@"; do
    [[ " ${suite_variants[*]} " == *" $word "* ]] || { echo "test: no variant $word" >&2; return 1; }
  done
}

run_suite() {
  set +e
  local start=$SECONDS
  cmake -E make_directory build-test
  if [ "${1:-}" = "--quick" ]; then
    RF_TEST_MULT=${RF_TEST_MULT:-0.1} variant_plain -LE slow
  else
    [ $# -gt 0 ] || set -- "${suite_variants[@]}"
    for variant in "$@"; do
      say "== $variant"; local from=$SECONDS; "variant_$variant"; say "   $((SECONDS - from)) s"
    done
  fi
  say "whole suite: $((SECONDS - start)) s"
  printf '%d passed, %d failed\n' "$suite_passed" "$suite_failed"
  [ "$suite_failed" -eq 0 ]
}
