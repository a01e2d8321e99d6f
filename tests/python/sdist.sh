#!/usr/bin/env bash
# The source distribution stands alone: built from the repository, turned into a wheel without it, installed and used in a
# clean virtual environment. Needs PyPI; skipped when it cannot be reached.
set -u
cd "$RF_SOURCE"
if command -v ccache >/dev/null; then export CMAKE_C_COMPILER_LAUNCHER=ccache; fi
work=$RF_BUILD/python-sdist; venv=$work/venv
export PIP_DISABLE_PIP_VERSION_CHECK=1 CMAKE_BUILD_PARALLEL_LEVEL=${RF_JOBS:-2}
rm -rf "$work"; mkdir -p "$work"
python3 -m venv "$venv" || { echo "python3-venv is missing"; exit 77; }
"$venv/bin/pip" install -q numpy build >"$work/log" 2>&1 || { tail -3 "$work/log"; echo "skipped: PyPI cannot be reached"; exit 77; }
fail() { tail -20 "$work/log"; echo "$1"; exit 1; }
"$venv/bin/python" -m build -q --sdist --outdir "$work" python >"$work/log" 2>&1 || fail "no source distribution"
[ ! -e python/csrc ] || fail "the copy of the C sources was left behind"
cd "$work" || exit 1
"$venv/bin/pip" wheel -q --no-deps -w "$work" reluflow-*.tar.gz >"$work/log" 2>&1 || fail "no wheel from the source distribution"
case $(ls reluflow-*.whl) in *-cp39-abi3-linux_*) ;; *) fail "not a wheel of the stable ABI: $(ls reluflow-*.whl)" ;; esac
"$venv/bin/pip" install -q --no-deps reluflow-*.whl >"$work/log" 2>&1 || fail "the wheel does not install"
"$venv/bin/python" - <<'PYTHON' || fail "the wheel does not work"
import numpy, reluflow
answer = reluflow.explain("gen:DS-PL2")
assert answer.flow.limit.status == "converged" and answer.certify.global_.verdict == "optimum"
assert (numpy.array(reluflow.__path__[0]).item() and (reluflow.__file__.find("site-packages") > 0))
try:
    reluflow.HardMarginSVC
except ImportError:  # scikit-learn is optional
    pass
print("wheel from the source distribution:", answer.sentences[-1])
PYTHON
