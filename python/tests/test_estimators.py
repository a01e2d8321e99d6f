"""The estimators keep scikit-learn's conventions, and are what they say."""
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import reluflow
from reluflow import GradientFlowClassifier, HardMarginSVC, MaxMarginReLU

# Short limits: the checks fit random labels again and again.
ESTIMATORS = [HardMarginSVC(), MaxMarginReLU(time=0.1), GradientFlowClassifier(max_iter=200)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_check_estimator(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail="raise")
    assert sum(result["status"] == "passed" for result in results) > 40
    assert not [result for result in results if result["status"] == "xfail"]


def test_max_margin_relu_is_the_optimum():
    X, y = reluflow.datasets.gaussian(n=14, d=3, seed=3)
    best = MaxMarginReLU(fit_intercept=False).fit(X, y)
    direct = reluflow.maxmargin(X, y).global_
    assert best.gap_[0] <= 1e-8 and best.objective_[0] == direct.objective and best.separable_ and best.farkas_ is None
    network = best.networks_[0]
    assert abs(np.min(y * network(X)) - 1) < 1e-9 and abs(network.norm2 / 2 - best.objective_[0]) < 1e-9 * best.objective_[0]
    assert abs(network.margin(X, y) - best.margin_[0]) < 1e-12
    assert abs(np.abs(best.dual_coef_).sum() - best.objective_[0]) < 1e-7 * best.objective_[0]
    assert best.score(X, y) == 1
    assert reluflow.certify(network, X, y).global_.verdict == "optimum"


def test_max_margin_relu_says_when_it_is_not_proved():
    X, y = reluflow.datasets.gaussian(n=70, d=5, seed=1)
    quick = MaxMarginReLU(time=0.1).fit(X, y)
    assert quick.separable_ and quick.gap_[0] > 1e-8 and quick.lower_[0] <= quick.objective_[0] and quick.score(X, y) == 1
    again = MaxMarginReLU(time=0.1).fit(X, y)
    assert np.array_equal(quick.decision_function(X), again.decision_function(X))


def test_conflicting_labels():
    """Equal inputs with different labels: the fewest errors, and the weights that prove the conflict."""
    X, y = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [-1, 2]]), np.array([1, 1, -1, -1, 1])
    with pytest.warns(reluflow.estimators.NotSeparableWarning):
        best = MaxMarginReLU().fit(X, y)
    assert not best.separable_ and np.isclose(best.farkas_.sum(), 1) and best.score(X, y) == 0.8
    assert np.allclose(best.farkas_[3:], 0)
    with pytest.warns(reluflow.estimators.NotSeparableWarning):
        run = GradientFlowClassifier(width=10).fit(X, y)
    assert not run.separable_ and run.status_ == ["not-separated"] and run.score(X, y) == 0.8


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_soft_margin_is_exact(fit_intercept):
    """Stationary to rounding, also on columns of very different sizes; and the method for many samples agrees."""
    from reluflow.estimators import _soft_margin, _soft_margin_newton

    rng = np.random.RandomState(4)
    for scale in (np.ones(3), np.array([1e-4, 1.0, 1e4])):
        X, s = rng.normal(size=(60, 3)) * scale, rng.choice([-1.0, 1.0], 60)
        w, b, multipliers, _ = _soft_margin(X, s, 2.0, fit_intercept)
        slack = np.maximum(0, 1 - s * (X @ w + b))
        assert np.allclose(multipliers, 2 * slack, atol=1e-9 * np.abs(multipliers).max())
        assert np.linalg.norm((w - (2 * slack * s) @ X) / scale) < 1e-9 * max(np.linalg.norm(np.abs(2 * slack * s) @ np.abs(X) / scale), 1e-300)
        assert not fit_intercept or abs(np.sum(slack * s)) < 1e-9 * np.sum(slack)
        other = _soft_margin_newton(X, s, 2.0, fit_intercept)
        assert np.allclose(X @ w + b, X @ other[0] + other[1], atol=1e-6)


def test_pickles_predict_without_the_data():
    import pickle

    X, y = reluflow.datasets.orthant(n=30, d=4)
    for estimator in (HardMarginSVC(), MaxMarginReLU(time=1), GradientFlowClassifier(width=6, random_state=3)):
        fitted = estimator.fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        assert np.array_equal(again.predict(X[:7] + 0.01), fitted.predict(X[:7] + 0.01)) and len(pickle.dumps(fitted)) < 20_000


def test_gradient_flow_is_the_limit():
    X, y = reluflow.datasets.orthant(n=40, d=5)
    run = GradientFlowClassifier(width=10, fit_intercept=False).fit(X, y)
    direct = reluflow.flow(X, y, width=10)
    assert np.array_equal(run.coefs_[0], direct.limit.W) and run.status_ == ["converged"] and run.separable_
    assert run.margin_[0] == direct.limit.margin and run.score(X, y) == 1
    best = MaxMarginReLU(fit_intercept=False).fit(X, y)
    assert abs(run.margin_[0] / best.margin_[0] - 1) < 1e-8  # orthogonally separable: the flow finds the best margin
    other = GradientFlowClassifier(width=10, fit_intercept=False, random_state=5).fit(X, y)
    assert not np.array_equal(run.coefs_[0], other.coefs_[0]) and abs(run.margin_[0] - other.margin_[0]) < 1e-9


def test_several_classes():
    data = reluflow.datasets.multiclass_orthant()
    for estimator in (HardMarginSVC(), MaxMarginReLU(time=5), GradientFlowClassifier(width=8)):
        names = np.array(data.classes)[data.class_of]
        fitted = estimator.fit(data.X, names)
        assert list(fitted.classes_) == sorted(set(names)) and fitted.score(data.X, names) == 1
        assert fitted.decision_function(data.X).shape == (len(data.X), len(data.classes))


def test_in_a_pipeline():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    for estimator in (HardMarginSVC(), MaxMarginReLU(time=2), GradientFlowClassifier(width=8)):
        model = make_pipeline(StandardScaler(), clone(estimator))
        assert cross_val_score(model, X, y, cv=3).min() > 0.9
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abcd"))
    assert list(HardMarginSVC().fit(frame, y).feature_names_in_) == list("abcd")


@pytest.mark.parametrize("bad", [HardMarginSVC(C=0), MaxMarginReLU(leak=2), GradientFlowClassifier(width=0), GradientFlowClassifier(loss="x")])
def test_bad_parameters(bad):
    with pytest.raises(ValueError):
        bad.fit([[0.0, 1], [1, 0]], [0, 1])
