"""Where gradient flow goes on two-layer (leaky) ReLU networks, and whether that is the best margin there is.

>>> import reluflow
>>> print(reluflow.explain("gen:xor").sentences[-1])  # doctest: +ELLIPSIS
So ...
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import datasets
    from ._errors import (FileError, InputError, InternalError, NumericError, OutOfMemoryError, ReluflowError,
                          ReluflowWarning, Status, UsageError)
    from .estimators import GradientFlowClassifier, HardMarginSVC, MaxMarginReLU
    from .explorer import explore
    from .functions import certify, explain, flow, inspect, maxmargin, train, verify
    from .networks import Network
    from .results import Certificate, Explanation, Flow, Inspection, Ledger, MaxMargin, Result, Training, load
    from ._record import Record
    from .sweeps import read_store, sweep

_ESTIMATORS = ("HardMarginSVC", "MaxMarginReLU", "GradientFlowClassifier")

# Where each name lives. Everything is imported on first use: the estimators need scikit-learn, reluflow.torch nothing before
# it is used, and `python -m reluflow.checker` must run without the compiled extension that most of the others load.
_HOMES = {
    "functions": ("inspect", "maxmargin", "flow", "train", "certify", "verify", "explain"),
    "explorer": ("explore",),
    "sweeps": ("sweep", "read_store"),
    "estimators": _ESTIMATORS,
    "networks": ("Network",),
    "_record": ("Record",),
    "results": ("Result", "Inspection", "MaxMargin", "Flow", "Training", "Certificate", "Ledger", "Explanation", "load"),
    "_errors": ("Status", "ReluflowError", "UsageError", "InputError", "FileError", "OutOfMemoryError", "NumericError",
                "InternalError", "ReluflowWarning"),
}

__all__ = [
    "inspect", "maxmargin", "flow", "train", "certify", "verify", "explain", "explore", "load", "sweep", "read_store", "datasets", *_ESTIMATORS, "Network",
    "Record", "Result", "Inspection", "MaxMargin", "Flow", "Training", "Certificate", "Ledger", "Explanation",
    "Status", "ReluflowError", "UsageError", "InputError", "FileError", "OutOfMemoryError", "NumericError", "InternalError",
    "ReluflowWarning", "__version__",
]


def __getattr__(name: str) -> Any:
    """Imports a name of the package, or one of its public modules, on first use."""
    import importlib

    if name in ("datasets", "torch", "estimators", "checker", "functions", "networks", "results"):
        return importlib.import_module("." + name, __name__)
    for module, names in _HOMES.items():
        if name in names:
            try:
                value = getattr(importlib.import_module("." + module, __name__), name)
            except ModuleNotFoundError as error:
                if module != "estimators" or not (error.name or "").startswith("sklearn"):
                    raise
                raise ModuleNotFoundError("the estimators need scikit-learn: pip install 'reluflow[sklearn]'", name=error.name) from error
            globals()[name] = value
            return value
    import difflib

    close = difflib.get_close_matches(name, __all__, 1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    raise AttributeError(f"module 'reluflow' has no attribute '{name}'{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
