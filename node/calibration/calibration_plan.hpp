// SPDX-License-Identifier: BSD-3-Clause
// The order of measurements within a time limit. All of them are visited in turn, again and again, so that a
// disturbance of some seconds meets a few samples of many figures instead of all samples of one. The first round shows
// what a visit costs; what does not fit three times is left out, beginning with what matters least.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/platform/stop_flag.hpp"

namespace ringside {

class CalibrationPlan {
 public:
  static constexpr int kLeastVisits = 3;
  static constexpr int kMostVisits = 9;

  /// visit: adds at least one sample. The most important measurements are added first.
  void add(std::string what, std::function<void()> visit) { items_.push_back({std::move(what), std::move(visit)}); }

  /// Called before each visit: what is measured, and the seconds that this plan still needs as far as is known.
  using Announce = std::function<void(const std::string& what, double left_s)>;

  /// Makes the visits, until `deadline_ns` (now_ns) at most, but at least the first measurement's. Returns the names of
  /// what was left out. Throws Error (exit code 130) when `stop` is set, and what a visit throws.
  std::vector<std::string> run(std::int64_t deadline_ns, StopFlag stop, const Announce& announce);

 private:
  struct Item {
    std::string what;
    std::function<void()> visit;
    double visit_s = 0;  // the last one
  };

  void visit(Item& item, double left_s, StopFlag stop, const Announce& announce);
  double round_s() const noexcept;

  std::vector<Item> items_;
};

/// Throws Error (exit code 130) if `stop` is set.
void check_stop(StopFlag stop);

}  // namespace ringside
