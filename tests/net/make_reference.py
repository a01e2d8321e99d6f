"""Makes the stored reference results of PyTorch, once: python3 tests/net/make_reference.py. Writes tests/net/data/trained.npz and
trained.safetensors (a small two-layer network after 2000 steps of gradient descent on gen:orthant,n=60,d=4) and, for every kind of
layer, gradients of the summed logistic loss: tests/layers/data/gradients.json. Needs torch, numpy, safetensors."""
import json, os, subprocess, sys
import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
here = os.path.dirname(os.path.abspath(__file__))
program = os.environ.get("RELUFLOW", os.path.join(here, "../../build/reluflow"))


def trained(folder):
    subprocess.run([program, "data", "make", "gen:orthant,n=60,d=4", "-o", "reference.csv", "--quiet"], check=True)
    table = np.loadtxt("reference.csv", delimiter=",", skiprows=1)
    os.remove("reference.csv")
    X, y = torch.tensor(table[:, :-1]), torch.tensor(table[:, -1])
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8, bias=False), torch.nn.ReLU(), torch.nn.Linear(8, 1, bias=False))
    with torch.no_grad():
        for p in net.parameters():
            p *= 0.1
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    for _ in range(2000):
        optimizer.zero_grad()
        F.softplus(-y * net(X)[:, 0]).mean().backward()
        optimizer.step()
    os.makedirs(folder, exist_ok=True)
    W, a = net[0].weight.detach().numpy(), net[2].weight.detach().numpy()[0]
    np.savez(os.path.join(folder, "trained.npz"), W=W, a=a)
    write_safetensors(os.path.join(folder, "trained.safetensors"), {"0.weight": W, "2.weight": a[None, :]})


def write_safetensors(path, arrays):
    """The format by hand: eight bytes of length, a JSON header, the raw numbers."""
    header, blobs, at = {}, [], 0
    for name, array in arrays.items():
        blob = np.ascontiguousarray(array, dtype="<f8").tobytes()
        header[name] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def gradients(path):
    """One record per kind: theta (layer by layer, row-major), X, y, leak, and the gradient of sum log(1+exp(-y f))."""
    torch.manual_seed(1)
    records = []

    def record(kind, leak, shapes, forward, inputs, n=5):
        theta = [0.5 * torch.randn(*s) for s in shapes]
        for t in theta:
            t.requires_grad_()
        X, y = torch.randn(n, inputs), torch.randint(0, 2, (n,)) * 2.0 - 1
        phi = lambda z: torch.maximum(z, leak * z)
        F.softplus(-y * forward(theta, X, phi)).sum().backward()
        flat = lambda parts: [float(v) for p in parts for v in p.reshape(-1)]
        records.append(dict(kind=kind, leak=leak, X=X.tolist(), y=y.tolist(), theta=flat([t.detach() for t in theta]),
                            gradient=flat([t.grad for t in theta])))

    record("dense", 0.0, [(6, 4), (5, 6), (1, 5)], lambda t, X, p: (p(p(X @ t[0].T) @ t[1].T) @ t[2].T)[:, 0], 4)
    record("diagonal", 0.3, [(4,), (4,), (1, 4)], lambda t, X, p: (p(p(X * t[0]) * t[1]) @ t[2].T)[:, 0], 4)

    def conv(t, X, p):
        z = F.conv2d(X.reshape(-1, 1, 5, 4), t[0], padding=1)
        z = F.conv2d(p(z), t[1], stride=2, padding=1)
        return (p(z).flatten(1) @ t[2].T)[:, 0]

    record("conv", 0.1, [(2, 1, 3, 3), (3, 2, 3, 2), (1, 3 * 3 * 3)], conv, 20)
    record("shared", 0.0, [(2,), (1, 2)],
           lambda t, X, p: (p(torch.stack([X[:, :2] @ t[0], X[:, 2:] @ t[0]], 1)) @ t[1].T)[:, 0], 4)

    def residual(t, X, p):
        z = X @ t[0].T
        z = z + p(z) @ t[1].T
        z = z + p(z) @ t[2].T
        return (p(z) @ t[3].T)[:, 0]

    record("residual", 0.0, [(5, 4), (5, 5), (5, 5), (1, 5)], residual, 4)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        json.dump(dict(made_with=f"PyTorch {torch.__version__}", records=records), out)


trained(os.path.join(here, "data"))
gradients(os.path.join(here, "../layers/data/gradients.json"))
print("PyTorch", torch.__version__, file=sys.stderr)
