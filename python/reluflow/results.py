"""Results: the fields of the JSON output (docs/fields.md) as attributes, with arrays as NumPy arrays."""
from __future__ import annotations

import html
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._errors import Status


class Record:
    """An object of a result. Fields are attributes and items; a name that is a Python keyword takes an underscore:
    ``best.global_.lambda_`` is ``best["global"]["lambda"]``. What was not computed is None (NaN in arrays).
    """

    __slots__ = ("_fields",)
    _fields: dict[str, Any]

    def __init__(self, fields: dict[str, Any]):
        object.__setattr__(self, "_fields", fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        fields = self._fields
        if name in fields:
            return fields[name]
        if name.endswith("_") and name[:-1] in fields:
            return fields[name[:-1]]
        raise AttributeError(f"no field '{name}'; there are: {', '.join(fields)}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("results are read-only")

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def keys(self):
        return self._fields.keys()

    def __dir__(self):
        import keyword

        return [*super().__dir__(), *(f"{k}_" if keyword.iskeyword(k) else k for k in self._fields)]

    def __reduce__(self):
        return Record, (self._fields,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={_short(v)}' for k, v in self._fields.items())})"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, as json.loads of the program's --json gives it: arrays become lists, NaN becomes None."""
        return {name: _plain(value) for name, value in self._fields.items()}

    def _repr_html_(self) -> str:
        return _table(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            return np.where(np.isfinite(value), value.astype(object), np.array(None)).tolist()
        return value.tolist()
    return value


def _short(value: Any, digits: int = 8) -> str:
    """One line for a value."""
    if isinstance(value, Record):
        return "{…}"
    if isinstance(value, np.ndarray):
        if value.ndim == 1 and value.size <= 6:
            return "[" + ", ".join(f"{v:.{digits}g}" if value.dtype.kind == "f" else str(v) for v in value) + "]"
        return f"array{value.shape}"
    if isinstance(value, list):
        return f"[{len(value)} items]" if value and isinstance(value[0], (Record, list)) else str(value)
    return f"{value:.{digits}g}" if isinstance(value, float) else repr(value)


def _table(record: Record) -> str:
    rows = []
    for name, value in record._fields.items():
        if isinstance(value, Record):
            cell = f"<details><summary>{', '.join(list(value)[:6])}</summary>{_table(value)}</details>"
        else:
            cell = html.escape(_short(value, 12))
        rows.append(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{cell}</td></tr>")
    return f"<table>{''.join(rows)}</table>"


class Result(Record):
    """What a function returns. `print(result)` shows the page that the program prints."""

    __slots__ = ("_page", "_exit_code", "_status", "_source", "_asked")

    def __init__(self, fields: dict[str, Any], page: str = "", exit_code: int = 0, status: int = 0, source: Any = None,
                 asked: Any = None):
        super().__init__(fields)
        for name, value in (("_page", page), ("_exit_code", exit_code), ("_status", status), ("_source", source), ("_asked", asked)):
            object.__setattr__(self, name, value)

    def __reduce__(self):
        return type(self), (self._fields, self._page, self._exit_code, self._status, self._source, self._asked)

    @property
    def exit_code(self) -> int:
        """As the program's: 0 what was asked for holds, 1 it does not, 3 undecided, 130 interrupted."""
        return self._exit_code

    @property
    def library_status(self) -> Status:
        """The status of the C library."""
        return Status(self._status)

    @property
    def page(self) -> str:
        """The page that the program prints."""
        return self._page

    def __str__(self) -> str:
        return self._page

    def __repr__(self) -> str:
        return super().__repr__()

    def _repr_html_(self) -> str:
        first = next((line.strip() for line in self._page.splitlines() if line.strip()), type(self).__name__)
        return f"<p><b>{html.escape(first)}</b></p>{_table(self)}<details><summary>page</summary><pre>{html.escape(self._page)}</pre></details>"

    def _samples(self) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """X, class numbers and class names of the data that the result is about."""
        if isinstance(self._source, tuple):
            return self._source
        from . import datasets

        data = datasets.load(*self._source["path"], **self._source["options"])
        return data.X, data.class_of, data.classes

    def explore(self, path: Any = None, *, show: bool = True, page: Any = None) -> Any:
        """The explorer with the data and the start of this result, as reluflow.explore gives it."""
        from . import explorer

        flags = self.run.flags if "run" in self else {}
        known = {name: flags[name] for name in ("width", "leak", "loss", "init", "scale") if name in flags and flags[name] is not None}
        if "seed" in flags:
            known["seed"] = flags["seed"]
        from .datasets import Dataset

        X, class_of, names = self._samples()
        return explorer.explore(Dataset(X, class_of, names, "data"), path=path, show=show, page=page, **known)

    def plot(self, ax: Any = None) -> Any:
        """A picture of the result (needs matplotlib); returns the axes."""
        from . import _plots

        return _plots.plot(self, ax)


class Provable(Result):
    """A result that can be put into a proof file (docs/proof.md)."""

    __slots__ = ()

    def proof(self, path: Any) -> Any:
        """Asks the same question again, writes its proof to `path`, and checks the file with `reluflow.checker`, which
        shares no code with the library. Returns the record of the file, with the checker's verdict; of an explanation
        `path` is a folder, and a list is returned. The record of a proof asked for in the call itself is
        ``result["proof"]``.
        """
        from . import checker
        from ._call import call

        if self._asked is None:
            raise ValueError("this result does not know what was asked")
        command, arguments, options, data, net = self._asked
        again = call(type(self), command, arguments, {**options, "proof": path}, data, net=net)
        written = again["proofs"] if command == "explain" else [again["proof"], again._fields.get("optimum_proof")]
        records = []
        for record in (item for item in written if item is not None):
            with open(record["file"], "rb") as file:
                status, verdict = checker.check(file)
            if status:
                raise RuntimeError(f"{record['file']}: {verdict}")
            records.append(Record({**record._fields, "accepted": True, "verdict": verdict}))
        if not records:
            raise ValueError("no proof could be written: the answer is not proved, or the network does not separate the data")
        return records if command == "explain" else records[0]


class Inspection(Result):
    """What the data decide before training."""

    __slots__ = ()


class MaxMargin(Provable):
    """Max margins with certificates."""

    __slots__ = ()

    @property
    def network(self):
        """The best network, |a_j| = |w_j|, at smallest margin 1."""
        from .networks import Network

        best = self._fields["global"]
        if best is None or not best.neurons:
            return None
        U = np.array([neuron.u for neuron in best.neurons]).reshape(len(best.neurons), -1)
        size = np.sqrt(np.linalg.norm(U, axis=1))
        W = np.divide(U, size[:, None], out=np.zeros_like(U), where=size[:, None] > 0)
        return Network(W, size * [neuron.sign for neuron in best.neurons], best.leak)


class Flow(Result):
    """Gradient flow to t = infinity."""

    __slots__ = ()

    @property
    def network(self):
        """The limit, |theta| = 1."""
        from .networks import Network

        limit = self._fields.get("limit")
        return None if limit is None or limit.W is None else Network(limit.W, limit.a, self._fields["leak"])


class Training(Result):
    """A network trained by gd, sgd or adam."""

    __slots__ = ()

    @property
    def network(self):
        """The trained network; None for a layered one."""
        from .networks import Network

        return None if self._fields.get("W") is None else Network(self.W, self.a, self.leak)


class Certificate(Provable):
    """What a network is among all networks that fit the data."""

    __slots__ = ()


class Ledger(Result):
    """The claims of the papers, run."""

    __slots__ = ()


class Explanation(Provable):
    """One walk: what the data decide, where the flow goes, what that point is, the best there is."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self._fields["sentences"])
        return f"<ol>{lines}</ol>{_table(self)}"


def is_missing(value: Any) -> bool:
    """None or NaN: not computed."""
    return value is None or (isinstance(value, float) and math.isnan(value))
