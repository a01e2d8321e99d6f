#!/usr/bin/env bash
# Where nvcc is found the kernels compile for the card, as C++, without a warning; their arithmetic is tested by the
# emulation (test_train.c, test_device.c). No card is needed.
set -u
cd "$RF_SOURCE"
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || { echo "skipped: no nvcc"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
"$nvcc" -std=c++17 -O3 -fmad=false -arch=compute_90 -ptx -Icuda -Iapp -Isrc -Iinclude -o "$work/plugin.ptx" cuda/plugin.cu >"$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
[ ! -s "$work/log" ] || { cat "$work/log"; exit 1; }
kernels=$(grep -c '\.entry' "$work/plugin.ptx")
echo "$kernels kernels"
[ "$kernels" -eq 38 ] # sixteen shapes in two kinds of memory, six dimensions of alignment
