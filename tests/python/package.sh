#!/usr/bin/env bash
# The Python package in a clean virtual environment: pip install ./python, then python/tests and every documented example.
# Needs PyPI (numpy, scikit-learn, pytest, ...); skipped when it cannot be reached.
set -u
cd "$RF_SOURCE"
if command -v ccache >/dev/null; then export CMAKE_C_COMPILER_LAUNCHER=ccache; fi
venv=$RF_BUILD/python-venv log=$RF_BUILD/python-install.log
export PIP_DISABLE_PIP_VERSION_CHECK=1 CMAKE_BUILD_PARALLEL_LEVEL=${RF_JOBS:-2} MPLBACKEND=agg
[ -x "$venv/bin/pip" ] || python3 -m venv "$venv" || { echo "python3-venv is missing"; exit 77; }
if ! "$venv/bin/pip" install -q -r python/tests/requirements.txt >"$log" 2>&1; then
  tail -3 "$log"; echo "skipped: PyPI cannot be reached"; exit 77
fi
if ! "$venv/bin/pip" install -v --config-settings=build-dir="$RF_BUILD/python-build" ./python >"$log" 2>&1; then
  grep -nE 'error|warning:' "$log" | head -20; tail -5 "$log"; echo "pip install ./python failed"; exit 1
fi
cd "$RF_BUILD" && exec "$venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir="$RF_SOURCE/python" "$RF_SOURCE/python/tests"
