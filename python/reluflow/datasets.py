"""Datasets: the generators of the papers and every file format that the program reads.

``load("gen:orthant,n=50,d=5")`` and ``orthant(n=50, d=5)`` are the same; `list_generators` shows them all.
"""
from __future__ import annotations

import inspect as _inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._call import words_of, warn
from ._errors import error_from


@dataclass(frozen=True)
class Dataset:
    """Samples X (n, d), class numbers, the names of the classes, and where they come from."""

    X: np.ndarray
    class_of: np.ndarray
    classes: list[str]
    name: str

    @property
    def y(self) -> np.ndarray:
        """Labels -1 and +1 for two classes, class numbers for more."""
        if len(self.classes) > 2:
            return self.class_of
        if len(self.classes) == 1:
            return np.full(len(self.class_of), -1 if _not_positive(self.classes[0]) else 1)
        return 2 * self.class_of - 1

    def __iter__(self) -> Iterator[np.ndarray]:
        """So that ``X, y = datasets.xor()`` works."""
        return iter((self.X, self.y))


def _not_positive(name: str) -> bool:
    try:
        return float(name) <= 0
    except ValueError:
        return False


def load(path: Any, **options: Any) -> Dataset:
    """Reads a file or generates "gen:NAME,key=value,...". Options are those of the program: label, labels, classes,
    shuffle, limit, divide, center, standardize, unit, bias, memory, data_dir.

    >>> load("gen:xor").X.shape
    (4, 2)
    """
    if isinstance(path, tuple):  # samples in memory, to be transformed
        return _transformed(path, options)
    status, text, found = _native.load([*words_of("data info", options), "--", str(path)])
    if found is None:
        raise error_from(status, text)
    warn(text)
    X, class_of, names, name = found
    return Dataset(np.asarray(X), np.asarray(class_of), names, name)


def _transformed(samples: tuple[np.ndarray, np.ndarray, list[str]], options: dict[str, Any]) -> Dataset:
    import os
    import tempfile

    X, class_of, names = samples
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.npz")
        np.savez(path, X=X, y=class_of)
        if "classes" in options:
            options = {**options, "classes": ",".join(str(names.index(part)) for part in options["classes"].split(","))}
        data = load(path, **options)
    return Dataset(data.X, data.class_of, [names[int(name)] for name in data.classes], "arrays")


def list_generators() -> dict[str, str]:
    """Name and summary of every generator.

    >>> "orthant" in list_generators()
    True
    """
    return {name.replace("-", "_"): summary for name, _, _, summary, _ in _native.generators()}


def _generator(name: str, alias: str | None, paper: str, summary: str, keys: list[tuple[str, str, str]]) -> Any:
    parameters = [_inspect.Parameter(key, _inspect.Parameter.KEYWORD_ONLY, default=default) for key, default, _ in keys
                  if key.isidentifier()]

    def generate(**arguments: Any) -> Dataset:
        wrong = set(arguments) - {key for key, _, _ in keys}
        if wrong:
            raise TypeError(f"{generate.__name__}() got an unexpected keyword argument '{sorted(wrong)[0]}'")
        parts = [f"gen:{name}", *(f"{key}={value}" for key, value in arguments.items())]
        return load(",".join(parts))

    generate.__name__ = generate.__qualname__ = name.replace("-", "_")
    lines = [f"    {key}: {meaning} (default {default})" for key, default, meaning in keys]
    source = f" [{paper}{', ' + alias if alias else ''}]" if paper else ""
    generate.__doc__ = f"{summary}.{source}\n\n" + "\n".join(lines)
    generate.__signature__ = _inspect.Signature(parameters, return_annotation="Dataset")  # type: ignore[attr-defined]
    return generate


_GENERATORS = {row[0].replace("-", "_"): _generator(*row) for row in _native.generators()}
__all__ = ["Dataset", "load", "list_generators", *_GENERATORS]


def __getattr__(name: str) -> Any:
    if name in _GENERATORS:
        return _GENERATORS[name]
    raise AttributeError(f"no dataset '{name}'; see list_generators()")


def __dir__() -> list[str]:
    return __all__
