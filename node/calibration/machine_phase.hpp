// SPDX-License-Identifier: BSD-3-Clause
// The measurements that need no matrix: clock, costs of coordination, disks, and STREAM loops in every tier.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/program/topology.hpp"
#include "node/benches/costs_bench.hpp"
#include "node/benches/disk_bench.hpp"
#include "node/benches/stream_bench.hpp"
#include "node/calibration/calibration_plan.hpp"
#include "node/model/node.hpp"

namespace ringside {

/// Samples by thread count.
using SampleSeries = std::map<int, std::vector<double>>;

/// The least number of samples of a figure.
inline constexpr std::size_t kLeastSamplesOfFigure = 3;

/// "1 thread", "4 threads".
std::string threads_text(int threads);

/// A series of the thread counts that have enough samples.
Series series_of(const SampleSeries& samples);

class MachinePhase {
 public:
  /// cpus: the usable CPUs, in a run's order. counts: thread counts to measure, ascending. stream_elements: doubles in
  /// an array; 0: stream_elements_for decides. Throws Error (exit code 3) if there is no memory.
  MachinePhase(const Machine& machine, std::vector<int> cpus, std::vector<int> counts, const std::vector<Tier>& tiers,
               std::uint64_t stream_elements);

  void add_to(CalibrationPlan& plan);

  /// Puts the figures into the node, which has the given tiers. Frees the measured arrays and files.
  void collect(Node& node);

 private:
  struct Streams {
    std::string tier;
    std::unique_ptr<StreamBench> bench;
    std::map<std::string, SampleSeries> gb_s;  // by loop
  };

  void add_streams(CalibrationPlan& plan, const std::vector<std::string>& loops, bool in_between);

  std::vector<int> cpus_;
  std::vector<int> counts_;
  std::list<Streams> streams_;  // a list, because its elements must not move
  std::map<std::string, DiskSamples> disks_;
  SampleSeries clock_ghz_;
  CostSamples costs_;
  std::vector<std::string> remarks_;  // the tiers without STREAM, and the reasons
};

}  // namespace ringside
