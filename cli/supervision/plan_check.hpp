// SPDX-License-Identifier: BSD-3-Clause
// Compares the first steps of a run with the plan. It does so once, while the run is in progress.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/json/json.hpp"
#include "common/options/options.hpp"

namespace ringside {

class PlanCheck {
 public:
  /// The number of steps between the two reports that are compared.
  static constexpr std::uint64_t kSteps = 20;

  explicit PlanCheck(const PlannedStepOptions& planned) : planned_(planned) {}

  /// Call this function when another analyzer takes over: figures of the lost analyzer no longer count.
  void begin_anew() noexcept { from_ns_ = 0; }

  /// analyzer: the analyzer's newest figures, or null. Returns one line, once, if steps are faster or slower than
  /// planned.
  std::optional<std::string> observe(const Json& analyzer);

 private:
  PlannedStepOptions planned_;
  std::uint64_t from_step_ = 0;
  std::int64_t from_ns_ = 0;
  bool done_ = false;
};

}  // namespace ringside
