// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/reduce_adaptation.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

/// slot_ns, transfer_ns: the time of a step in the modes `slot` and `transfer`.
struct Steps {
  const char* what;
  PlannedStepOptions planned;
  ReduceAt planned_at;
  std::int64_t slot_ns, transfer_ns;
  ReduceAt found_at;
  bool adapted;
};

TEST(ReduceAdaptationTest, TheModeChangesToTheFasterOneIfStepsAreSlowerThanPlanned) {
  const PlannedStepOptions planned{.high_ns = 100, .adapt = true};
  for (const Steps& steps : {
           Steps{"steps as planned", planned, ReduceAt::kSlot, 100, 10, ReduceAt::kSlot, false},
           Steps{"slow steps", planned, ReduceAt::kSlot, 150, 120, ReduceAt::kTransfer, true},
           Steps{"the other mode is slower still", planned, ReduceAt::kTransfer, 200, 150, ReduceAt::kTransfer, true},
           Steps{"not asked for", {.high_ns = 100}, ReduceAt::kSlot, 1000, 1, ReduceAt::kSlot, false},
           Steps{"no plan", {.adapt = true}, ReduceAt::kSlot, 1000, 1, ReduceAt::kSlot, false},
       }) {
    SCOPED_TRACE(steps.what);
    ReduceAdaptation adaptation(steps.planned_at, steps.planned);
    std::int64_t now_ns = 1'000'000;
    for (int step = 0; step < 10 * ReduceAdaptation::kMeasured; ++step) {
      now_ns += adaptation.at() == ReduceAt::kSlot ? steps.slot_ns : steps.transfer_ns;
      adaptation.step_ended(now_ns);
    }
    EXPECT_EQ(adaptation.at(), steps.found_at);
    EXPECT_EQ(adaptation.adapted(), steps.adapted);
  }
}

}  // namespace
}  // namespace ringside
