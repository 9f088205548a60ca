// SPDX-License-Identifier: BSD-3-Clause
// What the runs of the scenarios publish. Every word differs from those of every other iterate and run, so that a
// single wrong word in an image is detected.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/handoff/run_description.hpp"
#include "common/handoff/step_descriptor.hpp"
#include "common/reductions/reduction.hpp"

namespace ringside::crash {

Id128 run_id_of(std::uint32_t run) noexcept;
/// The step of `iteration` is iteration - 1.
StepDescriptor step_of(std::uint32_t run, std::uint64_t iteration) noexcept;

/// Makes each larger object only once, because every image is compared with them.
class Published {
 public:
  explicit Published(std::uint64_t rows) : rows_(rows) {}

  const RunDescription& run(std::uint32_t run);
  const double* iterate(std::uint32_t run, std::uint64_t iteration);  // rows doubles
  /// Not computed from the iterate: only their bits matter here.
  const Reductions& reductions(std::uint32_t run, std::uint64_t iteration);

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // run, iteration

  std::uint64_t rows_;
  std::map<std::uint32_t, RunDescription> runs_;
  std::map<Key, std::vector<double>> iterates_;
  std::map<Key, Reductions> reductions_;
};

}  // namespace ringside::crash
