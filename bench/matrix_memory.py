#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time of an iteration whose matrix is larger than its DRAM limit (docs/inside/memory_mode.md, "The
producer's matrix").

Makes whole runs of ringside-producer --mode dram in turn. The matrix is in DRAM; in far memory in each folder of --far,
with --dram-limit set to a quarter of the matrix; or mapped from its cache (--cache), in a cgroup that leaves the same
DRAM for the mapping. The last kind needs root and a memory cgroup of version 1. All runs must end with the same bits.
Writes JSON (docs/inside/benchmarking.md)."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

from measuring import confidence, document_of, in_turn, parser_of, ratio, spread, work_folder

GROUPS = pathlib.Path("/sys/fs/cgroup/memory")
SLACK = 8 << 20  # for page tables
READ_FROM_THE_MATRIX = ("csr", "bands")  # the other formats are copies, so a mapped cache is read only once


def own_group():
    """Returns the folder of this process's memory cgroup of version 1, if this process can create groups there."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        folder = GROUPS / path.lstrip("/")
        if "memory" in controllers.split(",") and os.access(folder, os.W_OK):
            return folder
    return None


@contextlib.contextmanager
def group_of(limit):
    """A cgroup with this limit in bytes; None means no limit."""
    folder = own_group() / f"matrix-memory-{os.getpid()}"
    folder.mkdir()
    try:
        if limit is not None:
            (folder / "memory.limit_in_bytes").write_text(str(limit))
        yield folder
    finally:
        for _ in range(100):
            try:
                folder.rmdir()
                break
            except OSError:  # the kernel has not yet removed the process from the cgroup
                time.sleep(0.05)


def final_of(out):
    reports = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return next(report for report in reports if report["event"] == "final")


def run(options, *more, group=None):
    """Makes a run. Returns the producer's final report."""
    command = [options.bin / "ringside-producer", "--mode=dram", f"--matrix={options.matrix}", f"--solver={options.solver}",
               f"--iterations={options.iterations}", f"--matrix-format={options.matrix_format}", "--report-fd=1", *more]
    enter = (lambda: (group / "cgroup.procs").write_text("0")) if group else None
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, preexec_fn=enter)
    if ran.returncode != 0:
        sys.exit(f"bench/matrix_memory.py: {command}: found exit code {ran.returncode}, expected 0")
    return final_of(ran.stdout)


def far(options, folder, limit):
    return run(options, f"--matrix-memory=far:{folder}", f"--dram-limit={limit}")


def forget(work):
    """Drops the page cache of the folder's files, because a cgroup is charged only for pages that its processes
    read."""
    for path in work.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def private_peak(options, work):
    """Returns the peak private memory (bytes) of a run with a cache, as its cgroup reports it."""
    with group_of(None) as group:
        command = [options.bin / "ringside-producer", "--mode=dram", f"--matrix={options.matrix}", f"--solver={options.solver}",
                   "--iterations=3", f"--matrix-format={options.matrix_format}", "--cache", f"--cache-dir={work}"]
        running = subprocess.Popen(command, preexec_fn=lambda: (group / "cgroup.procs").write_text("0"))
        peak = 0
        while running.poll() is None:
            stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
            peak = max(peak, int(stat["rss"]))
            time.sleep(0.02)
    return peak


def mapped(options, work, limit):
    forget(work)
    with group_of(limit) as group:
        return run(options, "--cache", f"--cache-dir={work}", group=group)


def measure(options):
    size = far(options, options.far[0], 1 << 30)["matrix_far_bytes"]
    limit = options.dram_limit or max(size // 4 // 4096 * 4096, 1 << 20)
    head = {"matrix": options.matrix, "solver": options.solver, "matrix_format": options.matrix_format, "matrix_bytes": size,
            "dram_limit_bytes": limit, "iterations": options.iterations, "far": options.far, "load_average": os.getloadavg()}
    with document_of(options, "matrix_memory", **head) as document, work_folder(options.pool_dir) as work:
        ways = {"dram": lambda: run(options)}
        for folder in options.far:
            ways[f"far {folder}"] = lambda folder=folder: far(options, folder, limit)
        ways["far, all fits"] = lambda: far(options, options.far[0], 2 * size + (64 << 20))
        if options.matrix_format in READ_FROM_THE_MATRIX and own_group():
            run(options, "--cache", f"--cache-dir={work}")
            cgroup = private_peak(options, work) + limit + SLACK
            document["cgroup_limit_bytes"] = cgroup
            ways["mapped cache"] = lambda: mapped(options, work, cgroup)
        rounds = in_turn(ways, options.repeats)
        for found in rounds:
            for way, report in found.items():
                if report["last"] != found["dram"]["last"]:
                    sys.exit(f"bench/matrix_memory.py: {way}: found {report['last']}, expected {found['dram']['last']}")
        document["results"] = {
            way: {"iteration_s": spread([found[way]["generate_s"] / options.iterations for found in rounds]),
                  "load_s": spread([found[way]["load_s"] for found in rounds]),
                  "over_dram": ratio(rounds, way, "dram", lambda report: report["generate_s"])} |
                 ({"faults": spread([found[way]["matrix_faults"] for found in rounds]),
                   "far_read_bytes": spread([found[way]["matrix_far_read_bytes"] for found in rounds])}
                  if way.startswith("far") else {})
            for way in rounds[0]}
    return document


def main():
    parser = parser_of(__doc__, pools="the matrix's cache, on a disk", pool_dir="/var/tmp", repeats=5)
    parser.add_argument("--matrix", default="grid:2000")
    parser.add_argument("--solver", default="pagerank")
    parser.add_argument("--matrix-format", default="csr", help="format (default: csr, with which each iterate reads the whole matrix)")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--dram-limit", type=int, help="limit in bytes (default: a quarter of the matrix)")
    parser.add_argument("--far", nargs="+", default=["/dev/shm", "/var/tmp"],
                        help="folders of far memory (default: /dev/shm /var/tmp)")
    document = measure(parser.parse_args())
    print(f"{document['matrix']}, {document['matrix_bytes'] / 1e6:.0f} MB, {document['dram_limit_bytes'] / 1e6:.0f} MB of DRAM")
    for way, found in document["results"].items():
        print(f"{way:<16} {confidence(found['iteration_s'])} s an iteration, ÷ dram {confidence(found['over_dram'])}, "
              f"loading {confidence(found['load_s'])} s")


if __name__ == "__main__":
    main()
