"""Hard margins against scikit-learn's LinearSVC (liblinear) and SVC (libsvm), same data, one run, one thread.

Error is |margin/ours - 1| where ours is exact to 1e-15 (tests/margin/test_digits.c); the margin of a peer is
min y w.x / |w| of the w it returns, so an unconverged answer shows as a smaller margin."""
import os, subprocess, tempfile, time, warnings
import numpy as np
from sklearn.svm import SVC, LinearSVC

warnings.filterwarnings("ignore")
program = os.path.join(os.environ["RF_BUILD"], "bench_margin")


def ours(X, y):
    with tempfile.NamedTemporaryFile(suffix=".raw") as f:
        np.array(X.shape, np.int64).tofile(f.name)
        with open(f.name, "ab") as g:
            X.tofile(g)
            y.tofile(g)
        seconds, margin = subprocess.run([program, f.name], capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(margin)


def margin_of(w, X, y):
    return float((y * (X @ w)).min() / np.linalg.norm(w))


def linear_svc(X, y, tol):
    return LinearSVC(C=1e10, loss="hinge", dual=True, fit_intercept=False, tol=tol, max_iter=200000).fit(X, y).coef_[0]


def linear_svc_squared(X, y, tol):
    return LinearSVC(C=1e10, fit_intercept=False, dual=True, tol=tol, max_iter=200000).fit(X, y).coef_[0]


def svc_through_origin(X, y, tol):
    # libsvm always fits an intercept; mirrored data force it to zero
    Z = np.vstack([X, -X])
    return SVC(kernel="linear", C=1e10, tol=tol, max_iter=2000000).fit(Z, np.concatenate([y, -y])).coef_[0]


peers = [("LinearSVC hinge 1e-12", linear_svc, 1e-12), ("LinearSVC squared 1e-12", linear_svc_squared, 1e-12),
         ("LinearSVC default 1e-4", linear_svc, 1e-4), ("SVC 1e-3 (mirrored)", svc_through_origin, 1e-3),
         ("SVC 1e-10 (mirrored)", svc_through_origin, 1e-10)]

print(f"{'data':<22}{'method':<26}{'seconds':>10}{'x ours':>9}{'error':>10}")
for n, d, gap in [(200, 5, 0.0), (1000, 20, 0.1), (2000, 100, 0.1), (20000, 50, 0.2), (200, 2000, 0.0)]:
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w > 0, 1.0, -1.0)
    X = np.ascontiguousarray(X + gap * y[:, None] * w)
    seconds, margin = ours(X, y)
    label = f"{n} x {d}, gap {gap}"
    print(f"{label:<22}{'reluflow':<26}{seconds:>10.5f}{1.0:>9.1f}{'exact':>10}", flush=True)
    for name, solve, tol in peers:
        start = time.perf_counter()
        v = solve(X, y, tol)
        t = time.perf_counter() - start
        print(f"{label:<22}{name:<26}{t:>10.5f}{t / seconds:>9.1f}{abs(margin_of(v, X, y) / margin - 1):>10.1e}", flush=True)
