# SPDX-License-Identifier: BSD-3-Clause
"""A reader in Python that prints each step as soon as the analyzer commits it. It reads a verified copy of the step;
`follow(copy=False)` gives the arrays in place, in the pool, while it holds the step.

    python3 follow.py heat.pool        # ends after 10 s without a step; for another time: follow.py POOL SECONDS
"""

import contextlib
import sys

import ringside

if len(sys.argv) < 2:
    sys.exit("usage: follow.py POOL [SECONDS]")
patience_s = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
sys.stdout.reconfigure(line_buffering=True)  # also into a pipe

pool = ringside.open(sys.argv[1])
for step in pool.follow(timeout=patience_s):              # the kept steps, then each new one
    with contextlib.suppress(ringside.OverwrittenError):  # overwritten meanwhile: the value does not count
        with step:                                        # leaving it releases the step
            value = step["x"].mean()                      # your analysis
        print(step.iteration, value)                      # your output
