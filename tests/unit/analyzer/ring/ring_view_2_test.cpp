// SPDX-License-Identifier: BSD-3-Clause
// What readers find in a ring of format 2: one variable x, two scalars, the results of x.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "common/results/result_values.hpp"
#include "common/ring/ring_check.hpp"
#include "common/ring/ring_recovery.hpp"
#include "tests/unit/analyzer/ring/ring_2_in_memory.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kRows2 = 5000;  // two chunks and a part of a third one

Reductions reductions_of(std::uint64_t k) {
  Reductions reductions;
  reductions.rows = kRows2;
  reductions.sum = static_cast<double>(k) + 0.5;
  reductions.has_change = k > 2;
  reductions.change_l1 = reductions.has_change ? 0.25 : 0;
  reductions.top_count = 1;
  reductions.top[0] = {77, 2.0};
  reductions.histogram[3] = kRows2;
  return reductions;
}

/// A ring with the iterations 2, 3 and 4 in the slots 1, 2 and 0. The newest iteration has no reductions.
Ring2InMemory wrapped_ring() {
  Ring2InMemory memory(kRows2);
  memory.write_run(0, 1, 50);
  memory.write_run(1, 2, 7);
  for (const std::uint64_t k : {2u, 3u, 4u}) {
    const auto slot = static_cast<std::uint32_t>((k - 1) % 3);
    memory.commit(slot, k, k);
    if (k < 4) memory.store(slot, reductions_of(k));
  }
  return memory;
}

RingView view_of(const Ring2InMemory& memory) {
  return RingView::parse(memory.bytes(), "old.pool");
}

TEST(RingView2Test, ItsStepsHaveOneVariableAndTwoScalars) {
  const Ring2InMemory memory = wrapped_ring();
  const RingView ring = view_of(memory);
  EXPECT_EQ(ring.geometry().version, 2u);
  EXPECT_TRUE(ring.superblock_intact(0) && ring.superblock_intact(1));
  EXPECT_TRUE(ring.geometry().schema().is_x_only());
  EXPECT_EQ(ring.geometry().entries(), kRows2);
  EXPECT_EQ(kept_iterations(ring), (Iterations{2, 3, 4}));
  for (const KeptSlot& kept : recover(ring).kept) {
    const std::uint64_t k = kept.header.iteration;
    std::vector<double> x(kRows2);
    const ReadResult read = read_payload(ring, kept.slot, kept.header, x.data());
    EXPECT_EQ(read.status, ReadStatus::kOk);
    EXPECT_EQ(x, iterate(k, kRows2));
    EXPECT_EQ(read.step.descriptor.residual_l1, 1.0 / static_cast<double>(k));
  }
}

TEST(RingView2Test, ItsReductionsAreResultsByName) {
  const Ring2InMemory memory = wrapped_ring();
  const RingView ring = view_of(memory);
  for (const KeptSlot& kept : recover(ring).kept) {
    const std::uint64_t k = kept.header.iteration;
    SlotResults results;
    Reductions reductions;
    if (k == 4) {
      EXPECT_EQ(ring.results(kept.slot, kept.header, results), ResultsState::kNotRecorded);
      continue;
    }
    ASSERT_EQ(ring.results(kept.slot, kept.header, results), ResultsState::kRecorded);
    const auto catalogue = ring.catalogue({7, 8}, results.catalogue_hash);
    ASSERT_TRUE(catalogue);
    ASSERT_EQ(catalogue->words(), results.words.size());
    const ResultValues values(results.words);
    EXPECT_EQ(values.f64(*catalogue->find("x.sum")), static_cast<double>(k) + 0.5);
    EXPECT_EQ(values.present(*catalogue->find("x.change_l1")), k > 2);
    EXPECT_EQ(values.i64(*catalogue->find("x.top_row"), 0), 77);
    EXPECT_EQ(values.i64(*catalogue->find("x.top_row"), 1), -1);
    EXPECT_EQ(values.i64(*catalogue->find("x.histogram"), 3), static_cast<std::int64_t>(kRows2));
    EXPECT_NE(catalogue->find("solver.residual_l1"), nullptr);

    const Reductions expected = reductions_of(k);
    ASSERT_EQ(ring.reductions(kept.slot, kept.header, reductions), ResultsState::kRecorded);
    EXPECT_EQ(std::memcmp(&reductions, &expected, sizeof expected), 0);
  }
}

TEST(RingView2Test, ItsRunsAreDescribedInTodaysForm) {
  const Ring2InMemory memory = wrapped_ring();
  const RingView ring = view_of(memory);
  const std::vector<RunReading> runs = ring.runs();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].run.run_id, (Id128{50, 51}));
  EXPECT_EQ(runs[1].run.run_id, (Id128{7, 8}));
  EXPECT_EQ(runs[1].run.entries, kRows2);
  EXPECT_EQ(runs[1].run.schema_id, Schema::x_only(kRows2).id());
  EXPECT_EQ(text_of(runs[1].run.matrix), "grid:10");
  EXPECT_EQ(text_of(runs[1].run.parameters), "damping=0.85");
  EXPECT_TRUE(check_twins(ring).intact());
}

TEST(RingView2Test, EveryByteOfItsPartsIsCovered) {
  Ring2InMemory memory = wrapped_ring();
  const RingGeometry& geometry = memory.geometry();
  const std::uint64_t meta = geometry.slots[2].meta_offset;  // iteration 3
  const KeptSlot kept = recover(view_of(memory)).kept[1];
  ASSERT_EQ(kept.slot, 2u);
  const auto with_flip = [&](std::uint64_t offset, auto&& look) {
    memory.flip_bit(offset, static_cast<int>(offset % 8));
    look(view_of(memory));
    memory.flip_bit(offset, static_cast<int>(offset % 8));
  };
  for (std::uint64_t byte = 0; byte < geometry.superblock_bytes(); ++byte) {
    with_flip(geometry.superblock_offset[0] + byte,
              [&](const RingView& ring) { EXPECT_FALSE(ring.superblock_intact(0)) << byte; });
  }
  for (std::uint64_t byte = 0; byte < sizeof(SlotHeader); ++byte) {
    with_flip(meta + byte, [&](const RingView& ring) { EXPECT_EQ(kept_iterations(ring), (Iterations{2, 4})) << byte; });
  }
  for (std::uint64_t byte = 0; byte < sizeof(StepDescriptor); ++byte) {
    with_flip(meta + kStepOffset + byte, [&](const RingView& ring) {
      EXPECT_FALSE(check_payload(ring, kept.slot, kept.header).table_intact) << byte;
    });
  }
  for (std::uint64_t byte = 0; byte < sizeof(StoredReductions2); ++byte) {
    with_flip(meta + geometry.results_offset() + byte,
              [&](const RingView& ring) { EXPECT_TRUE(check_slot(ring, kept).results_damaged()) << byte; });
  }
  for (std::uint64_t byte = 0; byte < sizeof(RunTableEntry2); ++byte) {
    with_flip(geometry.run_table_offset[0] + sizeof(RunTableEntry2) + byte, [&](const RingView& ring) {
      EXPECT_EQ(ring.run_entry_copy(0, 1).state, EntryState::kDamaged) << byte;
      EXPECT_EQ(ring.runs().size(), 2u) << byte;
    });
  }
  with_flip(geometry.slots[2].payload_offset + 2 * kChunkBytes, [&](const RingView& ring) {
    EXPECT_EQ(check_payload(ring, kept.slot, kept.header).damaged_chunks, (std::vector<std::uint64_t>{2}));
  });
  EXPECT_FALSE(check_slot(view_of(memory), kept).damaged());
}

TEST(RingView2Test, NobodyWritesToIt) {
  Ring2InMemory memory = wrapped_ring();
  EXPECT_EQ(
      failure_line([&] { WritableRing::parse(memory.bytes(), "old.pool"); }),
      "old.pool: the pool has format 2, but this release writes format 3; the pool can be read (ringside info, verify, "
      "replay, export); ringside run --overwrite makes a new pool in its place, or give another --pool");
}

}  // namespace
}  // namespace ringside
