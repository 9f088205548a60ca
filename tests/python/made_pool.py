# SPDX-License-Identifier: BSD-3-Clause
"""A pool with known content for tests that read: the program that makes the pool, and a class of tests that share one
such pool."""

import pipelines

pipelines.modules_or_skip("numpy")
import ringside  # noqa: E402

STEPS, KEPT = 12, 8
PROGRAM = f"""
    import numpy as np, ringside
    with ringside.publish({{"x": ringside.Variable("f64", (1000,), unit="K"), "n": ("u64", (4,))}},
                          scalars=["residual"], solver="made", problem="a<b", parameters="c=1") as run:
        for k in range(1, {STEPS} + 1):
            x, n = k + np.arange(1000.0), np.full(4, 2**64 - k, np.uint64)
            run.publish(k, {{"x": x, "n": n}}, {{"residual": 10.0**-k}})
    """


class OfAPool(pipelines.Pipelines):
    """One pool for all tests of a class. None of the tests writes to the pool."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cls("run")  # any method's name, because this object only makes the pool
        made.setUp()
        cls.addClassCleanup(made.doCleanups)
        made.kept(PROGRAM)
        cls.pool_path = made.path("run.pool")

    def setUp(self):
        super().setUp()
        if hasattr(self, "pool_path"):
            self.pool = ringside.open(self.pool_path)
