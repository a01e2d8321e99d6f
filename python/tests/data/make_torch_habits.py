"""Writes torch_biases.npz, torch_two_outputs.npz and torch_three_layers.npz: networks as people train them, 500 steps in float32 with
biases on gen:orthant,n=30,d=4,seed=2, with the outputs that PyTorch computes, beside this file."""
import pathlib

import numpy as np
import torch
from torch import nn

import reluflow

here = pathlib.Path(__file__).resolve().parent
X, y = reluflow.datasets.orthant(n=30, d=4, seed=2)
torch.set_num_threads(1)


def train(name, make):
    torch.manual_seed(1)
    model = make()
    inputs, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(500):
        optimiser.zero_grad()
        f = model(inputs)
        loss = nn.functional.cross_entropy(f, (labels > 0).long()) if f.shape[1] == 2 else nn.functional.softplus(-labels * f[:, 0]).mean()
        loss.backward()
        optimiser.step()
    state = {key: value.numpy() for key, value in model.state_dict().items()}
    np.savez(here / f"torch_{name}.npz", torch=torch.__version__, outputs=model(inputs).detach().numpy(), **state)


train("biases", lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
train("two_outputs", lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
train("three_layers", lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)))
