"""Populations of runs: ``reluflow sweep`` with the words of Python."""
from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _native
from ._arrays import from_tensor, samples_of
from ._call import warn
from ._errors import error_from
from ._progress import Progress, progress_from

try:
    import pandas
except ImportError:  # a dict of arrays then
    pandas = None  # type: ignore[assignment]


class Picture:
    """An SVG picture; notebooks show it, `save` writes it."""

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


def _item(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value).replace("\\", "\\\\").replace(",", "\\,").replace("{", "\\{").replace("}", "\\}")


def _value(value: Any) -> str:
    """A string as the command line has it; a list or an array as a list; a range as one."""
    if isinstance(value, str):
        return value
    if isinstance(value, range) and len(value) > 1:
        return f"{value[0]}..{value[-1]}..{value.step}"
    if isinstance(value, Iterable):
        return ",".join(_item(item) for item in value)
    return _item(value)


def _words(options: dict[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words.append(f"{flag}={_value(value)}")
    return words


def _call(command: str, words: list[str], progress: Progress = False) -> str:
    show = progress_from(progress)
    try:
        _, status, text, blocks, _, messages = _native.run(command, words, None, None, None, show)
    finally:
        if hasattr(show, "close"):
            show.close()  # type: ignore[union-attr]
    warn(messages)
    if blocks is None:
        raise error_from(status, text)
    return text


def _plot(store: str | None, x: str | None, y: str, color: str | None, facet: str | None, where: str | None,
          kind: str) -> Picture:
    if store is None or not os.path.exists(store):
        raise ValueError("pictures are drawn from the store: give sweep(..., store='runs.db')")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "plot.svg")
        _call("sweep plot", [store, "-o", file, *_words(dict(x=x, y=y, color=color, facet=facet, where=where, kind=kind))])
        with open(file, encoding="utf-8") as svg:
            return Picture(svg.read())


class Table(dict):  # type: ignore[type-arg]
    """Columns as arrays, by name."""

    store: str | None = None

    def plot(self, x: str | None = None, y: str = "status=holds", *, color: str | None = None, facet: str | None = None,
             where: str | None = None, kind: str = "line") -> Picture:
        """The picture of ``reluflow sweep plot``."""
        return _plot(self.store, x, y, color, facet, where, kind)


if pandas is not None:

    class Frame(pandas.DataFrame):
        """A data frame whose `plot` is that of ``reluflow sweep plot``."""

        _metadata = ["store"]
        store: str | None = None

        @property
        def _constructor(self) -> Any:
            return Frame

        def plot(self, x: str | None = None, y: str = "status=holds", *, color: str | None = None,  # type: ignore[override]
                 facet: str | None = None, where: str | None = None, kind: str = "line") -> Picture:
            return _plot(self.store, x, y, color, facet, where, kind)


def _array(values: list[Any]) -> np.ndarray:
    """Numbers with NaN for what is missing; objects where there are texts, "" for what is missing."""
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else value for value in values], dtype=object)
    return np.array([np.nan if value is None else value for value in values])


def read_store(path: str | os.PathLike[str]) -> Any:
    """The cells of a store: a data frame when pandas is there, otherwise a dict of arrays."""
    name = os.fspath(path)
    connection = sqlite3.connect(f"file:{name}?mode=ro", uri=True)
    try:
        cursor = connection.execute("SELECT * FROM cells ORDER BY id")
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
    finally:
        connection.close()
    keep = [k for k, column in enumerate(names) if column != "json"]
    if pandas is not None:
        frame = Frame([[row[k] for k in keep] for row in rows], columns=[names[k] for k in keep])
        frame.store = name
        return frame
    table = Table({names[k]: _array([row[k] for row in rows]) for k in keep})
    table.store = name
    return table


def sweep(command: str, data: Any = None, y: Any = None, *, store: str | os.PathLike[str] | None = None, zip: str | None = None,
          where: str | None = None, workers: int | None = None, keep_json: bool = False, progress: Progress = None,
          **options: Any) -> Any:
    """A command for every combination of values; parameters and scalar results as the columns of a table.

    `data` is a name, a generator with lists in it, a list of them, or arrays: X and `y`, or the pair. Options may be lists,
    arrays, ranges, or the texts of the command line ("0..99", "log(1e-6..1e-1..6)"). Without `store` the results are only
    returned.

    >>> cells = sweep("flow", "gen:orthant,n={6,8},d=2", scale=[1e-2, "limit"], seed=range(3), width=4, workers=2)
    >>> len(cells["limit.margin"]), sorted(set(cells["n"].tolist()))
    (12, [6, 8])
    """
    data = data if y is None else (data, y)
    with tempfile.TemporaryDirectory() as folder:
        path = os.fspath(store) if store is not None else os.path.join(folder, "sweep.db")
        arguments = [data] if isinstance(data, (str, os.PathLike)) else data
        if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], str):
            arguments = [os.path.join(folder, "data.npz")]
            np.savez(arguments[0], X=samples_of(*data)[0], y=np.asarray(from_tensor(data[1])).reshape(-1))
            if store is not None:
                raise TypeError("a store outlives arrays: save them to a file and sweep over its name")
        words = [command, *(os.fspath(word) for word in arguments or []), *_words(options), "--store", path,
                 *_words(dict(zip=zip, where=where, workers=workers, keep_json=keep_json))]
        _call("sweep", words, progress)
        table = read_store(path)
        if store is None:
            table.store = None
        return table
