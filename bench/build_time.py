#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how long it takes to compile the programs without a compiler cache: from scratch, and after a change of one
file.

Builds the programs of a run in a fresh clone of each commit. No other program should use the machine. Writes JSON (see
docs/inside/benchmarking.md)."""

import os
import pathlib
import tempfile

from measuring import clone_of, machine_header, others_share, parser_of, timed, work_folder, write_json

PROGRAMS = ("ringside", "ringside-producer", "ringside-analyzer", "ringside-export")
# Sources from three folders of cli, and the header of the hand-off, which producer and analyzer include.
TOUCHED = ("cli/run/run.cpp", "cli/watch/tail.cpp", "cli/pool/info.cpp", "common/handoff/handoff_layout.hpp")
# The sources of the programs: if they have grown, tests/bench/claims_test.py requires a new measurement.
SOURCES = ("proto", "include", "common", "library", "producer", "analyzer", "memory", "node", "cli")


def source_lines(tree):
    """Returns the number of lines in the product's C++ sources and headers below the folder `tree`."""
    return sum(path.read_bytes().count(b"\n") for folder in SOURCES for path in sorted((tree / folder).rglob("*.[ch]pp")))


def built(command, tree):
    return timed(command, tree, CCACHE_DISABLE="1")[0]


def measure_commit(commit, work, jobs):
    tree = work / "tree"
    found = {"commit": clone_of(commit, tree)}
    programs = PROGRAMS if (tree / "cli/programs").is_dir() else PROGRAMS[:-1]  # before that, ringside exported
    build = ["cmake", "--build", "--preset", "release", "--parallel", str(jobs), "--target", *programs]
    found["source_lines"] = source_lines(tree)
    found["configure"] = built(["cmake", "--preset", "release", "-DRINGSIDE_WARNINGS=OFF"], tree)  # as quickstart.sh
    found["machine"] = machine_header(tree / "build/release/bin")
    with others_share(found):
        found["build"] = built(build, tree)
    found["after_touching"] = {}
    for name in TOUCHED:
        # Before cli had subfolders, its files were in one folder.
        path = next((path for path in (tree / name, tree / "cli" / pathlib.Path(name).name) if path.is_file()), None)
        if path:
            path.touch()
            found["after_touching"][str(path.relative_to(tree))] = built(build, tree)
    return found


def main():
    parser = parser_of(__doc__, pool_dir=None)
    parser.add_argument("commits", nargs="*", default=["HEAD"], help="default: HEAD")
    parser.add_argument("--repeats", type=int, default=1, help="builds of each commit, in turn (default 1: they take minutes)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    document = {"benchmark": "build_time", "targets": PROGRAMS, "results": []}
    for commit in options.commits * options.repeats:  # in turn
        with work_folder(tempfile.gettempdir()) as work:
            found = measure_commit(commit, work, options.jobs)
        document["results"].append(found)
        touched = ", ".join(f"{figures['wall_s']} s" for figures in found["after_touching"].values())
        print(f"{found['commit']}: {found['build']['processor_s']} s of processor time, {found['build']['wall_s']} s; "
              f"after touching {', '.join(found['after_touching'])}: {touched}")
    write_json(document, options.output)


if __name__ == "__main__":
    main()
