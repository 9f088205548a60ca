// SPDX-License-Identifier: BSD-3-Clause
#include "common/ring/ring_view.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "common/platform/error.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

/// Expects that these bytes are refused, because they are no valid ring.
void expect_no_ring(std::span<const std::byte> bytes, ExitCode code, const std::string& part = "x.pool") {
  expect_refused([&] { RingView::parse(bytes, "x.pool"); }, part, code);
}

/// Changes both superblocks and corrects their hashes, as an attacker could do.
void forge(const RingInMemory& ring, const std::function<void(Superblock&, SlotPlace*)>& change) {
  const RingGeometry geometry = ring.geometry();
  for (std::uint64_t offset : geometry.superblock_offset) {
    auto* superblock = reinterpret_cast<Superblock*>(ring.at(offset));
    const std::uint32_t bytes = superblock->head.bytes;
    change(*superblock, reinterpret_cast<SlotPlace*>(ring.at(offset) + sizeof(Superblock)));
    superblock->head.hash = superblock_hash(ring.at(offset), bytes);
  }
}

/// The entry of x in a ring with three slots. places: the slots' places.
VariableEntry& variable(SlotPlace* places) {
  return *reinterpret_cast<VariableEntry*>(places + 3);
}

TEST(RingViewTest, FindsWhatWasFormatted) {
  const RingInMemory memory(1000, 5);
  const RingView view = memory.ring();
  EXPECT_EQ(view.geometry().slot_count(), 5u);
  EXPECT_EQ(view.geometry().entries(), 1000u);
  EXPECT_TRUE(view.superblock_intact(0) && view.superblock_intact(1));
  for (std::uint32_t slot = 0; slot < 5; ++slot) EXPECT_EQ(view.slot(slot).state, SlotState::kEmpty);
  EXPECT_TRUE(view.runs().empty());
}

TEST(RingViewTest, EveryByteOfASuperblockIsCoveredAndEitherOneSuffices) {
  const RingInMemory memory(1000);
  for (const int copy : {0, 1}) {
    const std::uint64_t first = memory.geometry().superblock_offset[copy];
    for (std::uint64_t byte = 0; byte < memory.geometry().superblock_bytes(); ++byte) {
      memory.flip_bit(first + byte, static_cast<int>(byte % 8));
      const RingView view = memory.ring();
      EXPECT_FALSE(view.superblock_intact(copy)) << "byte " << byte;
      EXPECT_TRUE(view.superblock_intact(1 - copy)) << "byte " << byte;
      EXPECT_EQ(view.geometry().slots.size(), 3u) << "byte " << byte;
      memory.flip_bit(first + byte, static_cast<int>(byte % 8));
    }
    EXPECT_TRUE(memory.ring().superblock_intact(copy));
  }
}

TEST(RingViewTest, WithoutTheFormattedWordCreationWasInterrupted) {
  const RingInMemory memory(1000);
  for (std::uint64_t offset : memory.geometry().superblock_offset)
    memory.flip_bit(offset + memory.geometry().formatted_word_offset());
  expect_no_ring(memory.bytes(), ExitCode::kUsage, "--overwrite");
}

TEST(RingViewTest, ANewerVersionIsNamedAsSuch) {
  const RingInMemory memory(1000);
  forge(memory, [](Superblock& superblock, SlotPlace*) { superblock.head.version = 4; });
  expect_no_ring(memory.bytes(), ExitCode::kUsage, "version 4");
}

TEST(RingViewTest, NoiseAndEmptyFilesAreNotRings) {
  std::vector<std::byte> bytes;
  expect_no_ring(bytes, ExitCode::kUsage);
  std::mt19937_64 random(1);
  for (std::size_t size : {1u, 7u, 8u, 100u, 4095u, 4096u, 4097u, 100'000u}) {
    bytes.resize(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    SCOPED_TRACE(size);
    expect_no_ring(bytes, ExitCode::kUsage);
  }
}

TEST(RingViewTest, ATruncatedFileIsDamage) {
  const RingInMemory memory(1000);
  expect_no_ring(memory.bytes().first(memory.bytes().size() - 1), ExitCode::kDamaged, "truncated");
}

TEST(RingViewTest, ForgedNumbersAreRefusedNotBelieved) {
  using Change = std::function<void(Superblock&, SlotPlace*)>;
  const std::vector<std::pair<const char*, Change>> changes = {
      {"no slots", [](Superblock& s, SlotPlace*) { s.slots = 0; }},
      {"many slots", [](Superblock& s, SlotPlace*) { s.slots = ~0u; }},
      {"other slots", [](Superblock& s, SlotPlace*) { s.slots = 4; }},
      {"run table entries", [](Superblock& s, SlotPlace*) { s.run_records = 1000; }},
      {"no payload", [](Superblock& s, SlotPlace*) { s.payload_bytes = 0; }},
      {"payload beyond the file", [](Superblock& s, SlotPlace*) { s.payload_bytes = 8ull << 30; }},
      {"no variables", [](Superblock& s, SlotPlace*) { s.variables = 0; }},
      {"many variables", [](Superblock& s, SlotPlace*) { s.variables = ~0u; }},
      {"words for no scalar", [](Superblock& s, SlotPlace*) { s.scalar_words = 0; }},
      {"words for half a line of scalars", [](Superblock& s, SlotPlace*) { s.scalar_words = 6; }},
      {"words for many scalars", [](Superblock& s, SlotPlace*) { s.scalar_words = 74; }},
      {"no results", [](Superblock& s, SlotPlace*) { s.results_bytes = 0; }},
      {"results of many bytes", [](Superblock& s, SlotPlace*) { s.results_bytes = ~0ull << 6; }},
      {"other results", [](Superblock& s, SlotPlace*) { s.results_bytes += 64; }},
      {"no catalogue entries", [](Superblock& s, SlotPlace*) { s.catalogue_entries = 0; }},
      {"many catalogue entries", [](Superblock& s, SlotPlace*) { s.catalogue_entries = 1025; }},
      {"a reserved word", [](Superblock& s, SlotPlace*) { s.reserved[6] = 1; }},
      {"another schema", [](Superblock& s, SlotPlace*) { s.schema_id.low ^= 1; }},
      {"an unknown dtype", [](Superblock&, SlotPlace* p) { variable(p).description.dtype = 77; }},
      {"a shape that wraps", [](Superblock&, SlotPlace* p) { variable(p).description.shape[0] = (1ull << 61) + 1; }},
      {"another offset of x", [](Superblock&, SlotPlace* p) { variable(p).offset = 8; }},
      {"other bytes of x", [](Superblock&, SlotPlace* p) { variable(p).stored_bytes += 8; }},
      {"another first chunk of x", [](Superblock&, SlotPlace* p) { variable(p).first_chunk = 1; }},
      {"chunks of 0", [](Superblock& s, SlotPlace*) { s.chunk_bytes = 0; }},
      {"chunks of 1000", [](Superblock& s, SlotPlace*) { s.chunk_bytes = 1000; }},
      {"meta bytes", [](Superblock& s, SlotPlace*) { s.meta_bytes += 64; }},
      {"file bytes", [](Superblock& s, SlotPlace*) { s.file_bytes = ~0ull; }},
      {"small file", [](Superblock& s, SlotPlace*) { s.file_bytes = 4096; }},
      {"run table outside", [](Superblock& s, SlotPlace*) { s.run_table_offset[1] = ~0ull << 12; }},
      {"run table unaligned", [](Superblock& s, SlotPlace*) { s.run_table_offset[0] += 64; }},
      {"run tables in one place", [](Superblock& s, SlotPlace*) { s.run_table_offset[0] = s.run_table_offset[1]; }},
      {"payload outside", [](Superblock&, SlotPlace* p) { p[1].payload_offset = ~0ull << 21; }},
      {"payload unaligned", [](Superblock&, SlotPlace* p) { p[1].payload_offset += 8, p[1].meta_offset += 8; }},
      {"meta outside", [](Superblock&, SlotPlace* p) { p[2].meta_offset = ~0ull; }},
      {"slots in one place", [](Superblock&, SlotPlace* p) { p[2] = p[0]; }},
  };
  for (const auto& [what, change] : changes) {
    const RingInMemory memory(1000);
    forge(memory, change);
    SCOPED_TRACE(what);
    expect_no_ring(memory.bytes(), ExitCode::kDamaged);
  }
}

TEST(RingViewTest, ACopyOfASuperblockInAPayloadIsNotTheRings) {
  const RingInMemory memory(100'000);
  const std::uint64_t payload = memory.geometry().slots[0].payload_offset;
  std::memcpy(memory.at(payload), memory.at(memory.geometry().superblock_offset[0]),
              memory.geometry().superblock_bytes());
  for (std::uint64_t offset : memory.geometry().superblock_offset) memory.flip_bit(offset + 90);
  expect_no_ring(memory.bytes(), ExitCode::kDamaged);
}

TEST(RingViewTest, AHugeSequenceNumberIsDamageNotHistory) {
  const RingInMemory memory(1000);
  const WritableRing ring = memory.ring();
  SlotHeader header;
  header.payload_bytes = 8000;
  header.commit_seq = ~std::uint64_t{0};
  header.header_hash = header_hash(header, ring.seed(0));
  *ring.header(0) = header;
  EXPECT_EQ(ring.slot(0).state, SlotState::kDamagedHeader);
}

TEST(RingViewTest, ReductionsOfACommitThatIsNoLongerThereAreNotDamaged) {
  XOnlyRing ring(100);
  for (std::uint64_t k = 1; k <= 3; ++k) {
    commit_iterate(ring.writer, k, 100);
    store_reductions(ring.writer, Reductions{});
  }
  const RingView view = ring.memory.ring();
  const KeptSlot oldest = recover(view).kept.front();
  Reductions reductions;
  ASSERT_EQ(view.reductions(oldest.slot, oldest.header, reductions), ResultsState::kRecorded);
  // A reader has read the header of commit 1. While the reader reads the reductions of commit 1, the reductions of
  // commit 4 overwrite these.
  commit_iterate(ring.writer, 4, 100);
  ring.memory.flip_bit(ring.memory.geometry().slots[oldest.slot].meta_offset + ring.memory.geometry().results_offset() +
                       sizeof(ResultsHead) + 9);
  EXPECT_EQ(view.reductions(oldest.slot, oldest.header, reductions), ResultsState::kNotRecorded);
}

}  // namespace
}  // namespace ringside
