#!/usr/bin/env bash
# An installed tree serves a program built against it through pkg-config and through the CMake package.
set -eu
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cmake --install "$RF_BUILD" --prefix "$work/prefix" >/dev/null
cat >"$work/use.c" <<'C'
#include <reluflow/reluflow.h>
#include <stdio.h>
int main(void) {
  RfContext context;
  RfDataset data;
  RfLinearMargin margin;
  rf_context_init(&context);
  if (rf_data_generate(&context, &data, "gen:DS-PL2") ||
      rf_margin_linear(&context, &margin, data.X, data.y, data.n, data.d))
    return 1;
  puts(margin.margin > 1.94 && margin.margin < 1.95 ? RF_VERSION : "wrong");
  rf_linear_margin_free(&margin);
  rf_dataset_free(&data);
  return 0;
}
C
library=$(dirname "$(find "$work/prefix" -name reluflow.pc)")
export PKG_CONFIG_PATH=$library
# the sanitized build needs its runtime in the client as well
cc "$work/use.c" ${RF_CLIENT_FLAGS:-} $(pkg-config --cflags --libs reluflow) -o "$work/use"
[ "$(LD_LIBRARY_PATH=$library/.. "$work/use")" = "$(pkg-config --modversion reluflow)" ]
mkdir "$work/client"
cat >"$work/client/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.22)
project(client C)
find_package(reluflow REQUIRED)
add_executable(use ../use.c)
target_link_libraries(use PRIVATE reluflow::reluflow)
find_package(reluflow REQUIRED COMPONENTS static)
add_executable(use_static ../use.c)
target_link_libraries(use_static PRIVATE reluflow::reluflow_static)
C
cmake -S "$work/client" -B "$work/client/build" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/client/build" >/dev/null
"$work/client/build/use" | grep -q '^[0-9]'
"$work/client/build/use_static" | grep -q '^[0-9]'
# the shared library brings its own libraries along: a user's program names none of them
if readelf -d "$work/client/build/use" | grep NEEDED | grep -E 'openblas|lapack|jansson|gmp|flint|libz'; then
  echo "reluflow::reluflow shows the libraries it uses"; exit 1
fi
"$work/prefix/bin/reluflow" --version >/dev/null
test -e "$work/prefix/share/man/man1/reluflow.1"
