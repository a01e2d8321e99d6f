"""The limit of gradient flow on orthogonally separable data (500 x 20, 100 neurons): how close PyTorch gradient descent, an adaptive
ODE solver (torchdiffeq dopri5) and reluflow come, and how long they take. The limit is known: neurons along w+ and w-."""
import json, os, subprocess, time
import numpy as np
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
PROGRAM = os.environ["RELUFLOW"]
STEPS = int(os.environ.get("RF_BENCH_STEPS", "50000"))
SPEC, WIDTH, SCALE = "gen:orthant", 100, 1e-2


def reluflow(*words):
    start = time.perf_counter()
    text = subprocess.run([PROGRAM, *words, "--json", "--threads", "1"], capture_output=True, text=True).stdout
    return json.loads(text), time.perf_counter() - start


facts, _ = reluflow("inspect", SPEC)
wp, wm = np.array(facts["positive"]["w"]), np.array(facts["negative"]["w"])
best = 1 / (2 * (np.linalg.norm(wp) + np.linalg.norm(wm)))
subprocess.run([PROGRAM, "data", "make", SPEC, "-o", "bench-orthant.npz", "--quiet"], check=True)
with np.load("bench-orthant.npz") as stored:
    X, y = torch.tensor(stored["X"]), torch.tensor(stored["y"], dtype=torch.float64)
os.remove("bench-orthant.npz")
generator = torch.Generator().manual_seed(0)
direction = torch.randn(WIDTH, X.shape[1], generator=generator)
W0 = SCALE * direction / direction.norm(dim=1, keepdim=True)
a0 = SCALE * (torch.randint(0, 2, (WIDTH,), generator=generator) * 2.0 - 1)


def quality(W, a):
    """Median correlation of live neurons with their max-margin direction, and the normalised margin over the best one."""
    W, a = np.asarray(W), np.asarray(a)
    norm = np.linalg.norm(W, axis=1)
    live = norm > 1e-3 * norm.max()
    target = np.where(a[live, None] > 0, wp / np.linalg.norm(wp), wm / np.linalg.norm(wm))
    cosine = (W[live] * target).sum(1) / norm[live]
    q = y.numpy() * (np.maximum(X.numpy() @ W.T, 0) @ a)
    return np.median(cosine), q.min() / ((W**2).sum() + (a**2).sum()) / best


def descent(steps, rate=0.1 / len(y)):
    W, a = W0.clone(), a0.clone()
    start = time.perf_counter()
    with torch.no_grad():
        for _ in range(steps):
            H = X @ W.T
            R = torch.relu(H)
            r = y * torch.sigmoid(-y * (R @ a))
            gW, ga = ((H > 0) * a * r[:, None]).T @ X, R.T @ r
            W += rate * gW
            a += rate * ga
    return quality(W, a), time.perf_counter() - start


def adaptive(horizon):
    from torchdiffeq import odeint

    def field(_, state):
        W, a = state
        H = X @ W.T
        R = torch.relu(H)
        r = y * torch.sigmoid(-y * (R @ a))
        return ((H > 0) * a * r[:, None]).T @ X, R.T @ r

    start = time.perf_counter()
    with torch.no_grad():
        W, a = odeint(field, (W0, a0), torch.tensor([0.0, horizon]), method="dopri5", rtol=1e-6, atol=1e-8)
    return quality(W[-1], a[-1]), time.perf_counter() - start


rows = [(f"PyTorch GD, {steps} steps", *descent(steps)) for steps in (STEPS // 4, STEPS // 2, STEPS)]
try:
    rows += [(f"torchdiffeq dopri5, t = {t:g}", *adaptive(t)) for t in (10.0, 100.0)]
except ImportError:
    print("torchdiffeq is not installed")
for scale in ("1e-2", "1e-6", "1e-300", "limit"):
    result, seconds = reluflow("flow", SPEC, "--width", str(WIDTH), "--scale", scale)
    limit = result["limit"]
    rows.append((f"reluflow flow, scale {scale}", quality(limit["W"], limit["a"]), seconds))
print(f"{'method':>32} {'1 - correlation':>16} {'1 - margin/best':>16} {'seconds':>9}")
for name, (cosine, ratio), seconds in rows:
    print(f"{name:>32} {1 - cosine:16.3e} {1 - ratio:16.3e} {seconds:9.2f}")
