"""The commands as functions. What is not explained here is in ``reluflow COMMAND --help`` and docs/fields.md.

All take data as arrays ``X, y``, as a `Dataset`, as the name of a file, or as "gen:NAME,key=value,...", and the common
options: label, labels, classes, shuffle, limit, divide, center, standardize, unit, bias, memory (data); seed, threads, tol, time,
detail, report, svg, data_dir, progress.
"""
from __future__ import annotations

from typing import Any

from ._arrays import samples_of
from ._call import Data, call
from .networks import SINGLE_TOL, ModelWords
from .results import Certificate, Explanation, Flow, Inspection, Ledger, MaxMargin, Training


def inspect(X: Any, y: Any = None, *, leak: float = 0.0, loss: str = "logistic", **options: Any) -> Inspection:
    """What the data decide before training: separators, cones, extremal directions, which theorems apply.

    >>> facts = inspect([[1, 2], [2, 1], [-1, 0]], [1, 1, -1])
    >>> facts.linear.separable, facts.orthogonal.separable
    (True, True)
    """
    data = Data(X, y)
    return call(Inspection, "inspect", [data.path], dict(leak=leak, loss=loss, **options), data)


def maxmargin(X: Any, y: Any = None, *, linear: bool = False, intercept: bool = False, leak: float = 0.0,
              width: int | None = None, signs: str = "both", **options: Any) -> MaxMargin:
    """The linear, the per-class and the global max margin, with certificates.

    >>> best = maxmargin("gen:xor")
    >>> best.linear.separable, round(best.global_.margin, 12), best.global_.width_needed
    (False, 0.176776695297, 4)
    """
    data = Data(X, y)
    own = dict(linear=linear, intercept=intercept, leak=leak, width=width, signs=signs)
    return call(MaxMargin, "maxmargin", [data.path], {**own, **options}, data)


def flow(X: Any, y: Any = None, *, width: int = 50, leak: float | None = None, loss: str = "logistic", norm: str = "sum",
         init: str = "balanced", scale: float | str | None = None, log_scale: float | None = None, weights: Any = None,
         freeze: str = "none", branches: str = "stop", until: str = "infinity", trace: int = 100, max_steps: int = 200000,
         verdict: float = 2.0, **options: Any) -> Flow:
    """Gradient flow from an initialisation to t = infinity. `scale` is a number or "limit"; `weights` a network (a file,
    a `Network`, a pair (W, a), a PyTorch module or state dict) to start from.

    >>> run = flow("gen:DS-PL2", width=10)
    >>> run.limit.status, round(run.limit.margin, 10), run.verdict.global_
    ('converged', 0.5068509654, 'optimum')
    """
    data = Data(X, y)
    own = dict(width=width, loss=loss, norm=norm, init=init, scale=scale, log_scale=log_scale, freeze=freeze,
               branches=branches, until=until, trace=trace, max_steps=max_steps, verdict=verdict)
    with ModelWords(weights, leak, data.image) as model:
        own.update(weights=model.path, leak=None if model.net else leak)
        if model.path is not None and model.net is None:  # layers: what is for two-layer networks must not be given
            own = {name: value for name, value in own.items() if name not in ("width", "init", "freeze", "branches")}
        return call(Flow, "flow", [data.path], model.merged({**own, **options}), data, net=model.net)


def train(X: Any, y: Any = None, *, optimizer: str = "gd", rate: float = 0.01, steps: int | None = None,
          epochs: int | None = None, batch: int = 0, loss: str = "logistic", norm: str = "mean", width: int = 50,
          leak: float | None = None, init: str = "he", scale: float = 1.0, model: Any = None, freeze: str = "none",
          test: Any = None, **options: Any) -> Training:
    """Gradient descent, SGD or Adam. `test` is a pair (X, y), or the name of a file; `model` a network to start from.

    >>> net = train("gen:DS-PL2", width=20, steps=500, rate=0.1)
    >>> net.steps, net.train_error
    (500, 0)
    """
    data = Data(X, y)
    samples = None
    if isinstance(test, (tuple, list)):
        if len(test) != 2:
            raise TypeError(f"test: expected a pair (X, y) or the name of a file, not {len(test)} things")
        samples, test = _test_samples(data, *test), "memory:test"
    own = dict(optimizer=optimizer, rate=rate, steps=steps, epochs=epochs, batch=batch, loss=loss, norm=norm, width=width,
               init=init, scale=scale, freeze=freeze, test=test)
    with ModelWords(model, leak, data.image) as start:
        own.update(model=start.path, leak=None if start.net else leak)
        return call(Training, "train", [data.path], start.merged({**own, **options}), data, test=samples, net=start.net)


def _test_samples(data: Data, X: Any, y: Any) -> Any:
    X, numbers, names = samples_of(X, y)
    if data.samples is None or names == data.samples[2]:
        return X, numbers, names
    known = data.samples[2]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"class {unknown[0]} of the test data is not among the training data")
    return X, numbers.dtype.type([known.index(name) for name in names])[numbers], known


def certify(model: Any, X: Any, y: Any = None, *, leak: float | None = None, map: str | None = None, local: bool = False,
            **options: Any) -> Certificate:
    """Is this network a KKT point, a local optimum, the global optimum? `model` is a file, a `Network`, a pair (W, a), a
    PyTorch ``nn.Sequential(Linear, ReLU, Linear)`` or a state dict, or a dict with `layers`.

    >>> best = maxmargin("gen:xor").network
    >>> what = certify(best, "gen:xor")
    >>> what.kkt.holds, what.global_.verdict
    (True, 'optimum')
    """
    if model is None:
        raise TypeError("no network: expected a file, a Network, a pair (W, a), a PyTorch module or a state dict")
    if hasattr(model, "shape") and not hasattr(model, "state_dict"):
        raise TypeError("an array is no network; the network comes before the data: certify(model, X, y)")
    data = Data(X, y)
    with ModelWords(model, leak, data.image) as words:
        own: dict[str, Any] = dict(leak=None if words.net else leak, map=map, local=local)
        if words.single and options.get("tol") is None:
            own["tol"] = SINGLE_TOL
        return call(Certificate, "certify", [data.path, words.path or ""], words.merged({**own, **options}), data, net=words.net)


def verify(*ids: str, kind: str | None = None, quick: bool = False, heavy: bool = False, seeds: int = 1, list: bool = False,
           **options: Any) -> Ledger:
    """Runs claims of the papers: predicted against observed, and whether the printed form holds.

    >>> ledger = verify("VSS-0*", list=True)
    >>> ledger.claims[0].id
    'VSS-01'
    """
    own = dict(kind=kind, quick=quick, heavy=heavy, seeds=seeds, list=list)
    return call(Ledger, "verify", [*ids], {**own, **options})


def explain(X: Any, y: Any = None, *, width: int = 50, leak: float | None = None, loss: str = "logistic",
            init: str = "balanced", scale: float | str | None = None, log_scale: float | None = None, weights: Any = None,
            branches: str = "stop", trace: int = 100, best_time: float | None = None, **options: Any) -> Explanation:
    """The main job: what will gradient flow learn here, and is it the best margin? ``report="page.html"`` writes the page;
    `weights` is a two-layer network to start from, as `flow` takes it.

    >>> print(explain("gen:DS-PL2").sentences[8])
    So gradient flow finds the best margin there is.
    """
    data = Data(X, y)
    own = dict(width=width, loss=loss, init=init, scale=scale, log_scale=log_scale, branches=branches, trace=trace,
               best_time=best_time)
    with ModelWords(weights, leak, data.image) as model:
        own.update(weights=model.path, leak=None if model.net else leak)
        return call(Explanation, "explain", [data.path], model.merged({**own, **options}), data, net=model.net)
