#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares two builds, BEFORE and AFTER: how fast they are, how long they take to compile, and how large they are.

Each of the two is a commit, or a folder of built programs; the default of AFTER is the folder --bin. A commit is
checked out and built in a git worktree of --work, which is kept for the next comparison.

The measurements take turns: whole runs of a built-in solver, kernels, small steps, and the compilation of single
sources. In each round, every measurement is made once with each build, one directly after the other; ratios are taken
within such a pair. Rounds are repeated for --minutes. Both builds must compute the same results of each run's last
step, bit for bit, unless --other-bits states that a change intends other ones. What a build lacks is reported as
absent. Prints a table, and writes JSON (see docs/inside/benchmarking.md)."""

import itertools
import json
import os
import pathlib
import sys
import tempfile
import time

from build_time import measure_commit
from measuring import ROOT, document_of, parser_of, work_folder
from two_builds import sizes, table, timings
from two_builds.build import build_of, commit_of, differing_settings, say

PARTS = ("runs", "kernels", "steps", "compile", "sizes")
MATRICES = ("grid:2000",)
LEAST_ROUNDS = 6  # the fewest for a 95 % confidence interval


def compare_results(measurement, found):
    """Ends the program if a result that both builds have differs in any bit."""
    before, after = ({key: json.dumps(value) for key, value in found[side].items()} for side in table.SIDES)
    differing = [f"{key}: found {after[key]}, expected as before {before[key]}" for key in before
                 if after.get(key, before[key]) != before[key]]
    if differing:
        sys.exit(f"{sys.argv[0]}: {measurement.part}, {measurement.name}: other results of the last step (--other-bits "
                 f"accepts them): {'; '.join(differing)}")


def measured_pair(measurement, builds, order, options):
    """Makes a measurement with both builds. Returns {side: figures}, and {side: reason} for a side that lacks what the
    measurement needs."""
    figures, results, absent = {}, {}, {}
    with work_folder(options.pool_dir) as work:
        for side in order:
            try:
                figures[side], results[side] = measurement.measure(builds[side], work)
            except timings.Absent as reason:
                absent[side] = str(reason)
    if not absent and not options.other_bits:
        compare_results(measurement, results)
    return figures, absent


def measured_rounds(measurements, builds, options):
    """Makes rounds until the time is over, after one round that does not count. Returns {measurement: its pairs},
    {measurement: {side: reason}} for the absent ones, and the number of rounds."""
    pairs, absent = {one: [] for one in measurements}, {}

    def is_open(one):
        return one not in absent and len(pairs[one]) != one.most_pairs

    deadline = time.monotonic() + 60 * options.minutes
    for number in itertools.count(-1):
        began = time.monotonic()
        for one in filter(is_open, measurements):
            if number < 0 and one.most_pairs:
                continue  # it is long, and needs no warm-up
            order = table.SIDES if len(pairs[one]) % 2 else table.SIDES[::-1]
            pair, lacking = measured_pair(one, builds, order, options)
            if lacking:
                absent[one] = lacking
            elif number >= 0:
                pairs[one].append(pair)
        ended = time.monotonic()
        say(f"{'warm-up' if number < 0 else f'round {number + 1}'}: {ended - began:.0f} s")
        over = number + 1 >= LEAST_ROUNDS and ended + (ended - began) > deadline
        if number + 1 == options.rounds or (over and not options.rounds) or not any(map(is_open, measurements)):
            return pairs, absent, number + 1


def timed_rows(measurements, pairs, absent):
    """Returns the rows of the timed parts, in the order of the parts."""
    parts = list(dict.fromkeys(one.part for one in measurements))
    rows = [row for one in measurements
            for row in ([table.absent_row(one, absent[one])] if one in absent else table.timed_rows(one, pairs[one]))]
    return sorted(rows, key=lambda row: parts.index(row["part"]))


def whole_builds(builds):
    """Returns the rows of a whole build of both commits, and of building again after a change of one file."""
    found = {side: {} for side in table.SIDES}
    for side, build in builds.items():
        if not commit_of(build.commit):
            say(f"{side}: found {build.commit}, expected a commit: its whole build is not measured")
            continue
        with work_folder(tempfile.gettempdir()) as work:
            times = measure_commit(build.commit, work, os.cpu_count())
        found[side] = {(f"{what}, {kind} time", "s"): taken[key]
                       for what, taken in (("all programs", times["build"]), *times["after_touching"].items())
                       for kind, key in (("processor", "processor_s"), ("wall", "wall_s"))}
    return table.exact_rows("building", found)


def sizes_rows(builds):
    with work_folder(tempfile.gettempdir()) as work:
        return table.exact_rows("sizes", {side: sizes.sizes_of(build, work) for side, build in builds.items()})


def report(document, builds, options):
    """Prints the table, with the names of the builds and what a reader needs to judge the figures."""
    rows, machine = document["results"], document["machine"]
    form = table.markdown if options.markdown else table.text
    lines = [f"{side.upper()} {build.name}" for side, build in builds.items()]
    lines += [f"settings differ: {text}" for text in differing_settings(builds["before"], builds["after"])]
    lines.append(f"{machine['cpu']}, {machine['cores_allowed']} cores, {document['rounds']} round(s); other programs "
                 f"took {100 * document['processor_time_of_others']:.0f} % of the processor time")
    lines += [table.summary(rows), form(rows)]
    print(("\n\n" if options.markdown else "\n").join(lines))


def options_of(arguments=None):
    parser = parser_of(__doc__)
    parser.add_argument("before", metavar="BEFORE", help="commit, or folder of built programs")
    parser.add_argument("after", metavar="AFTER", nargs="?",
                        help="commit, or folder of built programs (default: the programs of --bin)")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS, help="what to compare (default: all)")
    parser.add_argument("--minutes", type=float, default=9,
                        help="time of the rounds, of which there are at least 6 (default 9); building does not count")
    parser.add_argument("--rounds", type=int, help="make this number of rounds instead")
    parser.add_argument("--isa", nargs="+", choices=("plain", "avx2", "avx512"),
                        help="instruction sets of the kernels (default: the widest one of this processor)")
    parser.add_argument("--matrices", nargs="+", default=MATRICES,
                        help="matrices of the whole runs, as for ringside run, or files of the test data's graphs "
                             f"(default: {' '.join(MATRICES)})")
    parser.add_argument("--iterations", type=int, default=100, help="iterations of a whole run (default 100)")
    parser.add_argument("--durability", default="process", choices=("process", "power"),
                        help="durability of a whole run (default: process)")
    parser.add_argument("--other-bits", action="store_true", help="accept that the results of the builds differ")
    parser.add_argument("--sources", nargs="+", default=timings.SOURCES,
                        help=f"sources whose compilation is timed (default: {' '.join(timings.SOURCES)})")
    parser.add_argument("--whole-build", action="store_true",
                        help="also time a build of both commits without a compiler cache, as bench/build_time.py does: "
                             "this takes ten minutes more")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/releases",
                        help="folder of the worktrees (default: build/releases)")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    return parser.parse_args(arguments)


def main():
    options = options_of()
    builds = {side: build_of(side, given, options.work)
              for side, given in (("before", options.before), ("after", options.after or options.bin))}
    options.bin = builds["after"].bin  # the machine's header names its compiler
    measurements = timings.measurements_of(options)
    heads = {side: build.head() for side, build in builds.items()}
    with document_of(options, "releases", 2, builds=heads, results=[]) as document:
        pairs, absent, document["rounds"] = measured_rounds(measurements, builds, options)
        document["results"] += timed_rows(measurements, pairs, absent)
        document["results"] += whole_builds(builds) if options.whole_build else []
        document["results"] += sizes_rows(builds) if "sizes" in options.parts else []
    report(document, builds, options)


if __name__ == "__main__":
    main()
