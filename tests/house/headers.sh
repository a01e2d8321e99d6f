#!/usr/bin/env bash
# Every public header compiles on its own, as C11 and as C++17, without a warning.
set -u
cd "$RF_SOURCE"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
bad=0
for header in include/reluflow/*.h; do
  echo "#include \"reluflow/$(basename "$header")\"" >"$work/alone.c"; cp "$work/alone.c" "$work/alone.cc"
  cc -std=c11 -Wall -Wextra -Werror -pedantic -Iinclude -fsyntax-only "$work/alone.c" || { echo "$header: C"; bad=1; }
  c++ -std=c++17 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$work/alone.cc" || { echo "$header: C++"; bad=1; }
done
exit $bad
