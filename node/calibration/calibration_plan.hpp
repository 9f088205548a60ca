// SPDX-License-Identifier: BSD-3-Clause
// The order of measurements within a time limit. The plan visits all measurements in turn, repeatedly, so that a short
// disturbance affects a few samples of many figures instead of all samples of one. The first round measures the cost of
// a visit. If there is no time for three visits of each measurement, measurements are left out, the least important
// first.
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

  /// Called before each visit with the measurement, and the estimated seconds that this plan still needs.
  using Announce = std::function<void(const std::string& what, double left_s)>;

  /// Makes visits until `deadline_ns` (by now_ns), but in any case those of the first measurement. Returns the names of
  /// the measurements left out. Throws Error (exit code 130) when `stop` is set, and any error of a visit.
  std::vector<std::string> run(std::int64_t deadline_ns, StopFlag stop, const Announce& announce);

 private:
  struct Item {
    std::string what;
    std::function<void()> visit;
    double visit_s = 0;  // the time that the last visit took
  };

  void visit(Item& item, double left_s, StopFlag stop, const Announce& announce);
  double round_s() const noexcept;

  std::vector<Item> items_;
};

/// Throws Error (exit code 130) if `stop` is set.
void check_stop(StopFlag stop);

}  // namespace ringside
