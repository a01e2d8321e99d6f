"""Digits 3 against 8 with 16 neurons a layer, float32, 500 steps of PyTorch, with biases: two layers, two outputs, three layers.
What `certify` and `limit_of` say is computed once more here, from the weights they return. The networks are those that PyTorch
wrote (data/make_torch_digits.py); with PyTorch installed they are trained again and given as modules."""
import itertools
import sys
import time

import numpy as np
import pytest

import reluflow
from reluflow import datasets
from reluflow.networks import Network, model_from
from reluflow.torch import limit_of

NAMES = ["biases", "two_outputs", "three_layers"]


def digits():
    return datasets.load("digits8x8.csv", classes="3,8", divide=16)


def recorded(source, name):
    """State dict and the one output of a recorded network."""
    with np.load(source / "python" / "tests" / "data" / f"torch_digits_{name}.npz") as stored:
        state = {key: stored[key] for key in stored.files if key not in ("torch", "outputs")}
        outputs = stored["outputs"]
    return state, outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs[:, 0]


def matrices(network):
    """Layers as matrices, with the places of their weights in theta (-1: none)."""
    if isinstance(network, Network):
        size = network.W.size
        return [(network.W, np.arange(size).reshape(network.W.shape)), (network.a[None], size + np.arange(len(network.a))[None])]
    made, first = [], 0
    for layer in network.layers:
        weights = np.asarray(layer["weights"], dtype=float).ravel()
        places = np.asarray(layer["pattern"]) if layer["kind"] == "shared" else np.arange(weights.size).reshape(layer["shape"])
        made.append((np.where(places < 0, 0.0, weights[np.maximum(places, 0)]), np.where(places < 0, -1, first + places)))
        first += weights.size
    return made


def gradient(layers, x, slopes, size):
    """The output at one sample and its derivative, with these slopes of the hidden units."""
    inputs, out = [x], np.zeros(size)
    for (W, _), s in zip(layers, slopes):
        inputs.append(s * (W @ inputs[-1]))
    delta = np.ones(1)
    for k in range(len(layers) - 1, -1, -1):
        W, places = layers[k]
        np.add.at(out, places[places >= 0], np.outer(delta, inputs[k])[places >= 0])
        delta = W.T @ delta
        if k:
            delta = slopes[k - 1] * delta
    return (layers[-1][0] @ inputs[-1])[0], out


def judged(network, Z, signs):
    """Normalised margin, and KKT residual: min over lambda >= 0 of |theta - sum lambda_i y_i df_i| with |theta| = 1, over the samples
    whose margins are the smallest, every slope in [0, 1] where a unit is on its kink."""
    nnls = pytest.importorskip("scipy.optimize").nnls
    layers = matrices(network)
    degree = len(layers)
    theta = np.zeros(1 + max(places.max() for _, places in layers))
    for W, places in layers:
        theta[places[places >= 0]] = W[places >= 0]
    norm = np.linalg.norm(theta)
    hidden, activation = [], Z
    for W, _ in layers[:-1]:
        hidden.append(activation @ W.T)
        activation = np.maximum(hidden[-1], 0)
    q = signs * (activation @ layers[-1][0].T)[:, 0]
    columns = []
    for i in np.flatnonzero(q <= q.min() * (1 + 1e-8)):
        sides = [np.where(z[i] > 0, 1.0, 0.0) for z in hidden]
        kinks = [(l, u) for l, z in enumerate(hidden) for u in range(z.shape[1]) if abs(z[i, u]) <= 1e-9 * np.abs(z).max()]
        for choice in itertools.product((0.0, 1.0), repeat=min(len(kinks), 12)):
            for (l, u), slope in zip(kinks, choice):
                sides[l][u] = slope
            columns.append(signs[i] * gradient(layers, Z[i], sides, len(theta))[1])
    _, residual = nnls(np.array(columns).T, theta, maxiter=30 * len(columns) + 1000)
    return q.min() / norm**degree, residual / norm


def check(model, X, y, outputs, seconds):
    """certify and limit_of of a model, against this file."""
    X64, signs = np.asarray(X, dtype=float), np.where(np.asarray(y) > 0, 1, -1)
    found = model_from(model)
    Z = found.inputs(X64)
    assert np.allclose(found.network(Z), outputs, rtol=1e-4, atol=1e-4)
    now = reluflow.certify(model, X, y, local=True, time=10)
    margin, _ = judged(found.network, Z, signs)
    assert now.margin == pytest.approx(margin, rel=1e-9) and not now.kkt.holds
    began = time.monotonic()
    will = limit_of(model, X, y, time=seconds)
    took = time.monotonic() - began
    print(f"\n{took:.1f} s\n{will}")
    assert took <= seconds + 10
    limit = will.flow.limit
    margin, residual = judged(will.network, Z, signs)
    print(f"here: margin {margin:.12g}, KKT residual {residual:.3g}")
    assert will.margin == pytest.approx(margin, rel=1e-9) and will.margin > will.margin_now
    if limit.status == "converged":
        assert residual < 1e-8 and limit.kkt.stationarity < 1e-8
    else:
        assert limit.status == "interrupted" and limit.why
        assert residual > 1e-8 or "second run" in limit.why
        assert f"normalised margin {will.margin:.10g} where it stopped" in str(will)
    return will


@pytest.mark.parametrize("name", NAMES)
def test_recorded_networks(source, name):
    X, y = digits()
    state, outputs = recorded(source, name)
    check(state, X, y, outputs, 6)


@pytest.mark.parametrize("name", NAMES)
def test_networks_of_pytorch(source, name, monkeypatch):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.syspath_prepend(str(source / "python" / "tests" / "data"))
    sys.modules.pop("make_torch_digits", None)
    import make_torch_digits

    model, X, y, outputs = make_torch_digits.trained(name)
    kept = {key: value.clone() for key, value in model.state_dict().items()}
    f = outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs[:, 0]
    check(model, X, y, f.numpy(), 60)
    assert all(torch.equal(kept[key], value) for key, value in model.state_dict().items())
    assert all(p.requires_grad for p in model.parameters())

    class Own(torch.nn.Module):  # by its hook
        def __init__(self):
            super().__init__()
            self.inside = model

        def __reluflow__(self):
            linear = [layer for layer in self.inside if isinstance(layer, torch.nn.Linear)]
            return [(layer.weight, layer.bias) for layer in linear], 0.0

    one, other = reluflow.certify(Own(), X, y, local=True), reluflow.certify(model, X, y, local=True)
    assert one.margin == other.margin
