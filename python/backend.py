"""Build backend: scikit-build-core, and a source distribution that carries the C library along.

In the repository the C sources and the licence are one level above this folder, where a distribution cannot reach; they
are copied here while it is made.
"""
import contextlib
import functools
import pathlib
import shutil

from scikit_build_core.build import *  # noqa: F401,F403
from scikit_build_core import build as _build

HERE = pathlib.Path(__file__).resolve().parent


@contextlib.contextmanager
def _license():
    source, copy = HERE.parent / "LICENSE", HERE / "LICENSE"
    if not (HERE.parent / "src").is_dir():  # a source distribution has it
        yield
        return
    try:
        shutil.copy(source, copy)
        yield
    finally:
        copy.unlink()


@contextlib.contextmanager
def _sources():
    root, copy = HERE.parent, HERE / "csrc"
    if copy.exists() or not (root / "src").is_dir():  # already a source distribution
        yield
        return
    try:
        for folder in ("src", "app", "ledger", "check", "cuda", "include", "cmake", "data"):
            shutil.copytree(root / folder, copy / folder, ignore=shutil.ignore_patterns("mnist", "__pycache__"))
        for file in ("CMakeLists.txt", "LICENSE"):
            shutil.copy(root / file, copy)
        (copy / "docs").mkdir()
        shutil.copy(root / "docs" / "fields.md", copy / "docs")
        yield
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def build_sdist(sdist_directory, config_settings=None):
    with _sources(), _license():
        return _build.build_sdist(sdist_directory, config_settings)


def _licensed(hook):
    @functools.wraps(hook)
    def call(*args, **keywords):
        with _license():
            return hook(*args, **keywords)
    return call


build_wheel = _licensed(_build.build_wheel)
build_editable = _licensed(_build.build_editable)
prepare_metadata_for_build_wheel = _licensed(_build.prepare_metadata_for_build_wheel)
prepare_metadata_for_build_editable = _licensed(_build.prepare_metadata_for_build_editable)
