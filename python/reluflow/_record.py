"""Objects of results: read-only mappings whose items are attributes too."""
from __future__ import annotations

import html
import keyword
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np


class Record(Mapping[str, Any]):
    """An object of a result: a read-only mapping whose items are attributes too.

    A name that is a Python keyword takes an underscore: ``best.global_.lambda_`` is ``best["global"]["lambda"]``. What was
    not computed is None (NaN in arrays). ``pandas.DataFrame(run.trace)`` makes a table of a list of records.
    """

    __slots__ = ("_fields",)
    _fields: dict[str, Any]
    _kinds: ClassVar[dict[str, str]] = {}

    def __init__(self, fields: dict[str, Any]):
        object.__setattr__(self, "_fields", fields)

    if not TYPE_CHECKING:  # type checkers go by the fields

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

    def __dir__(self) -> list[str]:
        own = {name for name in super().__dir__() if not name.startswith("_") and name.rstrip("_") not in self._kinds}
        return sorted(own | {f"{name}_" if keyword.iskeyword(name) else name for name in self._fields})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={short(v)}' for k, v in self._fields.items())})"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, as json.loads of the program's --json gives it: arrays become lists, NaN becomes None."""
        return {name: plain(value) for name, value in self._fields.items()}

    def _repr_html_(self) -> str:
        return table(self)


def plain(value: Any) -> Any:
    """A value of a record as json.loads would give it."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            return np.where(np.isfinite(value), value.astype(object), np.array(None)).tolist()
        return value.tolist()
    return value


def short(value: Any, digits: int = 8) -> str:
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


def table(record: Record) -> str:
    """A record as an HTML table; records inside it fold."""
    rows = []
    for name, value in record._fields.items():
        if isinstance(value, Record):
            cell = f"<details><summary>{', '.join(list(value)[:6])}</summary>{table(value)}</details>"
        else:
            cell = html.escape(short(value, 12))
        rows.append(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{cell}</td></tr>")
    return f"<table>{''.join(rows)}</table>"


def typed(kind: type[Record], value: Any, classes: Mapping[str, type[Record]], shared: Mapping[str, Any]) -> Any:
    """A record of plain records as one of `kind`, with the classes that its fields are said to have. `classes` finds them
    by name; `shared` are attributes that results inside results have in common, such as where the data come from."""
    fields = {name: _field(kind._kinds.get(name, ""), item, classes, shared) for name, item in value.items()}
    record = kind(fields)
    for name, item in shared.items():
        if hasattr(kind, name):
            object.__setattr__(record, name, item)
    return record


def _field(kind: str, value: Any, classes: Mapping[str, type[Record]], shared: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        if kind in ("Floats", "Integers"):
            return _array(value, np.float64 if kind == "Floats" else np.int64)
        inner = kind.removeprefix("list[").removesuffix("]")
        return [_field(inner, item, classes, shared) for item in value]
    if isinstance(value, Record) and kind in classes:
        return typed(classes[kind], value, classes, shared)
    return value


def _array(value: list[Any], dtype: Any) -> Any:
    """Numbers in brackets as an array, None as NaN; as they are where they do not fit."""
    try:
        return np.array(value, dtype=dtype)
    except (TypeError, ValueError):
        return value
