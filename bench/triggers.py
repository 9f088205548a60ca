#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time that triggers take, and checks that a run with a NaN keeps the steps before the NaN.

Cost: bench_trigger_cost. NaN: in each of --runs runs with --on-non-finite freeze,stop, a solver puts one NaN into a
random entry at a random step and continues. The script counts the runs in which the ring holds the NaN and the K - 1
finite iterates before it, bit for bit. It also counts the steps that the solver published after the NaN. Needs the
package ringside (PYTHONPATH=build/release/python) and NumPy. Writes JSON (see docs/inside/benchmarking.md)."""

import json
import os
import pathlib
import random
import subprocess
import sys

from measuring import UNCALIBRATED, document_of, parser_of, remove_pool, spread, work_folder

STEPS = 100_000  # no run makes this many steps


def entries_of(step, entries):
    import numpy as np
    return step + np.arange(entries) / entries


def solve(entries, bad_step, bad_entry):
    """Runs as the solver below `ringside run`: publishes until it is stopped, and prints its last step."""
    import numpy as np
    import ringside
    published = 0
    try:
        with ringside.publish(variables={"x": ("f64", (entries,))}, solver="nan") as run:
            for k in range(1, STEPS):
                with run.step(k) as step:
                    step["x"][:] = entries_of(k, entries)
                    if k >= bad_step:
                        step["x"][bad_entry] = np.nan
                published = k
    except (ringside.Interrupted, ringside.PeerLostError, ringside.Error, KeyboardInterrupt):
        pass
    print(published, flush=True)


def kept_and_finite(pool_file, bad_step, slots, entries):
    """Returns True if the ring holds the step with the NaN and the K - 1 steps before it, all with the published bits."""
    import numpy as np
    import ringside
    pool = ringside.open(pool_file)
    iterations = [step.iteration for step in pool.steps]
    if iterations != list(range(max(1, bad_step - slots + 1), bad_step + 1)):
        return False
    return all(np.array_equal(pool.read(k, "x"), entries_of(k, entries)) for k in iterations[:-1])


def nan_runs(options, work):
    pool = work / "nan.pool"
    drawn = random.Random(options.seed)
    frozen, steps_after = 0, []
    for _ in range(options.runs):
        remove_pool(pool)
        pathlib.Path(f"{pool}.freeze").unlink(missing_ok=True)
        bad_step, bad_entry = drawn.randrange(2, 300), drawn.randrange(options.entries)
        done = subprocess.run([options.bin / "ringside", "run", "--quiet", "--durability=process", f"--pool={pool}",
                               f"--slots={options.slots}", "--on-non-finite=freeze,stop", "--", sys.executable, "-B", __file__,
                               "--solve", str(options.entries), str(bad_step), str(bad_entry)],
                              env=dict(UNCALIBRATED, PYTHONPATH=os.environ.get("PYTHONPATH", "")), capture_output=True, text=True)
        if done.returncode != 130 or not done.stdout.strip().isdigit():
            sys.exit(f"bench/triggers.py: {done.returncode}: {done.stdout}{done.stderr}")
        frozen += kept_and_finite(pool, bad_step, options.slots, options.entries)
        steps_after.append(int(done.stdout) - bad_step)
    return {"runs": options.runs, "slots": options.slots, "entries": options.entries, "finite_iterates_frozen": frozen,
            "steps_after_the_nan": spread(steps_after)}


def main():
    if sys.argv[1:2] == ["--solve"]:
        return solve(*map(int, sys.argv[2:5]))
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    with document_of(options, "triggers") as document, work_folder(options.pool_dir) as work:
        cost = json.loads(subprocess.run([options.bin / "bench_trigger_cost"], env=UNCALIBRATED, check=True, stdout=subprocess.PIPE).stdout)
        document["cost"] = {"threads": cost["threads"], "fields": cost["fields"]}
        document["nan"] = nan_runs(options, work)


if __name__ == "__main__":
    main()
