#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the speed of this build with that of an earlier one. Makes whole runs of both in turn, with the same
matrices.

--before gives the folder of the other build's programs. Each pair is two runs with a fresh pool; ratios are taken
within a pair. Both must end with the same change and the same reductions of the last iterate, bit for bit, unless
--other-bits states that a release changed them. Writes JSON (see docs/inside/benchmarking.md)."""

import pathlib
import subprocess
import sys

from measuring import confidence, document_of, in_turn, others_share, parser_of, path_of, ratio, ringside_run, spread, work_folder

MATRICES = ("grid:2000",)
SHOWN = ("total_s", "generate_s", "transfer_s", "analyze_s", "producer_idle_s")


def version_of(bin_dir):
    return subprocess.run([bin_dir / "ringside", "--version"], check=True, capture_output=True, text=True).stdout.strip()


def build_of(bin_dir):
    """Returns the build of the programs in the folder: their version, and the commit of the checkout that contains the
    folder."""
    commit = subprocess.run(["git", "-C", bin_dir, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return {"version": version_of(bin_dir), "commit": commit.stdout.strip() or "unknown"}


def last_of(summary):
    """Returns the values that identify a run's last iterate. It leaves out the results by name, because release 0.2
    does not have them."""
    last = {key: value for key, value in summary["last"].items() if key != "results"}
    return {key: summary[key] for key in ("iterations", "residual_l1", "residual_linf")} | {"last": last}


def measure(options):
    programs = {"now": options.bin, "before": options.before.resolve()}
    builds = {name: build_of(folder) for name, folder in programs.items()}
    with document_of(options, "releases", 2, builds=builds, results=[]) as document:
        for matrix in options.matrices:
            arguments = [f"--matrix={path_of(matrix)}", f"--iterations={options.iterations}", f"--durability={options.durability}"]
            result = {"matrix": pathlib.Path(matrix).name, "arguments": arguments[1:]}
            with work_folder(options.pool_dir) as work, others_share(result):
                rounds = in_turn({name: lambda folder=folder: ringside_run(folder, work, *arguments)
                                  for name, folder in programs.items()}, options.pairs)
            for pair in rounds:
                if not options.other_bits and last_of(pair["now"]) != last_of(pair["before"]):
                    sys.exit(f"bench/releases.py: {matrix}: found {last_of(pair['now'])}, "
                             f"expected as before {last_of(pair['before'])}")
            result["now_over_before"] = ratio(rounds, "now", "before", lambda summary: summary["total_s"])
            result["seconds"] = {name: {key: spread([pair[name][key] for pair in rounds]) for key in SHOWN}
                                 for name in programs}
            document["results"].append(result)
    return document


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--before", type=pathlib.Path, required=True, help="folder of the other build's programs")
    parser.add_argument("--matrices", nargs="+", default=MATRICES,
                        help=f"matrices as for ringside run, or files of the test data's graphs (default: {' '.join(MATRICES)})")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--durability", default="process", choices=("process", "power"), help="default: process")
    parser.add_argument("--pairs", type=int, default=15, help="measured pairs of runs (default 15)")
    parser.add_argument("--other-bits", action="store_true", help="accept that the results of the builds differ")
    for result in measure(parser.parse_args())["results"]:
        found = result["now_over_before"]
        print(f"{result['matrix']:<24} now ÷ before: {confidence(found)}, {found['repeats']} pairs")


if __name__ == "__main__":
    main()
