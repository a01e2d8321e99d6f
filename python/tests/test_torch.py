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


def recorded(source, name):
    """State dict and outputs that PyTorch wrote (data/make_torch_habits.py)."""
    with np.load(source / "python" / "tests" / "data" / f"torch_{name}.npz") as stored:
        state = {key: stored[key] for key in stored.files if key not in ("torch", "outputs")}
        outputs = stored["outputs"]
    return state, outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs[:, 0]


@pytest.mark.parametrize("name", ["biases", "two_outputs", "three_layers"])
def test_networks_as_people_train_them(source, name):
    """Biases, two outputs, three layers, float32 after 500 steps: the same outputs as PyTorch's, a certificate, and a limit
    that the certificate of the library calls a KKT point."""
    X, y = datasets.orthant(n=30, d=4, seed=2)
    state, outputs = recorded(source, name)
    model = reluflow.networks.model_from(state)
    assert model.single and model.constant is not None
    assert np.allclose(model.network(model.inputs(X)), outputs, rtol=1e-5, atol=1e-5)
    now = reluflow.certify(state, X, y, time=5)
    theta = np.concatenate([np.asarray(value, dtype=float).ravel() for key, value in state.items() if key.endswith("weight") or key == "0.bias"])
    assert not now.kkt.holds and 0 < now.margin < np.min(y * outputs) / np.linalg.norm(theta) ** 2 * 2
    seen = []
    deep = name == "three_layers"
    will = limit_of(state, X, y, time=8 if deep else 60, progress=lambda *event: seen.append(event))
    print(f"\n{name}\n{will}")
    assert will.margin_now < will.margin and (deep or (will.flow.limit.status == "converged" and will.certificate.kkt.holds))
    if deep:  # with biases of later layers the time may strike first; the margin reached by then is an answer too
        plain = limit_of({key: value for key, value in state.items() if key.endswith("weight")}, X, y)
        assert plain.flow.limit.status == "converged" and plain.flow.limit.kkt.stationarity < 1e-8 and plain.notes == ()
    assert will.disagreements == 0 and 0 < will.cosine < 1 and (seen or deep)  # layered flows do not tell how far they are
    assert any("constant column" in note for note in will.notes) and ("two outputs" in " ".join(will.notes)) == (name == "two_outputs")
    # the reference: the same weights, put together by hand, through the plain functions
    if name == "biases":
        size = np.sqrt(abs(state["2.bias"][0]))
        W = np.vstack([np.column_stack([state["0.weight"], state["0.bias"]]), [0, 0, 0, 0, size]]).astype(float)
        by_hand = reluflow.flow(np.column_stack([X, np.ones(30)]), y, weights=(W, np.append(state["2.weight"][0], np.sign(state["2.bias"][0]) * size)))
        assert abs(by_hand.limit.margin - will.margin) < 1e-12 * will.margin


def test_two_outputs_are_one():
    """Cross entropy of two outputs moves a network as the logistic loss moves their difference: one step of each."""
    rng = np.random.RandomState(3)
    X, y = rng.normal(size=(20, 3)), rng.choice([-1, 1], 20)
    W, A = rng.normal(size=(5, 3)), rng.normal(size=(2, 5))

    def gradients(W, A):
        H = X @ W.T
        P = np.maximum(H, 0) @ A.T
        c = 1 / (1 + np.exp(y * (P[:, 1] - P[:, 0])))  # weight of every sample
        G = np.stack([-c * y, c * y], axis=1)
        return ((G @ A) * (H > 0)).T @ X, G.T @ np.maximum(H, 0)

    model = reluflow.networks.model_from([W, A])
    one, Z = model.network, model.inputs(X)
    dW, dA = gradients(W, A)
    H = Z @ one.W.T
    c = y / (1 + np.exp(y * one(Z)))
    assert np.allclose(dW, ((c[:, None] * one.a) * (H > 0)).T @ Z) and np.allclose((dA[1] - dA[0]) / np.sqrt(2), c @ np.maximum(H, 0))
    assert np.allclose(dA[0] + dA[1], 0)  # the sum of the outputs never moves


def test_arrays_of_other_frameworks():
    X, y = datasets.orthant(n=30, d=4, seed=2)
    rng = np.random.RandomState(0)
    W, b, a = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=(1, 6))
    keras = reluflow.torch.from_arrays([(W.T, b), (a.T, None)], transposed=True)
    plain = reluflow.torch.from_arrays([(W, b), a])
    assert np.allclose(keras.network(keras.inputs(X)), np.maximum(X @ W.T + b, 0) @ a[0])
    assert np.array_equal(keras.network.W, plain.network.W)

    class Custom:
        def __reluflow__(self):
            return [(W, b), a], 0.1

    assert reluflow.networks.model_from(Custom()).network.leak == 0.1
    assert reluflow.certify(Custom(), X, y, local=True).margin == reluflow.certify(reluflow.torch.from_arrays([(W, b), a], leak=0.1), X, y, local=True).margin
    deep = reluflow.torch.from_arrays([(W, b), (rng.normal(size=(3, 6)), rng.normal(size=3)), (rng.normal(size=(1, 3)), rng.normal(size=1))])
    assert [layer["kind"] for layer in deep.network.layers] == ["shared", "shared", "dense"]


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
    with pytest.raises(ValueError, match="Tanh"):
        reluflow.certify(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)), X, y)
    images = nn.Sequential(nn.Conv2d(1, 2, 2, bias=False), nn.ReLU(), nn.Flatten(), nn.Linear(2, 1, bias=False)).double()
    small = torch.randn(12, 1, 2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    signs = torch.sign(images(small)[:, 0]).detach()
    found = reluflow.certify(images, small, signs, local=True)
    norm = sum(float((p**2).sum()) for p in images.parameters())
    assert abs(found.margin * norm - float((signs * images(small)[:, 0]).min())) < 1e-12
    with pytest.raises(ValueError, match="BatchNorm1d"):
        reluflow.certify(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1)), X, y)


def test_outputs_at_the_limit():
    """At the data as they are, whatever the biases and outputs were made into."""
    X, y = datasets.orthant(n=30, d=4, seed=2)
    rng = np.random.RandomState(0)
    W, b, A = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=(2, 6))
    will = limit_of([(W, b), (A, rng.normal(size=2))], X, y)
    assert will.flow.limit.status == "converged" and np.array_equal(np.sign(will(X)), y)
    assert np.min(y * will(X)) == pytest.approx(will.margin)
    with pytest.raises(ValueError, match="takes 5 columns"):
        will.network(X)


def test_perceptrons_of_scikit_learn():
    MLPClassifier = pytest.importorskip("sklearn.neural_network").MLPClassifier
    X, y = datasets.orthant(n=30, d=4, seed=2)
    for sizes in ((8,), (6, 5)):
        mlp = MLPClassifier(sizes, max_iter=2, random_state=0)
        with pytest.warns(UserWarning):
            mlp.fit(X, y)
        found = reluflow.networks.model_from(mlp)
        chances = 1 / (1 + np.exp(-found.network(found.inputs(X))))
        assert np.allclose(chances, mlp.predict_proba(X)[:, 1])
    mlp.activation = "tanh"
    with pytest.raises(ValueError, match="only 'relu'"):
        reluflow.certify(mlp, X, y)


class Module:
    """What a module of one's own offers in PyTorch: weights by name, and a forward pass that only it knows."""

    def __init__(self, activation, outputs=1):
        rng = np.random.RandomState(5)
        self.weights = {"fc1.weight": rng.normal(size=(6, 4)), "fc1.bias": rng.normal(size=6), "fc2.weight": rng.normal(size=(outputs, 6))}
        self.activation, self.training = activation, True

    def state_dict(self):
        return self.weights

    def modules(self):
        return [self]

    def parameters(self):
        class Parameter(np.ndarray):
            def detach(self):
                return self

            def new_tensor(self, values):
                return np.asarray(values)

        return [value.view(Parameter) for value in self.weights.values()]

    def eval(self):
        self.training = False

    def __call__(self, x):
        assert not self.training
        return self.activation(x @ self.weights["fc1.weight"].T + self.weights["fc1.bias"]) @ self.weights["fc2.weight"].T


def test_own_modules_are_tried():
    """A module that is not an nn.Sequential is known by its weights: it has to compute what they say."""
    X, y = datasets.orthant(n=30, d=4, seed=2)
    relu = Module(lambda z: np.maximum(z, 0))
    assert reluflow.certify(relu, X, y, local=True).margin == reluflow.certify(relu.state_dict(), X, y, local=True).margin and relu.training
    leaky = Module(lambda z: np.maximum(z, 0.2 * z), outputs=2)
    assert reluflow.networks.model_from(leaky, leak=0.2).network.leak == 0.2
    with pytest.raises(ValueError, match="with ReLU in between.*__reluflow__"):
        limit_of(leaky, X, y)
    tanh = Module(np.tanh)
    with pytest.raises(ValueError, match="the forward pass of Module is not that of its weights"):
        limit_of(tanh, X, y)
    assert tanh.training
    with pytest.raises(ValueError, match="cannot be tried on rows of 4 numbers"):
        limit_of(Module(lambda z: z.reshape(3, -1)), X, y)


class Tensor:
    """What a tensor of PyTorch on a GPU offers: no array can be had of it before `detach` and `cpu`."""

    def __init__(self, values, dtype="torch.float32", device="cuda:0", grad=True, layout="torch.strided"):
        self.values, self.dtype, self.device, self.grad, self.layout = np.asarray(values), dtype, device, grad, layout

    shape = property(lambda self: self.values.shape)

    def __len__(self):
        return len(self.values)

    def _with(self, **changed):
        given = dict(dtype=self.dtype, device=self.device, grad=self.grad, layout=self.layout)
        return Tensor(self.values, **{**given, **changed})

    def detach(self):
        return self._with(grad=False)

    def cpu(self):
        return self._with(device="cpu")

    def double(self):
        return self._with(dtype="torch.float64")

    def to_dense(self):
        return self._with(layout="torch.strided")

    def numpy(self):
        if self.device != "cpu" or self.grad or self.layout != "torch.strided" or "bfloat16" in self.dtype:
            raise TypeError(f"can't convert {self.device} {self.dtype} tensor to numpy")
        return self.values

    def __array__(self, *_, **__):
        return self.numpy()

    def __iter__(self):
        return (Tensor(row, self.dtype, self.device, self.grad, self.layout) for row in self.values)


@pytest.mark.parametrize("options", [{}, {"dtype": "torch.bfloat16"}, {"layout": "torch.sparse_coo"}, {"device": "cpu"}])
def test_tensors_on_a_gpu_are_copied(options):
    X, y = datasets.load("gen:DS-PL2")
    half = reluflow.train(X, y, width=6, steps=300, rate=0.1)
    plain = limit_of({"0.weight": half.W, "2.weight": half.a[None]}, X, y)
    on_gpu = {"0.weight": Tensor(half.W, **options), "2.weight": Tensor(half.a[None], **options)}
    samples, labels = Tensor(X, **options), Tensor(y, dtype="torch.int64", grad=False)
    assert abs(limit_of(on_gpu, samples, labels).margin - plain.margin) < 1e-12
    pair = Tensor(half.W, **options), Tensor(half.a, **options)
    assert reluflow.certify(pair, samples, labels).margin == reluflow.certify((half.W, half.a), X, y).margin
    network = reluflow.Network(*pair)
    assert np.array_equal(network(samples), reluflow.Network(half.W, half.a)(X)) and network.margin(samples, labels) > 0
    rows = list(samples)  # as a loop over a loader collects them
    assert reluflow.maxmargin(rows, [Tensor(value, grad=False) for value in y]).global_.margin == reluflow.maxmargin(X, y).global_.margin
    assert reluflow.train(samples, labels, width=4, steps=5, test=(samples, labels)).steps == 5
    assert len(reluflow.sweep("flow", samples, labels, seed=range(2), width=3)["id"]) == 2


def test_estimators_take_tensors_on_a_gpu():
    pytest.importorskip("sklearn")
    X, y = datasets.load("gen:DS-PL2")
    for estimator in (reluflow.HardMarginSVC(), reluflow.MaxMarginReLU()):
        assert estimator.fit(Tensor(X), Tensor(y, grad=False)).predict(Tensor(X)).tolist() == y.tolist()
