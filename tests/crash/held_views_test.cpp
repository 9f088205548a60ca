// SPDX-License-Identifier: BSD-3-Clause
// No view that mixes two steps passes its check, at any moment of any scenario; and the faults that this must detect.
#include "tests/crash/held_views.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/crash/mutants.hpp"

namespace ringside::crash {
namespace {

constexpr std::uint64_t kSeeds = 10;

const Scenario& scenario_named(std::string_view name) {
  return *std::find_if(scenarios().begin(), scenarios().end(), [&](const Scenario& one) { return one.name == name; });
}

/// Compares commit_seq alone: numbers come again when a ring was cleared.
bool only_commit_seq(const RingView& ring, std::uint32_t slot, const SlotHeader& held) {
  return ring.slot(slot).header.commit_seq == held.commit_seq;
}

/// The check was made before the bytes were read, and not again.
bool only_before(const RingView&, std::uint32_t, const SlotHeader&) {
  return true;
}

/// What explores the mutant until it is detected: the violation, or an empty text.
std::string violation_of(std::string_view fault) {
  const auto mutant =
      std::find_if(mutants().begin(), mutants().end(), [&](const Mutant& one) { return one.fault == fault; });
  EXPECT_NE(mutant, mutants().end()) << fault;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const TracedScenario whole = scenario_named(mutant->scenario).trace(Storage::kDax, Durability::kPower, seed);
    const ViewExploration seen = explore_views(bent(*mutant, whole), whole_header);
    if (!seen.violation.empty()) return seen.violation;
  }
  return "";
}

TEST(HeldViewsTest, NoViewThatMixesTwoStepsPassesItsCheck) {
  omp_set_num_threads(1);
  std::uint64_t views = 0;
  std::uint64_t checks = 0;
  for (const Scenario& scenario : scenarios()) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const ViewExploration seen = explore_views(scenario.trace(Storage::kDax, Durability::kPower, seed), whole_header);
      EXPECT_EQ(seen.violation, "") << scenario.name << " seed " << seed;
      views += seen.views;
      checks += seen.checks;
    }
  }
  EXPECT_GT(views, 500u);
  EXPECT_GT(checks, 100'000u);
}

TEST(HeldViewsTest, ACheckOfTheCommitNumberAloneMissesAClearedRing) {
  omp_set_num_threads(1);
  bool missed = false;
  for (std::uint64_t seed = 1; seed <= kSeeds && !missed; ++seed) {
    const TracedScenario traced = scenario_named("second-run").trace(Storage::kDax, Durability::kPower, seed);
    missed = !explore_views(traced, only_commit_seq).violation.empty();
  }
  EXPECT_TRUE(missed);
}

TEST(HeldViewsTest, ACheckBeforeTheBytesAreReadMissesEachOverwrittenStep) {
  omp_set_num_threads(1);
  const TracedScenario traced = scenario_named("two-laps").trace(Storage::kDax, Durability::kPower, 1);
  EXPECT_NE(explore_views(traced, only_before).violation, "");
}

class ViewFaultTest : public ::testing::TestWithParam<std::string_view> {};

TEST_P(ViewFaultTest, LetsAMixedViewPass) {
  omp_set_num_threads(1);
  const std::string violation = violation_of(GetParam());
  EXPECT_NE(violation, "") << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Crash, ViewFaultTest,
                         ::testing::Values("fence 1 left out", "the victim is not invalidated",
                                           "the last variable is copied before the invalidation"));

}  // namespace
}  // namespace ringside::crash
