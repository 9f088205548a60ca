#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how long a step holds its producer, from the completion of an iterate to the start of the next one, compared
with ADIOS2.

Workload: PageRank on grid:SIDE, one core for the writer and one for the reader, which copies every step and reduces it
--passes times. Measured in turn:
  ringside     from the step records of a run: the time between two publications, without the time to make the iterate
               (which leaves the wait for a free buffer, the publishing, and all bookkeeping)
  sst, bp5     ADIOS2's staging engine over the loopback interface, and its file engine into the pools' folder: the time in
               BeginStep, Put and EndStep
ADIOS2 is a Python package with headers and libraries; --adios gives the source of a program to compile against it:
  PROGRAM SST|BP5 writer|reader SIDE ITERATIONS PASSES NAME, the writer printing 'publish=SECONDS'.
If the package or the program is missing, the script reports this and compares nothing. Ratios are taken within a round.
Writes JSON (see docs/inside/benchmarking.md)."""

import functools
import json
import pathlib
import re
import subprocess
import sys

import pipeline
from measuring import (TEST_DATA, UNCALIBRATED, confidence, document_of, in_turn, parser_of, ratio, remove_pool, spreads,
                       work_folder)

ENGINES = ("SST", "BP5")


def records_of(bin_dir, pool):
    """Returns the step records of the run whose journal is beside the pool."""
    shown = subprocess.run([bin_dir / "ringside", "tail", f"--pool={pool}", "--json"], check=True, capture_output=True, text=True)
    return [record for record in map(json.loads, shown.stdout.splitlines()) if record["event"] == "step"]


def steps_of(bin_dir, work, *arguments):
    """Makes one run, and returns its step records."""
    pool = work / "bench.pool"
    remove_pool(pool)
    subprocess.run([bin_dir / "ringside", "run", "--quiet", f"--pool={pool}", "--durability=process", *arguments], check=True,
                   env=UNCALIBRATED)
    steps = records_of(bin_dir, pool)
    remove_pool(pool)
    return steps


def held_ms(steps):
    """Returns the mean over the steps after the first one, because ADIOS2's figure is also a mean."""
    held = [after["published_at_ns"] - before["published_at_ns"] - after["generate_ns"] for before, after in zip(steps, steps[1:])]
    return sum(held) / len(held) * 1e-6


def package_folder(python):
    """Returns the folder of the ADIOS2 package in this Python; None if there is no such package."""
    look = "import adios2, os; print(os.path.dirname(os.path.dirname(adios2.__file__)))"
    found = subprocess.run([python, "-c", look], capture_output=True, text=True)
    return pathlib.Path(found.stdout.strip()) if found.returncode == 0 else None


def build_peer(source, python, work):
    """Compiles the program with ADIOS2. Returns the program, or the reason why there is none."""
    if not pathlib.Path(source).is_file():
        return None, f"its program's source is missing ({source}; --adios FILE)"
    folder = package_folder(python)
    if folder is None:
        return None, f"{python} has no package adios2 (--adios-python PYTHON)"
    libraries = next((path.parent for path in folder.rglob("libadios2_cxx*.so*")), None)
    headers = next((path.parent for path in folder.rglob("adios2.h")), None)
    if libraries is None or headers is None:
        return None, f"{folder} has no libadios2_cxx or no adios2.h"
    program = work / "adios_peer"
    subprocess.run(["g++", "-O3", "-march=native", "-std=c++17", f"-I{headers}", source, "-o", program, f"-L{libraries}",
                    "-ladios2_cxx", "-ladios2_core", f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined"], check=True)
    return program, None


def adios(program, work, engine, options):
    """Returns for how many milliseconds per step the engine held its writer."""
    name = str(work / f"steps-{engine}")
    common = [options.side, options.iterations, options.passes, name]
    start = lambda core, role: subprocess.Popen(
        [str(word) for word in ("taskset", "-c", core, program, engine, role, *common)], cwd=work, stdout=subprocess.PIPE, text=True)
    writer = start(0, "writer")
    reader = start(1, "reader")
    said = writer.communicate()[0]
    reader.communicate()
    if writer.returncode != 0 or reader.returncode != 0:
        sys.exit(f"bench/held.py: ADIOS2 with {engine} failed ({writer.returncode}, {reader.returncode})")
    subprocess.run(["rm", "-rf", name, name + ".bp", name + ".sst"], check=True)
    return float(re.search(r"publish=([\d.e+-]+)", said).group(1)) / options.iterations * 1e3


def measure(options):
    workload = {"matrix": f"grid:{options.side}", "iterations": options.iterations, "passes": options.passes}
    with document_of(options, "held", 2, workload=workload) as document, work_folder(options.pool_dir) as work:
        program, absent = build_peer(options.adios, options.adios_python, work)
        measured = {"ringside": lambda: held_ms(steps_of(
            options.bin, work, f"--matrix=grid:{options.side}", f"--iterations={options.iterations}", f"--passes={options.passes}"))}
        if program:
            measured.update({engine.lower(): functools.partial(adios, program, work, engine, options) for engine in ENGINES})
        else:
            document["absent"] = f"ADIOS2: {absent}"
        rounds = in_turn(measured, options.repeats)
        document["held_ms_per_step"] = spreads(rounds)
        document["ringside_over"] = {name: ratio(rounds, "ringside", name) for name in measured if name != "ringside"}
    return document


def declare(parser):
    """Declares the options, which bench/compare.py also uses."""
    parser.add_argument("--adios", default=TEST_DATA.parent / "reference/adios_peer.cpp",
                        help="the ADIOS2 program's source (default: reference/adios_peer.cpp next to the test data's folder)")
    parser.add_argument("--adios-python", default=sys.executable, help="a Python that has the package adios2 (default: this one)")


def main():
    parser = parser_of(__doc__, repeats=7)
    pipeline.declare(parser)
    parser.set_defaults(iterations=50, passes=1)
    declare(parser)
    document = measure(parser.parse_args())
    for name, found in document["held_ms_per_step"].items():
        print(f"{name:<10} held its producer {confidence(found)} ms a step")
    for name, found in document["ringside_over"].items():
        print(f"ringside ÷ {name}: {confidence(found, 2)}")
    if "absent" in document:
        print(f"absent: {document['absent']}")


if __name__ == "__main__":
    main()
