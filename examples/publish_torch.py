# SPDX-License-Identifier: BSD-3-Clause
"""A training with PyTorch that keeps every step. With the packages `ringside` and `torch` installed, in any folder:
    RINGSIDE_POOL=net.pool python3 publish_torch.py 2000
    RINGSIDE_POOL=net.pool python3 publish_torch.py 3000       # continues
The net learns a sine. A step has all that the next one depends on: the weights, Adam's moments, and the state of the
random numbers. A training that is killed and resumed gives the same bits as an uninterrupted one. Only the lines with
"run" are added to keep each step.
"""

import sys

import ringside
import torch

iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(1, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
adam = torch.optim.Adam(net.parameters(), lr=0.01)


def train():
    x = 6 * torch.rand(256, 1) - 3
    adam.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), torch.sin(x))
    loss.backward()
    adam.step()
    return loss


def state():
    return {"net": net.state_dict(), "adam": adam.state_dict(), "random": torch.get_rng_state()}


train()  # Adam makes its moments in its first step
with ringside.publish(state(), scalars=["loss"], problem="sine") as run:
    if run.kept is not None:                             # killed and started again
        net.load_state_dict(run.kept["net"])
        adam.load_state_dict(run.kept["adam"])
        torch.set_rng_state(run.kept["random"])
    for k in range(run.next_iteration, iterations + 1):  # your loop
        loss = train()                                   # your training
        run.publish(k, state(), {"loss": loss})
