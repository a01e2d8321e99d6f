"""Data as people bring them: what can be meant is taken, and what cannot is refused with a line that says what is wrong."""
import numpy as np
import pytest

import reluflow

X = np.array([[2.0, 1.0], [1.0, 2.0], [3.0, 3.0], [-3.0, 1.0], [-1.0, -2.0]])
y = np.array([1, 1, 1, -1, -1])
BEST = 0.5068509654


def margin(X, y, **options):
    return reluflow.maxmargin(X, y, **options).global_.margin


@pytest.mark.parametrize("make", [
    lambda: (X.tolist(), y.tolist()), lambda: (X.astype(np.float32), y), lambda: (X.astype(int), y > 0), lambda: (X.astype(object), y.astype(object)),
    lambda: (X.astype(str), y), lambda: (X[::-1][::-1], y[:, None]), lambda: (X, ["cat"] * 3 + ["dog"] * 2), lambda: (X, np.array([b"a"] * 3 + [b"b"] * 2)),
    lambda: (np.ma.masked_array(X), y), lambda: (list(map(tuple, X)), y.astype(float)),
])
def test_taken(make):
    assert abs(margin(*make()) - BEST) < 1e-9


def test_names_of_classes():
    labels = np.array([b"cat", b"dog", b"eel", b"cat", b"eel"])
    assert [part.positive_class for part in reluflow.flow(X, labels, width=4).per_class] == ["cat", "dog", "eel"]


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["u", "v"])
    for labels in (pandas.Series(y), pandas.DataFrame({"label": y}), pandas.Series(["a", "a", "a", "b", "b"], dtype="category")):
        assert abs(margin(frame, labels) - BEST) < 1e-9
    with pytest.raises(ValueError, match="column 'name' of X does not hold numbers: 'p'"):
        margin(frame.assign(name=list("pqrst")), y)
    with pytest.raises(ValueError, match="the label of row 2 is missing"):
        margin(frame, pandas.Series([1, 1, pandas.NA, -1, -1], dtype="Int64"))
    with pytest.raises(ValueError, match="row 2, column 0 of X is not finite"):
        margin(frame.where(frame < 3), y)


class Sparse:
    def tocsr(self):
        return self


@pytest.mark.parametrize("samples, labels, message", [
    (X[:, 0], y, r"1 dimension; .*reshape\(-1, 1\)"), (np.zeros((2, 1, 1, 1, 1)), y[:2], "5 dimensions"), (X.T, y, r"X has 2 rows, y has shape \(5,\); .* X\.T"),
    (X, y[:3], r"X has 5 rows, y has shape \(3,\)$"), (X, 1, r"y has shape \(\)"), (X, np.eye(2)[[0, 0, 0, 1, 1]], r"one-hot rows y\.argmax"),
    ([[1, 2], [3]], [1, -1], "row 0 has 2, row 1 has 1"), ([], [], "X is empty"), (np.empty((0, 2)), [], "X is empty"), (np.empty((3, 0)), [1, 1, -1], "X is empty"),
    ([["1", "x"], ["2", "3"]], [1, -1], "row 0, column 1 of X is not a number: 'x'"), (X, [1, 1, np.nan, -1, -1], r"label of row 2 is missing \(nan\)"),
    (X, [1, None, 1, -1, -1], r"label of row 1 is missing \(None\)"), (np.where(X == 3, np.nan, X), y, "row 2, column 0 of X is not finite"),
    (np.where(X == 3, np.inf, X), y, "not finite"), (X + 1j, y, "complex numbers"), (X.astype("datetime64[D]"), y, "dates or times"),
    (np.ma.masked_array(X, X == 3), y, "masked"), (X, {1, -1}, "y is a set"), ({"a": [1]}, y, "X is a dict"), (iter(X), y, "X is a"),
    (None, y, "X is None"), (None, None, "no data"), ((X, y), None, "two arguments, not a pair"), (X, None, "labels y are missing"), (Sparse(), y, r"X is sparse; give X\.toarray"),
    (X, np.array(["a", 1, 1, "a", 2], dtype=object), r"mixes labels of different types \(int, str\)"),
])
def test_refused(samples, labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        reluflow.flow(samples, labels, width=2)


@pytest.mark.parametrize("call, message", [
    (lambda: reluflow.flow(X, y, random_state=1), "'random_state'; did you mean 'seed'"), (lambda: reluflow.flow(X, y, widht=1), "did you mean 'width'"),
    (lambda: reluflow.train(X, y, learning_rate=1), "did you mean 'rate'"), (lambda: reluflow.flow(X, y, width=True), "width: expected a value, not True"),
    (lambda: reluflow.certify(X, y, (np.ones((3, 2)), np.ones(3))), "the network comes before the data"), (lambda: reluflow.certify(None, X, y), "no network"),
    (lambda: reluflow.train(X, y, steps=2, test=(X, y, X)), r"a pair \(X, y\)"), (lambda: reluflow.flow(X, y, width=2.5), "expected an integer"),
    (lambda: reluflow.explian, "did you mean 'explain'"),
])
def test_wrong_calls(call, message):
    with pytest.raises((ValueError, TypeError, AttributeError), match=message):
        call()


def test_pairs_and_sweeps():
    half = reluflow.train(X, y, width=4, steps=20, test=[X, y])
    assert half.test_error == half.train_error
    assert len(reluflow.sweep("flow", X, y, seed=range(2), width=4)["id"]) == 2
    assert len(reluflow.sweep("flow", (X, y), seed=range(2), width=4)["id"]) == 2
