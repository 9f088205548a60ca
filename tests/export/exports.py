# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of `ringside export`: pools with every dtype, exports of these pools, and the npy exports with
which all other formats are compared bit by bit. The tests take the folder of the programs; the readers are Debian's
packages, or pip has installed them into the folder that --readers names."""

import atexit
import pathlib
import shutil
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
STEPS, SLOTS = 12, 8
KEPT = list(range(STEPS - SLOTS + 1, STEPS + 1))
VARIABLES = {"u": (6, 5, 4), "f32": (6, 5, 4), "c64": (6, 5, 4), "c128": (7,), "i8": (6, 5), "i16": (9,), "i32": (9,),
             "i64": (9,), "u8": (2, 3, 2, 3), "u16": (9,), "u32": (9,), "u64": (9,), "alpha": (), "iteration": (3,),
             "results": (3,)}
WORK = pathlib.Path(tempfile.mkdtemp(prefix="ringside-export-"))
atexit.register(shutil.rmtree, WORK, ignore_errors=True)


def modules_or_skip(*names):
    """Returns the modules. If one is missing, ends the test as skipped."""
    found = []
    for name in names:
        try:
            found.append(__import__(name, fromlist=["_"]))
        except ImportError as error:
            print(f"skipped: {sys.executable} has no {name} ({error}); deploy/test.sh --all installs it")
            sys.exit(77)
    return found


def call(*words, program="ringside", **options):
    return subprocess.run([str(BIN / program), *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=100, check=False, **options)


def run_of(pool, *program, slots=SLOTS):
    return [str(BIN / "ringside"), "run", "--quiet", "--durability=process", f"--slots={slots}", f"--pool={pool}", "--",
            str(BIN / "publish_typed"), *map(str, program)]


def made_pool(name, *program, slots=SLOTS):
    pool = WORK / name
    subprocess.run(run_of(pool, *program, slots=slots), check=True, stdin=subprocess.DEVNULL, cwd=WORK)
    return pool


POOL = made_pool("typed.pool", "typed", STEPS)


def export(output, *words, pool=POOL):
    """Runs `ringside export`, which must succeed. Returns the path of the output."""
    done = call("export", pool, "-o", WORK / output, *words)
    assert done.returncode == 0, done.stderr.decode()
    return WORK / output


def npy(variable, iteration="last", pool=POOL, *words):
    import numpy
    return numpy.load(export("one.npy", "--variable", variable, "--iteration", iteration, *words, pool=pool))


def same(one, other):
    """Whether two arrays are bit-equal, with the same shape and dtype."""
    return one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
