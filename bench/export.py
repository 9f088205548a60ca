#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how fast `ringside export` writes a step as HDF5 and Zarr, compared with `cp` of a file with the same bytes
to the same disk.

One run keeps an x of --megabytes, and a file has the same bytes. These ways are measured in turn: cp of that file; cp
with a sync of the copy; dd of the file directly to the disk, without the page cache; the export as npy, hdf5, vtk, zarr
and zarr3. Each way makes a new output, which is removed afterwards. An export first verifies every byte, and ends when
its output is on the disk. cp ends earlier; cp with a sync does the same work as an export. Source and pool are in the
page cache. Everything is measured on --pool-dir, and then in /dev/shm, where the disk's time does not hide the other
work. Writes JSON (see docs/inside/benchmarking.md)."""

import os
import shutil
import subprocess
import time

from measuring import UNCALIBRATED, document_of, in_turn, parser_of, print_spreads, ratio, spreads, work_folder

FORMATS = {"npy": "npy", "hdf5": "h5", "vtk": "vti", "zarr": "zarr", "zarr3": "zarr"}


def removed(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def seconds(command, output):
    begin = time.perf_counter()
    for one in command:
        subprocess.run(one, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    passed = time.perf_counter() - begin
    removed(output)
    os.sync()  # the next measurement begins with an idle disk
    return passed


def measure(options, folder):
    with work_folder(folder) as work:
        pool, source = work / "bench.pool", work / "source"
        ringside = str(options.bin / "ringside")
        side = round((options.megabytes * 125_000) ** 0.5)
        subprocess.run([ringside, "run", "--quiet", f"--matrix=grid:{side}", "--iterations=2", "--slots=3",
                        "--durability=process", f"--pool={pool}"], check=True, env=UNCALIBRATED)
        subprocess.run([ringside, "export", pool, "--format=npy", "-o", source], check=True, stdout=subprocess.DEVNULL)
        os.sync()
        ways = {"cp": lambda: seconds([["cp", source, work / "copy"]], work / "copy"),
                "cp_and_sync": lambda: seconds([["cp", source, work / "copy"], ["sync", work / "copy"]], work / "copy"),
                "disk": lambda: seconds([["dd", f"if={source}", f"of={work / 'copy'}", "bs=4M", "oflag=direct", "conv=fsync",
                                          "status=none"]], work / "copy")}
        for name, ending in FORMATS.items():
            output = work / f"x.{ending}"
            command = [[ringside, "export", pool, f"--format={name}", "-o", output]]
            ways[name] = lambda command=command, output=output: seconds(command, output)
        rounds = in_turn(ways, options.repeats)
        found = {"bytes": side * side * 8, "file_system": file_system(work)}
        found |= {f"{name}_s": seconds for name, seconds in spreads(rounds).items()}
        for name in FORMATS:  # the bytes are equal, so a speed is the inverse of a time
            found[f"{name}_speed_over_cp"] = ratio(rounds, "cp", name)
            found[f"{name}_speed_over_cp_and_sync"] = ratio(rounds, "cp_and_sync", name)
            found[f"{name}_speed_over_disk"] = ratio(rounds, "disk", name)
        found["disk_speed_over_cp"] = ratio(rounds, "cp", "disk")
        return found


def file_system(folder):
    return subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=True).stdout.strip()


def main():
    parser = parser_of(__doc__, pools="the pool and the outputs", repeats=11)
    parser.add_argument("--megabytes", type=int, default=512, help="size of x (default 512)")
    options = parser.parse_args()
    with document_of(options, "export") as document:
        document["disk"] = measure(options, options.pool_dir)
        document["memory"] = measure(options, "/dev/shm")
    print_spreads(document)


if __name__ == "__main__":
    main()
