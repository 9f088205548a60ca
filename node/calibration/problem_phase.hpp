// SPDX-License-Identifier: BSD-3-Clause
// The measurements on one matrix: our kernels alone and in pairs, in every folder, for each way in which a durability
// keeps steps there.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/calibration/calibration_plan.hpp"
#include "node/calibration/machine_phase.hpp"
#include "node/kernels/kernel_bench.hpp"
#include "node/kernels/pair_bench.hpp"
#include "node/model/node.hpp"
#include "producer/solver/problem.hpp"

namespace ringside {

class ProblemPhase {
 public:
  /// problem: the problem with its solver. matrix, file: the origin of the matrix. cpus: the usable CPUs, the
  /// producer's first. counts: thread counts to measure, ascending. Throws Error (exit code 3) if there is no memory.
  ProblemPhase(Problem problem, std::string matrix, std::optional<MatrixFile> file, std::vector<int> cpus,
               std::vector<int> counts);

  /// Allocates slots in these folders; call this function first. Throws Error (exit code 3) if a folder has no room.
  void make_pools(const std::vector<Tier>& folders);

  void add_to(CalibrationPlan& plan);
  void collect(Node& node) const;

 private:
  /// The folder of slots, and the way in which they are written.
  struct Place {
    std::string tier;
    bool synced = false;
    RingPool pool;
    std::map<KernelKind, SampleSeries> kernels;
    std::map<std::pair<bool, std::pair<int, int>>, PairSamples> pairs;  // key: reduced during the copy; the split
  };

  Workbench bench(Place& place);
  void refuse_breakdown() const;
  void add_kernels(CalibrationPlan& plan, Place& place, int threads);
  void add_pairs(CalibrationPlan& plan, Place& place);
  void add_pair(Node& node, const Place& place, KernelKind second, std::pair<int, int> split,
                const std::vector<double>& first_s, const std::vector<double>& second_s) const;
  void note_single_points(Node& node) const;
  void take(Place& place, int threads, const KernelSamples& samples);

  Problem problem_;
  ProblemSize size_;
  std::vector<int> cpus_;
  std::vector<int> counts_;
  IterateSource source_;
  std::list<Place> places_;
  SampleSeries generate_s_;
};

/// The splits (producer's cores, analyzer's cores) at which pairs are measured; both numbers together are at most
/// `cores`. The first split is the one that `plan_cores` would choose; in the others the producer has all but one core,
/// three quarters, half, a quarter and one core.
std::vector<std::pair<int, int>> splits_of(int cores);

/// Bytes that measuring with slots of this shape needs in a folder of that kind.
std::uint64_t calibration_bytes(const RingShape& slots, TierKind kind);

}  // namespace ringside
