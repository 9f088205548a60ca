#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares `run.publish`, the one line that keeps an array, with common alternatives: the time that it takes, and what
remains after kill -9.

Cost: a script has a new array of --entries doubles in each step, and saves it with each method in turn, in a folder on
--pool-dir. `copy` is np.copyto into the script's own memory, which is the minimum for every method. The alternatives
overwrite one file, like scripts that need only their last state; h5py and zarr append to one file, which is their
purpose. None of them syncs the disk. ringside does not sync either (--durability process); ringside_power does.
Small arrays: `run.publish` of 10 doubles in Python and in C++ (bench_publishing), both with a running analyzer.
Start: `ringside.publish(pool=...)` of a new pool, until it returns.
Crashes: a script that saves as fast as it can is killed at a random instant, --kills times for each method; then the
file is loaded. The state is lost if the file does not open, has a torn step, or has no step. Methods whose library
is missing are left out. Writes JSON (see docs/inside/benchmarking.md)."""

import functools
import json
import os
import pathlib
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time

from measuring import (add_loop, document_of, in_turn, interpreter_header, parser_of, print_spreads, ratio, remove_pool,
                       run_program, spread, spreads, work_folder)

import numpy as np
import ringside

PACE_S = 0.01  # time of computing between two steps, so that a buffer is always free


class Ringside:
    options = "--quiet --durability process"

    def __init__(self, folder, like):
        self.run = ringside.publish({"x": like}, solver="peers", pool=str(folder / "x.pool"), pool_use="overwrite", run_options=self.options)

    def save(self, k, x):
        self.run.publish(k, {"x": x})

    def close(self):
        self.run.detach()

    @staticmethod
    def load(folder):
        pool = ringside.open(str(folder / "x.pool"))
        return pool.read(list(pool)[-1], "x")


class RingsidePower(Ringside):
    options = "--quiet --durability power"


class Copy:
    def __init__(self, folder, like):
        self.buffers = [np.zeros_like(like) for _ in range(2)]

    def save(self, k, x):
        np.copyto(self.buffers[k % 2], x)

    def close(self):
        pass


class NumpySave(Copy):
    name, saved, loaded = "x.npy", staticmethod(np.save), staticmethod(np.load)

    def __init__(self, folder, like):
        self.path = folder / self.name

    def save(self, k, x):
        self.saved(self.path, x)

    @classmethod
    def load(cls, folder):
        return cls.loaded(folder / cls.name)


class NumpySavez(NumpySave):
    name = "x.npz"

    @staticmethod
    def saved(path, x):
        np.savez(path, x=x)

    @staticmethod
    def loaded(path):
        return np.load(path)["x"]


class Pickle(NumpySave):
    name = "x.pickle"

    @staticmethod
    def saved(path, x):
        with open(path, "wb") as file:
            pickle.dump(x, file, protocol=5)

    @staticmethod
    def loaded(path):
        with open(path, "rb") as file:
            return pickle.load(file)


class TorchSave(NumpySave):
    name = "x.pt"

    @staticmethod
    def saved(path, x):
        import torch
        torch.save(torch.from_numpy(x), path)

    @staticmethod
    def loaded(path):
        import torch
        return torch.load(path).numpy()


class Hdf5:
    """Appends a step to a growing dataset, and flushes it."""

    def __init__(self, folder, like):
        import h5py
        self.file = h5py.File(folder / "x.h5", "w")
        self.steps = self.file.create_dataset("x", (0, len(like)), maxshape=(None, len(like)), chunks=(1, len(like)), dtype=like.dtype)

    def save(self, k, x):
        self.steps.resize(self.steps.shape[0] + 1, axis=0)
        self.steps[-1] = x
        self.file.flush()

    def close(self):
        self.file.close()

    @staticmethod
    def load(folder):
        import h5py
        with h5py.File(folder / "x.h5") as file:
            return file["x"][-1]


class Zarr:
    def __init__(self, folder, like):
        import zarr
        self.steps = zarr.open(str(folder / "x.zarr"), mode="w", shape=(0, len(like)), chunks=(1, len(like)), dtype="f8")

    def save(self, k, x):
        self.steps.resize((self.steps.shape[0] + 1, len(x)))
        self.steps[-1] = x

    def close(self):
        pass

    @staticmethod
    def load(folder):
        import zarr
        return zarr.open(str(folder / "x.zarr"), mode="r")[-1]


WAYS = {"copy": Copy, "ringside": Ringside, "ringside_power": RingsidePower, "numpy_save": NumpySave, "numpy_savez": NumpySavez,
        "pickle": Pickle, "torch_save": TorchSave, "h5py": Hdf5, "zarr": Zarr}
NEEDS = {"torch_save": "torch", "h5py": "h5py", "zarr": "zarr"}


def has(way):
    try:
        __import__(NEEDS.get(way, "numpy"))
        return True
    except ImportError:
        return False


def pause(x):
    """Does the work of a solver: reads x and overwrites all of it."""
    until = time.perf_counter() + PACE_S
    x += 1.0
    while time.perf_counter() < until:
        pass


def cost_ms(way, folder, entries, steps):
    """Returns the median cost of a step in milliseconds, without the first tenth of the steps."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    x = np.zeros(entries)
    saver = WAYS[way](folder, x)
    costs = []
    for k in range(1, steps + 1):
        pause(x)
        begin = time.perf_counter()
        saver.save(k, x)
        costs.append(1e3 * (time.perf_counter() - begin))
    saver.close()
    return spread(costs[steps // 10:])["median"]


def small_us(options, work, way):
    """Returns the median time in microseconds to copy and publish a step of 10 doubles."""
    pool, file = work / "small.pool", work / "costs.json"
    program = [options.bin / "bench_publishing"] if way == "cpp" else [sys.executable, __file__, "--loop=small"]
    run_program(options.bin, pool, [*program, file, 10, 2000, 100, 0])
    remove_pool(pool)
    return spread(json.loads(file.read_text())[200:])["median"] / 1000


def publish_small(file, rows, steps, pace_us):
    clock, costs, given = time.perf_counter_ns, [], np.zeros(rows)
    with ringside.publish({"x": ("f64", (rows,))}, solver="small") as run:
        for k in range(1, steps + 1):
            until = clock() + 1000 * pace_us
            while clock() < until:
                pass
            begin = clock()
            run.publish(k, {"x": given})
            costs.append(clock() - begin)
    pathlib.Path(file).write_text(json.dumps(costs), encoding="utf-8")


def start_ms(work):
    remove_pool(work / "start.pool")
    begin = time.perf_counter()
    run = ringside.publish({"x": ("f64", (1000,))}, pool=str(work / "start.pool"), run_options=Ringside.options)
    taken = 1e3 * (time.perf_counter() - begin)
    run.publish(1, {"x": np.zeros(1000)})
    run.detach()
    remove_pool(work / "start.pool")
    return taken


def crash(way, folder, entries):
    """Saves steps without end, and reports the first step."""
    saver = WAYS[way](pathlib.Path(folder), np.zeros(entries))
    x = np.zeros(entries)
    for k in range(1, 10**9):
        x[:] = k
        saver.save(k, x)
        if k == 1:
            print("saved", flush=True)


def is_lost(way, folder, entries, chance):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    process = subprocess.Popen([sys.executable, __file__, "--loop=crash", way, str(folder), str(entries)], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, encoding="utf-8")
    process.stdout.readline()
    time.sleep(chance.uniform(0.05, 0.5))
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    for _ in range(100):  # until then, the helper commits the published steps and releases the pool
        if not any("--attend" in words for words in commands()):
            break
        time.sleep(0.05)
    try:
        x = np.asarray(WAYS[way].load(folder))
        return bool(len(x) != entries or x[0] < 1 or (x != x[0]).any())
    except Exception:  # any exception of a library for a file that it cannot read
        return True


def commands():
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                yield (entry / "cmdline").read_text(errors="replace")
            except OSError:
                pass


def report(options):
    ways = [way for way in WAYS if has(way)]
    file_system = subprocess.run(["stat", "-f", "-c", "%T", options.pool_dir], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    head = {**interpreter_header(np), "file_system": file_system.stdout.strip(), "entries": options.entries,
            "steps": options.steps, "durability": {"ringside": "process", "ringside_power": "power"}}
    os.environ["PATH"] = f"{options.bin}:{os.environ['PATH']}"
    with document_of(options, "python", 2, **head) as document, work_folder(options.pool_dir) as work:
        rounds = in_turn({way: functools.partial(cost_ms, way, work / "cost", options.entries, options.steps) for way in ways},
                         options.repeats)
        document["save_ms"] = spreads(rounds)
        document["over_copy"] = {way: ratio(rounds, way, "copy") for way in ways if way != "copy"}
        shutil.rmtree(work / "cost", ignore_errors=True)
        rounds = in_turn({way: functools.partial(small_us, options, work, way) for way in ("python", "cpp")}, options.repeats)
        document["small_arrays"] = {"entries": 10, **{f"{way}_us": found for way, found in spreads(rounds).items()},
                                    "python_more_than_cpp_us": spread([r["python"] - r["cpp"] for r in rounds])}
        document["start_ms"] = spread([start_ms(work) for _ in range(options.repeats)])
        chance = random.Random(20)
        lost = {way: sum(is_lost(way, work / "crash", options.entries, chance) for _ in range(options.kills))
                for way in ways if way != "copy"}
        document["crashes"] = {"kills": options.kills, "lost": lost}
    print_spreads(document)
    print(json.dumps(document["crashes"]))


def main():
    parser = parser_of(__doc__, repeats=7)
    parser.add_argument("--entries", type=int, default=1_000_000, help="entries of x (default 1000000: 8 MB)")
    parser.add_argument("--steps", type=int, default=30, help="steps of each run (default 30)")
    parser.add_argument("--kills", type=int, default=18, help="kills for each method (default 18)")
    add_loop(parser, ("small", "crash"))
    options = parser.parse_args()
    if options.loop == "small":
        file, *numbers = options.numbers
        publish_small(file, *map(int, numbers[:3]))
    elif options.loop == "crash":
        way, folder, entries = options.numbers
        crash(way, folder, int(entries))
    else:
        report(options)


if __name__ == "__main__":
    main()
