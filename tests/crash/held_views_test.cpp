// SPDX-License-Identifier: BSD-3-Clause
// Readers that work on steps in place (docs/inside/library.md, "Why a broken lease is never missed"), on recorded
// scenarios: at every moment of a trace, a reader that may have seen a byte of another step must fail its check. The
// tests must also detect faulty checks. No trace is cut off here: the tests depend on the times at which another
// process sees a store.
//
// Model (x86): stores through the cache become visible in program order. A word that a non-temporal store writes may
// become visible as soon as the last drain before it has completed (a drain by the thread of the store or by the thread
// that called the copy): no fence orders the word with the stores after that drain.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/ring/ring_view.hpp"
#include "tests/crash/images/pool_bytes.hpp"
#include "tests/crash/mutants.hpp"

namespace ringside::crash {
namespace {

constexpr std::uint64_t kSeeds = 10;

/// A reader's check of the step `held`, which it read in `slot`. True: the reader accepts the bytes that it read as
/// bytes of this step.
using Check = bool (*)(const RingView& ring, std::uint32_t slot, const SlotHeader& held);

struct ViewExploration {
  std::uint64_t views = 0;   // one for each commit, from its acknowledgement to the end of the trace
  std::uint64_t checks = 0;  // checks of views that may contain a byte of another step
  std::string violation;     // the first one: nothing is explored after it
};

/// A step as a reader found it when it was committed: the header, and all bytes that a view may return.
struct View {
  std::uint32_t slot = 0;
  SlotHeader header;
  std::vector<std::uint64_t> words;
  bool may_be_mixed = false;
};

/// A store, and the earliest time at which other processes may see it: after event `visible` of the trace.
struct EarlyStore {
  std::size_t visible = 0;
  std::uint64_t offset = 0;
  std::uint64_t value = 0;
};

/// The words that were copied with non-temporal stores, by ascending `visible`.
std::vector<EarlyStore> copied_words(const Trace& trace) {
  std::vector<EarlyStore> words;
  std::size_t of_caller = 0;
  std::size_t of_thread[256] = {};
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace[i];
    if (event.kind == EventKind::kDrain && event.phase != Phase::kCopy) of_caller = i;
    if (event.kind == EventKind::kDrain) of_thread[event.thread] = i;
    if (event.kind != EventKind::kCopyWord) continue;
    words.push_back({std::max(of_caller, of_thread[event.thread]), event.offset, event.value});
  }
  std::ranges::stable_sort(words, {}, &EarlyStore::visible);
  return words;
}

class HoldingReaders {
 public:
  HoldingReaders(const TracedScenario& traced, Check check)
      : traced_(traced), check_(check), pool_(traced.geometry.file_bytes) {}

  ViewExploration run() {
    const std::vector<EarlyStore> copied = copied_words(traced_.trace);
    auto next = copied.begin();
    for (std::size_t i = 0; i < traced_.trace.size() && result_.violation.empty(); ++i) {
      const Event& event = traced_.trace[i];
      if (is_store(event.kind)) pool_.store(event.offset, event.value);
      pool_.keep();
      if (event.kind == EventKind::kStore) see(event.offset, event.value);
      for (; next != copied.end() && next->visible <= i; ++next) see(next->offset, next->value);
      if (event.kind == EventKind::kFormatted) ring_ = RingView::parse(pool_.file(), "pool");
      check_all(i);
      if (event.kind == EventKind::kCommitted) hold(event.value);
    }
    return std::move(result_);
  }

 private:
  std::uint64_t view_begin(std::uint32_t slot) const { return traced_.geometry.slots[slot].payload_offset; }

  void hold(std::uint64_t commit_seq) {
    for (std::uint32_t slot = 0; slot < traced_.geometry.slot_count(); ++slot) {
      const SlotReading reading = ring_->slot(slot);
      if (reading.state != SlotState::kCommitted || reading.header.commit_seq != commit_seq) continue;
      ++result_.views;
      View view{slot, reading.header, std::vector<std::uint64_t>(traced_.geometry.payload_bytes() / 8)};
      std::memcpy(view.words.data(), ring_->payload(slot), traced_.geometry.payload_bytes());
      views_.push_back(std::move(view));
    }
  }

  /// Another process may read `value` at `offset` from now on.
  void see(std::uint64_t offset, std::uint64_t value) {
    for (View& view : views_) {
      const std::uint64_t begin = view_begin(view.slot);
      if (offset < begin || offset >= begin + view.words.size() * 8) continue;
      view.may_be_mixed = view.may_be_mixed || view.words[(offset - begin) / 8] != value;
    }
  }

  void check_all(std::size_t event) {
    for (const View& view : views_) {
      if (!view.may_be_mixed) continue;
      ++result_.checks;
      if (!check_(*ring_, view.slot, view.header)) continue;
      result_.violation =
          fmt::format("event {} ({}): a view of iteration {} passes its check, with a byte of another step", event,
                      to_string(traced_.trace[event].phase), view.header.iteration);
      return;
    }
  }

  const TracedScenario& traced_;
  const Check check_;
  PoolBytes pool_;
  std::optional<RingView> ring_;
  std::vector<View> views_;
  ViewExploration result_;
};

/// The library's check.
bool whole_header(const RingView& ring, std::uint32_t slot, const SlotHeader& held) {
  return ring.still_holds(slot, held);
}

const Scenario& scenario_named(std::string_view name) {
  return *std::ranges::find(scenarios(), name, &Scenario::name);
}

/// A faulty check: compares only commit_seq, although commit numbers repeat after a ring was cleared.
bool only_commit_seq(const RingView& ring, std::uint32_t slot, const SlotHeader& held) {
  return ring.slot(slot).header.commit_seq == held.commit_seq;
}

/// A faulty check: compares only before the bytes are read, and not again afterwards.
bool only_before(const RingView&, std::uint32_t, const SlotHeader&) {
  return true;
}

TEST(HeldViewsTest, NoViewThatMixesTwoStepsPassesItsCheck) {
  omp_set_num_threads(1);
  std::uint64_t views = 0;
  std::uint64_t checks = 0;
  for (const Scenario& scenario : scenarios()) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const TracedScenario traced = scenario.trace(Storage::kDax, Durability::kPower, seed);
      const ViewExploration seen = HoldingReaders(traced, whole_header).run();
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
    missed = !HoldingReaders(traced, only_commit_seq).run().violation.empty();
  }
  EXPECT_TRUE(missed);
}

TEST(HeldViewsTest, ACheckBeforeTheBytesAreReadMissesEachOverwrittenStep) {
  omp_set_num_threads(1);
  const TracedScenario traced = scenario_named("two-laps").trace(Storage::kDax, Durability::kPower, 1);
  EXPECT_NE(HoldingReaders(traced, only_before).run().violation, "");
}

class ViewFaultTest : public ::testing::TestWithParam<std::string_view> {};

TEST_P(ViewFaultTest, LetsAMixedViewPass) {
  omp_set_num_threads(1);
  const auto mutant = std::ranges::find(mutants(), GetParam(), &Mutant::fault);
  ASSERT_NE(mutant, mutants().end());
  bool seen = false;
  for (std::uint64_t seed = 1; seed <= kSeeds && !seen; ++seed) {
    const Scenario& scenario = scenario_named(mutant->scenario);
    const TracedScenario traced = bent(*mutant, scenario.trace(Storage::kDax, Durability::kPower, seed));
    seen = !HoldingReaders(traced, whole_header).run().violation.empty();
  }
  EXPECT_TRUE(seen);
}

INSTANTIATE_TEST_SUITE_P(Crash, ViewFaultTest,
                         ::testing::Values("fence 1 left out", "the victim is not invalidated",
                                           "the last variable is copied before the invalidation"));

}  // namespace
}  // namespace ringside::crash
