#!/usr/bin/env bash
# The wheel of `./bootstrap wheel`, where there is one in dist/ (or RF_WHEEL names it): in a clean virtual environment with NumPy
# alone it answers, and it takes no library of this machine but the C library's. Building one takes minutes and two archives
# on the network, so the suite does not.
set -u
cd "$RF_SOURCE" || exit 1
wheel=${RF_WHEEL:-$(ls dist/reluflow-*manylinux*.whl 2>/dev/null | tail -1)}
[ -n "$wheel" ] && [ -e "$wheel" ] || { echo "skipped: no wheel in dist/ (./bootstrap wheel)"; exit 77; }
work=$RF_BUILD/python-wheel; rm -rf "$work"; mkdir -p "$work"
fail() { tail -5 "$work/log"; echo "$1"; exit 1; }
case $wheel in *-cp39-abi3-manylinux_2_28_x86_64.whl | *-cp39-abi3-manylinux_2_1?_*) ;; *) fail "not a wheel for old systems: $wheel" ;; esac
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" install -q --disable-pip-version-check numpy >"$work/log" 2>&1 || { echo "skipped: PyPI cannot be reached"; exit 77; }
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps "$wheel" >"$work/log" 2>&1 || fail "the wheel does not install"
cd "$work" && "$work/venv/bin/python" - <<'PYTHON' || fail "the wheel does not work"
import re, reluflow
assert reluflow.explain("gen:DS-PL2").sentences[-1] == "So gradient flow finds the best margin there is."
assert round(reluflow.maxmargin("gen:xor").global_.margin, 12) == 0.176776695297
assert len(reluflow.sweep("flow", "gen:xor", seed=range(2), width=4)["id"]) == 2
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
outside = [name for name in loaded if re.search(r"openblas|flint|gmp|mpfr|jansson|gomp|sqlite", name) and "reluflow" not in name and "numpy" not in name and "_sqlite3" not in name]
outside = [name for name in outside if not re.search(r"libsqlite3", name)]  # Python's own
assert not outside, outside
print("the wheel answers, with its own libraries")
PYTHON
