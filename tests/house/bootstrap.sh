#!/usr/bin/env bash
# Every job of ./bootstrap: its words are checked before anything is installed or built, and it calls what it should. The
# tools are stand-ins that write down how they were called, in a copy of the few files that bootstrap needs; install,
# uninstall and the tarball of dist are real.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
bad=0
wrong() { echo "$1"; bad=1; }
real_cmake=$(command -v cmake)

mkdir -p "$work/bin" "$work/copy/tests" "$work/copy/bench" "$work/copy/include/reluflow"
cd "$work/copy"
cp "$RF_SOURCE/bootstrap" "$RF_SOURCE/CMakeLists.txt" .
cp "$RF_SOURCE/include/reluflow/core.h" include/reluflow/
cp -r "$RF_SOURCE/tests/fuzz" "$RF_SOURCE/tests/suite.sh" "$RF_SOURCE/tests/support" tests/
cp -r "$RF_SOURCE/bench/run" "$RF_SOURCE/bench/margin.c" bench/

stand_in() { printf '#!/usr/bin/env bash\necho "%s $*" >>"%s/calls"\n%s\n' "$1" "$work" "${2:-}" >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
stand_in dpkg-query 'echo "install ok installed"'
stand_in apt-get; stand_in sudo; stand_in clang-format; stand_in clang-tidy; stand_in valgrind; stand_in gcovr; stand_in cc
stand_in ctest 'echo "1/2 Test #1: room/one ....   Passed    0.10 sec"; echo "2/2 Test #2: room/two ....***Skipped   0.00 sec"'
# builds: the programs that the jobs run next
stand_in cmake 'case $1 in -S) mkdir -p "$4" ;; -E) mkdir -p "$3" ;; --build)
  for name in reluflow bench_margin fuzz_csv fuzz_npy; do
    printf "#!/usr/bin/env bash\necho \"$name \$*\" >>\"'"$work"'/calls\"\n" >"$2/$name"; chmod +x "$2/$name"
  done
  printf "#!/usr/bin/env bash\necho \"reluflow \$*\" >>\"'"$work"'/calls\"; [ \"\${4:-}\" = \"\" ] || echo page >\"\$4\"\n" >"$2/reluflow" ;; esac'
stand_in python3 '[ "$2" != venv ] || { mkdir -p "$3/bin"; for name in pip mkdocs; do printf "#!/bin/sh\necho \"$name \$*\" >>\"'"$work"'/calls\"\n" >"$3/bin/$name"; chmod +x "$3/bin/$name"; done; }'

# run STATUS WORDS...: the exit status of ./bootstrap WORDS; what was called is in $work/calls, what was said in $work/said
run() {
  local want=$1 status=0; shift
  : >"$work/calls"
  PATH=$work/bin:$PATH RF_JOBS=1 ./bootstrap "$@" >"$work/said" 2>&1 </dev/null || status=$?
  [ $status -eq "$want" ] || { wrong "./bootstrap $*: status $status, expected $want"; head -5 "$work/said"; }
  ! grep -q 'unbound variable\|command not found\|syntax error' "$work/said" || { wrong "./bootstrap $*"; grep -m1 'unbound\|not found\|syntax' "$work/said"; }
}
called() { grep -qE -- "$1" "$work/calls" || { wrong "no call of: $1"; cat "$work/calls"; }; }
untouched() { [ ! -s "$work/calls" ] || { wrong "wrong words, but: $(head -2 "$work/calls")"; }; }

run 0; grep -q 'fuzz \[SECONDS\]' "$work/said" || wrong "no help"
run 0 --help
run 2 nonsense; untouched
run 2 build now; untouched
run 0 build; called 'cmake -S .* -DRF_TESTS=OFF'
run 0 demo; called 'reluflow explain gen:DS-PL2'; [ "$(tail -1 "$work/said")" = "$work/copy/build/demo.html" ] || wrong "demo does not end with a path"
RF_BUILD_DIR=$work/elsewhere run 0 demo; [ "$(tail -1 "$work/said")" = "$work/elsewhere/demo.html" ] || wrong "demo elsewhere: $(tail -1 "$work/said")"
run 2 demo page; untouched
run 0 test --quick; called 'ctest .*-LE slow'; [ "$(tail -1 "$work/said")" = "1 passed, 0 failed" ] || wrong "the last line of test: $(tail -1 "$work/said")"
grep -q 'plain 1/2 room/one 0.10 s' "$work/said" || wrong "test shows no progress"
run 2 test --quick plain; untouched
run 2 test unheard; untouched
mkdir -p src app ledger cuda python; touch src/one.c
run 0 test style; called 'cmake -S .* -B build-clang .*-DCMAKE_C_COMPILER=clang'; called 'clang-tidy -p build-clang'
! grep -q 'cmake --build' "$work/calls" || wrong "style builds"
rm -rf build-test
run 0 test memory; called 'cmake --build build-test'
run 0 test plain clang; called 'cmake -S .* -DCMAKE_C_COMPILER=clang'
run 0 bench margin; called '^bench_margin'
run 2 bench nothing; untouched
run 2 fuzz soon; untouched
run 2 fuzz 0; untouched
run 2 fuzz 5 nothing; untouched
run 0 fuzz 7 csv npy; called '^fuzz_csv -max_total_time=7 '; called '^fuzz_npy -max_total_time=7 '
run 1 fuzz 60; called '^fuzz_csv -max_total_time=60 ' # most stand-ins are missing: each is reported
grep -q 'layers: FAILED' "$work/said" || wrong "fuzz does not try every reader"
mkdir -p web && printf '#!/bin/sh\necho "web/build.sh $*" >>"%s/calls"\n' "$work" >web/build.sh && chmod +x web/build.sh
run 0 web; called '^web/build.sh build-web'; [ "$(tail -1 "$work/said")" = "$work/copy/build-web/reluflow.html" ] || wrong "web does not end with a path"
run 2 web here; untouched
run 0 docs; called 'mkdocs build'
run 2 docs there; untouched
run 2 install here there; untouched
run 2 dist --now; untouched
run 0 packages; grep -qx libjansson-dev "$work/said" || wrong "packages does not list them"
stand_in dpkg-query 'false'
if [ "$(id -u)" -eq 0 ]; then run 0 build; called 'apt-get install .*libjansson-dev'; fi

# install and uninstall, with the library that was built: nothing stays behind but what was there before
cat >"$work/bin/cmake" <<C
#!/usr/bin/env bash
[ "\$1" = --install ] || exit 0
exec "$real_cmake" --install "$RF_BUILD" "\${@:3}"
C
stand_in dpkg-query 'echo "install ok installed"'
mkdir -p "$work/prefix/share" && echo kept >"$work/prefix/share/other"
rm -rf build && ln -s "$RF_BUILD" build
run 0 install "$work/prefix"
[ -x "$work/prefix/bin/reluflow" ] && [ -e "$work/prefix/share/reluflow/data/iris.csv" ] || wrong "install left something out"
(cd / && env -u RELUFLOW_DATA "$work/prefix/bin/reluflow" data info iris.csv >/dev/null) || wrong "the installed program does not find its data"
run 0 uninstall "$work/prefix"
[ "$(cd "$work/prefix" && find . -type f)" = ./share/other ] || wrong "uninstall left: $(cd "$work/prefix" && find . | head)"
[ ! -e "$work/prefix/include" ] || wrong "uninstall leaves empty folders"
run 1 uninstall "$work/prefix"

# dist: the tarball holds what is committed
if command -v git >/dev/null && command -v xz >/dev/null; then
  stand_in python3 'mkdir -p "$3/bin"; printf "#!/bin/sh\n: >dist/reluflow-$(ls dist | sed -n "s/reluflow-\(.*\).tar.xz/\1/p").tar.gz\n" >"$3/bin/pyproject-build"; cp "$3/bin/pyproject-build" "$3/bin/pip"; chmod +x "$3"/bin/*'
  rm -rf build && git init -q . && git add bootstrap CMakeLists.txt tests && git -c user.name=x -c user.email=x@y commit -qm x
  run 0 dist
  tar -tJf dist/reluflow-*.tar.xz 2>/dev/null | grep -q '^reluflow-[0-9.]*/tests/suite.sh$' || wrong "the tarball does not hold the suite"
  (cd dist && sha256sum -c --quiet SHA256SUMS) || wrong "sums of dist"
fi
exit $bad
