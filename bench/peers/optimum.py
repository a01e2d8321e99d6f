"""The enumerated convex program (all arrangement patterns, both signs, cone constraints) with CVXPY and two solvers, Clarabel and
cvxopt, against `reluflow maxmargin` on the same data. Enumeration stops being possible where the number of patterns explodes.

scnn is not in the table: it trains the regularised problem, loss + beta sum |u|, over a sampled set of patterns. Its objective is another
one (max margin is the limit beta -> 0), it gives no bound, and its value depends on the patterns that were drawn."""
import itertools, json, os, subprocess, tempfile, time
import numpy as np, cvxpy as cp

program = os.environ["RELUFLOW"]


def regions(n, d):
    from math import comb
    return 2 * sum(comb(n - 1, k) for k in range(min(n, d)))


def patterns(X, rng):
    n, d = X.shape
    seen = set()
    for _ in range(200):
        S = X @ rng.standard_normal((d, 50000)) > 0
        seen.update(map(bytes, np.packbits(S, axis=0).T))
        if len(seen) >= regions(n, d):
            break
    return [np.unpackbits(np.frombuffer(s, np.uint8))[:n].astype(float) for s in seen]


def enumerated(X, y, pats, solver):
    n, d = X.shape
    U = [cp.Variable(d) for _ in range(2 * len(pats))]
    f, cons = 0, []
    for k, D in enumerate(pats):
        for s, u in ((1, U[2 * k]), (-1, U[2 * k + 1])):
            f = f + s * cp.multiply(D, X @ u)
            cons.append(cp.multiply(2 * D - 1, X @ u) >= 0)
    cons.append(cp.multiply(y, f) >= 1)
    problem = cp.Problem(cp.Minimize(sum(cp.norm(u) for u in U)), cons)
    return problem.solve(solver=solver)


def timed(solver, X, y, pats):
    start = time.perf_counter()
    try:
        value = enumerated(X, y, pats, solver)
    except cp.error.SolverError:
        value = float("nan")
    return value, time.perf_counter() - start


print(f"{'n':>4} {'d':>3} {'patterns':>9} | {'Clarabel':>14} {'s':>8} | {'cvxopt':>14} {'s':>8} | {'reluflow':>14} {'gap':>7} {'s':>8} | ratio to the faster")
rng = np.random.default_rng(0)
for n, d in [(6, 2), (8, 3), (10, 3), (20, 2)]:
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.npz")
        np.savez(path, X=X, y=y)
        ours = json.loads(subprocess.run([program, "maxmargin", path, "--json"], capture_output=True, text=True).stdout)["global"]
    start = time.perf_counter()
    pats = patterns(X, rng)
    listing = time.perf_counter() - start
    (first, t1), (second, t2) = timed(cp.CLARABEL, X, y, pats), timed(cp.CVXOPT, X, y, pats)
    print(f"{n:4} {d:3} {len(pats):9} | {first:14.9g} {t1 + listing:8.2f} | {second:14.9g} {t2 + listing:8.2f} | {ours['objective']:14.9g} "
          f"{ours['gap']:7.0e} {ours['seconds']:8.4f} | {(min(t1, t2) + listing) / ours['seconds']:.0f}x", flush=True)
