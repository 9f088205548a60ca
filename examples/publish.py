# SPDX-License-Identifier: BSD-3-Clause
"""A solver in Python that keeps every step. With the package `ringside` installed, in any folder:
    RINGSIDE_POOL=heat.pool python3 publish.py 2000
    RINGSIDE_POOL=heat.pool python3 publish.py 3000       # continues
The solver is explicit heat conduction on a rod. It has its own array x. Only the lines with "run" are added to keep
each step.
"""

import sys

import numpy as np
import ringside


def heat_step(x):
    x[1:-1] += 0.25 * (x[:-2] - 2 * x[1:-1] + x[2:])


iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
x = np.zeros(10000)
x[0] = 100

with ringside.publish({"x": ringside.Variable("f64", x.shape, unit="K")}) as run:
    if run.kept is not None:                             # killed and started again
        x = run.kept["x"]
    for k in range(run.next_iteration, iterations + 1):  # your loop
        heat_step(x)                                     # your solver
        run.publish(k, {"x": x})
