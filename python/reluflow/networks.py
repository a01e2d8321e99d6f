"""Two-layer networks, and the many things that are taken for one."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import from_tensor
from ._fields import Floats


@dataclass(frozen=True)
class Network:
    """f(x) = sum_k a_k phi(w_k . x), phi(z) = max(z, leak z)."""

    W: Floats
    a: Floats
    leak: float = 0.0

    def __post_init__(self) -> None:
        W, a = np.ascontiguousarray(_array(self.W)), np.ascontiguousarray(_array(self.a))
        if W.ndim != 2 or a.shape != W.shape[:1]:
            raise ValueError(f"expected W (m, d) and a (m,), not {W.shape} and {a.shape}")
        object.__setattr__(self, "W", W)
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "leak", float(self.leak))

    def __call__(self, X: Any) -> Floats:
        """Outputs f(x_i)."""
        rows = _array(X)
        if rows.shape[-1:] != self.W.shape[1:]:
            raise ValueError(f"X of shape {rows.shape}, but the network takes {self.W.shape[1]} columns (biases are a constant column: "
                             "call the Limit itself, or Model.inputs first)")
        Z = rows @ self.W.T
        return np.asarray(np.maximum(Z, self.leak * Z) @ self.a)

    @property
    def norm2(self) -> float:
        """|theta|^2."""
        return float(np.sum(self.W**2) + np.sum(self.a**2))

    def margin(self, X: Any, y: Any) -> float:
        """min_i y_i f(x_i) / |theta|^2 for labels -1 and +1."""
        return float(np.min(_array(y) * self(X)) / self.norm2)

    def scaled(self, factor: float) -> Network:
        """All weights times the factor."""
        return Network(self.W * factor, self.a * factor, self.leak)


@dataclass(frozen=True)
class LayeredNetwork:
    """A network of several layers, as a file of layers has it (docs/data.md): z_1 = L_1(x), z_l = L_l(phi(z_{l-1}))."""

    layers: list[dict[str, Any]]
    leak: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """What `reluflow.flow(weights=...)` and `reluflow.certify` take."""
        if self.leak in (0.0, 1.0):
            return {"activation": "relu" if self.leak == 0 else "linear", "layers": self.layers}
        return {"activation": "leaky", "leak": self.leak, "layers": self.layers}

    @property
    def theta(self) -> Floats:
        """All weights in one vector."""
        return np.concatenate([np.asarray(layer["weights"], dtype=np.float64).ravel() for layer in self.layers])

    def __call__(self, X: Any) -> Floats:
        """Outputs f(x_i); dense and shared layers only."""
        Z = _array(X)
        for k, layer in enumerate(self.layers):
            if k:
                Z = np.maximum(Z, self.leak * Z)
            weights = np.asarray(layer["weights"], dtype=np.float64).ravel()
            if layer["kind"] == "shared":
                pattern = np.asarray(layer["pattern"])
                matrix = np.where(pattern < 0, 0.0, weights[np.maximum(pattern, 0)])
            elif layer["kind"] == "dense":
                matrix = weights.reshape(layer["shape"])
            else:
                raise NotImplementedError(f"no forward pass for a layer of kind {layer['kind']} here")
            Z = Z @ matrix.T
        return Z[:, 0] if Z.shape[1] == 1 else Z


@dataclass
class Model:
    """A network in the library's terms: no biases, one output. `constant` is the constant column that the data get for the
    biases (None: none), `factor` what the data are multiplied by (two outputs count as one), `notes` says what was done."""

    network: Network | LayeredNetwork
    constant: float | None = None
    factor: float = 1.0
    single: bool = False
    notes: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, float]:
        """Options of the functions that bring the data into the form the network takes."""
        options = {} if self.factor == 1 else {"divide": 1 / self.factor}
        return options if self.constant is None else {**options, "bias": self.constant}

    def inputs(self, X: Any) -> Floats:
        """The data in that form."""
        Z = self.factor * _array(X)
        return Z if self.constant is None else np.column_stack([Z, np.full(len(Z), self.constant)])


Image = tuple[int, ...]  # channels, height, width

_SINGLE = ("float32", "float16", "bfloat16")
FORWARD_TOL = 1e-2  # of the largest output: bfloat16 computes to that, another activation or order is farther off
SINGLE_TOL = 1e-5  # a network in single precision knows its margins to about a hundred roundings of 6e-8


def _array(value: Any) -> Floats:
    """A NumPy array of anything; tensors of PyTorch, also those on a GPU and bfloat16, are copied."""
    return np.asarray(from_tensor(value), dtype=np.float64)


def _is_single(value: Any) -> bool:
    return str(getattr(value, "dtype", "")).removeprefix("torch.") in _SINGLE


@dataclass
class _Linear:
    """One linear layer on its way: weights, bias, and for a convolution its shape."""

    W: Any
    b: Any = None
    conv: dict[str, Any] | None = None

    @property
    def bias(self) -> Floats | None:
        return None if self.b is None else _array(self.b).reshape(-1)


_SILENT = ("Flatten", "Dropout", "Identity", "Unflatten")
_NO_LAYERS = ("Sequential", "ModuleList")


def _modules(model: Any) -> list[Any]:
    """The layers of a (nested) nn.Sequential, in order."""
    found = []
    for layer in model:
        found += _modules(layer) if type(layer).__name__ in _NO_LAYERS else [layer]
    return found


def _slope(layer: Any) -> float | None:
    """The slope of an activation for negative inputs; None for what is not one."""
    name = type(layer).__name__
    if name == "LeakyReLU":
        return float(layer.negative_slope)
    return {"ReLU": 0.0}.get(name)


def _conv(layer: Any, size: Image | None) -> _Linear:
    if size is None:
        raise ValueError("a network that begins with Conv2d needs images: give X of shape (n, channels, height, width)")
    pairs = {name: np.atleast_1d(getattr(layer, name)).tolist() for name in ("stride", "padding", "dilation")}
    if any(isinstance(value, str) for value in pairs["padding"]) or any(len(set(value)) > 1 for value in pairs.values()) \
            or pairs["dilation"][0] != 1 or layer.groups != 1:
        raise ValueError("Conv2d: only one stride and one padding for both directions, no dilation, no groups")
    return _Linear(layer.weight, layer.bias, {"input": list(size), "stride": pairs["stride"][0], "padding": pairs["padding"][0]})


def _from_modules(model: Any, size: Image | None) -> tuple[list[_Linear], float | None]:
    linear: list[_Linear] = []
    leak: float | None = None
    after = False  # an activation follows the last linear layer
    for layer in _modules(model):
        name, slope = type(layer).__name__, _slope(layer)
        if slope is not None:
            if not linear or after or (leak is not None and leak != slope):
                raise ValueError(f"{name} at this place: one kind of activation after every linear layer but the last is expected")
            leak, after = slope, True
        elif name in ("Linear", "Conv2d"):
            if linear and not after:  # two linear layers in a row: an activation of slope 1 would be another network
                raise ValueError(f"two linear layers without an activation in between: {name} after {len(linear)} of them")
            made = _conv(layer, size) if name == "Conv2d" else _Linear(layer.weight, layer.bias)
            if made.conv is not None:
                filters, _, high, broad = _array(layer.weight).shape
                (_, h, w), step, edge = made.conv["input"], made.conv["stride"], made.conv["padding"]
                size = filters, (h + 2 * edge - high) // step + 1, (w + 2 * edge - broad) // step + 1
            linear.append(made)
            after = False
        elif name not in _SILENT:
            raise ValueError(f"a layer {name} is not of a kind this library knows: expected Sequential of Linear, Conv2d, ReLU, LeakyReLU, Flatten, Dropout")
    if after or len(linear) < 2:
        raise ValueError(f"expected Sequential(Linear, ReLU or LeakyReLU, ..., Linear), not {', '.join(type(layer).__name__ for layer in _modules(model))}")
    return linear, leak


def _from_state(state: Mapping[str, Any]) -> list[_Linear]:
    """The linear layers of a state dict, in its order: NAME.weight with NAME.bias."""
    named = {name: value for name, value in state.items() if name.split(".")[-1] in ("weight", "bias")}
    others = [name for name in state if name not in named]
    layers = [_Linear(value, named.get(name[: -len("weight")] + "bias")) for name, value in named.items() if name.endswith("weight")]
    if others or len(layers) < 2:
        raise ValueError(f"expected two weights or more, named NAME.weight with NAME.bias; found: {', '.join(state)}")
    for layer in layers:
        if _array(layer.W).ndim not in (1, 2):
            raise ValueError(f"a weight of shape {_array(layer.W).shape}: give the module itself instead of its state dict")
    return layers


def _from_pairs(weights: Any, transposed: bool) -> list[_Linear]:
    layers = []
    for item in weights:
        W, b = item if isinstance(item, (tuple, list)) and len(item) == 2 else (item, None)
        layers.append(_Linear(_array(W).T if transposed else W, b))
    if len(layers) < 2:
        raise ValueError(f"expected the weights of two layers or more, not of {len(layers)}")
    return layers


def from_arrays(weights: Any, *, leak: float = 0.0, transposed: bool = False) -> Model:
    """A network from the arrays of its layers, of NumPy, JAX, Keras or PyTorch: a list of W or (W, b), from the input to the
    output. W has a row per output, as in PyTorch; ``transposed=True`` takes a column per output, as in Keras and Flax.

    >>> import numpy as np
    >>> from_arrays([(np.eye(2), np.ones(2)), (np.ones((1, 2)), None)]).notes
    ('biases of the first layer: weights of a constant column 1',)
    """
    return _assemble(_from_pairs(weights, transposed), leak)


def _assemble(linear: list[_Linear], leak: float) -> Model:
    """Layers with biases and one or two outputs as a network without, with one."""
    notes = []
    single = any(_is_single(layer.W) for layer in linear)
    factor, last = 1.0, linear[-1]
    head, head_bias = _array(last.W), last.bias
    head = head.reshape(1, -1) if head.ndim == 1 else head
    if head.shape[0] == 2:
        head = (head[1:] - head[:1]) / np.sqrt(2)
        head_bias = None if head_bias is None else (head_bias[1:] - head_bias[:1]) / np.sqrt(2)
        factor = float(np.sqrt(2))
        notes.append("two outputs: cross entropy sees their difference, one output (a_1 - a_0)/sqrt(2) on data times sqrt(2)")
    elif head.shape[0] != 1:
        raise ValueError(f"{head.shape[0]} outputs: a network with one output, or two of them, tells two classes apart; take one class against another")
    linear = [*linear[:-1], _Linear(head, head_bias, last.conv)]
    biased = [k for k, layer in enumerate(linear) if layer.bias is not None]
    if biased and any(layer.conv for layer in linear):
        raise ValueError("biases beside convolutions: not known here (train with bias=False)")
    if len(linear) == 2 and biased == [1]:  # without a constant in the first layer, one for the head alone would let in others
        linear[0] = _Linear(linear[0].W, np.zeros(len(_array(linear[0].W))))
        biased = [0, 1]
    constant = factor if biased else None  # the whole input, constant and all, is multiplied by the factor
    if 0 in biased:
        notes.append("biases of the first layer: weights of a constant column 1")
    if biased and biased[-1] > 0:
        notes.append("biases of later layers: weights on a constant neuron, which is trained as well: the network is the same now, "
                     "its flow not exactly that of a plain bias")
    if len(linear) == 2 and not any(layer.conv for layer in linear):
        network: Network | LayeredNetwork = _two_layer(linear, leak, biased)
    else:
        network = _layered(linear, leak, biased)
    return Model(network, constant, factor, single, tuple(notes))


def _two_layer(linear: list[_Linear], leak: float, biased: list[int]) -> Network:
    W, a = _array(linear[0].W), _array(linear[1].W)[0]
    if W.ndim != 2 or a.shape != W.shape[:1]:
        raise ValueError(f"expected weights (m, d) and (1, m), not {W.shape} and {a.shape}")
    if not biased:
        return Network(W, a, leak)
    b, head = linear[0].bias, linear[1].bias
    W = np.column_stack([W, np.zeros(len(W)) if b is None else b])
    if head is not None and head[0] != 0:  # a neuron that sees the constant only: |a| = |w|, a |w| = the bias
        size = np.sqrt(abs(float(head[0])))
        W = np.vstack([W, np.eye(W.shape[1])[-1:] * size])
        a = np.append(a, np.sign(head[0]) * size)
    return Network(W, a, leak)


def _layered(linear: list[_Linear], leak: float, biased: list[int]) -> LayeredNetwork:
    """Dense and convolutional layers; where a later layer has a bias, a constant unit runs along up to there."""
    last = biased[-1] if biased else -1
    layers: list[dict[str, Any]] = []
    for k, layer in enumerate(linear):
        W = _array(layer.W)
        if layer.conv is not None:
            layers.append({"kind": "conv", "shape": list(W.shape), **layer.conv, "weights": W.ravel().tolist()})
            continue
        matrix, pattern = W, None
        if k <= last or (k == 0 and biased):
            b = layer.bias
            matrix = np.column_stack([W, np.zeros(len(W)) if b is None else b])
            pattern = np.arange(matrix.size).reshape(matrix.shape)
            if b is None:
                pattern[:, -1] = -1
            if k < last:  # and the unit of the constant: reads the constant, and nothing else
                matrix = np.vstack([matrix, np.eye(matrix.shape[1])[-1:]])
                pattern = np.vstack([pattern, np.full((1, matrix.shape[1]), -1)])
                pattern[-1, -1] = matrix.size
        if pattern is None or not np.any(pattern < 0):
            layers.append({"kind": "dense", "shape": list(matrix.shape), "weights": matrix.ravel().tolist()})
        else:
            used = np.unique(pattern[pattern >= 0])
            numbered = np.where(pattern < 0, -1, np.searchsorted(used, pattern))
            weights = np.zeros(len(used))
            weights[numbered[pattern >= 0]] = matrix[pattern >= 0]
            layers.append({"kind": "shared", "shape": list(matrix.shape), "pattern": numbered.tolist(), "weights": weights.tolist()})
    return LayeredNetwork(layers, leak)


def _pair(model: Any) -> tuple[Floats, Floats] | None:
    """(W, a) with W (m, d) and a (m,); None for anything else."""
    if not isinstance(model, tuple) or len(model) != 2:
        return None
    try:
        W, a = _array(model[0]), _array(model[1])
    except (TypeError, ValueError):  # two layers with their biases
        return None
    return (W, a) if W.ndim == 2 and a.ndim == 1 else None


def _forward(model: Any, rows: Floats, size: Image | None) -> Floats:
    """What a module puts out, as in `eval` mode; its modes are left as they were."""
    parts = list(model.modules())
    modes = [part.training for part in parts]
    model.eval()
    try:
        inputs = next(iter(model.parameters())).detach().new_tensor(rows if size is None else rows.reshape(-1, *size))
        return _array(model(inputs)).reshape(len(rows), -1)
    finally:
        for part, mode in zip(parts, modes):
            part.training = mode


def _try_forward(model: Any, found: Model, size: Image | None) -> None:
    """A module of one's own is known by its weights alone: does it compute what they say? Tried on eight random rows."""
    if not (callable(model) and hasattr(model, "modules") and hasattr(model, "parameters")):
        return
    hint = "give a method __reluflow__() that returns ([(W1, b1), ...], leak), or the state dict"
    first = found.network.W if isinstance(found.network, Network) else np.empty(found.network.layers[0]["shape"])
    rows = np.random.RandomState(0).normal(size=(8, first.shape[1] - (found.constant is not None)))
    try:
        out = _forward(model, rows, size)
    except Exception as error:
        raise ValueError(f"the forward pass of {type(model).__name__} cannot be tried on rows of {rows.shape[1]} numbers ({error}): {hint}") from error
    if out.shape[1] not in (1, 2):
        raise ValueError(f"the forward pass of {type(model).__name__} has {out.shape[1]} outputs: {hint}")
    own = out[:, 1] - out[:, 0] if out.shape[1] == 2 else out[:, 0]
    if not np.max(np.abs(found.network(found.inputs(rows)) - own)) <= FORWARD_TOL * np.max(np.abs(own)):
        raise ValueError(f"the forward pass of {type(model).__name__} is not that of its weights in order with "
                         f"{'ReLU' if found.network.leak == 0 else f'slope {found.network.leak:g}'} in between: {hint}")


def model_from(model: Any, leak: float | None = None, size: Image | None = None) -> Model:
    """A network from the many things that are one: a `Network`, a pair (W, a), a result, a dict with W and a or with layers, a
    PyTorch module or state dict, a perceptron of scikit-learn, a list of arrays, or an object whose method ``__reluflow__()`` returns the pair (list of W
    or (W, b), leak). `leak` is for those that do not say it themselves; `size` the shape of images for convolutions."""
    if isinstance(model, Model):
        return model
    if isinstance(model, (Network, LayeredNetwork)):
        return Model(model)
    stated = 0.0 if leak is None else float(leak)
    if hasattr(model, "__reluflow__"):
        weights, own = model.__reluflow__()
        return _assemble(_from_pairs(weights, False), float(own))
    pair = _pair(model)
    if pair is not None:
        return Model(Network(*pair, stated), single=_is_single(model[0]))
    if isinstance(getattr(model, "network", None), Network):
        return Model(model.network)
    if isinstance(model, Mapping):
        return _model_from_mapping(model, stated)
    if isinstance(model, (list, tuple)):
        return _assemble(_from_pairs(model, False), stated)
    if hasattr(model, "state_dict") and hasattr(model, "__getitem__"):
        linear, own_leak = _from_modules(model, size)
        return _assemble(linear, stated if own_leak is None else own_leak)
    if hasattr(model, "state_dict"):
        found = _assemble(_from_state(model.state_dict()), stated)
        _try_forward(model, found, size)
        return found
    if hasattr(model, "coefs_") and hasattr(model, "intercepts_"):  # scikit-learn's perceptrons
        if model.activation != "relu":
            raise ValueError(f"{type(model).__name__} with activation={model.activation!r}: only 'relu' is known here")
        return _assemble(_from_pairs(list(zip(model.coefs_, model.intercepts_)), True), 0.0)
    raise TypeError(f"cannot take a {type(model).__name__} for a network (two-layer or layered)")


def _model_from_mapping(model: Mapping[str, Any], leak: float) -> Model:
    limit = model.get("limit")
    if model.get("W") is not None and model.get("a") is not None:
        own = model.get("leak")
        return Model(Network(_array(model["W"]), _array(model["a"]), leak if own is None else own))
    if model.get("layers") is None and isinstance(limit, Mapping) and limit.get("layers") is not None:
        model = {**limit, "leak": model.get("leak")}
    if model.get("layers") is not None:
        own = {"linear": 1.0, "relu": 0.0, None: 0.0}.get(model.get("activation"))
        layers = [{name: value for name, value in dict(layer).items() if value is not None} for layer in model["layers"]]
        if model.get("residual"):
            raise ValueError("residual connections: give the name of a file of layers instead")
        return Model(LayeredNetwork(layers, float(model.get("leak") or 0.0) if own is None else own))
    return _assemble(_from_state(model), leak)


def network_from(model: Any, leak: float | None = None) -> Network:
    """A two-layer network without biases, from anything that `model_from` takes."""
    found = model_from(model, leak)
    if not isinstance(found.network, Network) or found.constant is not None or found.factor != 1:
        raise ValueError("not a two-layer network without biases and with one output")
    return found.network


class ModelWords:
    """How a model is handed to the library: a file, arrays, or (layered networks) a temporary JSON file."""

    def __init__(self, model: Any, leak: float | None = None, size: Image | None = None):
        self.path: str | None = None
        self.net: tuple[Floats, Floats, float] | None = None
        self.options: dict[str, float] = {}
        self.single = False
        self._temporary: str | None = None
        if model is None:
            return
        if isinstance(model, (str, os.PathLike)):
            self.path = os.fspath(model)
            return
        if isinstance(model, Mapping) and "layers" in model and model.get("residual"):
            return self._write(dict(model))
        found = model_from(model, leak, size)
        self.options, self.single = found.options, found.single
        if isinstance(found.network, Network):
            self.path, self.net = "(network)", (found.network.W, found.network.a, found.network.leak)
        else:
            self._write(found.network.to_dict())

    def _write(self, model: dict[str, Any]) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
            json.dump(model, file, default=lambda value: _array(value).tolist())
        self.path = self._temporary = file.name

    def merged(self, options: dict[str, Any]) -> dict[str, Any]:
        """Options of the call with those that the network needs."""
        for name in self.options:
            if options.get(name) is not None:
                raise TypeError(f"{name}= is set by the network's biases or outputs")
        return {**options, **self.options}

    def __enter__(self) -> ModelWords:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._temporary:
            os.unlink(self._temporary)
