# SPDX-License-Identifier: BSD-3-Clause
"""Memory larger than DRAM on a node with Debian's own kernel, which cannot move pages (UFFDIO_MOVE exists since Linux
6.8), and with far memory on an NVDIMM, which is used in place."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = "/var/lib/ringside/pmem"
# The program that compares an arena with ordinary memory in several threads (tests/unit/memory/oracle_main.cpp).
ORACLE = ROOT / "build" / "release" / "bin" / "memory_oracle"
SOLVE = "ringside run --matrix grid:250 --solver pagerank --matrix-format csr --iterations 30 --mode dram --quiet --summary -"


def programs():
    """The programs that the machine needs in addition to the packages. A program that is not built is missing on the
    machine, and then its check fails."""
    return [ORACLE] if ORACLE.exists() else []


def _solved(node, options=""):
    return json.loads(node.must(f"{SOLVE} {options}"))


def check_far_memory(story, node):
    """Requires that the NVDIMM's file system is mounted with dax."""
    ordinary, far = _solved(node), _solved(node, f"--matrix-memory far:{FOLDER} --dram-limit 1M")
    in_place = far["matrix_in_place_bytes"]
    story.check(f"a matrix of {far['matrix_far_bytes']:,} bytes on the NVDIMM with 1 MiB of DRAM is used in place",
                in_place > far["dram_limit_bytes"], far)
    story.equal("and the solver's result has the same bits", far["last"], ordinary["last"])
    words = "seq 1 120000 | rev >/tmp/words"
    sort = "sort --buffer-size=16M /tmp/words | sha256sum"
    expected = node.must(f"{words}; {sort}")
    story.equal("sort has the same output with 16 MiB of data and 2 MiB of DRAM", node.must(
        f"ringside-memory run --dram 2M --far {FOLDER} --quiet -- {sort}"), expected)
    story.check("the comparison of an arena with plain memory is built", ORACLE.exists(),
                f"{ORACLE} is missing: cmake --build --preset release --target memory_oracle")
    for what, arguments in (("on tmpfs, by copies", "/dev/shm signal 0 0 150 3 1"),
                            ("on the NVDIMM, by copies", f"{FOLDER} signal 0 0 150 3 2 2"),
                            ("on the NVDIMM, in place", f"{FOLDER} signal 0 0 150 3 3 1")):
        printed = node.must(f"/root/memory_oracle {arguments}")
        story.check(f"an arena {what} holds what plain memory holds", printed.startswith("same: "), printed)
