// SPDX-License-Identifier: BSD-3-Clause
// The exploration that every change must pass, and the faults that the exploration must detect. crash_explorer can
// explore for a longer time.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/crash/explorer.hpp"
#include "tests/crash/mutants.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside::crash {
namespace {

constexpr std::uint64_t kSeed = 1;

using ringside::testing::kSanitized;
constexpr Depth kDepth = kSanitized ? Depth{{8, 1, 1}, {4, 0, 1}, 64, 4096} : kQuick;

/// The message of a failed test, with everything that is needed to repeat the violation.
std::string report(const Case& one, const Exploration& seen) {
  if (!seen.violation) return "";
  return fmt::format("{} seed {} event {} ({}) image {}: invariant {}", name_of(one), kSeed, seen.violation->event,
                     seen.violation->where, seen.violation->image, seen.violation->what);
}

std::string as_test_name(std::string_view text) {
  std::string name;
  for (const char letter : text) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0)
      name += letter;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  return name;
}

}  // namespace

void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.name;
}

namespace {

class ScenarioTest : public ::testing::TestWithParam<Scenario> {
 protected:
  void SetUp() override { omp_set_num_threads(1); }
};

TEST_P(ScenarioTest, NoPowerCutBreaksAPromise) {
  std::uint64_t images = 0;
  for (const Case& one : all_cases()) {
    if (one.scenario->name != GetParam().name) continue;
    const TracedScenario traced = one.scenario->trace(one.storage, one.durability, kSeed);
    const Exploration seen = explore(traced, one.model, true, kDepth, kSeed);
    EXPECT_FALSE(seen.violation) << report(one, seen);
    EXPECT_GT(seen.images, 0u);
    images += seen.images + seen.images_in_recovery;
  }
  fmt::print("{} images\n", images);
  // This scenario reaches alone the number of images that is required for all scenarios together.
  if (!kSanitized && GetParam().name == "two-laps") {
    EXPECT_GE(images, 100'000u);
  }
}

TEST_P(ScenarioTest, TheSameSeedGivesTheSameTrace) {
  for (const Storage storage : {Storage::kDax, Storage::kFile}) {
    const Trace first = GetParam().trace(storage, Durability::kPower, 7).trace;
    const Trace second = GetParam().trace(storage, Durability::kPower, 7).trace;
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      ASSERT_TRUE(first[i].kind == second[i].kind && first[i].thread == second[i].thread &&
                  first[i].offset == second[i].offset && first[i].value == second[i].value)
          << "event " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Crash, ScenarioTest, ::testing::ValuesIn(scenarios().begin(), scenarios().end()),
                         [](const auto& one) { return as_test_name(one.param.name); });

class OrderTest : public ::testing::TestWithParam<std::string_view> {};

TEST_P(OrderTest, OnDaxTheOrderAloneKeepsThePromises) {
  // Checksums are off. The scenarios that create a pool or repair a superblock are left out, because only a hash shows
  // that a superblock is torn or damaged.
  omp_set_num_threads(1);
  const UseHashing off(Hashing::kOff);
  for (const Case& one : all_cases()) {
    if (one.scenario->name != GetParam() || one.model != Model::kDax) continue;
    const TracedScenario traced = one.scenario->trace(one.storage, one.durability, kSeed);
    const Exploration seen = explore(traced, one.model, false, kDepth, kSeed);
    EXPECT_FALSE(seen.violation) << report(one, seen);
  }
}

INSTANTIATE_TEST_SUITE_P(Crash, OrderTest,
                         ::testing::Values("two-laps", "many-threads", "second-run", "killed-owner", "going-back",
                                           "held-slots"),
                         [](const auto& one) { return as_test_name(one.param); });

TEST(BitFlipTest, AFlippedBitNeverChangesWhatIsReturnedAndCostsOneSlotAtMost) {
  omp_set_num_threads(1);
  for (const Scenario& scenario : scenarios()) {
    if (scenario.name != "two-laps" && (scenario.name != "second-run" || kSanitized)) continue;
    const Exploration seen = explore_bit_flips(scenario.trace(Storage::kDax, Durability::kPower, kSeed));
    EXPECT_FALSE(seen.violation) << scenario.name << ": bit " << seen.violation->image << ": " << seen.violation->what;
    EXPECT_GT(seen.images, 100'000u);
  }
}

struct Fault {
  Mutant mutant;
  bool checksums;
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.mutant.fault << (fault.checksums ? "" : ", without checksums");
}

/// All mutants. A build with sanitizers tests only the first mutant of each scenario: all would take two minutes.
std::vector<Fault> faults() {
  std::vector<Fault> all;
  for (const Mutant& mutant : mutants()) {
    const auto is_of_its_scenario = [&mutant](const Fault& one) { return one.mutant.scenario == mutant.scenario; };
    if (kSanitized && std::ranges::any_of(all, is_of_its_scenario)) continue;
    if (mutant.checksums != Checksums::kOff) all.push_back({mutant, true});
    if (mutant.checksums != Checksums::kOn) all.push_back({mutant, false});
  }
  return all;
}

class MutantTest : public ::testing::TestWithParam<Fault> {};

TEST_P(MutantTest, IsSeen) {
  omp_set_num_threads(1);
  const auto& [mutant, checksums] = GetParam();
  const Kill kill = try_to_kill(mutant, checksums, kSeed, 20);
  EXPECT_FALSE(kill.violation.empty()) << "alive after " << kill.images << " images: " << mutant.fault;
  fmt::print("seed {}, {} images: invariant {}\n", kill.seed, kill.images, kill.violation);
}

INSTANTIATE_TEST_SUITE_P(Crash, MutantTest, ::testing::ValuesIn(faults()),
                         [](const auto& one) { return as_test_name(::testing::PrintToString(one.param)); });

TEST(MutantsTest, AChangedOrderLeavesTheSameBytesWhenNothingGoesWrong) {
  // The exploration must detect such a mutant by the order of its stores, not by different bytes.
  const auto bytes_of = [](const TracedScenario& traced) {
    auto pool = std::make_unique<PoolBytes>(traced.geometry.file_bytes);
    for (const Event& event : traced.trace) {
      if (is_store(event.kind)) pool->store(event.offset, event.value);
    }
    return pool;
  };
  const auto stores_of = [](const TracedScenario& traced) {
    return std::count_if(traced.trace.begin(), traced.trace.end(),
                         [](const Event& event) { return is_store(event.kind); });
  };
  int changed = 0;
  for (const Mutant& mutant : mutants()) {
    const auto scenario = std::ranges::find(scenarios(), mutant.scenario, &Scenario::name);
    const Storage storage = mutant.model == Model::kDax ? Storage::kDax : Storage::kFile;
    const TracedScenario whole = scenario->trace(storage, Durability::kPower, kSeed);
    const TracedScenario other = bent(mutant, whole);
    if (mutant.bend == nullptr || stores_of(whole) != stores_of(other)) continue;  // the mutant leaves out stores
    ++changed;
    const auto expected = bytes_of(whole);
    const auto found = bytes_of(other);
    EXPECT_EQ(std::memcmp(expected->file().data(), found->file().data(), expected->file().size()), 0) << mutant.fault;
  }
  EXPECT_GE(changed, 15);
}

}  // namespace
}  // namespace ringside::crash
