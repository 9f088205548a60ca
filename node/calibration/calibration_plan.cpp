// SPDX-License-Identifier: BSD-3-Clause
#include "node/calibration/calibration_plan.hpp"

#include <algorithm>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"

namespace ringside {

void check_stop(StopFlag stop) {
  if (stop.is_set()) throw Error(ExitCode::kInterrupted, "calibrate: interrupted; nothing was written");
}

std::vector<std::string> CalibrationPlan::run(std::int64_t deadline_ns, StopFlag stop, const Announce& announce) {
  const auto left_s = [&] { return seconds(deadline_ns - now_ns()); };

  // This loop is the first round. It continues as long as there is time for two more rounds of the measurements visited
  // so far.
  std::size_t measured = 0;
  for (; measured < items_.size(); ++measured) {
    if (measured > 0 && (kLeastVisits - 1) * round_s() >= left_s()) break;
    visit(items_[measured], left_s(), stop, announce);
  }
  while (measured > 1 && (kLeastVisits - 1) * round_s() > left_s()) items_[--measured].visit_s = 0;
  std::vector<std::string> left_out;
  for (std::size_t item = measured; item < items_.size(); ++item) left_out.push_back(items_[item].what);
  items_.resize(measured);

  for (int round = 1; round < kMostVisits; ++round) {
    for (Item& item : items_) {
      if (round >= kLeastVisits && item.visit_s > left_s()) continue;
      visit(item, std::min(left_s(), (kMostVisits - round) * round_s()), stop, announce);
    }
    if (left_s() <= 0 && round + 1 >= kLeastVisits) break;
  }
  return left_out;
}

void CalibrationPlan::visit(Item& item, double left_s, StopFlag stop, const Announce& announce) {
  check_stop(stop);
  announce(item.what, std::max(0.0, left_s));
  const std::int64_t begun = now_ns();
  item.visit();
  item.visit_s = seconds(now_ns() - begun);
}

double CalibrationPlan::round_s() const noexcept {
  double sum_s = 0;
  for (const Item& item : items_) sum_s += item.visit_s;
  return sum_s;
}

}  // namespace ringside
