"""Training: PyTorch against reluflow, same shapes, one thread each, in one run. Autograd and, for two layers, the gradient written by
hand; updates per second of processor time. Run by bench/run after bench_train, whose table it repeats with the peers beside it; both
tables also go to bench/results/train.txt."""
import os, re, subprocess, sys, time
import torch

torch.set_num_threads(1)
F = torch.nn.functional
TYPES = {"double": torch.float64, "float": torch.float32}


def updates(step, budget=1.5):
    """Updates per second: the best of three tries after a warm-up."""
    step(), step()
    start = time.process_time()
    step()
    once = max(time.process_time() - start, 1e-6)
    count, best = max(1, int(budget / 3 / once)), 0
    for _ in range(3):
        start = time.process_time()
        for _ in range(count):
            step()
        best = max(best, count / (time.process_time() - start))
    return best


def data(n, d, dtype):
    g = torch.Generator().manual_seed(1)
    X = 0.1 * torch.randn(n, d, generator=g, dtype=dtype)
    return X, torch.randint(0, 2, (n,), generator=g).to(dtype) * 2 - 1


def with_autograd(forward, parameters, y, rate=1e-4):
    def step():
        loss = F.softplus(-y * forward()).sum()
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, gradients):
                p -= rate * g
    return step


def two(n, d, m, dtype):
    X, y = data(n, d, dtype)
    W, a = 0.1 * torch.randn(m, d, dtype=dtype), 0.1 * torch.randn(m, dtype=dtype)
    V, b = W.clone().requires_grad_(), a.clone().requires_grad_()

    @torch.no_grad()
    def by_hand(rate=1e-4):
        H = X @ W.T
        R = torch.relu(H)
        r = -y * torch.sigmoid(-y * (R @ a))
        gW = ((H > 0) * a * r[:, None]).T @ X
        W.sub_(gW, alpha=rate)
        a.sub_(R.T @ r, alpha=rate)

    return updates(with_autograd(lambda: torch.relu(X @ V.T) @ b, (V, b), y)), updates(by_hand)


def residual(n, d, m, dtype):
    X, y = data(n, d, dtype)
    W = [(0.1 * torch.randn(*shape, dtype=dtype)).requires_grad_() for shape in ((m, d), (m, m), (m, m), (m,))]

    def forward():
        f = X @ W[0].T
        for V in W[1:3]:
            f = f + torch.relu(f) @ V.T
        return torch.relu(f) @ W[3]

    return updates(with_autograd(forward, W, y)), None


def conv(n, d, m, dtype):
    X, y = data(n, d, dtype)
    images, sizes = X.reshape(n, 1, 28, 28), [(32, 3, 1, 1), (32, 3, 1, 1), (32, 5, 2, 2), (64, 3, 1, 1), (64, 3, 1, 1), (64, 5, 2, 2)]
    layers, channels = [], 1
    for out, kernel, stride, padding in sizes:
        layers += [torch.nn.Conv2d(channels, out, kernel, stride, padding, bias=False), torch.nn.ReLU()]
        channels = out
    net = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(3136, 128, bias=False), torch.nn.ReLU(),
                              torch.nn.Linear(128, 1, bias=False)).to(dtype)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)

    def step():
        optimizer.zero_grad()
        F.softplus(-y * net(images)[:, 0]).sum().backward()
        optimizer.step()

    return updates(step, 6), None


def main():
    text = subprocess.run([os.path.join(os.environ["RF_BUILD"], "bench_train")], capture_output=True, text=True, check=True).stdout
    lines = [text.rstrip(), "", f"beside PyTorch {torch.__version__.split('+')[0]}, one thread each; updates per second of processor time",
             f"{'network':<9} {'samples x inputs x width':>24} {'type':>7} {'autograd':>10} {'by hand':>10} {'reluflow':>10} {'ratio to the better':>20}"]
    print("\n".join(lines), flush=True)
    for match in re.finditer(r"^(\w+)\s+(\d+) x\s+(\d+) x\s+(\d+)\s+(\w+)\s+([\d.]+) steps/s", text, re.M):
        kind, n, d, m, name, own = match[1], int(match[2]), int(match[3]), int(match[4]), match[5], float(match[6])
        autograd, by_hand = globals()[kind](n, d, m, TYPES[name])
        hand = f"{by_hand:10.1f}" if by_hand else f"{'-':>10}"
        lines.append(f"{kind:<9} {f'{n} x {d} x {m}':>24} {name:>7} {autograd:10.1f} {hand} {own:10.1f} {own / max(autograd, by_hand or 0):19.2f}x")
        print(lines[-1], flush=True)
    folder = os.path.join(os.path.dirname(__file__), "..", "results")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "train.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")


main()
