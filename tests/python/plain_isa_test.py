# SPDX-License-Identifier: BSD-3-Clause
"""Simulates a machine without AVX2, which uses the variants of the kernels for any x86-64. A run that is published and
read in Python must have the same bits, and `verify` on each kind of machine must accept what the other kept."""

import pipelines

pipelines.modules_or_skip("numpy")

PUBLISH = """
    import numpy as np, ringside
    random = np.random.default_rng(1)
    with ringside.publish({"x": ("f64", (100_003,)), "f": ("f32", (70_001,)), "n": ("i16", (257, 9))},
                          scalars=["rho"]) as run:
        for k in range(1, 5):
            with run.step(k) as step:
                step["x"][:] = random.standard_normal(100_003)
                step["f"][:] = random.standard_normal(70_001)
                step["n"][:] = random.integers(-2**15, 2**15, (257, 9))
                step.scalars["rho"] = 1 / k
    """
READ = """
    import hashlib, sys, ringside
    pool = ringside.open(sys.argv[1])
    for k in pool:
        with pool[k] as step:
            step.verify()
            print(k, *(hashlib.sha256(step[name]).hexdigest() for name in step))
    table = pool.table(wait=30)
    for name in table.dtype.names:
        if not name.endswith("_ns") and name not in ("step", "run_id"):
            print(name, [value.hex() if isinstance(value, float) else value for value in table[name].tolist()])
    """


class Plain(pipelines.Pipelines):
    def test_a_run_has_the_same_bits_and_verifies_with_every_instruction_set(self):
        found = {}
        for published_by in ("plain", "avx2", "avx512"):  # if a set is missing, the widest available one is used
            self.environment["RINGSIDE_ISA"] = published_by
            self.kept(PUBLISH, pool=f"{published_by}.pool")
        for read_by in ("plain", "avx2", "avx512"):
            for published_by in ("plain", "avx2", "avx512"):
                self.environment["RINGSIDE_ISA"] = read_by
                output = self.printed(READ, f"{published_by}.pool")
                found[published_by, read_by] = output
        self.assertEqual(len(found["plain", "plain"].splitlines()[0].split()), 4)
        self.assertEqual(len(set(found.values())), 1)


if __name__ == "__main__":
    pipelines.run_tests()
