// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/plan_check.hpp"

#include <fmt/format.h>

#include "cli/terminal/run_text.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kSettlingSteps = 3;  // the number of steps until caches are warm and the pace is steady

std::string planned_duration(std::uint64_t ns) {
  return duration_text(static_cast<std::int64_t>(ns));
}

}  // namespace

std::optional<std::string> PlanCheck::observe(const Json& analyzer) {
  if (done_ || planned_.step_ns == 0 || !analyzer.is_object()) return std::nullopt;
  const auto steps = analyzer.value("steps_committed", std::uint64_t{0});
  const auto ended_ns = analyzer.value("ended_ns", std::int64_t{0});
  if (steps < kSettlingSteps || ended_ns == 0) return std::nullopt;
  if (from_ns_ == 0) {
    from_step_ = steps;
    from_ns_ = ended_ns;
    return std::nullopt;
  }
  if (steps < from_step_ + kSteps) return std::nullopt;
  done_ = true;
  const auto step_ns = (ended_ns - from_ns_) / static_cast<std::int64_t>(steps - from_step_);
  const bool as_planned =
      step_ns >= static_cast<std::int64_t>(planned_.low_ns) && step_ns <= static_cast<std::int64_t>(planned_.high_ns);
  if (as_planned) return std::nullopt;
  return fmt::format("steps take {}, but {} was planned ({} to {}){}", duration_text(step_ns),
                     planned_duration(planned_.step_ns), planned_duration(planned_.low_ns),
                     planned_duration(planned_.high_ns),
                     planned_.adapt ? "; the analyzer tries the other --reduce mode if they take longer" : "");
}

}  // namespace ringside
