"""The network of Phuong and Lampert's appendix D (PL-21, PL-22) in PyTorch, from several starts: digits 0 and 1, Adam 1e-3, batches of 128,
50 epochs, mean logistic loss, no biases, dense layers times 0.05 at the start. For every start and after some epochs: the share of pairs of layer 7
that are orthogonally separable, for every layer the chance that an inner product within a class exceeds one across, and sigma_11/sigma_1 of W7.
RELUFLOW_DATA names the folder with mnist/. Arguments: number of starts (10), epochs (50)."""
import gzip
import os
import struct
import sys

import torch

STARTS, EPOCHS = [int(word) for word in (sys.argv[1:] + ["10", "50"][len(sys.argv) - 1 :])]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def read(name):
    path = os.path.join(os.environ.get("RELUFLOW_DATA", "data"), "mnist", name)
    with gzip.open(path + ".gz") if os.path.exists(path + ".gz") else open(path, "rb") as file:
        kind, = struct.unpack(">I", file.read(4))
        sizes = struct.unpack(">" + "I" * (kind & 255), file.read(4 * (kind & 255)))
        return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).reshape(sizes)


def network(seed):
    torch.manual_seed(seed)
    shapes = [(1, 32, 3, 1, 1), (32, 32, 3, 1, 1), (32, 32, 5, 2, 2), (32, 64, 3, 1, 1), (64, 64, 3, 1, 1), (64, 64, 5, 2, 2)]
    layers = [torch.nn.Conv2d(i, o, k, s, p, bias=False) for i, o, k, s, p in shapes]
    layers += [torch.nn.Linear(3136, 128, bias=False), torch.nn.Linear(128, 1, bias=False)]
    for layer in layers:
        bound = (layer.weight[0].numel()) ** -0.5
        torch.nn.init.uniform_(layer.weight, -bound, bound)
    for layer in layers[6:]:
        layer.weight.data *= 0.05
    return torch.nn.ModuleList(layers).to(DEVICE)


def features(net, x):
    """What every layer puts out before the ReLU, the input first."""
    out = [x.flatten(1)]
    for l, layer in enumerate(net):
        x = layer(x.flatten(1) if l == 6 else x)
        out.append(x.flatten(1))
        x = torch.relu(x)
    return out


def judge(net, sample):
    with torch.no_grad():
        stages = [z.double() for z in features(net, sample)[:8]]
    upper = torch.triu_indices(100, 100, 1)
    ahead, obeying = [], 0
    for z in stages:
        gram = z @ z.T
        zero, one, across = gram[:100, :100][upper[0], upper[1]], gram[100:, 100:][upper[0], upper[1]], gram[:100, 100:].flatten()
        ahead.append(min(float((v[:, None] > across[None]).double().mean()) for v in (zero, one)))
        obeying = float(((zero > 0).sum() + (one > 0).sum() + (across <= 0).sum()) / (zero.numel() + one.numel() + across.numel()))
    values = torch.linalg.svdvals(net[6].weight.detach().double())
    return obeying, ahead, float(values[10] / values[0])


def main():
    images, labels = read("train-images-idx3-ubyte"), read("train-labels-idx1-ubyte")
    keep = labels < 2
    x = (images[keep].float() / 255).unsqueeze(1).to(DEVICE)
    y = (labels[keep].float() * 2 - 1).to(DEVICE)
    chosen = [torch.nonzero(y == side).flatten() for side in (-1, 1)]
    sample = x[torch.cat([c[:: len(c) // 100][:100] for c in chosen])]
    print(f"{len(y)} samples, torch {torch.__version__} on {DEVICE}\nstart epoch  layer 7   chances within > across, input to layer 7                sigma11/sigma1", flush=True)
    ends = []
    for seed in range(STARTS):
        net = network(seed)
        adam = torch.optim.Adam(net.parameters(), 1e-3)
        for epoch in range(1, EPOCHS + 1):
            order = torch.randperm(len(y), device=DEVICE)
            for at in range(0, len(y), 128):
                batch = order[at : at + 128]
                loss = torch.nn.functional.softplus(-y[batch] * features(net, x[batch])[-1].flatten()).mean()
                adam.zero_grad()
                loss.backward()
                adam.step()
            if epoch in (1, 5, 10, 20, 35, EPOCHS):
                obeying, ahead, ratio = judge(net, sample)
                print(f"{seed:5d} {epoch:5d}  {obeying:.4f}   " + " ".join(f"{a:.3f}" for a in ahead) + f"   {ratio:.4f}", flush=True)
        ends.append(obeying)
    print(f"after {EPOCHS} epochs: {sum(e >= 0.99 for e in ends)} of {STARTS} starts with a share of at least 0.99; smallest {min(ends):.4f}, median {sorted(ends)[STARTS // 2]:.4f}")


main()
