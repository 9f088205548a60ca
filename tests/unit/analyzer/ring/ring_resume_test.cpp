// SPDX-License-Identifier: BSD-3-Clause
// A run that continues from a step that is not its newest one, because another node has lost newer steps
// (docs/publish/mpi.md, "Resuming").
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/ring/ring_writer.hpp"
#include "common/platform/error.hpp"
#include "common/ring/ring_recovery.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kResumedRows = 100;
constexpr std::uint32_t kSlots = 5;

class RingResumeTest : public ::testing::Test {
 protected:
  std::vector<std::byte> bytes() const { return {ring_.memory.bytes().begin(), ring_.memory.bytes().end()}; }
  std::vector<std::uint64_t> kept_numbers() const {
    std::vector<std::uint64_t> numbers;
    for (const KeptSlot& kept : recover(ring_.memory.ring()).kept) numbers.push_back(kept.header.commit_seq);
    return numbers;
  }
  /// Returns the line with which this resume is refused. The ring must not change.
  std::string refusal(const RunDescription& run, std::uint64_t from) {
    const std::vector<std::byte> before = bytes();
    RingWriter writer = ring_.next_writer();
    const std::string line = failure_line([&] { begin_x_only(writer, run, nullptr, from); }, ExitCode::kDamaged);
    EXPECT_TRUE(before == bytes()) << line;
    return line;
  }

  XOnlyRing ring_{kResumedRows, kSlots, 7};  // it holds iterations 3 to 7, in the slots 2, 3, 4, 0, 1
};

TEST_F(RingResumeTest, TheRunContinuesFromTheOlderStep) {
  RingWriter writer = ring_.next_writer();
  std::vector<double> handed_over(kResumedRows);
  const auto kept = begin_x_only(writer, run_of(kResumedRows), handed_over.data(), 5);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->header.iteration, 5u);
  EXPECT_EQ(handed_over, iterate(5, kResumedRows));
  EXPECT_EQ(kept_iterations(ring_.memory.ring()), (Iterations{3, 4, 5})) << "newer ones are gone";
  EXPECT_EQ(writer.committed(), 5u);
  EXPECT_EQ(writer.persisted(), 5u);
  EXPECT_EQ(writer.run_committed(), 0u);
  EXPECT_EQ(writer.run_persisted(), 0u);

  ASSERT_EQ(writer.begin(), CommitStatus::kOk);
  EXPECT_EQ(std::memcmp(writer.previous_payload(), iterate(5, kResumedRows).data(), kResumedRows * 8), 0);
  writer.copy(iterate(6, kResumedRows).data(), step_of(6));
  ASSERT_EQ(writer.commit(), CommitStatus::kOk);
  EXPECT_EQ(writer.run_committed(), 1u);
  EXPECT_EQ(kept_iterations(ring_.memory.ring()), (Iterations{3, 4, 5, 6})) << "empty slots are taken first";
}

TEST_F(RingResumeTest, NumbersGoOnAboveTheDiscardedOnes) {
  RingWriter writer = ring_.next_writer();
  begin_x_only(writer, run_of(kResumedRows), nullptr, 5);
  EXPECT_EQ(writer.next_seq(), 8u);
  for (std::uint64_t k = 6; k <= 8; ++k) commit_iterate(writer, k, kResumedRows);
  EXPECT_EQ(kept_iterations(ring_.memory.ring()), (Iterations{4, 5, 6, 7, 8}));
  EXPECT_EQ(kept_numbers(), (std::vector<std::uint64_t>{4, 5, 8, 9, 10}));
  EXPECT_EQ(writer.run_committed(), 3u);
  for (std::uint64_t k = 9; k <= 10; ++k) commit_iterate(writer, k, kResumedRows);
  EXPECT_EQ(recover(ring_.memory.ring()).contiguous, kSlots) << "once the ring has wrapped";
}

TEST_F(RingResumeTest, TheNewestStepDiscardsNothing) {
  const std::vector<std::byte> before = bytes();
  RingWriter writer = ring_.next_writer();
  const auto kept = begin_x_only(writer, run_of(kResumedRows), nullptr, 7);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->header.iteration, 7u);
  EXPECT_EQ(writer.next_seq(), 8u);
  EXPECT_TRUE(before == bytes());
}

TEST_F(RingResumeTest, TheOldestStepIsKeptAlone) {
  RingWriter writer = ring_.next_writer();
  begin_x_only(writer, run_of(kResumedRows), nullptr, 3);
  EXPECT_EQ(kept_iterations(ring_.memory.ring()), (Iterations{3}));
  for (std::uint64_t k = 4; k <= 7; ++k) commit_iterate(writer, k, kResumedRows);
  EXPECT_EQ(kept_iterations(ring_.memory.ring()), (Iterations{3, 4, 5, 6, 7}));
}

TEST_F(RingResumeTest, TheNewestGoFirst) {
  // If a writer dies during this, the remaining steps must be contiguous and include the step from which the run
  // continues.
  RingWriter writer = ring_.next_writer();
  ring_.memory.persistence.observe(ring_.memory.at(0));
  begin_x_only(writer, run_of(kResumedRows), nullptr, 4);
  std::vector<std::uint64_t> discarded;
  std::size_t drains = 0;
  for (const PersistenceEvent& event : ring_.memory.persistence.take()) {
    const std::uint64_t header = event.offset / kLineBytes * kLineBytes;
    const bool is_new = event.event == Event::kStore && (discarded.empty() || discarded.back() != header);
    if (is_new && !discarded.empty()) {
      EXPECT_GE(drains, discarded.size()) << "each is gone before the next";
    }
    if (is_new) discarded.push_back(header);
    drains += event.event == Event::kDrain && !discarded.empty();
  }
  const std::vector<SlotPlace>& slots = ring_.memory.geometry().slots;
  EXPECT_EQ(discarded, (std::vector<std::uint64_t>{slots[1].meta_offset, slots[0].meta_offset, slots[4].meta_offset}));
}

TEST_F(RingResumeTest, ADiscardedHeaderIsNotMadeValidByItsNumber) {
  RingWriter writer = ring_.next_writer();
  begin_x_only(writer, run_of(kResumedRows), nullptr, 5);
  ring_.memory.ring().header(1)->commit_seq = 7;
  EXPECT_EQ(ring_.memory.ring().slot(1).state, SlotState::kDamagedHeader);
}

TEST_F(RingResumeTest, AnIterationThatIsNotKeptIsRefused) {
  const std::string rest = ", which this node does not keep; it keeps iterations 3 to 7";
  for (const std::uint64_t from : {2u, 8u}) {
    EXPECT_EQ(refusal(run_of(kResumedRows), from),
              "--resume: the other nodes continue from iteration " + std::to_string(from) + rest);
  }
}

TEST_F(RingResumeTest, AnIterationOfAnotherRunIsRefused) {
  EXPECT_EQ(
      refusal(run_of(kResumedRows, 50), 5),
      "--resume: the other nodes continue from iteration 5, which this node does not keep; it keeps iterations 3 to 7");
}

TEST_F(RingResumeTest, AnEmptyRingIsRefused) {
  RingWriter writer = ring_.next_writer();
  writer.clear();
  EXPECT_NE(failure_line([&] { begin_x_only(writer, run_of(kResumedRows), nullptr, 5); }, ExitCode::kDamaged), "");
}

TEST_F(RingResumeTest, ADamagedIterationIsRefused) {
  ring_.memory.flip_bit(ring_.memory.geometry().slots[4].payload_offset + 99);
  EXPECT_EQ(refusal(run_of(kResumedRows), 5),
            "--resume: the other nodes continue from iteration 5, which is damaged on this node");
  EXPECT_EQ(kept_iterations(ring_.memory.ring()), (Iterations{3, 4, 5, 6, 7}));

  RingWriter writer = ring_.next_writer();
  begin_x_only(writer, run_of(kResumedRows), nullptr, 6);
  EXPECT_EQ(kept_iterations(ring_.memory.ring()), (Iterations{3, 4, 5, 6})) << "another one is not concerned";
}

TEST_F(RingResumeTest, OnAPlainFileTheDiscardIsOnTheDiskBeforeTheRunBegins) {
  RingWriter writer = ring_.next_writer(Storage::kFile);
  ring_.memory.persistence.observe(ring_.memory.at(0));
  begin_x_only(writer, run_of(kResumedRows), nullptr, 5);
  const std::vector<PersistenceEvent> events = ring_.memory.persistence.take();
  const auto is_store = [](const PersistenceEvent& event) { return event.event == Event::kStore; };
  const auto is_sync = [](const PersistenceEvent& event) { return event.event == Event::kSync; };
  const auto last_store = std::find_if(events.rbegin(), events.rend(), is_store);
  const auto last_sync = std::find_if(events.rbegin(), events.rend(), is_sync);
  ASSERT_NE(last_store, events.rend());
  EXPECT_LT(last_sync - events.rbegin(), last_store - events.rbegin());
  commit_iterate(writer, 6, kResumedRows);
  EXPECT_EQ(writer.finish(), 0);
  EXPECT_EQ(writer.run_persisted(), 1u);
}

}  // namespace
}  // namespace ringside
