"""From Python's arguments to the words of a command, and from its output to a result."""
from __future__ import annotations

import difflib
import functools
import json
import os
import warnings
from typing import Any, TypeVar

import numpy as np

from . import _native
from ._arrays import Samples, samples_of
from ._errors import ReluflowWarning, error_from
from ._progress import Progress, progress_from
from ._record import Record
from .results import Result, result_from

R = TypeVar("R", bound=Result)
_FLAG = 0  # CliKind: an option without a value
_HIDDEN = {"--json", "-o", "--quiet"}
_ELSEWHERE = {"random_state": "seed", "learning_rate": "rate", "lr": "rate", "hidden_layer_sizes": "width", "n_hidden": "width", "neurons": "width",
              "max_iter": "max_steps", "n_jobs": "threads", "verbose": "progress", "timeout": "time", "batch_size": "batch",
              "negative_slope": "leak"}  # what other libraries call it


@functools.lru_cache(maxsize=None)
def options_of(command: str) -> dict[str, tuple[int, str | None]]:
    """Keyword -> (kind, default) of every option of a command."""
    return {name.lstrip("-").replace("-", "_"): (kind, default) for name, kind, _, default, _ in _native.options(command)
            if name not in _HIDDEN}


def _word(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"expected a value, not {value}")
    if isinstance(value, (tuple, list)):
        return ",".join(_word(item) for item in value)
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def words_of(command: str, options: dict[str, Any]) -> list[str]:
    """The flags for keyword arguments; None is not given."""
    known = options_of(command)
    words = []
    for name, value in options.items():
        if name not in known:
            same = _ELSEWHERE.get(name)
            close = [same] if same is not None and (same in known or same == "progress") else difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise TypeError(f"{command.split()[-1]}() got an unexpected keyword argument '{name}'{hint}")
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if known[name][0] == _FLAG:
            words += [flag] if value else []
        else:
            try:
                words.append(f"{flag}={_word(value)}")
            except TypeError as error:
                raise TypeError(f"{name}: {error}") from None
    return words


def _no_data(X: Any) -> None:
    if X is None:
        raise TypeError("no data: give X and y, a Dataset, the name of a file or of a generator")
    if isinstance(X, tuple) and len(X) == 2:
        raise TypeError("labels y are missing; X and y are two arguments, not a pair")


class Data:
    """The argument DATA: arrays, a Dataset, the name of a file, or "gen:NAME,key=value,..."."""

    def __init__(self, X: Any, y: Any):
        self.path: str = "memory:data"
        self.samples: Samples | None = None
        shape = getattr(X, "shape", ())
        self.image = tuple(int(size) for size in shape[1:]) if len(shape) == 4 else None
        if isinstance(X, (str, os.PathLike)):
            if y is not None:
                raise TypeError("labels of a file are named by label= or labels=")
            self.path = os.fspath(X)
        elif y is None and hasattr(X, "X") and hasattr(X, "class_of"):
            self.samples = (np.asarray(X.X, dtype=np.float64, order="C"), np.asarray(X.class_of, dtype=np.int32), list(X.classes))
        elif y is None:
            _no_data(X)
            raise TypeError("labels y are missing")
        else:
            self.samples = samples_of(X, y)


def _tree(text: str, blocks: list[Any]) -> Record:
    def record(fields: dict[str, Any]) -> Any:
        if len(fields) == 1 and "array" in fields:
            return np.asarray(blocks[fields["array"]])
        return Record(fields)

    return json.loads(text, object_hook=record)


def warn(messages: str) -> None:
    """The library's warnings, one a line, as Python's."""
    for line in messages.splitlines():
        warnings.warn(line, ReluflowWarning, stacklevel=4)


def call(result: type[R], command: str, arguments: list[str], options: dict[str, Any], data: Data | None = None,
         test: Samples | None = None, net: Any = None, output: str | None = None) -> R:
    """Runs a command and wraps its output; `output` is -o of a command whose product is a file."""
    progress: Progress = options.pop("progress", None)
    words = words_of(command, options) + (["-o", output] if output else [])
    show = progress_from(progress)
    try:
        code, status, text, blocks, page, messages = _native.run(
            command, [*words, "--", *arguments], data.samples if data else None, test, net, show)
    finally:
        if hasattr(show, "close"):
            show.close()  # type: ignore[union-attr]
    warn(messages)
    if blocks is None:
        raise error_from(status, text)
    asked = (command, arguments, {name: value for name, value in options.items() if name != "check"}, data, net)
    return result_from(result, _tree(text, blocks), page or "", code, status, _source(data, options), asked)


TRANSFORMS = ("label", "labels", "classes", "shuffle", "limit", "divide", "center", "standardize", "unit", "scale_rows", "bias", "memory", "data_dir")


def _source(data: Data | None, options: dict[str, Any]) -> Any:
    """Enough to have the data again for a picture."""
    if data is None:
        return None
    transforms = {name: value for name, value in options.items() if name in TRANSFORMS and value not in (None, False)}
    if data.samples and not transforms:
        return data.samples
    return {"path": (data.path,) if data.samples is None else (data.samples,), "options": transforms}


def again(result: Result, command: str, **changed: Any) -> Any:
    """The run of a result once more, with some options changed."""
    run = result._run
    if run is None or run["flags"].get("weights"):
        raise ValueError("the run cannot be repeated from what the result holds")
    known = options_of(command)
    given = {name.replace("-", "_"): value for name, value in run["flags"].items()}
    options = {name: value for name, value in given.items() if name in known and value not in (None, False) and name not in TRANSFORMS
               and name not in ("report", "svg", "checkpoint", "resume")}
    X, class_of, names = result._samples()
    data = Data("memory:data", None)
    data.samples = (np.asarray(X, dtype=np.float64, order="C"), np.asarray(class_of, dtype=np.int32), list(names))
    return call(type(result), command, [data.path], {**options, **changed, "progress": False}, data)
