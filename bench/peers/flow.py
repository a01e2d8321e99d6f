"""The limit of gradient flow on orthogonally separable data: direction error against the known limit (neurons along w+ and w-,
PL Theorem 1) reached in how many seconds by reluflow, PyTorch gradient descent and torchdiffeq (dopri5), on the same data from
the same start. Rows are printed as they come. RF_BENCH_BUDGET: seconds for each peer on the large problem (12)."""
import json, os, subprocess, sys, tempfile, time
import numpy as np

try:
    import torch
except ImportError:
    torch = None
    print("PyTorch is not installed: no gradient descent, no torchdiffeq")

PROGRAM = os.environ["RELUFLOW"]
BUDGET = float(os.environ.get("RF_BENCH_BUDGET", "12"))
HEADER = f"{'method':>30} {'seconds':>9} {'direction error':>16} {'1 - margin/best':>16}"


class OutOfTime(Exception):
    pass


def reluflow(*words):
    start = time.perf_counter()
    run = subprocess.run([PROGRAM, *words, "--json", "--threads", "1"], capture_output=True, text=True)
    if not run.stdout:
        sys.exit(f"reluflow {' '.join(words)}: {run.stderr}")
    return json.loads(run.stdout), time.perf_counter() - start


class Problem:
    def __init__(self, spec, width, scale, folder):
        facts, _ = reluflow("inspect", spec)
        self.length = {s: facts[k]["norm"] for s, k in ((1, "positive"), (-1, "negative"))}
        self.target = {s: np.array(facts[k]["w"]) / facts[k]["norm"] for s, k in ((1, "positive"), (-1, "negative"))}
        self.spec, self.total = spec, sum(self.length.values())
        data = os.path.join(folder, "data.npz")
        subprocess.run([PROGRAM, "data", "make", spec, "-o", data, "--quiet"], check=True)
        with np.load(data) as stored:
            self.X, self.y = stored["X"].astype(float), stored["y"].astype(float)
        random = np.random.default_rng(0)
        W = random.standard_normal((width, self.X.shape[1]))
        self.W = scale * W / np.linalg.norm(W, axis=1, keepdims=True)
        self.a = scale * random.choice([-1.0, 1.0], width)
        self.start = os.path.join(folder, "start.json")
        with open(self.start, "w") as out:
            json.dump({"W": self.W.tolist(), "a": self.a.tolist(), "leak": 0}, out)

    def error(self, W, a):
        """Distance of theta/|theta| from the limit set: any split inside a class, the classes as |w+| : |w-|."""
        norm = np.sqrt((W**2).sum() + (a**2).sum())
        W, a, total = W / norm, a / norm, 0.0
        for sign in (1, -1):
            mine = a > 0 if sign > 0 else a <= 0
            c = np.maximum(0, (W[mine] @ self.target[sign] + abs(a[mine])) * np.sqrt(0.5))
            size = c / max(1e-300, np.linalg.norm(c)) * np.sqrt(0.5 * self.length[sign] / self.total)
            total += ((W[mine] - size[:, None] * self.target[sign]) ** 2).sum() + ((abs(a[mine]) - size) ** 2).sum()
        return np.sqrt(total)

    def row(self, name, seconds, W, a):
        W, a = np.asarray(W), np.asarray(a)
        q = (self.y * (np.maximum(self.X @ W.T, 0) @ a)).min() / ((W**2).sum() + (a**2).sum())
        print(f"{name:>30} {seconds:9.2f} {self.error(W, a):16.2e} {1 - 2 * self.total * q:16.2e}", flush=True)


def descent(p, budget):
    """Full-batch gradient descent on the summed loss."""
    X, y, W, a = (torch.tensor(v) for v in (p.X, p.y, p.W, p.a))
    rate, start, steps, shown = 0.1 / len(y), time.perf_counter(), 0, 0.0
    with torch.no_grad():
        while True:
            for _ in range(100):
                H = X @ W.T
                R = torch.relu(H)
                r = y * torch.sigmoid(-y * (R @ a))
                gW, ga = ((H > 0) * a * r[:, None]).T @ X, R.T @ r
                W += rate * gW
                a += rate * ga
            steps += 100
            seconds = time.perf_counter() - start
            if seconds >= min(budget, shown + budget / 3):
                p.row(f"PyTorch GD, {steps} steps", seconds, W, a)
                shown = seconds
            if seconds >= budget:
                return


def adaptive(p, budget):
    """dopri5 in the flow's own time, a factor of ten further with every call, until the time is out."""
    from torchdiffeq import odeint

    X, y = torch.tensor(p.X), torch.tensor(p.y)
    start = time.perf_counter()

    def field(_, state):
        if time.perf_counter() - start > budget:
            raise OutOfTime
        W, a = state
        H = X @ W.T
        R = torch.relu(H)
        r = y * torch.sigmoid(-y * (R @ a))
        return ((H > 0) * a * r[:, None]).T @ X, R.T @ r

    state, t = (torch.tensor(p.W), torch.tensor(p.a)), 0.0
    with torch.no_grad():
        try:
            for goal in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3, 1e4, 1e6, 1e8, 1e10, 1e13):
                W, a = odeint(field, state, torch.tensor([t, goal]), method="dopri5", rtol=1e-6, atol=1e-8)
                state, t = (W[-1], a[-1]), goal
                p.row(f"torchdiffeq dopri5, t = {t:g}", time.perf_counter() - start, *state)
        except OutOfTime:
            print(f"{'torchdiffeq dopri5':>30} {time.perf_counter() - start:9.2f}   out of time after t = {t:g}", flush=True)


def compare(spec, width, scale, budget):
    with tempfile.TemporaryDirectory() as folder:
        p = Problem(spec, width, scale, folder)
        print(f"\n{spec}, {width} neurons, scale {scale:g}\n{HEADER}", flush=True)
        result, seconds = reluflow("flow", spec, "--weights", p.start)
        p.row("reluflow (program, two runs)", seconds, result["limit"]["W"], result["limit"]["a"])
        if torch is None:
            return
        torch.set_num_threads(1)
        torch.set_default_dtype(torch.float64)
        descent(p, budget)
        try:
            adaptive(p, budget)
        except ImportError:
            print("torchdiffeq is not installed")


compare("gen:orthant,n=50,d=5", 20, 1e-2, BUDGET / 3)
compare("gen:orthant", 100, 1e-2, BUDGET)
