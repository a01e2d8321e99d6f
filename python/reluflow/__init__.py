"""Where gradient flow goes on two-layer (leaky) ReLU networks, and whether that is the best margin there is.

>>> import reluflow
>>> print(reluflow.explain("gen:xor").sentences[-1])  # doctest: +ELLIPSIS
So ...
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import datasets
from ._errors import (FileError, InputError, InternalError, NumericError, OutOfMemoryError, ReluflowError, ReluflowWarning,
                      Status, UsageError)
from ._version import __version__
from .functions import certify, explain, flow, inspect, maxmargin, train, verify
from .networks import Network
from .sweep import read_store, sweep
from .results import Certificate, Explanation, Flow, Inspection, Ledger, MaxMargin, Record, Result, Training

if TYPE_CHECKING:
    from .estimators import GradientFlowClassifier, HardMarginSVC, MaxMarginReLU

_ESTIMATORS = ("HardMarginSVC", "MaxMarginReLU", "GradientFlowClassifier")

__all__ = [
    "inspect", "maxmargin", "flow", "train", "certify", "verify", "explain", "sweep", "read_store", "datasets", *_ESTIMATORS, "Network",
    "Record", "Result", "Inspection", "MaxMargin", "Flow", "Training", "Certificate", "Ledger", "Explanation",
    "Status", "ReluflowError", "UsageError", "InputError", "FileError", "OutOfMemoryError", "NumericError", "InternalError",
    "ReluflowWarning", "__version__",
]


def __getattr__(name: str) -> Any:
    """The estimators need scikit-learn, and reluflow.torch nothing before it is used: both are imported on first use."""
    if name in _ESTIMATORS:
        from . import estimators

        return getattr(estimators, name)
    if name in ("torch", "estimators"):
        import importlib

        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'reluflow' has no attribute '{name}'")
