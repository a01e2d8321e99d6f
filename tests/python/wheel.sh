#!/usr/bin/env bash
# The wheel of `./bootstrap wheel`, where there is one in dist/ (or RF_WHEEL names it): in a clean virtual environment (of RF_PYTHON)
# it does what a new user asks for (try_wheel.py), takes no library of this machine but the C library's, and is no larger than
# 15 MB. Building one takes minutes and two archives on the network, so the suite does not.
set -u
cd "$RF_SOURCE" || exit 1
wheel=${RF_WHEEL:-$(ls dist/reluflow-*manylinux*.whl 2>/dev/null | tail -1)}
[ -n "$wheel" ] && [ -e "$wheel" ] || { echo "skipped: no wheel in dist/ (./bootstrap wheel)"; exit 77; }
work=$RF_BUILD/python-wheel; rm -rf "$work"; mkdir -p "$work"
fail() { tail -5 "$work/log"; echo "$1"; exit 1; }
case $wheel in *-cp39-abi3-manylinux_2_28_x86_64.whl | *-cp39-abi3-manylinux_2_1?_*) ;; *) fail "not a wheel for old systems: $wheel" ;; esac
[ "$(stat -c %s "$wheel")" -le 15000000 ] || fail "$wheel is larger than 15 MB"
"${RF_PYTHON:-python3}" -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" install -q --disable-pip-version-check numpy 'scikit-learn>=1.6' >"$work/log" 2>&1 || { echo "skipped: PyPI cannot be reached"; exit 77; }
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps "$wheel" >"$work/log" 2>&1 || fail "the wheel does not install"
cd "$work" && "$work/venv/bin/python" "$RF_SOURCE/tests/python/try_wheel.py" "$RF_SOURCE/python/tests/data" || fail "the wheel does not work"
