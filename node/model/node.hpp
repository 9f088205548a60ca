// SPDX-License-Identifier: BSD-3-Clause
// The figures of a node: measured values only. `ringside calibrate` measures them; users can also write them by hand
// from published tables (docs/formats/files.md). The model (docs/inside/model.md) reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ringside {

/// A figure that was measured several times.
struct Measured {
  double value = 0;   // the median
  double spread = 0;  // half the distance from the 10th to the 90th percentile, divided by the median; 0: not known
};

/// A figure for several thread counts.
struct Series {
  struct Point {
    int threads = 0;  // at least 1
    Measured figure;
  };
  std::vector<Point> points;  // by ascending threads, each count once; at least one
};

enum class TierKind { kDram, kDax, kPageCache, kTmpfs };

/// A kind of memory.
struct Tier {
  std::string name;  // "dram0", "/pmem"; unique
  TierKind kind = TierKind::kDram;
  std::string path;                   // the folder of a tier that is not DRAM
  int numa_node = -1;                 // the NUMA node of DRAM; -1: not known
  std::string shares_with;            // the tier whose channels it shares; empty: it has channels of its own
  std::optional<Measured> sync_s;     // fdatasync of one changed page; only if stores need a sync
  std::optional<Measured> sync_gb_s;  // the rate at which fdatasync writes
};

/// The rate of a STREAM kernel with all its arrays in one tier. The table of kernels (node/streams) gives the kernel's
/// bytes per element.
struct StreamFigures {
  std::string kernel;  // "copy"
  std::string tier;
  Series gb_s;  // counted bytes: what the loop reads and writes; GB = 10^9 B
};

/// Rates of two groups of threads that copy side by side.
struct CompetitionRow {
  int first_threads = 0;
  int second_threads = 0;
  Measured first_gb_s;  // the rate of all threads of the group together, counted bytes
  Measured second_gb_s;
};
struct Competition {
  std::string first_from, first_to;  // tiers
  std::string second_from, second_to;
  std::vector<CompetitionRow> rows;
};

/// A matrix file as it was when its problem was measured.
struct MatrixFile {
  std::string path;  // absolute, without links; followed by :MEMBER for an archive, and by the value of --columns
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;    // 0: not recorded; 0 differs from the inode of every existing file
  std::int64_t ctime_ns = 0;  // last change of any kind, from the file system: programs cannot set it
  bool operator==(const MatrixFile&) const = default;
};

/// The problem of a measured kernel.
struct ProblemSize {
  std::string matrix;  // as given to --matrix; empty: only its sizes are known
  std::string solver = "pagerank";
  std::string format;  // the format of the matrix, "bands"; empty: not known
  std::uint64_t rows = 0;
  std::uint64_t nonzeros = 0;
  // Properties of the solver, which the node file does not contain (node/file/problem_of_solver.hpp):
  int vectors = 1;                   // of a step: x, which is reduced, and the state, which is only copied
  double vector_bytes_per_row = 16;  // that an iteration moves, in addition to the bytes of the matrix
  std::optional<MatrixFile> file;    // none: the matrix is generated, or its file is unknown
  bool operator==(const ProblemSize&) const = default;
};

/// The kernels of a run (docs/inside/model.md). kGenerate reads and writes DRAM only.
enum class KernelKind {
  kGenerate,         // one iteration of the solver
  kTransfer,         // the copy of an iterate into a slot, hashed
  kTransferReduced,  // the same with all reductions made during the copy (--reduce transfer)
  kAnalyze,          // the first sweep of the reductions over a slot, with the change
  kSweep,            // each further sweep (--passes)
  kCommit            // the remaining work of keeping a step, without waiting for a disk
};

/// Seconds of one execution of a kernel, alone on the machine.
struct KernelFigures {
  KernelKind kernel = KernelKind::kGenerate;
  ProblemSize problem;
  std::string tier;     // the tier of the slots; for kGenerate, the tier of DRAM
  bool synced = false;  // true: slots are written, not mapped, as with `--durability power` on a plain file
  Series seconds;
  std::optional<double> moved_bytes;  // moved between memory and caches by one execution, if known
};

/// Two kernels side by side, as in a run (docs/use/plan.md, "Pairs"): the seconds of an execution during which the
/// other kernel works from beginning to end.
struct PairFigures {
  KernelKind first = KernelKind::kGenerate;
  KernelKind second = KernelKind::kTransfer;
  ProblemSize problem;
  std::string tier;  // the tier of the slots
  bool synced = false;
  int first_threads = 0;
  int second_threads = 0;
  Measured first_s;
  Measured second_s;
};

/// Costs of coordination, in seconds.
struct Costs {
  std::optional<Measured> hand_off_s;  // the time from publishing to the analyzer's first copied byte, both spinning
  std::optional<Measured> wake_up_s;   // the time to wake a thread that sleeps on a futex on another core
  std::optional<Measured> loan_s;      // the time from lending a core to a guest's first piece of work, plus that of
                                       // taking the core back
  std::optional<Measured> barrier_s;   // the time of a barrier of all threads of a team that has all cores
};

/// The machine and the program with which figures were measured. The figures may be used only on a machine and by a
/// program for which all members are equal.
struct Fingerprint {
  std::string cpu;   // "AMD EPYC 9R14"
  int cores = 0;     // the number of cores that the program may use
  std::string cpus;  // the list of these cores, "0-15"
  std::uint64_t memory_bytes = 0;
  std::string kernel;  // the system's kernel, "6.18.44"
  std::string build;   // this program: its version and a hash of the compiled kernels
  bool operator==(const Fingerprint&) const = default;
};

struct Node {
  std::string name;                        // for display
  std::string origin;                      // the source of the figures: "ringside calibrate", "thesis, tables 1 to 5"
  std::optional<Fingerprint> fingerprint;  // none: written by hand
  std::string measured_at;                 // UTC, "2026-11-23T01:00:00Z"; empty: not known
  int cores = 0;                           // the number of cores that a run can use
  std::vector<Tier> tiers;                 // the first is DRAM
  std::optional<Series> clock_ghz;         // the clock of busy cores
  std::vector<StreamFigures> streams;
  std::vector<Competition> competitions;
  std::vector<KernelFigures> kernels;
  std::vector<PairFigures> pairs;
  Costs costs;
  std::vector<std::string> remarks;  // "the machine was busy: spread 21 %"
};

}  // namespace ringside
