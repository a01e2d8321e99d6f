"""Writes torch_1000.npz and torch_100000.npz: the state dicts of one PyTorch network after 1,000 and after 100,000 steps of gradient
descent on gen:orthant,n=30,d=4,seed=2 (orthogonally separable), beside this file."""
import pathlib

import numpy as np
import torch

import reluflow

here = pathlib.Path(__file__).resolve().parent
X, y = reluflow.datasets.orthant(n=30, d=4, seed=2)
inputs, labels = torch.tensor(X), torch.tensor(y, dtype=torch.float64)
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 16, bias=False), torch.nn.ReLU(), torch.nn.Linear(16, 1, bias=False)).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(1, 100_001):
    optimizer.zero_grad()
    torch.nn.functional.softplus(-labels * model(inputs)[:, 0]).mean().backward()
    optimizer.step()
    if step in (1_000, 100_000):
        np.savez(here / f"torch_{step}.npz", torch=torch.__version__, **{name: value.numpy() for name, value in model.state_dict().items()})
