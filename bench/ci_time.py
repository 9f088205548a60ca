#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time of deploy/test.sh --all and of each of its stages, first with an empty compiler cache, and then
with the cache that the first run filled.

Runs test.sh in a fresh clone of each commit. No other program should use the machine. Packages, the virtual node's
image and the tests' downloads should exist from an earlier run, so that no download is measured. Writes JSON (see
docs/inside/benchmarking.md)."""

import pathlib
import re
import shutil
import tempfile

from measuring import clone_of, machine_header, others_share, parser_of, timed, work_folder, write_json


def measured(tree, cache):
    """Runs test.sh --all in the tree. Returns the times in seconds, by stage and in total."""
    taken, said = timed([tree / "deploy/test.sh", "--all"], tree, CCACHE_DIR=str(cache))
    return {**{key: round(seconds) for key, seconds in taken.items()},
            "stages_s": {title: int(seconds) for seconds, title in re.findall(r"^ *(\d+) s  (.+)$", said, re.M)}}


def main():
    parser = parser_of(__doc__, pool_dir=None)
    parser.add_argument("commits", nargs="*", default=["HEAD"], help="default: HEAD")
    options = parser.parse_args()
    document = {"benchmark": "ci_time", "results": []}
    for commit in options.commits:
        with work_folder(tempfile.gettempdir()) as work:
            work.chmod(0o755)  # some tests run programs as another user
            found = {}
            tree = pathlib.Path(work) / "tree"  # always the same path, so that the compiler cache is used, as in CI
            for kind in ("cold", "warm"):
                shutil.rmtree(tree, ignore_errors=True)
                found["commit"] = clone_of(commit, tree)
                found[kind] = {}
                with others_share(found[kind]):
                    found[kind] |= measured(tree, pathlib.Path(work) / "ccache")
                found["machine"] = machine_header(tree / "build/release/bin")
                print(f"{found['commit']} {kind}: {found[kind]['wall_s'] / 60:.1f} min, "
                      f"{found[kind]['processor_s'] / 60:.1f} min of processor time", flush=True)
        document["results"].append(found)
    write_json(document, options.output)


if __name__ == "__main__":
    main()
