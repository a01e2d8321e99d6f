"""Writes torch_digits_biases.npz, torch_digits_two_outputs.npz and torch_digits_three_layers.npz beside this file: networks of 16 neurons a
layer as people train them, 500 steps of full-batch gradient descent in float32 with biases on the digits 3 and 8, with the outputs that PyTorch computes."""
import pathlib

import numpy as np
import torch
from torch import nn

import reluflow

here = pathlib.Path(__file__).resolve().parent
MODELS = {
    "biases": lambda: nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 1)),
    "two_outputs": lambda: nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 2)),
    "three_layers": lambda: nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)),
}


def digits():
    """The digits 3 and 8 as tensors, pixels in [0, 1], labels 0 and 1."""
    X, y = reluflow.datasets.load("digits8x8.csv", classes="3,8", divide=16)
    return torch.tensor(X, dtype=torch.float32), torch.tensor(y > 0).long()


def trained(name, steps=500):
    """The network of that name, its data, and its outputs after the steps."""
    torch.manual_seed(1)
    model, (X, y) = MODELS[name](), digits()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimiser.zero_grad()
        f = model(X)
        loss = nn.functional.cross_entropy(f, y) if f.shape[1] == 2 else nn.functional.binary_cross_entropy_with_logits(f[:, 0], y.float())
        loss.backward()
        optimiser.step()
    return model, X, y, model(X).detach()


if __name__ == "__main__":
    torch.set_num_threads(1)
    for each in MODELS:
        model, _, _, outputs = trained(each)
        state = {key: value.numpy() for key, value in model.state_dict().items()}
        np.savez_compressed(here / f"torch_digits_{each}.npz", torch=torch.__version__, outputs=outputs.numpy(), **state)
