#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long deploy/test.sh --all takes, and each of its stages: with an empty compiler cache, then with the one that this left.

Runs it in a fresh clone of each commit. The machine should do nothing else. Packages, the virtual node's image and what the
tests fetch should be there from an earlier run, so that no download is measured. Writes JSON (see docs/inside/benchmarking.md)."""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from measuring import ROOT, machine_header, others_share, work_folder, write_json


def measured(tree, cache):
    """Runs test.sh --all in the tree; returns its times, by stage and as a whole, in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ran = subprocess.run([tree / "deploy/test.sh", "--all"], cwd=tree, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, env={**os.environ, "CCACHE_DIR": str(cache)})
    if ran.returncode != 0:
        sys.exit(f"bench/ci_time.py: {tree / 'deploy/test.sh'} --all failed:\n{ran.stdout[-4000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall_s": round(time.monotonic() - began),
            "processor_s": round(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime),
            "stages_s": {title: int(seconds) for seconds, title in re.findall(r"^ *(\d+) s  (.+)$", ran.stdout, re.M)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="*", default=["HEAD"], help="default: HEAD")
    parser.add_argument("--output", help="JSON file to write")
    options = parser.parse_args()
    document = {"benchmark": "ci_time", "results": []}
    for commit in options.commits:
        with work_folder(tempfile.gettempdir()) as work:
            work.chmod(0o755)  # some tests run programs as another user
            found = {"commit": subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", commit], check=True,
                                              capture_output=True, text=True).stdout.strip()}
            tree = pathlib.Path(work) / "tree"  # one path: the compiler cache keeps it, as that of a machine for CI does
            for kind in ("cold", "warm"):
                shutil.rmtree(tree, ignore_errors=True)
                subprocess.run(["git", "clone", "--quiet", ROOT, tree], check=True)
                subprocess.run(["git", "-C", tree, "checkout", "--quiet", commit], check=True)
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
