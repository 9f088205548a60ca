#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how long a reader in Python waits while an analyzer runs, and checks whether the reader copies.

A program publishes a step of --megabytes every --pace-ms under `ringside run`, with one core per side; the reader runs
on the producer's core, which is idle between two steps. The script measures how long it takes to open the pool, and to
hold the newest step, get its array and release it, with and without verification. Verification is compared with one
read of the same bytes by a loop of loads (bench_read), with only the hashes of the chunks, and with NumPy's sum. The
bytes come from memory, from the caches, or from a mapping whose pages are touched for the first time. To find copies,
the script records the reads by system calls and the private memory while the process views all steps. It also checks
that each array's address is in the mapping of the pool. Writes JSON (see docs/inside/benchmarking.md)."""

import argparse
import contextlib
import ctypes
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

from measuring import (UNCALIBRATED, document_of, in_turn, interpreter_header, parser_of, print_spreads, ratio, remove_pool,
                       seconds_of, spread, spreads, work_folder)

SLOTS, CHUNK_BYTES = 8, 16384


def publish_steps(rows, pace_s):
    """Publishes steps until it is interrupted."""
    import numpy
    import ringside
    with ringside.publish({"x": ("f64", (rows,))}, solver="reader") as run:
        x = numpy.random.default_rng(1).standard_normal(rows)
        for k in range(1, 1_000_000):
            run.publish(k, {"x": x})
            time.sleep(pace_s if k > SLOTS else 0)


@contextlib.contextmanager
def publisher(options, work):
    """Returns a context manager that starts a run and gives the pool of this run."""
    pool = work / "bench.pool"
    remove_pool(pool)
    command = [options.bin / "ringside", "run", "--quiet", "--durability=process", f"--pool={pool}", f"--slots={SLOTS}",
               "--producer-cores=0", "--analyzer-cores=1", "--", sys.executable, __file__, "--publish",
               str(rows_of(options)), str(options.pace_ms / 1000)]
    import ringside
    with subprocess.Popen(command, env=UNCALIBRATED) as run:
        try:
            while True:
                with contextlib.suppress(ringside.Error):
                    if len(ringside.open(str(pool))) >= SLOTS - 1:
                        break
                time.sleep(0.01)
                if run.poll() is not None:
                    sys.exit("bench/reader.py: the run ended")
            yield str(pool)
            if run.poll() is not None:
                sys.exit("bench/reader.py: the run ended while it was read")
        finally:
            run.terminate()
    remove_pool(pool)


def rows_of(options):
    return options.megabytes * 1_000_000 // 8


def mapping_of(address):
    """Returns the file that this process has mapped at the address."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(word, 16) for word in line.split(" ", 1)[0].split("-"))
        if begin <= address < end:
            return line.split(maxsplit=5)[5] if len(line.split(maxsplit=5)) > 5 else "anonymous"
    return "none"


def number_in(file, key):
    return int(re.search(rf"^{key}:\s+(\d+)", pathlib.Path(file).read_text(), re.MULTILINE).group(1))


def used():
    """Returns the bytes that this process has read with system calls, and its private memory."""
    return {"read_by_system_calls": number_in("/proc/self/io", "rchar"),
            "private_memory": 1024 * number_in("/proc/self/status", "RssAnon")}


def look_for_copies(path):
    """Opens a pool, and reads each byte of each of its steps, verified and in place."""
    import ringside
    with ringside.open(path)[-1] as step:  # the interpreter's one-time loads and allocations
        step["x"].max()
    before, viewed, addresses = used(), 0, []
    pool = ringside.open(path)
    for kept in pool.steps[1:]:  # the oldest one will soon be overwritten
        with contextlib.suppress(ringside.OverwrittenError, ringside.NotKeptError), pool.hold(kept) as step:
            x = step["x"]
            x.max()
            addresses.append(x.__array_interface__["data"][0])
            viewed += x.nbytes
    grown = {key: after - before[key] for key, after in used().items()}
    places = {mapping_of(address) for address in addresses}  # the pool is still open
    if places != {path}:
        sys.exit(f"bench/reader.py: found arrays in {places}, expected them in {path}")
    return {"payload_bytes_viewed": viewed, **{f"{key}_more": more for key, more in grown.items()},
            "arrays_lie_in_the_mapped_pool": True}


def verifying(path, library, repeats, newest_only):
    """Returns milliseconds per step, in rounds. With newest_only, the same step is read repeatedly, from the caches as
    far as it fits into them. Otherwise all kept steps except the oldest are read in turn. This is 7 times as much
    memory, so that each step comes from memory. The mapping's pages were touched before, except in the methods
    `untouched`, which map the pool again."""
    import ringside
    pool = ringside.open(path)
    nbytes = pool.variables["x"].shape[0] * 8

    def over_steps(call, opened=None):
        found = []
        opened = opened or pool
        for kept in opened.steps[-1:] * 3 if newest_only else opened.steps[1:]:
            with contextlib.suppress(ringside.OverwrittenError, ringside.NotKeptError), opened.hold(kept) as step:
                begin = time.perf_counter()
                call(step)
                found.append(1e3 * (time.perf_counter() - begin))
        return statistics.median(found)

    def verified(step):
        step["x"]

    def at(call, *more):
        return lambda step: call(step.view("x").__array_interface__["data"][0], *more)

    read = at(library.bench_read, nbytes // 8)
    ways = {"verified": lambda: over_steps(verified), "read": lambda: over_steps(read),
            "hash": lambda: over_steps(at(library.bench_hash, nbytes, CHUNK_BYTES)),
            "numpy_sum": lambda: over_steps(lambda step: step.view("x").sum())}
    if not newest_only:
        ways |= {"untouched_verified": lambda: over_steps(verified, ringside.open(path)),
                 "untouched_read": lambda: over_steps(read, ringside.open(path))}
    over_steps(read)
    rounds = in_turn(ways, repeats)
    found = {f"{name}_ms": taken for name, taken in spreads(rounds).items()}
    for above, below in (("verified", "read"), ("verified", "hash"), ("hash", "read"), ("verified", "numpy_sum"),
                         ("untouched_verified", "untouched_read")):
        if above in ways:
            found[f"{above}_over_{below}"] = ratio(rounds, above, below)
    return found


def measure(options):
    import ringside
    library = ctypes.CDLL(str(options.bin.parent / "lib/libbench_read.so"))
    library.bench_read.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.bench_read.restype = ctypes.c_uint64
    library.bench_hash.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
    library.bench_hash.restype = ctypes.c_uint64
    head = {**interpreter_header(), "slots": SLOTS, "bytes_per_slot": rows_of(options) * 8, "pace_ms": options.pace_ms}
    with (document_of(options, "reader", 2, **head) as document, work_folder(options.pool_dir) as work,
          publisher(options, work) as path):
        os.sched_setaffinity(0, {0})
        pool = ringside.open(path)
        newest = [pool.steps[-1].iteration]

        def view():
            with pool[-1] as step:
                step.view("x")

        seconds_of(view, 100)
        document["open_ms"] = spread([1e3 * s for s in seconds_of(lambda: ringside.open(path), 100)])
        views = sorted(1e6 * s for s in seconds_of(view, 4000))
        document["view_us"] = {"p50": views[2000], "p99": views[3960], "max": views[-1], "repeats": len(views)}
        document["copies"] = look_for_copies(path)
        document["from_memory"] = verifying(path, library, options.repeats, newest_only=False)
        document["newest_step_again"] = verifying(path, library, options.repeats, newest_only=True)
        newest.append(pool.steps[-1].iteration)
        document["steps_published_meanwhile"] = newest[1] - newest[0]
    print(f"view {document['view_us']}; copies {document['copies']}; {document['steps_published_meanwhile']} steps meanwhile")
    print_spreads(document)


def main():
    parser = parser_of(__doc__, pools="the pool", repeats=21)
    parser.add_argument("--megabytes", type=int, default=32, help="size of a step (default 32)")
    parser.add_argument("--pace-ms", type=float, default=20, help="time between two steps (default 20)")
    parser.add_argument("--publish", nargs=2, metavar=("ROWS", "SECONDS"), help=argparse.SUPPRESS)  # in the run
    options = parser.parse_args()
    if options.publish:
        publish_steps(int(options.publish[0]), float(options.publish[1]))
    else:
        measure(options)


if __name__ == "__main__":
    main()
