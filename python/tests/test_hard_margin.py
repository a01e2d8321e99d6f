"""HardMarginSVC against 50 digits, beside SVC and LinearSVC.

The last three datasets are kept because a peer does reach 1e-10 on them: the table shows where it does, too. LinearSVC regularises
its intercept, so with an intercept it solves another problem; that is most of its error here."""
import warnings

import mpmath
import numpy as np
import pytest
from sklearn import datasets as sk
from sklearn.svm import SVC, LinearSVC

import reluflow
from reluflow import HardMarginSVC


def two_classes(bunch, first, second, divide=1.0):
    keep = np.isin(bunch.target, (first, second))
    return bunch.data[keep] / divide, np.where(bunch.target[keep] == second, 1, -1)


def random_separable(n, d, gap, seed, scale=1.0):
    """Random rows on both sides of a slab of this half width."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d)) * scale ** rng.uniform(-1, 1, d)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w + 0.3 >= 0, 1, -1)
    return X + gap * y[:, None] * w, y


CASES = {
    "issue-18606": lambda: (np.array([[1.5, 2.5], [2.5, 1.5], [2.5, 2.5]]), np.array([1, 1, -1])),
    "two points": lambda: (np.array([[1.0, 2, 3], [-1, 0.5, 1e-3]]), np.array([1, -1])),
    "iris 0-1": lambda: two_classes(sk.load_iris(), 0, 1),
    "iris 0-2": lambda: two_classes(sk.load_iris(), 0, 2),
    "wine 0-1": lambda: two_classes(sk.load_wine(), 0, 1),
    "wine 0-2": lambda: two_classes(sk.load_wine(), 0, 2),
    "digits 0-1": lambda: two_classes(sk.load_digits(), 0, 1, 16.0),
    "random 4": lambda: random_separable(300, 20, 0.01, 13),
    "orthant": lambda: tuple(reluflow.datasets.orthant(n=100, d=10)),
    "separated": lambda: tuple(reluflow.datasets.separated(n=40, d=6)),
    "cancer": lambda: (lambda X, y: (X[:40] / X.max(axis=0), 2 * y[:40] - 1))(*sk.load_breast_cancer(return_X_y=True)),
    "symmetric": lambda: tuple(reluflow.datasets.load("gen:DS-SYM6")),
    "far from zero": lambda: (lambda X, y: (X + 1000, y))(*random_separable(50, 3, 0.2, 5)),
    "thin": lambda: random_separable(200, 4, 1e-4, 6),
    "scales": lambda: random_separable(80, 6, 0.1, 7, scale=1e3),
    "wide": lambda: random_separable(30, 200, 0.5, 8),
    "plane": lambda: random_separable(100, 2, 0.01, 9),
    "random 1": lambda: random_separable(150, 8, 0.05, 10),
    "random 2": lambda: random_separable(400, 15, 0.02, 11),
    "random 3": lambda: random_separable(1000, 5, 0.005, 12),
    "DS-PL2": lambda: tuple(reluflow.datasets.load("gen:DS-PL2")),
    "digits 3-8": lambda: two_classes(sk.load_digits(), 3, 8, 16.0),
    "digits 4-7": lambda: two_classes(sk.load_digits(), 4, 7),
}


def reference(X, y, support):
    """w and b to 50 digits: the KKT system of a support, and the proof that it is the optimum (multipliers >= 0, every
    margin >= 1), all in 50-digit arithmetic. Where the support came from does not matter."""
    with mpmath.workdps(50):
        Z = [[mpmath.mpf(float(v)) for v in row] for row in X]
        k = len(support)
        gram = mpmath.matrix(k + 1, k + 1)
        right = mpmath.matrix(k + 1, 1)
        for i, p in enumerate(support):
            right[i] = int(y[p])
            gram[i, k] = gram[k, i] = 1
            for j, q in enumerate(support):
                gram[i, j] = mpmath.fdot(Z[p], Z[q])
        solution = mpmath.lu_solve(gram, right)  # sum_j (beta_j x_j).x_i + b = y_i, sum beta = 0, beta_j = y_j alpha_j
        alpha = [solution[j] * int(y[p]) for j, p in enumerate(support)]
        b = solution[k]
        w = [mpmath.fsum(solution[j] * Z[p][c] for j, p in enumerate(support)) for c in range(X.shape[1])]
        assert min(alpha) >= -mpmath.mpf(10) ** -30
        margins = [int(y[i]) * (mpmath.fdot(w, Z[i]) + b) for i in range(len(y))]
        assert min(margins) >= 1 - mpmath.mpf(10) ** -30
        return np.array([float(v) for v in w]), float(b)


def error(coef, intercept, w, b, X):
    """Relative error of the separator (w, b); the intercept counts in the units of w.x."""
    size = np.linalg.norm(w)
    radius = np.max(np.abs(X @ w + b))
    return max(np.linalg.norm(np.ravel(coef) - w) / size, abs(float(np.ravel(intercept)[0]) - b) / max(radius, 1))


@pytest.fixture(scope="module")
def table():
    rows = {}
    for name, make in CASES.items():
        X, y = make()
        ours = HardMarginSVC().fit(X, y)
        assert ours.separable_, name
        w, b = reference(X, y, ours.support_)
        rows[name] = [error(ours.coef_, ours.intercept_, w, b, X)]
        for peer in (SVC(kernel="linear", C=1e10, tol=1e-10, max_iter=10**6), LinearSVC(C=1e10, tol=1e-12, max_iter=10**4)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                peer.fit(X, y)
            rows[name].append(error(peer.coef_, peer.intercept_, w, b, X))
    print("\ndataset            HardMarginSVC      SVC  LinearSVC")
    for name, (ours, svc, linear) in rows.items():
        print(f"{name:18s} {ours:13.1e} {svc:8.1e} {linear:10.1e}")
    return rows


def test_twenty_datasets_to_ten_digits(table):
    assert len(table) >= 20
    assert {name for name, row in table.items() if not row[0] <= 1e-10} == set()


def test_the_others_mostly_do_not(table):
    assert sum(row[1] > 1e-10 for row in table.values()) >= 15
    assert sum(row[2] > 1e-10 for row in table.values()) >= 15


def test_issue_18606():
    """The three points of scikit-learn's issue 18606, on which SVC and LinearSVC with their defaults miss one."""
    X, y = np.array([[1.5, 2.5], [2.5, 1.5], [2.5, 2.5]]), np.array([True, True, False])
    svc = HardMarginSVC().fit(X, y)
    assert np.allclose(svc.coef_, [[-2, -2]], rtol=0, atol=1e-14) and np.allclose(svc.intercept_, [9], rtol=0, atol=1e-14)
    assert svc.score(X, y) == 1 and np.allclose(svc.margin_, 1 / np.sqrt(8))
    assert np.allclose(svc.dual_coef_ @ svc.support_vectors_, svc.coef_, atol=1e-14)
    assert LinearSVC(dual=False).fit(X, y).score(X, y) < 1 and SVC(kernel="linear").fit(X, y).score(X, y) < 1


def test_intercept_is_not_regularised():
    X, y = random_separable(40, 3, 0.3, 1)
    here, there = HardMarginSVC().fit(X, y), HardMarginSVC().fit(X + 50, y)
    assert np.allclose(here.coef_, there.coef_, rtol=1e-10)
    origin = HardMarginSVC(fit_intercept=False).fit(X + [3, 0, 0] * y[:, None], y)
    assert origin.intercept_ == 0 and origin.score(X + [3, 0, 0] * y[:, None], y) == 1


def test_not_separable():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    with pytest.warns(reluflow.estimators.NotSeparableWarning):
        svc = HardMarginSVC().fit(X, y)
    f, s = svc.farkas_, 2 * y - 1
    assert not svc.separable_ and svc.margin_ == 0
    assert np.all(f >= 0) and abs(f.sum() - 1) < 1e-12 and np.abs((f * s) @ X).max() < 1e-12 and abs(f @ s) < 1e-12
    # the soft solution is the minimum of |w|^2/2 + C/2 sum hinge^2: the gradient vanishes
    for C in (0.1, 1.0, 100.0):
        with pytest.warns(UserWarning):
            svc = HardMarginSVC(C=C).fit(X, y)
        hinge = np.maximum(0, 1 - s * svc.decision_function(X))
        assert np.allclose(svc.coef_[0], C * (hinge * s) @ X, atol=1e-10) and abs((hinge * s).sum()) < 1e-10


def test_one_versus_rest():
    iris = sk.load_iris()
    with pytest.warns(UserWarning, match="not linearly separable"):
        svc = HardMarginSVC().fit(iris.data, iris.target)
    assert svc.coef_.shape == (3, 4) and not svc.separable_
    assert svc.farkas_[0] is None and svc.farkas_[1] is not None  # only the first class can be split off
    assert svc.score(iris.data, iris.target) > 0.9
