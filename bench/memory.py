#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares libringside_memory with mmap, umap, swap, zram and Michel's scheme, for programs whose data are four times
as large as the DRAM.

Each program (bench/memory/) runs in its own memory cgroup. Far memory is a tmpfs file or a file on a disk. The kernel's
schemes need a block device or a file system with cached pages. So on tmpfs they get ext4 or swap on a loop device over
a tmpfs file, but the libraries get the tmpfs folder itself. First, mmap's read-ahead and umap's page size are selected
with one run for each value. Then all schemes run in turn. The result of a scheme that cannot run is "n/a" with the
reason. The checksum of a program's result must be the same everywhere. bench/memory/README.md describes the pitfalls.
Needs root. Writes JSON (see docs/inside/benchmarking.md)."""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from measuring import BIN, demand_cores, machine_header, others_share, spread, work_folder, write_json

MIB = 1 << 20
GROUPS = pathlib.Path("/sys/fs/cgroup/memory")
READ_AHEADS_KIB = (16, 128, 1024)
UMAP_PAGES = ("4K", "64K", "256K", "1M")
# The runs of --table: (far, timing, DRAM as a part of the data, {case: schemes}).
PEERS = ("all_dram", "mmap_default", "mmap_best", "umap_best", "ringside")  # and others that end in the time limit
TABLE = (
    ("tmpfs", "none", 1.5, {"triad": ("all_dram", "ringside"), "gups_zipf": ("all_dram", "ringside")}),
    ("tmpfs", "none", 0.25, {"triad": (*PEERS, "zram", "swap"), "gups_zipf": (*PEERS, "zram", "swap"), "gups_uniform": PEERS,
                             "pagerank": PEERS, "sort": PEERS, "blackscholes": PEERS, "itemset": ("all_dram", "zram"),
                             "misses": ("umap_best", "michel_table", "ringside")}),
    ("tmpfs", "optane", 0.25, {case: ("all_dram", "umap_best", "ringside")
                               for case in ("triad", "gups_zipf", "pagerank", "sort", "blackscholes")}),
    ("disk", "none", 0.25, {case: PEERS for case in ("triad", "gups_zipf", "pagerank", "sort")}),
)

# {name: (program, its options, its figure, whether more is better)}
CASES = {
    "triad": ("triad", ["--passes=2"], "gb_per_s", True),
    "gups_zipf": ("gups", ["--distribution=zipf", "--updates=50000", "--warm-updates=50000"], "mop_per_s", True),
    "gups_uniform": ("gups", ["--distribution=uniform", "--updates=50000", "--warm-updates=50000"], "mop_per_s", True),
    "pagerank": ("pagerank", ["--iterations=2"], "iteration_s", False),
    "bfs": ("bfs", [], "search_s", False),
    "sort": ("sort", [], "sort_s", False),
    "blackscholes": ("blackscholes", ["--passes=2"], "pass_s", False),
    "misses": ("misses", ["--touches=50000"], "touches_per_s_1", True),
    "itemset": ("itemset", [], "total_s", False),
}
HEAP = ("itemset",)  # allocates with malloc: only DRAM, swap and preloaded libraries can run it


class Unavailable(Exception):
    """Raised if a scheme has no figure. Its text is the reason."""


def shell(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"{command[0]}: {(done.stderr or done.stdout).strip()[:200]}")
    return done.stdout.strip()


class Group:
    """A memory cgroup (version 1) that limits a program's own pages and its page cache together."""

    def __init__(self, limit_bytes, swap):
        self.folder = GROUPS / f"ringside_bench_{os.getpid()}"
        self.folder.mkdir()
        self.put("memory.limit_in_bytes", limit_bytes)
        self.put("memory.swappiness", 60 if swap else 0)

    def put(self, name, value):
        (self.folder / name).write_text(str(value))

    def peak(self):
        return int((self.folder / "memory.max_usage_in_bytes").read_text())

    def close(self):
        with contextlib.suppress(OSError):
            self.put("memory.force_empty", 0)  # otherwise the next run would be charged for dirty pages of the file
        self.folder.rmdir()


@contextlib.contextmanager
def loop_device(image, size_bytes, direct):
    """A block device over a file. The whole file is written first, so that the measured group is not charged for the
    file's pages."""
    with open(image, "wb") as file:
        for _ in range(size_bytes // MIB):
            file.write(bytes(MIB))
    device = shell("losetup", "-f", "--show", *(["--direct-io=on"] if direct else []), image)
    try:
        yield device
    finally:
        subprocess.run(["losetup", "-d", device], check=False)
        pathlib.Path(image).unlink()


@contextlib.contextmanager
def mounted(device, work):
    point = work / "mounted"
    point.mkdir()
    shell("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=0", device)
    shell("mount", device, point)
    try:
        yield point
    finally:
        shell("umount", point)
        point.rmdir()


@contextlib.contextmanager
def swap_on(device):
    shell("mkswap", device)
    shell("swapon", "-p", "10", device)
    try:
        yield
    finally:
        subprocess.run(["swapoff", device], check=False)


@contextlib.contextmanager
def zram(size_bytes):
    control = pathlib.Path("/sys/class/zram-control/hot_add")
    if not control.exists():
        raise Unavailable("the kernel has no zram")
    number = control.read_text().strip()
    block = pathlib.Path(f"/sys/block/zram{number}")
    try:
        (block / "disksize").write_text(str(size_bytes))
        yield f"/dev/zram{number}"
    finally:
        with contextlib.suppress(OSError):
            (block / "reset").write_text("1")
            pathlib.Path("/sys/class/zram-control/hot_remove").write_text(number)


@contextlib.contextmanager
def setting(path, value):
    path = pathlib.Path(path)
    before = path.read_text().strip()
    path.write_text(str(value))
    try:
        yield
    finally:
        path.write_text(before)


class Bench:
    def __init__(self, options, work):
        self.options = options
        self.work = work
        self.place = pathlib.Path("/dev/shm" if options.far == "tmpfs" else options.disk_folder)
        self.far = pathlib.Path(tempfile.mkdtemp(prefix="ringside-bench-far-", dir=self.place))
        self.checksums = {}

    def program(self, case, memory, limit_bytes, swap=False, timing="none"):
        """Makes one run in a group. limit_bytes: 0 means no limit. Returns the program's report, with the peak of the
        group."""
        name, arguments, _, _ = CASES[case]
        o = self.options
        threads = max(o.threads, 2) if case == "misses" else o.threads  # so a second thread's effect is measured
        command = [o.bin / f"bench_memory_{name}", f"--data={o.data}", f"--threads={threads}", f"--memory={memory}",
                   f"--timing={timing}", *arguments]
        environment = {**os.environ, "OMP_PROC_BIND": "true", "RINGSIDE_BENCH_UMAP": str(o.umap),
                       "RINGSIDE_BENCH_MEMORY": str(o.library or "libringside_memory.so")}
        group = Group(limit_bytes, swap) if limit_bytes else None
        try:
            if group:
                command.append(f"--enter={group.folder}/cgroup.procs")
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=o.limit_s, check=False)
            if done.returncode < 0:
                raise Unavailable(f"killed by signal {-done.returncode} (signal 9: its group was out of memory)")
            if done.returncode != 0:
                raise Unavailable(done.stderr.strip().splitlines()[-1][:200] if done.stderr else f"exit {done.returncode}")
            report = json.loads(done.stdout.strip().splitlines()[-1])  # umap prints its own lines before it
            report["group_peak_bytes"] = group.peak() if group else None
        except subprocess.TimeoutExpired:
            raise Unavailable(f"not done after {o.limit_s} s") from None
        finally:
            if group:
                group.close()
        if self.checksums.setdefault(case, report["checksum"]) != report["checksum"]:
            sys.exit(f"memory.py: {case} with {memory}: found checksum {report['checksum']}, expected {self.checksums[case]}")
        return report

    def with_image(self, name, size_bytes):
        image = self.far / name
        return loop_device(image, size_bytes, direct=self.options.far == "disk")

    # The schemes. Each function runs one case and returns its report.
    def all_dram(self, case, _):
        return self.program(case, "dram", 0)

    def mmap(self, case, variant):
        read_ahead_kib, advice = variant
        for left in self.mmap_folder.glob("far.*"):  # from an aborted run
            left.unlink()
        with setting(f"/sys/block/{pathlib.Path(self.mmap_device).name}/queue/read_ahead_kb", read_ahead_kib):
            return self.program(case, f"mmap:{self.mmap_folder}:{advice}", self.options.dram_bytes)

    def umap(self, case, page):
        library_bytes = self.options.dram_bytes - self.options.room_bytes
        direct = ":direct" if self.options.far == "disk" else ""
        return self.program(case, f"umap:{self.far}:{page}:{library_bytes}{direct}", self.options.dram_bytes,
                            timing=self.options.timing)

    def zram(self, case, _):
        with zram(2 * self.options.data_bytes) as device, swap_on(device):
            return self.program(case, "dram", self.options.dram_bytes, swap=True)

    def swap(self, case, _):
        with self.with_image("swap", self.options.data_bytes + 256 * MIB) as device, swap_on(device):
            return self.program(case, "dram", self.options.dram_bytes, swap=True)

    def michel(self, case, index):
        # This scheme has one mapping per page; the kernel's record of a mapping takes another 1 / 12 of the page.
        library_bytes = self.options.dram_bytes * 3 // 4 - self.options.room_bytes
        with setting("/proc/sys/vm/max_map_count", 4_000_000):
            return self.program(case, f"michel:{self.far}:{library_bytes}{index}", self.options.dram_bytes,
                                timing=self.options.timing)

    def ringside(self, case, _):
        if not self.options.library:
            raise Unavailable("no --library was given, so libringside_memory.so is not measured")
        library_bytes = self.options.dram_bytes - self.options.room_bytes
        return self.program(case, f"ringside:{self.far}:{library_bytes}", self.options.dram_bytes, timing=self.options.timing)


def schemes(bench):
    """{name: (function, variants to choose from)}"""
    mmap_variants = [(kib, "normal") for kib in READ_AHEADS_KIB] + [(128, "random"), (1024, "sequential")]
    known = {
        "all_dram": (bench.all_dram, [None]),
        "mmap_default": (bench.mmap, [(128, "normal")]),
        "mmap_best": (bench.mmap, mmap_variants),
        "umap_best": (bench.umap, UMAP_PAGES),
        "zram": (bench.zram, [None]),
        "swap": (bench.swap, [None]),
        "michel_lists": (bench.michel, [""]),
        "michel_table": (bench.michel, [":table"]),
        "ringside": (bench.ringside, [None]),
    }
    return {name: known[name] for name in bench.options.schemes or known}


def refusal(bench, name, case):
    """Returns the reason why this scheme cannot run this case; None if it can."""
    if case in HEAP and name not in ("all_dram", "zram", "swap"):
        return "the program allocates with malloc; of the libraries, only `ringside-memory run` supports this"
    if bench.options.timing != "none" and name in ("mmap_default", "mmap_best", "zram", "swap"):
        return "the kernel moves the pages, so the transfers cannot get Optane's timing"
    return None


def chosen(run, case, variants, figure, more_is_better):
    """Runs each variant once. Returns the best variant, and the results of all variants."""
    tried = []
    for variant in variants:
        try:
            tried.append((run(case, variant)["figures"][figure], variant))
        except Unavailable as why:
            tried.append((None, variant, str(why)))
    done = [entry for entry in tried if entry[0] is not None]
    if not done:
        raise Unavailable(tried[0][2])
    best = (max if more_is_better else min)(done, key=lambda entry: entry[0])
    return best[1], [{"variant": entry[1], figure: entry[0] if entry[0] is not None else "n/a"} for entry in tried]


def measure_case(bench, case):
    figure, more_is_better = CASES[case][2:]
    found, measured, choices = {}, {}, {}
    for name, (run, variants) in schemes(bench).items():
        try:
            why = refusal(bench, name, case)
            if why:
                raise Unavailable(why)
            variant = variants[0]
            if len(variants) > 1:
                variant, choices[name] = chosen(run, case, variants, figure, more_is_better)
            else:  # this run also checks whether the scheme can run at all
                run(case, variant)
            measured[name] = lambda run=run, variant=variant: run(case, variant)
            found[name] = {"variant": variant}
        except Unavailable as why:
            found[name] = {figure: "n/a", "reason": str(why)}
            print(f"{case:<13} {name:<13} n/a: {why}", flush=True)

    def once(name):
        try:
            return measured[name]()
        except Unavailable as why:
            return {"figures": {figure: None}, "reason": str(why)}

    rounds = []
    for number in range(bench.options.repeats):  # no warm-up: the selection above has already run
        order = list(measured) if number % 2 == 0 else list(reversed(measured))
        rounds.append({name: once(name) for name in order})
    for name in measured:
        reports = [r[name] for r in rounds]
        values = [r["figures"][figure] for r in reports]
        if None in values:
            found[name].update({figure: "n/a", "reason": next(r["reason"] for r in reports if "reason" in r)})
            continue
        found[name][figure] = spread(values)
        found[name]["group_peak_bytes"] = reports[-1]["group_peak_bytes"]
        found[name]["figures"] = [r["figures"] for r in reports]
        found[name]["account"] = reports[-1]["account"]
        if name != "all_dram" and "all_dram" in measured:
            found[name]["over_all_dram"] = spread([v / r["all_dram"]["figures"][figure] for v, r in zip(values, rounds)])
        print(f"{case:<13} {name:<13} {figure} {found[name][figure]['median']:.4g} "
              f"({found[name][figure]['min']:.4g} to {found[name][figure]['max']:.4g}) {found[name]['variant'] or ''}", flush=True)
    return {"figure": figure, "more_is_better": more_is_better, "schemes": found, "tried": choices,
            "checksum": bench.checksums.get(case, "n/a")}


def report(options):
    demand_cores(options.threads)
    if os.geteuid() != 0 or not (GROUPS / "memory.limit_in_bytes").exists():
        sys.exit(f"memory.py: found no root rights or no memory cgroup of version 1 in {GROUPS}, expected both")
    document = {"benchmark": "memory", "machine": machine_header(options.bin),
                "workload": {"data": options.data, "dram": options.dram, "room_of_libraries_mib": options.room,
                             "far": options.far, "far_timing": options.timing, "threads": options.threads,
                             "repeats": options.repeats, "limit_s": options.limit_s},
                "peers": {"umap": subprocess.run(["git", "-C", options.umap.parent, "describe", "--always"],
                                                 capture_output=True, text=True).stdout.strip() or "n/a"}}
    earlier = []
    if options.add_to and pathlib.Path(options.add_to).exists():
        earlier = json.loads(pathlib.Path(options.add_to).read_text())["series"]

    def keep():
        whole = {"benchmark": "memory", "series": [*earlier, document]} if options.add_to else document
        write_json(whole, options.add_to or options.output)

    measured = {case: options.schemes for case in options.cases}
    if options.table_schemes:
        measured = options.table_schemes
    with work_folder(tempfile.gettempdir()) as work, others_share(document), contextlib.ExitStack() as stack:
        bench = Bench(options, work)
        stack.callback(shutil.rmtree, bench.far, ignore_errors=True)
        image = stack.enter_context(bench.with_image("mmap", options.data_bytes + 128 * MIB)) if options.timing == "none" else None
        if image:
            bench.mmap_device, bench.mmap_folder = image, stack.enter_context(mounted(image, work))
        document["cases"] = {}
        for case, names in measured.items():
            options.schemes = names
            document["cases"][case] = measure_case(bench, case)
            keep()  # saves the results after each case, because a series takes long
    document["load_average_after"] = os.getloadavg()
    keep()


def size(text):
    unit = {"K": 1 << 10, "M": MIB, "G": 1 << 30}.get(text[-1:], 0)
    if not unit or not text[:-1].isdigit():
        raise argparse.ArgumentTypeError(f"found '{text}', expected a size such as 256M or 1G")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true",
                        help="measure all series of docs/inside/memory_mode.md, and write them to --output")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--schemes", nargs="+", help="schemes to measure (default: all)")
    parser.add_argument("--data", type=size, default="1G")
    parser.add_argument("--dram", type=size, default="256M", help="limit of the cgroup (default 256M)")
    parser.add_argument("--room", type=int, default=24,
                        help="MiB of --dram that a library leaves for the program and for the library's own data")
    parser.add_argument("--far", choices=("tmpfs", "disk"), default="tmpfs")
    parser.add_argument("--disk-folder", default=tempfile.gettempdir())
    parser.add_argument("--timing", choices=("none", "optane"), default="none", help="timing of the emulated far memory")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit-s", type=float, default=180, help="stop a run after this many seconds; it then has no figure")
    parser.add_argument("--bin", type=pathlib.Path, default=BIN, help="folder of the programs")
    parser.add_argument("--umap", type=pathlib.Path, default=pathlib.Path("libumap.so"), help="path of LLNL's libumap.so")
    parser.add_argument("--library", type=pathlib.Path, help="path of libringside_memory.so")
    parser.add_argument("--output", help="JSON file to write")
    parser.add_argument("--add-to", help="JSON file with several series, to which this one is appended")
    options = parser.parse_args()
    options.data_bytes, options.dram_bytes = (
        int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]] for text in (options.data, options.dram))
    options.room_bytes = options.room * MIB
    options.table_schemes = None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("memory.py: stopped"))  # releases devices and groups
    if not options.table:
        report(options)
        return
    if not options.output:
        parser.error("--table needs --output FILE")
    pathlib.Path(options.output).unlink(missing_ok=True)
    options.add_to = options.output
    for options.far, options.timing, part, options.table_schemes in TABLE:
        options.dram_bytes = int(options.data_bytes * part)
        options.dram = f"{options.dram_bytes // MIB}M"
        report(options)


if __name__ == "__main__":
    main()
