#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares one iterate of Ringside with the sparse matrix-vector products of other libraries.

Measured in turn, A B C D, D C B A, ..., on the same pinned cores, each in its own process (bench/products/):
  ringside    a whole PageRank iterate: product, dangling mass, the change in two norms, and contributions if stored
  graphblas   SuiteSparse:GraphBLAS, only the mxv with PLUS_SECOND over a pattern
  eigen       Eigen, row-major sparse matrix * dense vector, with values
  rsb         librsb, rsb_spmv, with values
  petsc       PETSc, MatMult of AIJ, with values, one process per core
  copy        the memory's limit: a non-temporal copy of 128 MiB
Libraries that were not installed at build time are listed as absent. A turn is a burst: first two products that reload
the caches and wake the threads, then several timed products, of which the median counts. Before any timing, each
library's first product is checked against a plain loop. Ratios are taken within a round. Writes JSON (see
docs/inside/benchmarking.md)."""

import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from measuring import (TEST_DATA, confidence, demand_cores, document_of, in_turn, now, others_share, parser_of, ratio,
                       read_json, spread, work_folder)

PEERS = ("graphblas", "eigen", "rsb", "petsc")
GRAPHS = {"cnr-2000-url": "cnr-2000-url.txt.xz", "cnr-2000-llp": "cnr-2000-llp.txt.xz"}
MATRICES = ("grid:2000", *GRAPHS, "rmat:22")
# The data that an iterate must read and write in any format: x_{k-1} and x_k. (A format without scales in its product
# also moves their contributions: 32 B. Up to November 2026, every format did, and this figure was 32.)
VECTOR_BYTES_PER_ROW = 16
COPY_BYTES = 16 * 2**24
UNTIMED = 2


class Product:
    """A program of bench/products that waits for its turn."""

    def __init__(self, bin_dir, name, matrix, threads):
        command = [bin_dir / f"bench_product_{name}", f"--matrix={matrix}", f"--threads={threads}"]
        # Ringside's arrays request huge pages; with this setting, the other libraries' arrays also get them.
        environment = dict(os.environ, GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
        if name == "petsc":
            command = ["mpiexec", "--bind-to", "none", "-n", str(threads), *command]
            if os.geteuid() == 0:  # Open MPI requires this of root
                environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.name = name
        self.ready = self.answer()
        # A burst takes about 60 ms, with 3 to 25 timed products.
        self.timed = 3
        self.timed = round(min(max(0.060 / self.burst(), 3), 25))

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"bench_product_{self.name} ended with exit code {self.process.wait()} (its output is above)")
        return json.loads(line)

    def burst(self):
        """Seconds per product."""
        self.process.stdin.write(f"burst {UNTIMED} {self.timed}\n")
        self.process.stdin.flush()
        return statistics.median(self.answer()["ns"]) * 1e-9

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def installed(bin_dir):
    found = [name for name in PEERS if (bin_dir / f"bench_product_{name}").exists()]
    if "petsc" in found and not shutil.which("mpiexec"):
        found.remove("petsc")
    return found


def path_of(matrix):
    """Returns the file of a graph with this name; None if it is missing."""
    if matrix not in GRAPHS:
        return matrix
    path = TEST_DATA / "graphs" / GRAPHS[matrix]
    return path if path.exists() else None


def cached(bin_dir, matrix, work):
    """Returns a binary cache of the matrix, so that not every program needs to parse or generate the matrix."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=work))
    subprocess.run([bin_dir / "ringside", "cache", matrix, f"--cache-dir={folder}"], check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.rsm"))


def measure(bin_dir, matrix, threads, repeats):
    """Measures one matrix with one number of threads. Returns None if the matrix is missing."""
    demand_cores(threads)
    path = path_of(matrix)
    if path is None:
        return None
    result = {"matrix": matrix, "threads": threads, "started": now(), "absent": [name for name in PEERS if name not in installed(bin_dir)]}
    with others_share(result), contextlib.ExitStack() as stack:
        work = stack.enter_context(work_folder(None))
        cache = cached(bin_dir, path, work)
        # Ringside's program reads the file that a run would read; the other libraries copy their data in any case.
        products = [stack.enter_context(contextlib.closing(Product(bin_dir, name, path if name == "ringside" else cache, threads)))
                    for name in ("ringside", *installed(bin_dir), "copy")]
        rounds = in_turn({product.name: product.burst for product in products}, repeats)
        result["rows"], result["nonzeros"] = (products[0].ready[key] for key in ("rows", "nonzeros"))
        result["measured"] = {
            product.name: {**{key: product.ready[key] for key in ("version", "what", "convert_s", "error_over_rounding")},
                           "ms": spread([r[product.name] * 1e3 for r in rounds]),
                           "ringside_over_this": ratio(rounds, "ringside", product.name)}
            for product in products}
    del result["measured"]["ringside"]["ringside_over_this"]
    copy = result["measured"]["copy"]
    del copy["ringside_over_this"]
    copy["gb_per_s"] = COPY_BYTES / copy["ms"]["median"] * 1e-6
    # The time to move only the vectors at the speed of the copy, divided by the time of the iterate. If this is above
    # 1, the vectors were in a cache.
    result["vectors_over_iterate"] = spread(
        [r["copy"] / COPY_BYTES * VECTOR_BYTES_PER_ROW * result["rows"] / r["ringside"] for r in rounds])
    return result


def table(results):
    lines = ["| matrix | threads | who | ms | ringside ÷ this |", "| --- | --- | --- | --- | --- |"]
    for result in results:
        for name, found in result["measured"].items():
            unit = f", {found['gb_per_s']:.1f} GB/s" if name == "copy" else ""
            over = confidence(found["ringside_over_this"]) if "ringside_over_this" in found else ""
            lines.append(f"| {result['matrix']} | {result['threads']} | {name}: {found['what']} | "
                         f"{confidence(found['ms'])}{unit} | {over} |")
        lines += [f"| {result['matrix']} | {result['threads']} | {name} | absent | |" for name in result["absent"]]
    return "\n".join(lines)


def main():
    parser = parser_of(__doc__, pool_dir=None, repeats=15)
    parser.add_argument("--matrices", nargs="+", default=MATRICES, help=f"default: {' '.join(MATRICES)}")
    parser.add_argument("--threads", nargs="+", type=int, default=(1, 2))
    parser.add_argument("--keep", action="store_true",
                        help="keep the results of other matrices and threads in the JSON file")
    options = parser.parse_args()
    before = read_json(options.output).get("results", []) if options.keep else []
    kept = [r for r in before if r["matrix"] not in options.matrices or r["threads"] not in options.threads]
    with document_of(options, "products", results=kept, absent=[]) as document:
        for matrix in options.matrices:
            for threads in options.threads:
                result = measure(options.bin, matrix, threads, options.repeats)
                if result is not None:
                    document["results"].append(result)
            if result is None:
                document["absent"].append(matrix)
    print(table(document["results"]))
    for matrix in document["absent"]:
        print(f"{matrix}: absent, expected {GRAPHS[matrix]} in {TEST_DATA / 'graphs'} (RINGSIDE_TEST_DATA)")


if __name__ == "__main__":
    main()
