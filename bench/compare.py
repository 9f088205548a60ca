#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares runs with the installed peers and with the required limits, in one command and one table.

Runs each part with its own program, and keeps the output in the folder that --results names:
  products       one iterate, compared with GraphBLAS, Eigen, librsb, PETSc bench/products.py
  pipeline       the whole run, compared with the published simulation      bench/pipeline.py
  held           how long a step holds its producer, compared with ADIOS2   bench/held.py
  transfer       copy, hash and reductions, compared with only a copy       bench_transfer
  first_iterate  the time until the first iterate                           bench/first_iterate.py
--parts selects parts (without names: none). For the other parts, the table shows the folder's earlier results, and
lists which results are missing. The tables are those of docs/inside/benchmarking.md. compare.json has the rows of the
second table. Each row has the commit and the time of its measurements. The file also has a warning if the measurements
are from different builds."""

import json
import pathlib
import subprocess
import sys

import held
import pipeline
import products
from measuring import ROOT, confidence, machine_header, parser_of, write_json

PARTS = ("products", "pipeline", "held", "transfer", "first_iterate")


def run_part(part, options):
    """Runs one part with its own command line, so that it measures what its documentation describes."""
    output = f"--output={options.results / (part + '.json')}" + ("#newest" if part == "pipeline" else "")
    folders = [f"--bin={options.bin}", f"--pool-dir={options.pool_dir}"]
    command = {
        "products": [ROOT / "bench/products.py", f"--bin={options.bin}"],
        "pipeline": [ROOT / "bench/pipeline.py", *folders, f"--reference={options.reference}"],
        "held": [ROOT / "bench/held.py", *folders, f"--adios={options.adios}", f"--adios-python={options.adios_python}"],
        "transfer": [options.bin / "bench_transfer"],
        "first_iterate": [ROOT / "bench/first_iterate.py", *folders],
    }[part]
    repeats = [f"--repeats={options.repeats}"] if options.repeats else []
    print(f"measuring: {part}", file=sys.stderr)
    if subprocess.run([*command, *repeats, output], stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"bench/compare.py: {part} failed; its output is above")


class Figures:
    """Holds the measurements by part, and the rows that are made from them: {what, at_most, measured or absent, limit,
    from}."""

    def __init__(self, folder):
        self.parts = {}
        for part in PARTS:
            path = folder / f"{part}.json"
            if path.exists():
                found = json.loads(path.read_text())
                self.parts[part] = found.get("newest", found)

    def origin(self, *parts):
        """Returns {part: {commit, started}} for the measured parts."""
        def said(part, key):
            return self.parts[part].get("machine", {}).get(key, "n/a")
        return {part: {key: said(part, key) for key in ("commit", "started")} for part in parts if part in self.parts}

    def warning(self):
        """Returns one line if not all parts were measured with one unmodified commit; otherwise nothing."""
        origin = self.origin(*PARTS)
        commits = [found["commit"] for found in origin.values()]
        if all(same_commit(commit, commits[0]) for commit in commits):
            return ""
        listed = "; ".join(f"{part} {found['commit']}, {found['started']}" for part, found in origin.items())
        return f"the parts were not measured with one build: {listed}"

    def product(self, matrix, threads):
        results = self.parts.get("products", {}).get("results", [])
        return next((r for r in results if (r["matrix"], r["threads"]) == (matrix, threads)), None)

    def iterate(self, matrix, threads, at_most):
        result = self.product(matrix, threads)
        what = f"one iterate ÷ GraphBLAS's bare `mxv`, {matrix}, {threads} thread{'s' if threads > 1 else ''}"
        origin = self.origin("products")
        if result is None or "graphblas" not in result["measured"]:
            return row(what, at_most, None, "GraphBLAS or the matrix is absent", origin)
        share = result["vectors_over_iterate"]
        return row(what, at_most, result["measured"]["graphblas"]["ringside_over_this"],
                   f"the iterate takes {confidence(result['measured']['ringside']['ms'])} ms; a copy would move its vectors "
                   f"alone in {share['median']:.2f} of this time", origin)

    def pipeline(self, ratio, what, at_most, limit=""):
        found = self.parts.get("pipeline", {}).get("ratios", {}).get(ratio)
        origin = self.origin("pipeline", "products") if limit else self.origin("pipeline")  # the bound needs both parts
        return row(what, at_most, found, limit if found else "not measured: the option or the reference's source is absent",
                   origin)

    def copy_bound(self):
        """Returns the row of the minimum cost of keeping an iterate: the time in which both cores copy it, relative to
        an iteration of the baseline."""
        product = self.product("grid:2000", 2)
        once = self.parts.get("pipeline", {}).get("ms_per_iteration", {}).get("dram_once")
        if product is None or once is None:
            return ""
        copied_bytes = 2 * 8 * product["rows"]
        copy_ms = copied_bytes / product["measured"]["copy"]["gb_per_s"] * 1e-6
        return f"bound {1 + copy_ms / once['median']:.2f}: copying an iterate takes both cores {copy_ms:.2f} ms"

    def transfer(self, key, what, at_most, limit):
        found = self.parts.get("transfer", {}).get("one_pass", {}).get("smooth", {}).get(key)
        return row(what, at_most, found, limit if found else "not measured: this build cannot reduce while it copies",
                   self.origin("transfer"))

    def held(self):
        part = self.parts.get("held", {})
        found = part.get("held_ms_per_step", {})
        limit = (f"{confidence(found['ringside'])} and {confidence(found['sst'])} ms a step" if "sst" in found
                 else part.get("absent", "not measured"))
        return row("producer held per step ÷ ADIOS2 SST's", 0.02, part.get("ringside_over", {}).get("sst"), limit,
                   self.origin("held"))

    def first_iterate(self):
        part = self.parts.get("first_iterate")
        what = "time to the first iterate, cnr-2000 from its binary cache, s"
        if part is None:
            return row(what, 0.3, None, "not measured", {})
        in_ms = part["cache"]["all_ms"]
        seconds = {key: in_ms[key] * 1e-3 for key in ("median", "min", "max")} | {"repeats": in_ms["repeats"]}
        if "median_95" in in_ms:
            seconds["median_95"] = [ms * 1e-3 for ms in in_ms["median_95"]]
        parts = ", ".join(f"{name} {part['cache'][name + '_ms']['median']:.0f} ms" for name in ("start", "load", "generate"))
        return row(what, 0.3, seconds, parts, self.origin("first_iterate"))

    def rows(self):
        return [
            self.iterate("grid:2000", 1, 0.60), self.iterate("grid:2000", 2, 0.60),
            self.iterate("cnr-2000-url", 2, 0.80), self.iterate("cnr-2000-llp", 2, 0.80), self.iterate("rmat:22", 2, 0.80),
            self.pipeline("pipeline_over_reference_dram", "pipeline, every iterate kept, `--passes 5` ÷ the reference's `dram`", 0.40),
            self.pipeline("elastic_over_reference_dram", "the same with `--elastic on --reduce transfer`", 0.40),
            self.pipeline("elastic_over_dram_once", "`--elastic on --reduce transfer`, every iterate kept ÷ own `--mode dram`, one pass",
                          1.15, self.copy_bound()),
            self.transfer("one_pass_per_bare_copy", "copy + hash + reductions of 32 MB ÷ a bare copy, without the change", 1.25,
                          "16 B a row each"),
            self.transfer("one_pass_with_change_per_bare_copy", "the same, with the change", 1.25,
                          "24 B a row instead of 16, because the previous iterate is read, too"),
            self.held(), self.first_iterate(),
        ]


def row(what, at_most, measured, limit, origin):
    return {"what": what, "at_most": at_most, "measured": measured, "limit": limit, "from": origin}


def same_commit(one, other):
    """Returns whether two commits are the same. Names may be abbreviated to different lengths. A state with uncommitted
    changes is never equal to another one."""
    if "-dirty" in one + other or "n/a" in (one, other):
        return False
    return one.startswith(other) or other.startswith(one)


def figures_table(rows):
    lines = ["| what | at most | measured | |", "| --- | --- | --- | --- |"]
    for found in rows:
        measured = found["measured"]
        if measured and "median_95_percent" in measured:  # the format of bench_transfer
            measured = {**measured, "median_95": measured["median_95_percent"]}
        lines.append(f"| {found['what']} | {found['at_most']:.2f} | {confidence(measured) if measured else 'absent'} "
                     f"| {found['limit']} |")
    return "\n".join(lines)


def peers_table(figures):
    lines = []
    if "products" in figures.parts:
        lines = [products.table(figures.parts["products"]["results"]), ""]
    for name, found in figures.parts.get("held", {}).get("held_ms_per_step", {}).items():
        lines.append(f"{name} holds its producer {confidence(found)} ms a step")
    for name, found in figures.parts.get("pipeline", {}).get("ms_per_iteration", {}).items():
        lines.append(f"{name}: {confidence(found)} ms an iteration")
    return "\n".join(lines)


def main():
    parser = parser_of(__doc__)
    pipeline.declare_reference(parser)
    held.declare(parser)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS, help="what to measure now (default: all)")
    parser.add_argument("--repeats", type=int, help="number of measured rounds of each part (default: each part's own number)")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results", help="folder of the JSON files")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    for part in options.parts:
        run_part(part, options)
    figures = Figures(options.results)
    rows = figures.rows()
    warning = figures.warning()
    write_json({"benchmark": "compare", "machine": machine_header(options.bin), "warning": warning, "figures": rows},
               options.output or options.results / "compare.json")
    print(peers_table(figures), figures_table(rows), sep="\n\n")
    if warning:
        print(f"bench/compare.py: warning: {warning}", file=sys.stderr)


if __name__ == "__main__":
    main()
