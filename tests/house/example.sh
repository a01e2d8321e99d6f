#!/usr/bin/env bash
# The C program of the README compiles as it stands, against the public headers and the shared library, and says what
# the program says.
set -eu
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
sed -n '/^```c$/,/^```$/p' "$RF_SOURCE/README.md" | sed '/^```/d' >"$work/program.c"
grep -q 'int main' "$work/program.c"
cc -std=c11 -Wall -Wextra -Werror ${RF_CLIENT_FLAGS:-} -I"$RF_SOURCE/include" "$work/program.c" -L"$RF_BUILD" -lreluflow -o "$work/program"
said=$(LD_LIBRARY_PATH=$RF_BUILD "$work/program")
echo "$said"
margin=$("$RELUFLOW" maxmargin gen:xor --json | grep -oE '"margin": [0-9.e+-]+' | tail -1 | sed 's/.*: //')
awk -v said="${said#best margin }" -v margin="$margin" 'BEGIN { d = said - margin; exit !(margin > 0 && d < 1e-9 && d > -1e-9) }'
