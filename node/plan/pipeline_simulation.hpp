// SPDX-License-Identifier: BSD-3-Clause
// A discrete-event simulation of a run: producer, double buffer, analyzer and disk. The rate of each side's work
// depends on the other side's work at that moment; an event is the end of a piece of work (docs/inside/model.md,
// "Simulation").
#pragma once

#include <cstdint>
#include <string_view>

#include "node/model/node_model.hpp"

namespace ringside {

/// The time for which a producer spins before it sleeps; a test compares this time with HandoffOptions::spin_ns.
inline constexpr double kProducerSpinS = 50e-6;

/// A split of the cores, and the mode of their use.
struct Configuration {
  int producer_threads = 0;
  int analyzer_threads = 0;
  bool reduce_on_transfer = false;  // --reduce transfer
  bool elastic = false;
  bool operator==(const Configuration&) const = default;
};

/// The options of a run that affect its time.
struct RunShape {
  std::uint64_t iterations = 100;
  std::uint64_t every = 1;
  std::uint32_t buffers = 2;
  std::uint32_t slots = 8;
  int passes = 1;
  double step_bytes = 0;  // the bytes of all variables of a step, for the disk
};

enum class Bottleneck {
  kGenerate,  // the analyzer waits
  kAnalyze,   // the producer waits for copies and reductions
  kDisk,      // both wait for syncs
  kBalanced   // neither waits for more than a twentieth of the time
};
/// "the solver", "the analyzer", "the disk", "balanced".
std::string_view to_string(Bottleneck bottleneck) noexcept;

/// Seconds of a whole run, with the meaning that they have in a run's account.
struct Prediction {
  double total_s = 0;
  double generate_s = 0;
  double producer_idle_s = 0;
  double transfer_s = 0;
  double commit_s = 0;  // including every wait for the disk
  double analyze_s = 0;
  double analyzer_idle_s = 0;
  double sync_wait_s = 0;  // the part of commit_s that waits for the disk
  Bottleneck bottleneck = Bottleneck::kBalanced;
};

/// What limits a run with these times.
Bottleneck bottleneck_of(const Prediction& times) noexcept;

/// The model must have the kernels that the configuration needs: kTransferReduced for reduce_on_transfer. Long runs are
/// simulated until their pace is steady, and then extrapolated.
Prediction simulate(const NodeModel& model, const Configuration& configuration, const RunShape& run);

}  // namespace ringside
