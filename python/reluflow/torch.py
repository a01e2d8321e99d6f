"""PyTorch networks: where will this one go?

`limit_of` takes an ``nn.Sequential`` of Linear (with biases or without), ReLU or LeakyReLU, of two layers or more, with one
output or two, a state dict, or the arrays of any other framework (`from_arrays`). PyTorch itself is not imported: modules
and tensors are recognised by what they offer, and those on a GPU are copied.
"""
from __future__ import annotations

import time as clock
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._call import Data
from ._progress import Progress
from .functions import certify, flow
from .networks import LayeredNetwork, Model, Network, from_arrays, model_from
from .results import Certificate, Flow

__all__ = ["Limit", "limit_of", "from_arrays"]


@dataclass(frozen=True)
class Limit:
    """What a network becomes when its training goes on for ever, and how far it is from that now.

    start : the network now, without biases and with one output.
    now : certificate of it; its margin and KKT residuals.
    flow : the run from these weights to t = infinity.
    certificate : certificate of the limit; None when the flow has none, and for more than two layers (see flow.limit.kkt).
    network : the limit, |theta| = 1.
    margin_now, margin : normalised margins, now and at t = infinity.
    cosine : of the weights now with the limit's.
    distance : |theta/|theta| - limit|.
    disagreements : samples that it classifies differently now.
    notes : how biases and outputs were taken.

    ``limit(X)`` gives the outputs of the network at t = infinity for data as they are (two outputs: their difference), of the
    size that |theta| = 1 makes.
    """

    start: Network | LayeredNetwork
    now: Certificate
    flow: Flow
    certificate: Certificate | None
    network: Network | LayeredNetwork | None
    margin_now: float
    margin: float | None
    cosine: float
    distance: float
    disagreements: int
    notes: tuple[str, ...] = ()
    model: Model | None = field(default=None, repr=False)

    def __call__(self, X: Any) -> np.ndarray:
        """Outputs at t = infinity, constant column and all."""
        if self.network is None:
            raise ValueError(f"there is no limit: {self.flow.limit.status}, {self.flow.limit.why}")
        return self.network(X if self.model is None else self.model.inputs(X))

    def __str__(self) -> str:
        limit = self.flow.limit
        if self.network is None or self.margin is None or limit.status != "converged":
            lines = [f"{limit.status}: {limit.why}"]
            if self.margin is not None:
                lines.append(f"normalised margin {self.margin_now:.10g} now, normalised margin {self.margin:.10g} where it stopped")
            return "\n".join([*lines, *self._residuals(), *self.notes])
        groups = f", in {len(limit.groups)} groups of neurons" if limit.groups is not None else ""
        lines = [
            f"now:     normalised margin {self.margin_now:.10g}, {100 * self.margin_now / self.margin:.4g}% of the limit's",
            f"t = inf: normalised margin {self.margin:.10g}{groups}",
            f"distance of the directions {self.distance:.3g} (cosine {self.cosine:.10g}); {self.disagreements} samples change class",
        ]
        if self.certificate is not None:
            best = self.certificate.global_
            verdict = f"; global optimum: {best.verdict}" if best is not None else ""
            lines.append(f"the limit is {'a' if self.certificate.kkt.holds else 'not a'} KKT point{verdict}")
        else:
            lines += self._residuals()
        return "\n".join([*lines, *self.notes])

    def _residuals(self) -> list[str]:
        kkt = self.flow.limit.kkt
        if kkt is None or kkt.stationarity is None or kkt.complementarity is None:
            return []
        return [f"KKT residuals there: stationarity {kkt.stationarity:.2g}, complementarity {kkt.complementarity:.2g}"]

    def __repr__(self) -> str:
        limit = self.flow.limit
        return f"<Limit: {limit.status}, margin {self.margin_now:.6g} now, {'none' if self.margin is None else f'{self.margin:.10g}'} at t = infinity>"

    def plot(self, ax: Any = None, *, kind: str | None = None, width: float | None = None) -> Any:
        """The picture of the flow; see `Result.plot`."""
        return self.flow.plot(ax, kind=kind, width=width)


def _theta(network: Network | LayeredNetwork) -> np.ndarray:
    if isinstance(network, Network):
        return np.concatenate([network.W.ravel(), network.a])
    return network.theta


def _limit_network(model: Model, run: Flow) -> Network | LayeredNetwork | None:
    if isinstance(model.network, Network):
        return run.network
    layers = None if run.limit is None else run.limit.layers
    if layers is None:
        return None
    made = [{name: value for name, value in layer.items() if value is not None} for layer in layers]
    return LayeredNetwork(made, model.network.leak)


def limit_of(model: Any, X: Any, y: Any, *, leak: float | None = None, time: float | None = None, progress: Progress = None,
             **options: Any) -> Limit:
    """Continues a half-trained network by gradient flow to t = infinity.

    Parameters
    ----------
    model : an ``nn.Sequential`` of Linear, ReLU or LeakyReLU, a state dict, or anything else that `reluflow.certify` takes.
    X, y : samples and labels; arrays or tensors, wherever they lie. With two outputs the second class is output 1.
    leak : slope of the activation, where the model does not say it (state dicts and arrays).
    time : seconds for all of it; what is known by then is returned, and flow.limit.status says so.
    progress : True shows a bar, False none, a function (phase, fraction, detail) takes it itself.
    options : those of `reluflow.flow`.

    >>> import numpy as np, reluflow
    >>> X, y = reluflow.datasets.load("gen:DS-PL2")
    >>> half = reluflow.train(X, y, width=20, steps=1000, rate=0.1)
    >>> will = limit_of({"0.weight": half.W, "2.weight": half.a[None]}, X, y)
    >>> will.flow.limit.status, will.margin_now < will.margin
    ('converged', True)
    """
    began = clock.monotonic()
    data = Data(X, y)
    if data.samples is None:
        raise TypeError("X and y as arrays or tensors are expected")
    rows, numbers, names = data.samples
    found = model_from(model, leak, data.image)
    if len(names) > 2:
        raise ValueError(f"{len(names)} classes, but a network with one output or two tells two apart")
    signs = 2 * numbers - 1 if len(names) == 2 else np.ones_like(numbers)

    def left(share: float) -> float | None:
        return None if time is None else max(share * (time - (clock.monotonic() - began)), 0.01)

    now = certify(found, rows, signs, local=True, progress=progress, time=left(0.1))
    run = flow(rows, signs, weights=found, progress=progress, time=left(0.8), **options)
    limit = _limit_network(found, run)
    margin_now = float("nan") if now.margin is None else float(now.margin)
    if limit is None:
        return Limit(found.network, now, run, None, None, margin_now, None, np.nan, np.nan, 0, found.notes, found)
    start, end = _theta(found.network), _theta(limit)
    start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
    inputs = found.inputs(rows)
    try:
        changed = int(np.sum(np.sign(found.network(inputs)) != np.sign(limit(inputs))))
    except NotImplementedError:
        changed = -1
    judged = None  # of layers: `certify` takes one slope at a kink, the flow all of them, and limits lie on kinks
    if isinstance(limit, Network):
        judged = certify(Model(limit, found.constant, found.factor), rows, signs, progress=progress, time=10.0 if time is None else left(1.0))
    return Limit(found.network, now, run, judged, limit, margin_now, run.limit.margin, float(start @ end), float(np.linalg.norm(start - end)),
                 changed, found.notes, found)
