"""The PyTorch bridge with networks and data on a card: python try_card.py [DEVICE] (default cuda). One line for each check; exit status 1 where one fails, 2 without a card."""
import sys

import numpy as np
import torch
from torch import nn

import reluflow
from reluflow.torch import limit_of

device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
if device.startswith("cuda") and not torch.cuda.is_available():
    print(f"no card: torch {torch.__version__} sees none")
    sys.exit(2)
name = torch.cuda.get_device_name() if device.startswith("cuda") else "processor"
print(f"reluflow {reluflow.__version__}, torch {torch.__version__}, {name}")
failed = 0


def check(what, right, detail=""):
    global failed
    failed += not right
    print(f"{'ok    ' if right else 'FAILED'} {what}{': ' + detail if detail else ''}", flush=True)


def train(model, X, y, steps=300):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimiser.zero_grad()
        f = model(X)
        loss = nn.functional.cross_entropy(f, (y > 0).long()) if f.shape[1] == 2 else nn.functional.softplus(-y * f[:, 0]).mean()
        loss.backward()
        optimiser.step()
    return optimiser


X0, y0 = reluflow.datasets.orthant(n=30, d=4, seed=2)
MODELS = {
    "two layers": lambda: nn.Sequential(nn.Linear(4, 8, bias=False), nn.ReLU(), nn.Linear(8, 1, bias=False)),
    "two layers with biases": lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)),
    "two outputs": lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)),
    "three layers": lambda: nn.Sequential(nn.Linear(4, 6, bias=False), nn.ReLU(), nn.Linear(6, 6, bias=False), nn.ReLU(), nn.Linear(6, 1, bias=False)),
}
for dtype in (torch.float32, torch.float64):
    X, y = torch.tensor(X0, dtype=dtype, device=device), torch.tensor(y0, dtype=dtype, device=device)
    for label, make in MODELS.items():
        what = f"{label}, {str(dtype).removeprefix('torch.')}"
        torch.manual_seed(1)
        model = make().to(device=device, dtype=dtype)
        optimiser = train(model, X, y)
        before = {key: value.clone() for key, value in model.state_dict().items()}
        grads = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
        on_card, cards = reluflow.certify(model, X, y, time=10), limit_of(model, X, y, time=60)
        state = {key: value.cpu().numpy() for key, value in before.items()}
        on_cpu, cpus = reluflow.certify(state, X.cpu().numpy(), y.cpu().numpy(), time=10), limit_of(state, X.cpu().numpy(), y.cpu().numpy(), time=60)
        check(f"{what}: certify as on the processor", on_card.margin == on_cpu.margin and on_card.kkt.stationarity == on_cpu.kkt.stationarity,
              f"margin {on_card.margin:.12g}, {on_cpu.margin:.12g}")
        same = cards.flow.limit.status == cpus.flow.limit.status and cards.margin is not None and (
            cards.flow.limit.status != "converged" or abs(cards.margin - cpus.margin) <= 1e-12 * cpus.margin)
        check(f"{what}: limit_of as on the processor", same, f"{cards.flow.limit.status}, margin {cards.margin!r}, {cpus.flow.limit.status}, {cpus.margin!r}")
        after = model.state_dict()
        check(f"{what}: weights, devices and types untouched",
              all(torch.equal(before[key], after[key]) and after[key].device == X.device and after[key].dtype == dtype for key in before))
        check(f"{what}: gradients and their switches untouched",
              all(p.requires_grad for p in model.parameters())
              and all((a is None and p.grad is None) or torch.equal(a, p.grad) for a, p in zip(grads, model.parameters())))
        check(f"{what}: the data stay where they were", X.device.type == torch.device(device).type and y.dtype == dtype)
        # and training goes on as if nothing had been asked
        torch.manual_seed(1)
        twin = make().to(device=device, dtype=dtype)
        twin.load_state_dict(before)
        train(model, X, y, 10), train(twin, X, y, 10)
        check(f"{what}: training goes on to the same bits", all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters())))
        del optimiser
for dtype in (torch.float16, torch.bfloat16):
    X, y = torch.tensor(X0, dtype=dtype, device=device), torch.tensor(y0, device=device)
    check(f"data in {str(dtype).removeprefix('torch.')}",
          np.isfinite(reluflow.maxmargin(X, y).global_.margin))
print("all checks passed" if not failed else f"{failed} checks failed")
sys.exit(1 if failed else 0)
