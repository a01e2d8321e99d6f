"""Two-layer networks, and the many things that are taken for one."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Network:
    """f(x) = sum_k a_k phi(w_k . x), phi(z) = max(z, leak z)."""

    W: np.ndarray
    a: np.ndarray
    leak: float = 0.0

    def __post_init__(self):
        W = np.ascontiguousarray(self.W, dtype=np.float64)
        a = np.ascontiguousarray(self.a, dtype=np.float64)
        if W.ndim != 2 or a.shape != W.shape[:1]:
            raise ValueError(f"expected W (m, d) and a (m,), not {W.shape} and {a.shape}")
        object.__setattr__(self, "W", W)
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "leak", float(self.leak))

    def __call__(self, X: Any) -> np.ndarray:
        """Outputs f(x_i)."""
        Z = np.asarray(X, dtype=np.float64) @ self.W.T
        return np.maximum(Z, self.leak * Z) @ self.a

    @property
    def norm2(self) -> float:
        """|theta|^2."""
        return float(np.sum(self.W**2) + np.sum(self.a**2))

    def margin(self, X: Any, y: Any) -> float:
        """min_i y_i f(x_i) / |theta|^2 for labels -1 and +1."""
        return float(np.min(np.asarray(y) * self(X)) / self.norm2)

    def scaled(self, factor: float) -> Network:
        """All weights times the factor."""
        return Network(self.W * factor, self.a * factor, self.leak)


def _array(value: Any) -> np.ndarray:
    """A NumPy array of anything, PyTorch tensors too."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return np.asarray(value, dtype=np.float64)


def _from_modules(model: Any) -> Network:
    """nn.Sequential(Linear, ReLU | LeakyReLU | Identity, Linear) without bias terms other than zero."""
    layers = [layer for layer in model if type(layer).__name__ not in ("Flatten", "Dropout")]
    kinds = [type(layer).__name__ for layer in layers]
    if len(layers) != 3 or kinds[0] != "Linear" or kinds[2] != "Linear" or kinds[1] not in ("ReLU", "LeakyReLU", "Identity"):
        raise ValueError(f"expected Sequential(Linear, ReLU or LeakyReLU, Linear), not {', '.join(kinds)}")
    leak = {"ReLU": 0.0, "Identity": 1.0}.get(kinds[1])
    weights = {"0.weight": layers[0].weight, "2.weight": layers[2].weight, "0.bias": layers[0].bias, "2.bias": layers[2].bias}
    state = {name: tensor for name, tensor in weights.items() if tensor is not None}
    return _from_state(state, float(layers[1].negative_slope) if leak is None else leak)


def _from_state(state: Mapping[str, Any], leak: float) -> Network:
    """The two weights of a state dict by their shapes: (m, d) and (1, m) or (m,)."""
    arrays = {name: _array(value) for name, value in state.items()}
    weights = [value for name, value in arrays.items() if name.endswith("weight")]
    if len(weights) != 2:
        raise ValueError(f"expected two weights, found {len(weights)} among: {', '.join(arrays)}")
    for name, value in arrays.items():
        if name.endswith("bias") and np.any(value != 0):
            raise ValueError(f"{name} is not zero: networks have no bias (append a constant column to the data instead)")
    W, a = weights
    if W.ndim != 2 or a.size != W.shape[0] or (a.ndim == 2 and a.shape[0] != 1):
        raise ValueError(f"expected weights (m, d) and (1, m), not {W.shape} and {a.shape}")
    return Network(W, a.reshape(-1), leak)


def network_from(model: Any, leak: float | None = None) -> Network:
    """A network from a Network, a pair (W, a), a result with W and a, a dict with W and a, a PyTorch Sequential or a
    state dict. `leak` is for those that do not say it themselves."""
    if isinstance(model, Network):
        return model
    stated = 0.0 if leak is None else leak
    if isinstance(model, tuple) and len(model) == 2:
        return Network(_array(model[0]), _array(model[1]), stated)
    if isinstance(getattr(model, "network", None), Network):
        return model.network
    if isinstance(model, Mapping) and "W" in model and "a" in model:
        return Network(_array(model["W"]), _array(model["a"]), model.get("leak", stated))
    if isinstance(model, Mapping):
        return _from_state(model, stated)
    if hasattr(model, "state_dict") and hasattr(model, "__getitem__"):
        return _from_modules(model)
    if hasattr(model, "state_dict"):
        return _from_state(model.state_dict(), stated)
    raise TypeError(f"cannot take a {type(model).__name__} for a two-layer network")


class ModelWords:
    """How a model is handed to the library: a file, arrays, or (layered networks) a temporary JSON file."""

    def __init__(self, model: Any, leak: float | None = None):
        self.path: str | None = None
        self.net: tuple[np.ndarray, np.ndarray, float] | None = None
        self._temporary: str | None = None
        if model is None:
            return
        if isinstance(model, (str, os.PathLike)):
            self.path = os.fspath(model)
        elif isinstance(model, Mapping) and "layers" in model:
            with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
                json.dump(model, file, default=lambda value: _array(value).tolist())
            self.path = self._temporary = file.name
        else:
            network = network_from(model, leak)
            self.path, self.net = "(network)", (network.W, network.a, network.leak)

    def __enter__(self) -> ModelWords:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._temporary:
            os.unlink(self._temporary)
