"""Classifiers with scikit-learn's conventions.

All three solve exactly what they say, and say so when it cannot be solved: on data that no such classifier separates,
`fit` warns, keeps the best soft solution, and sets ``separable_ = False`` with the certificate ``farkas_``.
"""
from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ._arrays import from_tensor
from .functions import flow, maxmargin
from .networks import Network


class NotSeparableWarning(ConvergenceWarning):
    """No classifier of this kind separates the data; the soft solution is kept."""


class _OneVersusRest(ClassifierMixin, BaseEstimator):
    """Two classes: one problem, the second class is positive. More: one problem per class against the rest."""

    def _problems(self, X: Any, y: Any) -> tuple[np.ndarray, list[np.ndarray]]:
        X, y = validate_data(self, from_tensor(X), from_tensor(y), dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs samples of at least 2 classes, but the data has one class: {self.classes_[0]!r}")
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return X, [np.where(numbers == k, 1.0, -1.0) for k in positive]

    def _warn(self, what: str, parts: list[Any]) -> None:
        self.separable_ = all(part["farkas"] is None for part in parts)
        certificates = [part["farkas"] for part in parts]
        self.farkas_ = certificates[0] if len(parts) == 1 else certificates
        if not self.separable_:
            warnings.warn(f"{what}; the best soft solution is kept, and farkas_ is the certificate", NotSeparableWarning, stacklevel=3)

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[np.argmax(scores, axis=1)]

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of every row: positive for the second of two classes, or one column per class."""
        check_is_fitted(self)
        scores = self._scores(validate_data(self, from_tensor(X), dtype=np.float64, order="C", reset=False))
        return scores[:, 0] if len(self.classes_) == 2 else scores


MOST_ENTRIES = 4_000_000  # of the n x (n + d) matrix of the exact soft margin: 32 MB


def _soft_margin(X: np.ndarray, s: np.ndarray, C: float, fit_intercept: bool) -> tuple[np.ndarray, float, np.ndarray, int]:
    """min |w|^2/2 + (C/2) sum_i max(0, 1 - s_i (w.x_i + b))^2. Returns w, b, the multipliers and the steps.

    With one more coordinate s_i / sqrt(C) for every sample this is a hard margin, which the library solves exactly."""
    n, d = X.shape
    if n * (n + d) > MOST_ENTRIES:
        return _soft_margin_newton(X, s, C, fit_intercept)
    line = maxmargin(np.hstack([X, np.diag(s / np.sqrt(C))]), s, linear=True, intercept=fit_intercept, progress=False).linear
    w = np.asarray(line.w / line.margin)
    return w[:d], float(line.b / line.margin) if fit_intercept else 0.0, np.asarray(line.multipliers), max(int(line.iterations), 1)


def _soft_margin_newton(X: np.ndarray, s: np.ndarray, C: float, fit_intercept: bool) -> tuple[np.ndarray, float, np.ndarray, int]:
    """The same for many samples: Newton's method on a piecewise quadratic ends after finitely many steps, when the set of
    violated rows repeats. Every step is a least-squares problem, solved as one."""
    n, d = X.shape
    Q = None
    if d > n:  # the solution lies in the span of the rows
        Q, R = np.linalg.qr(X.T)
        X, d = R.T.copy(), R.shape[0]
    Z = np.hstack([X, np.ones((n, 1))]) if fit_intercept else X
    keep = np.eye(Z.shape[1])[:d]  # the intercept is not regularised
    v = np.zeros(Z.shape[1])

    def value(v: np.ndarray) -> float:
        return float(0.5 * np.sum((keep @ v) ** 2) + 0.5 * C * np.sum(np.maximum(0, 1 - s * (Z @ v)) ** 2))

    active, now, steps = np.ones(n, bool), value(v), 0
    for steps in range(1, 201):
        rows = np.vstack([keep, np.sqrt(C) * Z[active]])
        target = np.linalg.lstsq(rows, np.concatenate([np.zeros(d), np.sqrt(C) * s[active]]), rcond=None)[0]
        size = 1.0
        while value(v + size * (target - v)) > now + 1e-15 * abs(now) and size > 1e-10:
            size /= 2
        v = v + size * (target - v)
        now = value(v)
        again = 1 - s * (Z @ v) > 0
        if size == 1.0 and np.array_equal(again, active):
            break
        active = again
    multipliers = C * np.maximum(0, 1 - s * (Z @ v))
    w = v[:d] if Q is None else Q @ v[:d]
    return w, float(v[d]) if fit_intercept else 0.0, multipliers, steps


class HardMarginSVC(_OneVersusRest):
    """The max-margin linear classifier, exact to rounding: no C to raise, no tolerance to lower.

    Minimises |w|^2/2 subject to y_i (w.x_i + b) >= 1 by a dual active-set method.

    Parameters
    ----------
    fit_intercept : an intercept b that the norm does not count, as in scikit-learn's SVC.
    C : weight of the squared hinge loss in the soft solution of data that are not separable (as in LinearSVC).

    Attributes
    ----------
    coef_, intercept_ : w and b, (1, d) and (1,) for two classes, one row per class for more.
    support_, support_vectors_, dual_coef_ : rows with a positive multiplier in any problem; y_i times the multiplier.
    margin_ : the geometric margin 1/|w| of each problem (0 where not separable).
    separable_, farkas_ : whether all problems are separable; the certificate(s) of the contrary.
    n_iter_ : changes of the active set.

    >>> import numpy as np
    >>> svc = HardMarginSVC().fit([[0., 0.], [1., 1.], [2., 0.]], [0, 1, 1])
    >>> svc.coef_, svc.intercept_
    (array([[1., 1.]]), array([-1.]))
    """

    coef_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, fit_intercept: bool = True, C: float = 1.0):
        self.fit_intercept = fit_intercept
        self.C = C

    def fit(self, X: Any, y: Any) -> HardMarginSVC:
        """Solves the problem(s)."""
        if not isinstance(self.C, Real) or not self.C > 0:
            raise ValueError(f"C = {self.C!r}: expected a positive number")
        X, problems = self._problems(X, y)
        parts = [self._solve(X, s) for s in problems]
        self._warn("the classes are not linearly separable", parts)
        self.coef_ = np.array([part["w"] for part in parts])
        self.intercept_ = np.array([part["b"] for part in parts]) if self.fit_intercept else np.zeros(1 if len(parts) == 1 else len(parts))
        self.margin_ = np.array([part["margin"] for part in parts])
        multipliers = np.array([part["multipliers"] * s for part, s in zip(parts, problems)])
        self.support_ = np.flatnonzero(np.any(multipliers != 0, axis=0)).astype(np.int32)
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = multipliers[:, self.support_]
        self.n_iter_ = int(max(part["steps"] for part in parts))
        return self

    def _solve(self, X: np.ndarray, s: np.ndarray) -> dict[str, Any]:
        line = maxmargin(X, s, linear=True, intercept=self.fit_intercept, progress=False).linear
        if line.separable:
            w = line.w / line.margin
            b = line.b / line.margin if self.fit_intercept else 0.0
            return dict(w=w, b=b, multipliers=line.multipliers, margin=line.margin, farkas=None, steps=max(line.iterations, 1))
        w, b, multipliers, steps = _soft_margin(X, s, float(self.C), self.fit_intercept)
        farkas = line.farkas if line.farkas is not None else np.full(len(s), np.nan)
        return dict(w=w, b=b, multipliers=multipliers, margin=0.0, farkas=farkas, steps=steps)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return X @ self.coef_.T + self.intercept_


class _TwoLayer(_OneVersusRest):
    """What the two network classifiers share. Networks have no bias; an intercept is a constant column."""

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.hstack([X, np.ones((len(X), 1))])) if self.fit_intercept else X

    def _scores(self, X: np.ndarray) -> np.ndarray:
        Z = self._inputs(X)
        return np.column_stack([network(Z) for network in self.networks_])

    def _check(self) -> None:
        if not isinstance(self.leak, Real) or not 0 <= float(self.leak) <= 1:
            raise ValueError(f"leak = {self.leak!r}: expected a number from 0 to 1")


def _fewest_errors(Z: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Rows kept so that a network without bias can fit them, as many as possible: f is positively homogeneous, so on
    each ray from the origin only one label can be right, and a zero row none."""
    norm = np.linalg.norm(Z, axis=1)
    keep = norm > 0
    rays = np.round(Z[keep] / norm[keep, None], 12) + 0.0
    _, ray = np.unique(rays, axis=0, return_inverse=True)
    votes = np.bincount(ray.ravel(), weights=s[keep])
    rows = np.flatnonzero(keep)
    return rows[s[keep] == np.where(votes[ray.ravel()] >= 0, 1.0, -1.0)]


def _sampled_network(Z: np.ndarray, s: np.ndarray, leak: float) -> Network | None:
    """A network that fits, by a linear program over neurons that graze the samples: min sum_j c_j over c >= 0 with
    margins >= 1, then twice again around the neurons it chose. Always the same for the same data; None when the program
    is too large or none of these neurons fit."""
    from scipy.optimize import linprog

    (n, d), rng = Z.shape, np.random.RandomState(0)
    count = min(max(200, 2 * n), 2_000_000 // n)
    if count < 50:
        return None
    rows = np.array([rng.choice(n, d, replace=n < d) for _ in range(count)])
    heights = rng.normal(size=(count, d)) * np.exp(rng.uniform(-12, 0, size=(count, d)))
    V = np.array([np.linalg.lstsq(Z[r], h, rcond=None)[0] for r, h in zip(rows, heights)])
    found: tuple[np.ndarray, np.ndarray] | None = None
    for spread in (0.3, 0.03, 0.0):
        V = V[np.linalg.norm(V, axis=1) > 0]
        V = V / np.linalg.norm(V, axis=1, keepdims=True)
        H = Z @ V.T
        A = s[:, None] * np.maximum(H, leak * H)
        answer = linprog(np.ones(2 * len(V)), A_ub=-np.hstack([A, -A]), b_ub=-np.ones(n), method="highs")
        if answer.x is None:
            break
        c = answer.x[: len(V)] - answer.x[len(V) :]
        chosen = np.abs(c) > 1e-12 * np.abs(c).max()
        V, c = V[chosen], c[chosen]
        found = V, c
        V = np.vstack([V, *(V + spread * rng.normal(size=V.shape) / np.sqrt(d) for _ in range(10 if spread else 0))])
    if found is None:
        return None
    V, c = found
    network = Network(V * np.sqrt(np.abs(c))[:, None], np.sign(c) * np.sqrt(np.abs(c)), leak)
    least = float(np.min(s * network(Z)))
    return network.scaled(1 / np.sqrt(least)) if least > 0 else None


class MaxMarginReLU(_TwoLayer):
    """The two-layer (leaky) ReLU network with the largest normalised margin over all widths and weights, with a proof.

    Parameters
    ----------
    leak : slope for non-positive inputs.
    fit_intercept : append a constant column 1 to the data (its weights are counted in the norm).
    tol : relative gap that counts as proved; None is the library's, 1e-8.
    time : seconds for the proof of each problem. Without a proof by then, the network of a linear program over sampled
        neurons is kept (two fits agree whatever the clock did), and gap_ says how far from the best it may be.

    Attributes
    ----------
    networks_ : the network of each problem, at smallest margin 1.
    coefs_ : W and a of the (first) network.
    objective_, lower_, gap_ : |theta|^2/2, its proved lower bound, the relative gap, one entry per problem.
    margin_ : the normalised margin min y f(x) / |theta|^2.
    support_, dual_coef_ : rows with a positive multiplier in any problem; y_i times the multiplier.
    separable_, farkas_ : False when no network fits (equal inputs with different labels); then the fewest rows are left
        out that make it possible, and farkas_ holds the weights that prove the conflict.
    n_iter_ : patterns looked at.
    """

    def __init__(self, leak: float = 0.0, fit_intercept: bool = True, tol: float | None = None, time: float = 10.0):
        self.leak = leak
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.time = time

    def fit(self, X: Any, y: Any) -> MaxMarginReLU:
        """Solves the problem(s)."""
        self._check()
        X, problems = self._problems(X, y)
        Z = self._inputs(X)
        parts = [self._solve(Z, s) for s in problems]
        self._warn("no network of this kind fits the data", parts)
        self.networks_ = [part["network"] for part in parts]
        self.coefs_ = [self.networks_[0].W, self.networks_[0].a]
        for name in ("objective", "lower", "gap", "margin"):
            setattr(self, name + "_", np.array([part[name] for part in parts]))
        multipliers = np.array([part["multipliers"] * s for part, s in zip(parts, problems)])
        self.support_ = np.flatnonzero(np.any(multipliers != 0, axis=0)).astype(np.int32)
        self.dual_coef_ = multipliers[:, self.support_]
        self.n_iter_ = int(max(part["steps"] for part in parts))
        return self

    def _solve(self, Z: np.ndarray, s: np.ndarray) -> dict[str, Any]:
        options: dict[str, Any] = dict(leak=float(self.leak), tol=self.tol, time=self.time, progress=False)
        rows, farkas = np.arange(len(s)), None
        result = maxmargin(Z, s, **options)
        if result.global_.status == "infeasible":
            farkas = result.global_.farkas
            if farkas is None:
                farkas = np.full(len(s), np.nan)
            rows = _fewest_errors(Z, s) if self.leak < 1 else np.array([], int)
            if len(rows):
                result = maxmargin(Z[rows], s[rows], **options)
        best = result.global_
        network, multipliers = result.network, np.zeros(len(s))
        if best.lambda_ is not None and best.status != "infeasible":
            multipliers[rows] = best.lambda_
        objective = best.objective
        if best.status not in ("optimal", "infeasible") and len(rows):
            sampled = _sampled_network(Z[rows], s[rows], float(self.leak))
            network = network if sampled is None else sampled
            objective = None if network is None else network.norm2 / 2
        if network is None or not len(rows):  # nothing is left to fit, or nothing was found: a line
            w = _soft_margin(Z, s, 1.0, False)[0]
            network, objective = Network(np.array([w, -w]), np.array([1.0, -1.0]) / (1 + self.leak), self.leak), np.inf
        lower = best.lower or 0.0
        return dict(network=network, multipliers=multipliers, farkas=farkas, steps=max(int(best.patterns_seen or 1), 1),
                    objective=objective, lower=lower, gap=1 - lower / objective, margin=0.5 / objective)


class GradientFlowClassifier(_TwoLayer):
    """What gradient flow on a two-layer (leaky) ReLU network converges to, in direction, at t = infinity.

    Parameters
    ----------
    width, leak, loss, init, scale : the network and its start, as in `reluflow.flow`; scale may be "limit".
    fit_intercept : append a constant column 1 to the data.
    max_iter : steps of the integrator for each problem; then the state reached is kept, and status_ says so.
    time : seconds for each problem, None is no limit (two fits may differ when it strikes).
    random_state : seed of the start.

    Attributes
    ----------
    networks_ : the limit of each problem, |theta| = 1.
    coefs_ : W and a of the (first) limit.
    margin_ : its normalised margin.  status_ : converged, undecided, not-separated, branched or interrupted.
    direction_error_ : difference of two runs at different settings.
    support_, dual_coef_ : rows with a positive multiplier in any problem; y_i times the multiplier.
    separable_, farkas_ : False when some flow does not separate its data; the linear certificate, NaN where a line would.
    n_iter_ : steps of the integrator.
    """

    def __init__(self, width: int = 50, leak: float = 0.0, loss: str = "logistic", init: str = "balanced",
                 scale: float | str = 1e-6, fit_intercept: bool = True, max_iter: int = 10000, time: float | None = None,
                 random_state: Any = 0):
        self.width = width
        self.leak = leak
        self.loss = loss
        self.init = init
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.time = time
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GradientFlowClassifier:
        """Follows the flow(s) to the end."""
        self._check()
        if not isinstance(self.width, Integral) or self.width < 1:
            raise ValueError(f"width = {self.width!r}: expected a positive integer")
        X, problems = self._problems(X, y)
        Z = self._inputs(X)
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        parts = [self._solve(Z, s, int(seed) + k) for k, s in enumerate(problems)]
        self._warn("gradient flow does not separate the classes", parts)
        self.networks_ = [part["network"] for part in parts]
        self.coefs_ = [self.networks_[0].W, self.networks_[0].a]
        self.status_ = [part["status"] for part in parts]
        self.margin_ = np.array([part["margin"] for part in parts])
        self.direction_error_ = np.array([part["direction_error"] for part in parts])
        multipliers = np.array([part["multipliers"] * s for part, s in zip(parts, problems)])
        self.support_ = np.flatnonzero(np.any(multipliers != 0, axis=0)).astype(np.int32)
        self.dual_coef_ = multipliers[:, self.support_]
        self.n_iter_ = int(max(part["steps"] for part in parts))
        return self

    def _solve(self, Z: np.ndarray, s: np.ndarray, seed: int) -> dict[str, Any]:
        run = flow(Z, s, width=int(self.width), leak=float(self.leak), loss=self.loss, init=self.init, scale=self.scale,
                   branches="follow", trace=0, max_steps=int(self.max_iter), verdict=0, time=self.time, seed=seed, progress=False)
        limit = run.limit
        separated = limit.margin is not None and limit.margin > 0
        farkas = None
        if not separated:
            farkas = maxmargin(Z, s, linear=True, progress=False).linear.farkas
            farkas = np.full(len(s), np.nan) if farkas is None else farkas
        weights = limit.kkt.lambda_ if separated and limit.kkt is not None else None
        return dict(network=run.network, status=limit.status, margin=limit.margin if separated else 0.0, farkas=farkas,
                    direction_error=np.nan if limit.direction_error is None else limit.direction_error,
                    multipliers=np.zeros(len(s)) if weights is None else np.nan_to_num(weights),
                    steps=max(int(run.monitors.steps or 1), 1))
