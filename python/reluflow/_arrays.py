"""Samples and labels as people have them: lists, arrays, frames, tensors; and one line that says what is wrong with those
that are none."""
from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

Samples = tuple[np.ndarray, np.ndarray, list[str]]


def from_tensor(value: Any) -> Any:
    """A tensor of PyTorch as an array, copied from the GPU where it is there, and so the tensors of a list; anything else as
    it is. Types that NumPy does not have (bfloat16, float8) become doubles."""
    if isinstance(value, (list, tuple)) and value and all(hasattr(item, "detach") for item in value):
        return [from_tensor(item) for item in value]
    if not hasattr(value, "detach"):
        return value
    value = value.detach()
    if str(getattr(value, "layout", "torch.strided")) != "torch.strided":
        value = value.to_dense()
    value = value.cpu()
    return (value.double() if any(name in str(value.dtype) for name in ("bfloat16", "float8")) else value).numpy()


def _not_an_array(name: str, value: Any) -> None:
    if value is None:
        raise TypeError(f"{name} is None; expected an array")
    if isinstance(value, (Mapping, Set)) or hasattr(value, "__next__"):
        raise TypeError(f"{name} is a {type(value).__name__}; expected an array, a list of rows or a data frame")
    if hasattr(value, "tocsr"):
        raise TypeError(f"{name} is sparse; give {name}.toarray()")
    if np.ma.is_masked(value):
        raise ValueError(f"{name} has masked entries; leave these rows out, or fill them")


def _why_not_numbers(X: Any) -> str:
    """What keeps X from being a matrix of numbers; empty where it is not found."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        for column in X.columns:
            try:
                np.asarray(X[column], dtype=np.float64)
            except (TypeError, ValueError):
                text = next((item for item in X[column] if isinstance(item, str)), X[column].iloc[0])
                return f"column {column!r} of X does not hold numbers: {text!r}"
        return ""
    try:
        lengths = [len(row) for row in X]
    except TypeError:
        return ""
    for i, length in enumerate(lengths):
        if length != lengths[0] and not any(isinstance(row, str) for row in X):
            return f"the rows of X have different lengths: row 0 has {lengths[0]}, row {i} has {length}"
    for i, row in enumerate(X):
        for j, item in enumerate(row if not isinstance(row, str) else [row]):
            try:
                float(item)
            except (TypeError, ValueError):
                return f"row {i}, column {j} of X is not a number: {str(item)!r}"
    return ""


def _matrix(X: Any) -> np.ndarray:
    _not_an_array("X", X)
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind in "cmM":
        raise ValueError(f"X holds {'complex numbers' if kind == 'c' else 'dates or times'}; expected real numbers")
    try:
        X = np.asarray(X, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        why = _why_not_numbers(X)
        if not why:
            raise
        raise ValueError(why) from error
    if X.ndim == 3 or X.ndim == 4:  # images: (n, height, width) or (n, channels, height, width)
        X = X.reshape(len(X), -1)
    if X.size == 0:
        raise ValueError(f"X is empty (shape {X.shape})")
    if X.ndim != 2:
        hint = "; for samples with one number each give X.reshape(-1, 1)" if X.ndim == 1 else ""
        raise ValueError(f"expected X with rows and columns, not {X.ndim} dimension{'' if X.ndim == 1 else 's'}{hint}")
    return X


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, (float, np.floating)) and label != label)


def _label_text(label: Any) -> str:
    value = label.item() if hasattr(label, "item") else label
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(int(value)) if isinstance(value, (bool, float)) and float(value).is_integer() else str(value)


def _vector(y: Any, X: np.ndarray) -> np.ndarray:
    _not_an_array("y", y)
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    n, d = X.shape
    if y.shape != (n,):
        hint = ""
        if y.ndim == 2 and len(y) == n:
            hint = "; expected one label a row: of one-hot rows y.argmax(axis=1)"
        elif y.shape == (d,):
            hint = "; are the samples the columns? Then give X.T"
        raise ValueError(f"X has {n} rows, y has shape {y.shape}{hint}")
    if y.dtype.kind in "fO":
        missing = next((i for i, label in enumerate(y) if _is_missing(label)), None)
        if missing is not None:
            raise ValueError(f"the label of row {missing} is missing ({y[missing]})")
    return y


def samples_of(X: Any, y: Any) -> Samples:
    """X as rows of doubles (a C-order float64 array is not copied), class numbers, class names."""
    X = _matrix(from_tensor(X))
    y = _vector(from_tensor(y), X)
    try:
        labels, numbers = np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        raise TypeError(f"y mixes labels of different types ({', '.join(kinds)})") from error
    if y.dtype.kind == "f" and len(labels) > max(3, min(10, len(y) // 2)) and not np.all(labels == np.floor(labels)):
        raise ValueError(f"y holds {len(labels)} different numbers among {len(y)}, not all integers: these are measurements, not classes; "
                         "make two classes of them first, for example y > np.median(y)")
    return X, numbers.astype(np.int32), [_label_text(label) for label in labels]
