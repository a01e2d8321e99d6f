"""PyTorch networks: where will this one go?

PyTorch itself is not imported: modules and tensors are recognised by what they offer, and state dicts of NumPy arrays
do as well.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._call import samples_of
from .functions import certify, flow
from .networks import Network, network_from
from .results import Certificate, Flow


@dataclass(frozen=True)
class Limit:
    """What a network becomes when its training goes on for ever, and how far it is from that now.

    now : certificate of the network as it is; its margin and KKT residuals.
    flow : the run from these weights to t = infinity.
    certificate : certificate of the limit, None when the flow has none.
    network : the limit, |theta| = 1.
    margin_now, margin : normalised margins, now and at t = infinity.
    cosine : of the weights now with the limit's.
    distance : |theta/|theta| - limit|.
    disagreements : samples that it classifies differently now.
    """

    start: Network
    now: Certificate
    flow: Flow
    certificate: Certificate | None
    network: Network | None
    margin_now: float
    margin: float | None
    cosine: float
    distance: float
    disagreements: int

    def __str__(self) -> str:
        if self.network is None or self.margin is None or self.flow.limit.status != "converged":
            return f"{self.flow.limit.status}: {self.flow.limit.why}"
        lines = [
            f"now:     normalised margin {self.margin_now:.10g}, {100 * self.margin_now / self.margin:.4g}% of the limit's",
            f"t = inf: normalised margin {self.margin:.10g}, in {len(self.flow.limit.groups)} groups of neurons",
            f"distance of the directions {self.distance:.3g} (cosine {self.cosine:.10g}); {self.disagreements} samples change class",
        ]
        if self.certificate is not None:
            best = self.certificate.global_
            lines.append(f"the limit is {'a' if self.certificate.kkt.holds else 'not a'} KKT point; global optimum: {best.verdict}")
        return "\n".join(lines)


def limit_of(model: Any, X: Any, y: Any, *, leak: float | None = None, **options: Any) -> Limit:
    """Continues a half-trained network by gradient flow to t = infinity. `model` is an ``nn.Sequential(Linear, ReLU,
    Linear)``, a state dict, or anything else that `reluflow.certify` takes; the options are those of `reluflow.flow`.

    >>> import numpy as np, reluflow
    >>> X, y = reluflow.datasets.load("gen:DS-PL2")
    >>> half = reluflow.train(X, y, width=20, steps=1000, rate=0.1)
    >>> will = limit_of({"0.weight": half.W, "2.weight": half.a[None]}, X, y)
    >>> will.flow.limit.status, will.margin_now < will.margin
    ('converged', True)
    """
    network = network_from(model, leak)
    rows, numbers, names = samples_of(X, y)
    if len(names) > 2:
        raise ValueError(f"{len(names)} classes, but a network with one output tells two apart")
    signs = 2 * numbers - 1
    now = certify(network, rows, signs, local=True, progress=options.get("progress"))
    run = flow(rows, signs, weights=network, **options)
    limit = run.network
    if limit is None:
        return Limit(network, now, run, None, None, now.margin, None, np.nan, np.nan, 0)
    unit = network.scaled(1 / np.sqrt(network.norm2))
    cosine = float(np.sum(unit.W * limit.W) + unit.a @ limit.a)
    distance = float(np.sqrt(np.sum((unit.W - limit.W) ** 2) + np.sum((unit.a - limit.a) ** 2)))
    changed = int(np.sum(np.sign(network(rows)) != np.sign(limit(rows))))
    judged = certify(limit, rows, signs, progress=options.get("progress"), time=options.get("time", 10.0))
    return Limit(network, now, run, judged, limit, now.margin, run.limit.margin, cosine, distance, changed)
