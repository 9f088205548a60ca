# SPDX-License-Identifier: BSD-3-Clause
"""The common parts of the benchmarks in Python: options, the head of the JSON, measurements in turn, spread and
confidence, and runs of ringside."""

import argparse
import contextlib
import json
import math
import os
import pathlib
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
TEST_DATA = pathlib.Path(os.environ.get("RINGSIDE_TEST_DATA", ROOT / "../shared/data"))


def parser_of(description, pools="the pools", pool_dir=tempfile.gettempdir(), repeats=None):
    """Returns a parser with the options that most benchmarks have: --bin and --output, and also --pool-dir and
    --repeats if these have a default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=lambda text: pathlib.Path(text).resolve(), default=BIN, help="folder of the programs")
    if pool_dir:
        parser.add_argument("--pool-dir", default=pool_dir, help=f"folder of {pools} (default: {pool_dir})")
    if repeats:
        parser.add_argument("--repeats", type=int, default=repeats, help=f"measured rounds (default {repeats})")
    parser.add_argument("--output", help="JSON file to write; FILE#PART replaces only this part of FILE")
    return parser


@contextlib.contextmanager
def document_of(options, name, cores=1, **head):
    """Returns a context manager for the benchmark's document. The body adds figures, and then the document is written
    to --output. Requires at least `cores` cores."""
    demand_cores(cores)
    document = {"benchmark": name, "machine": machine_header(options.bin), **head}
    with others_share(document):
        yield document
    write_json(document, options.output)


def add_loop(parser, ways):
    """Adds the hidden options with which a benchmark runs itself under `ringside run`: a variant, and the variant's
    numbers."""
    parser.add_argument("--loop", choices=ways, help=argparse.SUPPRESS)
    parser.add_argument("numbers", nargs="*", help=argparse.SUPPRESS)


def seconds_of(call, repeats):
    """Calls the function `repeats` times. Returns the seconds of each call."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return found


def interpreter_header(*modules):
    """Returns the versions of this interpreter and of modules."""
    return {"python": sys.version.split()[0], **{module.__name__: module.__version__ for module in modules}}


def machine_header(bin_dir):
    def first(path, pattern):
        try:
            found = re.search(pattern, pathlib.Path(path).read_text())
            return found.group(1).strip() if found else "n/a"
        except OSError:
            return "n/a"

    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return {
        "cpu": first("/proc/cpuinfo", r"model name\s*:\s*(.*)"),
        "cores_allowed": len(os.sched_getaffinity(0)),
        "governor": first("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", r"(.*)"),
        "kernel": platform.release(),
        "compiler": first(bin_dir.parent / "CMakeCache.txt", r"CMAKE_CXX_COMPILER:\S+=(.*)"),
        "build": first(bin_dir.parent / "CMakeCache.txt", r"CMAKE_BUILD_TYPE:\S+=(.*)"),
        "commit": commit.stdout.strip() or "n/a",
        "load_average": os.getloadavg(),
        "started": now(),
    }


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def demand_cores(count):
    found = len(os.sched_getaffinity(0))
    if found < count:
        sys.exit(f"{sys.argv[0]}: found {found} core(s), expected at least {count}")


def spread(values):
    """Returns the spread of the values. If there are enough values, also returns the 95 % confidence interval of the
    median, which is valid for any distribution. Two of the values are the ends of this interval. The binomial
    distribution of the number of values below the median determines which ones (Conover, Practical Nonparametric
    Statistics, 3.2)."""
    found = {"median": statistics.median(values), "min": min(values), "max": max(values), "repeats": len(values)}
    away = round(0.98 * math.sqrt(len(values)))
    if len(values) >= 6:  # of fewer, even the range is no such interval: of six, it is one for 1 - 2 / 2^6 = 97 %
        ascending = sorted(values)
        found["median_95"] = [ascending[max(len(values) // 2 - 1 - away, 0)],
                              ascending[min((len(values) + 1) // 2 + away, len(values) - 1)]]
    return found


def in_turn(measured, repeats):
    """Calls each function of {name: function} in turn, A B C, C B A, ..., after one warm-up round. Returns the rounds,
    each as {name: the function's result}."""
    rounds = []
    for number in range(-1, repeats):
        names = list(measured) if number % 2 else list(reversed(measured))
        figures = {name: measured[name]() for name in names}
        if number >= 0:
            rounds.append(figures)
    return rounds


def spreads(rounds, figure=lambda value: value):
    """Returns {name: the spread of the name's figure over the rounds}."""
    return {name: spread([figure(one[name]) for one in rounds]) for name in rounds[0]}


def ratio(rounds, above, below, figure=lambda value: value):
    """Returns the spread of above ÷ below. Each quotient is taken within a round, because the speed of a shared machine
    drifts."""
    return spread([figure(r[above]) / figure(r[below]) for r in rounds])


def confidence(found, digits=3):
    """Returns a text such as '0.512 (0.49 to 0.53)': the median with its 95 % confidence interval, or with the range if
    there are fewer than six values."""
    low, high = found.get("median_95", (found["min"], found["max"]))
    return f"{found['median']:.{digits}g} ({low:.{digits}g} to {high:.{digits}g})"


def print_spreads(found, *keys):
    """Prints a line for each spread in the document, with the keys that lead to it."""
    if isinstance(found, dict) and "median" in found:
        print(f"{', '.join(keys)}: {confidence(found)}")
    elif isinstance(found, dict):
        for key, value in found.items():
            print_spreads(value, *keys, key)


def processor_times():
    """Returns three times in seconds: the work of all processors since the machine started; the work of this process
    and of its children that were waited for; the clock."""
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:4]]
    return sum(ticks) / os.sysconf("SC_CLK_TCK"), sum(os.times()[:4]), time.monotonic()


@contextlib.contextmanager
def others_share(document):
    """Records in document["processor_time_of_others"] the share of the machine that other programs used while the body
    ran. When the body ends, all children must have been waited for."""
    before = processor_times()
    yield
    busy, own, passed = (now - then for now, then in zip(processor_times(), before))
    document["processor_time_of_others"] = round(max(busy - own, 0) / passed / os.cpu_count(), 4)


def timed(command, folder, **environment):
    """Runs the command in the folder. Returns ({wall time and processor time in seconds}, the output). If the command
    fails, ends this program with that output."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ran = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         env={**os.environ, **environment})
    if ran.returncode != 0:
        sys.exit(f"{sys.argv[0]}: {' '.join(map(str, command))} failed:\n{ran.stdout[-4000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall_s": round(time.monotonic() - began, 2),
            "processor_s": round(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, 2)}, ran.stdout


def clone_of(commit, tree):
    """Makes the folder `tree` a clone of this repository with this commit. Returns the commit's short name."""
    subprocess.run(["git", "clone", "--quiet", ROOT, tree], check=True)
    subprocess.run(["git", "-C", tree, "checkout", "--quiet", commit], check=True)
    return subprocess.run(["git", "-C", tree, "rev-parse", "--short=12", "HEAD"], check=True, capture_output=True,
                          text=True).stdout.strip()


@contextlib.contextmanager
def work_folder(parent):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-bench-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# Settings for Open MPI: more ranks than processors and the user root are permitted; messages use only the loopback
# device.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none"}


def called(command, **environment):
    """Runs a command of MPI, and returns its standard output. If the command fails, ends this program with its
    output."""
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, env={**os.environ, **MPI, **environment})
    if run.returncode != 0:
        sys.exit(f"{sys.argv[0]}: {' '.join(map(str, command))}: status {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


@contextlib.contextmanager
def analyzers_of(bin_dir, *nodes):
    """Returns a context manager that starts an analyzer for one run for each (pool, socket, more arguments). It waits
    until the analyzers end, and kills them if the body fails."""
    analyzers = [subprocess.Popen([bin_dir / "ringside-analyzer", f"--socket={socket}", f"--pool={pool}", "--once",
                                   "--durability=process", "--telemetry=off", *more]) for pool, socket, *more in nodes]
    try:
        yield
        for analyzer in analyzers:
            analyzer.wait(60)
    finally:
        for analyzer in analyzers:
            if analyzer.poll() is None:
                analyzer.kill()
                analyzer.wait()


# A calibration of the user would affect how runs reduce, so none is found.
UNCALIBRATED = {**os.environ, "XDG_CACHE_HOME": "/nonexistent"}


def ringside_run(bin_dir, work, *arguments, peaks=None, env=UNCALIBRATED):
    """Makes one quiet `ringside run` with a fresh pool in `work`, and removes the pool afterwards. Returns the summary.
    Adds the peak memory of each process to the dictionary `peaks`."""
    summary = work / "summary.json"
    pool = work / "bench.pool"
    remove_pool(pool)
    command = [bin_dir / "ringside", "run", "--quiet", f"--pool={pool}", f"--summary={summary}", *arguments]
    with subprocess.Popen(command, env=env) as run:
        while peaks is not None and run.poll() is None:
            note_peaks(children_of(run.pid), peaks)
            time.sleep(0.005)
    remove_pool(pool)
    if run.returncode != 0:
        raise subprocess.CalledProcessError(run.returncode, command)
    return json.loads(summary.read_text())


def run_program(bin_dir, pool, program, *arguments, durability="process", env=UNCALIBRATED):
    """Makes a `ringside run` of a user's program, with a fresh pool, which is not removed."""
    remove_pool(pool)
    subprocess.run([bin_dir / "ringside", "run", "--quiet", f"--durability={durability}", f"--pool={pool}", *arguments, "--",
                    *map(str, program)], check=True, env=env)


def children_of(pid):
    """Returns {name: process id} of a process's children. The kernel lists children by the thread that started them."""
    found = {}
    for listed in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in listed.read_text().split():
                found[pathlib.Path(f"/proc/{child}/comm").read_text().strip()] = int(child)
    return found


def note_peaks(processes, peaks):
    """Raises peaks[name] to the current values of each {name: process id}. The values are the bytes that are resident
    in total (the kernel keeps this peak), private, shared, and mapped from files."""
    for name, pid in processes.items():
        with contextlib.suppress(OSError):
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            of_this = peaks.setdefault(name, {})
            for key in ("VmHWM", "RssAnon", "RssShmem", "RssFile"):
                found = re.search(rf"{key}:\s+(\d+) kB", status)
                if found:
                    of_this[key] = max(of_this.get(key, 0), int(found.group(1)) * 1024)


def remove_pool(pool):
    for path in pool.parent.glob(pool.name + "*"):  # includes the journal
        path.unlink()


def path_of(matrix):
    """Returns the matrix as it was given, or the path of the test data's graph with this name."""
    graph = TEST_DATA / "graphs" / matrix
    return str(graph) if not pathlib.Path(matrix).exists() and graph.exists() else matrix


def read_json(path):
    """Reads FILE, or with FILE#PART only this part of the file. Returns {} if there is no such file."""
    file, _, part = str(path).partition("#")
    found = json.loads(pathlib.Path(file).read_text(encoding="utf-8")) if pathlib.Path(file).exists() else {}
    return found.get(part, {}) if part else found


def write_json(document, output):
    if output:
        file, _, part = str(output).partition("#")
        whole = read_json(file) | {part: document} if part else document
        pathlib.Path(file).write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
