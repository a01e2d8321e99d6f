"""The PyTorch bridge: with PyTorch where it is installed, and with stored or NumPy-trained weights everywhere."""
import numpy as np
import pytest

import reluflow
from reluflow import datasets
from reluflow.torch import limit_of


def descend(W, a, X, y, steps, rate):
    """Full-batch gradient descent on the mean logistic loss, as a PyTorch script does it."""
    W, a, n = W.copy(), a.copy(), len(y)
    for _ in range(steps):
        H = X @ W.T
        R = np.maximum(H, 0)
        c = y / (1 + np.exp(y * (R @ a))) / n
        W, a = W + rate * (c[:, None] * (H > 0) * a).T @ X, a + rate * c @ R
    return W, a


def test_short_and_long_training_have_the_same_limit():
    """Trained for 1,000 and for 100,000 steps on orthogonally separable data: one limit, and how far each was."""
    X, y = datasets.orthant(n=30, d=4, seed=2)
    rng = np.random.RandomState(0)
    W0, a0 = 0.01 * rng.normal(size=(16, 4)), np.zeros(16)
    a0 = np.linalg.norm(W0, axis=1) * rng.choice([-1, 1], 16)
    short = descend(W0, a0, X, y, 1_000, 0.05)
    long = descend(*short, X, y, 99_000, 0.05)
    limits = [limit_of({"0.weight": W, "2.weight": a[None]}, X, y) for W, a in (short, long)]
    for name, limit in zip(("1,000", "100,000"), limits):
        print(f"\n{name} steps\n{limit}")
        assert limit.flow.limit.status == "converged" and limit.certificate.kkt.holds
    first, second = limits
    assert abs(first.margin - second.margin) < 1e-10 * first.margin
    # the same function: groups may share their size differently among neurons
    assert np.allclose(first.network(X), second.network(X), rtol=1e-6)
    assert first.distance > second.distance and first.margin_now < second.margin_now < second.margin
    assert "KKT point" in str(first) and "% of the limit's" in str(first)


def test_a_pytorch_network_after_1000_and_100000_steps(source):
    """Weights that PyTorch trained (data/make_torch_weights.py): both continue to the same limit."""
    X, y = datasets.orthant(n=30, d=4, seed=2)
    limits = []
    for steps in (1000, 100000):
        with np.load(source / "python" / "tests" / "data" / f"torch_{steps}.npz") as stored:
            limits.append(limit_of({name: stored[name] for name in ("0.weight", "2.weight")}, X, y))
        print(f"\nPyTorch, {steps} steps\n{limits[-1]}")
    first, second = limits
    assert first.flow.limit.status == second.flow.limit.status == "converged"
    assert first.certificate.global_.verdict == second.certificate.global_.verdict == "optimum"
    assert abs(first.margin - second.margin) < 1e-10 * first.margin and np.allclose(first.network(X), second.network(X), rtol=1e-6)
    assert first.margin_now < second.margin_now < second.margin and first.distance > second.distance > 1e-3


def test_stored_weights(source):
    path = source / "tests" / "net" / "data" / "trained.safetensors"
    stored = np.load(source / "tests" / "net" / "data" / "trained.npz")
    X = np.random.RandomState(1).normal(size=(12, stored["W"].shape[1]))
    leak = float(stored["leak"]) if "leak" in stored else 0.0
    network = reluflow.Network(stored["W"], stored["a"], leak)
    y = np.sign(network(X))
    assert len(set(y)) == 2
    by_file = reluflow.certify(str(path), X, y, leak=leak)
    by_arrays = reluflow.certify(network, X, y)
    assert abs(by_file.margin - by_arrays.margin) < 1e-6 * abs(by_arrays.margin)


def test_refusals():
    X, y = datasets.xor()
    with pytest.raises(ValueError, match="two weights"):
        limit_of({"0.weight": np.eye(2)}, X, y)
    with pytest.raises(TypeError, match="two-layer"):
        limit_of(3, X, y)
    with pytest.raises(ValueError, match="3 outputs"):
        limit_of({"0.weight": np.eye(2), "2.weight": np.ones((3, 2))}, X, y)
    with pytest.raises(ValueError, match="3 classes"):
        limit_of((np.eye(2), np.ones(2)), np.eye(3, 2), [0, 1, 2])


def test_modules():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    nn = torch.nn
    torch.manual_seed(0)
    X, y = datasets.load("gen:DS-PL2")
    model = nn.Sequential(nn.Linear(2, 10, bias=False), nn.ReLU(), nn.Linear(10, 1, bias=False)).double()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, labels = torch.tensor(X), torch.tensor(y, dtype=torch.float64)
    for _ in range(1000):
        optimiser.zero_grad()
        torch.nn.functional.softplus(-labels * model(inputs)[:, 0]).mean().backward()
        optimiser.step()
    what = reluflow.certify(model, X, y)
    assert abs(what.margin - reluflow.certify(model.state_dict(), inputs, labels).margin) < 1e-15
    will = limit_of(model, inputs, labels)
    assert will.flow.limit.status == "converged" and will.margin_now < will.margin
    leaky = nn.Sequential(nn.Linear(2, 3, bias=False), nn.LeakyReLU(0.2), nn.Linear(3, 1, bias=False))
    assert reluflow.networks.network_from(leaky).leak == 0.2
    with pytest.raises(ValueError, match="Sequential"):
        reluflow.certify(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)), X, y)
