#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes format_2.tar.xz: pools of ring format 2, their journals, and what the release that made them prints about them.

    python3 tests/data/make_format_2.py BIN [ARCHIVE]

BIN contains the programs of a release that writes format 2; another release is refused. The archive is made once and
kept, because run ids, times and the counts of a killed run differ from run to run. Needs strace, which kills an
analyzer at a chosen system call, GNU tar, xz, fallocate, and libpmemlog in the build.
"""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

from format_2_test import ARCHIVE, run, values_of

SIDE = 10  # the side of the grid whose 5-point Laplacian is solved by Jacobi


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    archive = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ARCHIVE).resolve()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / "format_2"
        folder.mkdir()
        make_pools(Maker(programs, folder))
        (folder / "poisson.mtx").unlink()
        outputs = {"release": run(programs, ["--version"], folder)[1].strip(), "commands": []}
        for words in commands():
            outputs["commands"].append(kept_output(programs, words, folder))
        (folder / "outputs.json").write_text(json.dumps(outputs, indent=1), encoding="utf-8")
        pack(folder, archive)
    print(f"{archive}: {archive.stat().st_size} bytes, {len(outputs['commands'])} commands, release {outputs['release']}")


class Maker:
    def __init__(self, programs, folder):
        self.programs = programs
        self.folder = folder

    def solve(self, pool, *options, before=(), expected=0):
        """Runs `ringside run`; `before` has words that precede it on the command line."""
        words = [*before, self.programs / "ringside", "run", f"--pool={pool}", "--quiet", *options]
        code = subprocess.run(words, cwd=self.folder, check=False).returncode
        if code != expected:
            sys.exit(f"make_format_2: {pool}: ringside run ended with {code}, expected {expected}")

    def info(self, pool):
        return json.loads(run(self.programs, ["info", pool, "--json"], self.folder)[1])


def killed_at_sync(number):
    """Words before a command, so that the program is killed when one of its threads makes its `number`-th fdatasync."""
    return ["strace", "-f", "-o/dev/null", "-etrace=fdatasync", f"-einject=fdatasync:signal=KILL:when={number}"]


def make_pools(maker):
    # The ring has wrapped several times. The journal is in plain files.
    maker.solve("wrapped.pool", "--matrix=grid:12", "--iterations=30", "--slots=4", "--journal=file")
    version = maker.info("wrapped.pool")["format_version"]
    if version != 2:
        sys.exit(f"make_format_2: {maker.programs}: writes format {version}, expected a release that writes format 2")

    # The analyzer was killed at the hundredth sync of its disk thread, in the middle of a run. A resumed run continued the
    # copy: the ring then holds five iterates of the first life and three of the second.
    maker.solve("killed.pool", "--matrix=grid:12", "--iterations=1000000", "--slots=8", "--journal=file",
                "--on-analyzer-loss=stop", before=killed_at_sync(100), expected=4)
    for kept in list(maker.folder.glob("killed.pool*")):
        shutil.copy(kept, maker.folder / kept.name.replace("killed", "resumed"))
    last = maker.info("killed.pool")["iterates"][-1]["iteration"]
    maker.solve("resumed.pool", "--matrix=grid:12", f"--iterations={last + 3}", "--slots=8", "--resume")

    # Jacobi: every seventh iterate and the last one are kept, which leaves two slots empty. The journal uses
    # libpmemlog.
    (maker.folder / "poisson.mtx").write_text(poisson(), encoding="ascii")
    maker.solve("jacobi.pool", "--solver=jacobi", "--matrix=poisson.mtx", "--iterations=18", "--every=7", "--slots=5",
                "--journal=pmemlog", "--journal-size=4M", "--reduce=transfer", "--durability=process")

    # The newest iterate has two chunks; the second one has a wrong byte. There is no journal.
    maker.solve("damaged.pool", "--matrix=grid:50", "--iterations=5", "--slots=3", "--journal=off")
    slot = maker.info("damaged.pool")["iterates"][-1]["slot"]
    flip_byte(maker.folder / "damaged.pool", slot, 16384 + 1000)

    # The analyzer was killed before its first fdatasync: both superblocks are written, but neither formatted word.
    maker.solve("unfinished.pool", "--matrix=grid:12", "--iterations=30", "--slots=4", "--on-analyzer-loss=stop",
                before=killed_at_sync(1), expected=4)


def poisson():
    """The matrix of the negative Laplacian on SIDE x SIDE inner points, as a symmetric MatrixMarket file, which
    contains the lower triangle."""
    entries = []
    for i in range(SIDE * SIDE):
        if i >= SIDE:
            entries.append(f"{i + 1} {i + 1 - SIDE} -1")
        if i % SIDE > 0:
            entries.append(f"{i + 1} {i} -1")
        entries.append(f"{i + 1} {i + 1} 4")
    head = f"%%MatrixMarket matrix coordinate real symmetric\n{SIDE * SIDE} {SIDE * SIDE} {len(entries)}\n"
    return head + "\n".join(entries) + "\n"


def flip_byte(pool, slot, at):
    """Flips the lowest bit of the byte `at` of a slot's payload (docs/formats/ring_format.md, section 2)."""
    data = bytearray(pool.read_bytes())
    superblock = next(page for page in range(0, len(data), 4096) if data[page : page + 8] == b"RSRING01")
    payload = struct.unpack_from("<Q", data, superblock + 136 + 16 * slot + 8)[0]
    data[payload + at] ^= 1
    pool.write_bytes(data)


def commands():
    """The commands whose output, or exported file, is stored in the archive for each pool. Paths are relative, so that
    no output depends on the folder."""
    for name in ("wrapped", "killed", "resumed", "jacobi", "damaged", "unfinished"):
        pool = f"{name}.pool"
        for command in ("info", "verify", "replay"):
            yield [command, pool, "--json"]
        yield ["tail", "--pool", pool, "--json"]
        for suffix in ("npy", "csv"):
            yield ["export", pool, "--format", suffix, "--output", f"exported/{name}.{suffix}"]
        yield ["report", pool, "--output", f"pages/{name}.html"]
    yield ["export", "damaged.pool", "--iteration", "4", "--output", "exported/damaged_4.npy"]


def kept_output(programs, words, folder):
    for to in ("exported", "pages"):
        (folder / to).mkdir(exist_ok=True)
    code, printed, error = run(programs, words, folder)
    kept = {"words": words, "exit_code": code, "error": error}
    if "--json" in words:
        kept["values"] = values_of(printed)
        for value in kept["values"]:
            if words[0] == "info":
                del value["storage"]  # it depends on the folder in which the pool is now
    shutil.rmtree(folder / "pages")  # a page shows more than the pool's content; its exit code is enough
    return kept


def pack(folder, archive):
    for pool in folder.glob("*.pool*"):
        subprocess.run(["fallocate", "--dig-holes", pool], check=True)  # tar looks for zeros only in files with holes
    tar = ["tar", "--create", "--sparse", "--hole-detection=raw", "--format=gnu", "--sort=name", "--owner=0", "--group=0",
           "--numeric-owner", "--mtime=@0", "--mode=u=rwX,go=", f"--directory={folder.parent}", folder.name]
    packed = subprocess.run(tar, check=True, stdout=subprocess.PIPE).stdout
    archive.write_bytes(subprocess.run(["xz", "-9e"], input=packed, check=True, stdout=subprocess.PIPE).stdout)


if __name__ == "__main__":
    main()
