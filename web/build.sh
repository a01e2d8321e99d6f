#!/usr/bin/env bash
# web/build.sh [FOLDER]: the engine as WebAssembly and the explorer as one page, FOLDER/reluflow.html (build-web).
# Needs emscripten; ./bootstrap web installs it and calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build-web}
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs} # Debian's acorn, which emcc calls
command -v emcc >/dev/null || { echo "web: emscripten is not installed (./bootstrap web does it)" >&2; exit 2; }
mkdir -p "$folder"
log=$folder/build.log
if ! { emcmake cmake -S web -B "$folder/engine" -G Ninja -DRF_WEB_TESTS="${RF_WEB_TESTS:-OFF}" &&
       cmake --build "$folder/engine" -j "${RF_JOBS:-$(nproc)}"; } >"$log" 2>&1; then
  grep -nE 'error|FAILED' "$log" | head -20 >&2; echo "web: the engine does not build ($log)" >&2; exit 1
fi
python3 web/assemble.py "$folder/engine" "$folder/reluflow.html"
