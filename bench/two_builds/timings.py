# SPDX-License-Identifier: BSD-3-Clause
"""What bench/releases.py times in each build: whole runs, kernels, small steps, and the compilation of single sources.

A measurement takes seconds, so that a slow phase of the machine meets both builds of a pair. It returns its figures,
{(what, unit): value}, and the results that both builds must compute with equal bits, {name: value}."""

import contextlib
import dataclasses
import functools
import json
import pathlib
import shlex
import subprocess
import sys
import typing

from build_time import built
from measuring import path_of, remove_pool, ringside_run, run_program

USAGE = 2  # the exit code of a program that does not know an option or a value

# grid:1000 has 8 MB per vector and does not fit into most caches: memory limits its kernels. rmat:16 fits, so that
# instructions limit its kernels, which are those for irregular matrices.
KERNEL_MATRICES = ("grid:1000", "rmat:16")
# 16 MB per iterate: four iterates and eight slots are six times a last-level cache of 32 MiB.
TRANSFER_ROWS = 2_000_000
# The rows of the table, and where bench_transfer's document has their times. One pass copies, hashes and reduces.
TRANSFER = {
    "copy and hash": ("transfer", "transfer"),
    "one pass": ("one_pass", "smooth", "one_pass"),
    "one pass with the change": ("one_pass", "smooth", "one_pass_with_change"),
    "one pass with the change, power law": ("one_pass", "power_law", "one_pass_with_change"),
    "sweep": ("reductions", "smooth", "sweep"),
    "sweep with the change": ("reductions", "smooth", "sweep_with_change"),
    "sweep, power law": ("reductions", "power_law", "sweep"),
    **{f"one pass with the change, {dtype}": ("fields", dtype, "one_pass_with_change")
       for dtype in ("f32", "c128", "i32", "i64")}}
# Steps of 80 bytes, 8 kB and 800 kB; the usual ring, and the largest one.
STEP_ROWS = (10, 1000, 100_000)
STEP_SLOTS = (8, 1024)
# The phases of a whole run, by their key in the summary.
PHASES = {"total_s": "total", "generate_s": "generate", "transfer_s": "transfer", "analyze_s": "analyze"}
# Two kernels, whose templates are large, and the writer of the ring. Each is compiled in seconds.
SOURCES = ("producer/kernels/pagerank_kernel.cpp", "common/reductions/kernels/reduction_kernel.cpp",
           "analyzer/ring/ring_writer.cpp")


class Absent(Exception):
    """A build lacks what a measurement needs."""


@dataclasses.dataclass(frozen=True)
class Measurement:
    part: str
    name: str
    measure: typing.Callable  # (build, folder for files) -> (figures, results)
    most_pairs: int | None = None


def measurements_of(options):
    """Returns the measurements of the parts that the user selected."""
    found = []
    if "runs" in options.parts:
        found += [whole_run(matrix, options) for matrix in options.matrices]
    if "kernels" in options.parts:
        for isa in options.isa or [""]:
            found += [kernels(isa), transfer(isa)]
    if "steps" in options.parts:
        found += [small_steps(rows, slots) for slots in STEP_SLOTS for rows in STEP_ROWS]
    if "compile" in options.parts:
        found += [compilation(source) for source in options.sources]
    return found


def whole_run(matrix, options):
    name = pathlib.Path(matrix).name
    arguments = [f"--matrix={path_of(matrix)}", f"--iterations={options.iterations}",
                 f"--durability={options.durability}"]

    def measure(build, work):
        with absent_if_refused():
            summary = ringside_run(build.bin, work, *arguments, env=build.environment)
        return {(f"{name}, {phase}", "s"): summary[key] for key, phase in PHASES.items()}, results_of(summary)

    return Measurement("whole runs", name, measure)


def kernels(isa):
    def measure(build, _):
        document = json_of(build, "bench_kernels", isa, f"--matrix={','.join(KERNEL_MATRICES)}", "--threads=1",
                           "--repeats=7")
        return {(f"{one['matrix']}, {layout}", "ms"): found["iterate_ms"]["median"] for one in document["matrices"]
                for layout, found in one["results"][0]["kernels"].items()}, {}

    return Measurement(part_of("PageRank iterate", isa), "bench_kernels", measure)


def transfer(isa):
    def measure(build, _):
        document = json_of(build, "bench_transfer", isa, f"--rows={TRANSFER_ROWS}", "--repeats=5")
        found = {what: functools.reduce(lambda inside, key: inside.get(key, {}), keys, document)
                 for what, keys in TRANSFER.items()}
        return {(what, "ms"): times["median"] for what, times in found.items() if times}, {}

    return Measurement(part_of("transfer and reductions", isa), "bench_transfer", measure)


def part_of(title, isa):
    return f"{title}, {isa}" if isa else title


def small_steps(rows, slots):
    """The time of a step, in two runs. With a pause before each step, a buffer is free: the time of claim and publish
    is the solver's own. Without a pause, the solver waits for buffers: the slower process determines the time per
    step."""
    name = f"{rows} rows, {slots} slots"
    pause_us = max(20, rows * 8 // 1000)

    def run(build, work, steps, pause):
        pool, file, summary = work / "bench.pool", work / "costs.json", work / "summary.json"
        with absent_if_refused():
            run_program(build.bin, pool, [build.bin / "bench_publishing", file, rows, steps, pause, 0],
                        f"--slots={slots}", f"--summary={summary}", env=build.environment)
        remove_pool(pool)
        costs = sorted(json.loads(file.read_text())[steps // 10:])
        return [cost / 1000 for cost in costs], json.loads(summary.read_text())

    def measure(build, work):
        if not (build.bin / "bench_publishing").exists():
            raise Absent("there is no bench_publishing")
        if not any((build.bin.parent / "lib").glob("libringside.so.*")):
            raise Absent(f"found no {build.bin.parent}/lib/libringside.so.*, and would load another build's library")
        costs_us, summary = run(build, work, 2000 if rows < 100_000 else 300, pause_us)
        figures = {(f"{name}, p{share}", "us"): percentile(costs_us, share / 100) for share in (50, 99)}
        results = results_of(summary)
        if rows * slots <= 10_000_000:  # to make a pool of 0.8 GB takes seconds
            steps = 10_000 if rows < 100_000 else 600
            _, summary = run(build, work, steps, 0)
            figures[f"{name}, no pause", "us"] = 1e6 * summary["total_s"] / steps
            results |= {f"{key}, no pause": value for key, value in results_of(summary).items()}
        return figures, results

    return Measurement("small steps", name, measure)


def compilation(source):
    """The processor time for compiling the unit that contains the source, as after a change of this source. It varies
    little, and six pairs are the fewest for a confidence interval."""

    def measure(build, work):
        command, folder = compiler_call(build, source)
        command[command.index("-o") + 1] = str(work / "unit.o")
        return {(source, "s"): built(command, folder)["processor_s"]}, {}

    return Measurement("compiling, processor time", source, measure, most_pairs=6)


def compiler_call(build, source):
    """Returns the command that compiles the source, alone or with others of its folder, and the folder to call it in.
    If several targets compile the source, the first of their names counts, so that both builds use the same one."""
    file = build.bin.parent / "compile_commands.json"
    if not file.is_file() or build.tree is None:
        raise Absent("found no compile_commands.json beside its programs")
    path = str(build.tree / source)
    calls = [call for call in json.loads(file.read_text())
             if call["file"] == path or f'"{path}"' in text_of_unity(call["file"])]
    if not calls:
        raise Absent("no target compiles this source")
    commands = [(shlex.split(call["command"]), call["directory"]) for call in calls]
    return min(commands, key=lambda command: command[0][command[0].index("-o") + 1])


def text_of_unity(file):
    path = pathlib.Path(file)
    return path.read_text(encoding="utf-8") if path.parent.name == "Unity" and path.is_file() else ""


@contextlib.contextmanager
def absent_if_refused():
    try:
        yield
    except subprocess.CalledProcessError as error:
        if error.returncode == USAGE:
            raise Absent("refused its options; its message is above") from error
        raise


def json_of(build, program, isa, *arguments):
    """Runs a benchmark with this instruction set. Returns what it prints."""
    if not (build.bin / program).exists():
        raise Absent(f"there is no {program}")
    environment = build.environment | ({"RINGSIDE_ISA": isa} if isa else {})
    command = [build.bin / program, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if ran.returncode == USAGE:
        raise Absent(ran.stderr.strip())
    if ran.returncode != 0:
        sys.exit(f"{sys.argv[0]}: {' '.join(map(str, command))}: status {ran.returncode}\n{ran.stderr}")
    document = json.loads(ran.stdout)
    used = document["machine"].get("isa", isa)
    if isa and used != isa:  # a program falls back to what the processor has
        raise Absent(f"uses {used}, because this processor lacks {isa}")
    return document


def percentile(ascending, share):
    return ascending[round(share * (len(ascending) - 1))]


def results_of(summary):
    """Returns the results of a run's last step: the change, and all reductions. A result that only one build has is
    not compared."""
    last = {key: value for key, value in summary["last"].items() if key != "results"}
    change = {key: summary.get(key) for key in ("iterations", "residual_l1", "residual_linf")}
    return change | last | summary["last"].get("results", {})
