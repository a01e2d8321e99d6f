"""Full-batch gradient descent: PyTorch (autograd, and the gradient written by hand) against reluflow, one thread, same shapes.
Run by bench/run after bench_train. Prints steps per second and the ratio."""
import os, re, subprocess, time
import torch

torch.set_num_threads(1)
SHAPES = [(500, 20, 100, 2000), (2000, 20, 100, 400), (12665, 784, 50, 6)]


def data(n, d, m, dtype):
    g = torch.Generator().manual_seed(1)
    X = 0.1 * torch.randn(n, d, generator=g, dtype=dtype)
    y = torch.randint(0, 2, (n,), generator=g).to(dtype) * 2 - 1
    return X, y, 0.1 * torch.randn(m, d, generator=g, dtype=dtype), 0.1 * torch.randn(m, generator=g, dtype=dtype)


def autograd(X, y, W, a, steps, rate=1e-4):
    W, a = W.clone().requires_grad_(), a.clone().requires_grad_()
    start = time.perf_counter()
    for _ in range(steps):
        loss = torch.nn.functional.softplus(-y * (torch.relu(X @ W.T) @ a)).sum()
        gW, ga = torch.autograd.grad(loss, (W, a))
        with torch.no_grad():
            W -= rate * gW
            a -= rate * ga
    return steps / (time.perf_counter() - start)


@torch.no_grad()
def by_hand(X, y, W, a, steps, rate=1e-4):
    W, a = W.clone(), a.clone()
    start = time.perf_counter()
    for _ in range(steps):
        H = X @ W.T
        R = torch.relu(H)
        r = -y * torch.sigmoid(-y * (R @ a))
        gW = ((H > 0) * a * r[:, None]).T @ X
        W -= rate * gW
        a -= rate * (R.T @ r)
    return steps / (time.perf_counter() - start)


def ours():
    table = {}
    text = subprocess.run([os.path.join(os.environ["RF_BUILD"], "bench_train")], capture_output=True, text=True).stdout
    for line in text.splitlines():
        match = re.match(r"\s*(\d+) x\s+(\d+) x\s+(\d+)\s+(\w+)\s+([\d.]+) steps/s", line)
        if match:
            table[tuple(int(v) for v in match.groups()[:3]) + (match[4],)] = float(match[5])
    return table


mine = ours()
print(f"PyTorch {torch.__version__}, one thread; steps per second")
print(f"{'samples x inputs x neurons':>28} {'type':>7} {'autograd':>10} {'by hand':>10} {'reluflow':>10} {'ratio to the better':>20}")
for n, d, m, steps in SHAPES:
    for name, dtype in (("double", torch.float64), ("float", torch.float32)):
        sample = data(n, d, m, dtype)
        by_hand(*sample, max(steps // 10, 1))
        first, second, own = autograd(*sample, steps), by_hand(*sample, steps), mine.get((n, d, m, name), float("nan"))
        print(f"{f'{n} x {d} x {m}':>28} {name:>7} {first:10.1f} {second:10.1f} {own:10.1f} {own / max(first, second):19.2f}x")
