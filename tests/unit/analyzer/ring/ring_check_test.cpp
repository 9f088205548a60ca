// SPDX-License-Identifier: BSD-3-Clause
// Structures that are kept twice: which copy is damaged, which was only left behind, and how the next owner mends
// them. tests/pipeline/media_damage_test.cpp has the damage to slots, bit by bit.
#include "common/ring/ring_check.hpp"

#include <gtest/gtest.h>

#include "analyzer/ring/ring_creation.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kCheckedRows = 100;

class TwinsTest : public ::testing::Test {
 protected:
  TwinsTest() {
    RingWriter writer(memory_.ring(), memory_.persistence, Storage::kDax, Durability::kPower);
    begin_x_only(writer, run_of(kCheckedRows));
    commit_iterate(writer, 1, kCheckedRows);
    before_.assign(memory_.bytes().begin(), memory_.bytes().end());
  }

  std::uint64_t entry(int copy, std::uint32_t index = 0) const {
    return memory_.geometry().run_table_offset[copy] + index * memory_.geometry().run_entry_bytes();
  }
  RunEntryHead* head(int copy) const { return memory_.ring().run_entry(copy, 0); }
  RunEntryTail* tail(int copy) const { return memory_.ring().run_tail(copy, 0); }
  TwinsCheck check() const { return check_twins(memory_.ring()); }

  void expect_mended() {
    EXPECT_EQ(mend_run_entries(memory_.ring(), memory_.persistence), 0);
    EXPECT_EQ(mend_superblocks(memory_.bytes(), memory_.ring(), memory_.persistence), 0);
    EXPECT_TRUE(std::equal(before_.begin(), before_.end(), memory_.bytes().begin()));
  }

  RingInMemory memory_{kCheckedRows};
  std::vector<std::byte> before_;
};

TEST_F(TwinsTest, AnIntactRingHasNoDamageAndMendingChangesNothing) {
  EXPECT_TRUE(check().intact());
  memory_.persistence.observe(memory_.at(0));
  expect_mended();
  EXPECT_TRUE(memory_.persistence.take().empty());
}

TEST_F(TwinsTest, EachByteOfEitherCopyOfARunTableEntryIsCoveredAndMended) {
  for (int copy : {0, 1}) {
    // The head, the used descriptions, and the tail; what lies between has no meaning.
    const std::uint64_t used = sizeof(RunEntryHead) + head(copy)->results * sizeof(ResultDescription);
    const std::uint64_t end = memory_.geometry().run_entry_bytes();
    for (std::uint64_t byte = 0; byte < end;
         byte = byte + 1 == used ? memory_.geometry().run_tail_offset() : byte + 1) {
      const int bit = static_cast<int>(byte % 8);
      memory_.flip_bit(entry(copy) + byte, bit);
      const TwinsCheck found = check();
      ASSERT_EQ(found.run_entries.size(), 1u) << "copy " << copy << " byte " << byte;
      EXPECT_EQ(found.run_entries[0].index, 0u);
      EXPECT_EQ(found.run_entries[0].copy_damaged[copy], true);
      EXPECT_EQ(found.run_entries[0].copy_damaged[1 - copy], false);
      EXPECT_EQ(text_of(memory_.ring().run({7, 8})->solver), "pagerank") << "the twin serves";
      memory_.flip_bit(entry(copy) + byte, bit);
    }
    memory_.flip_bit(entry(copy) + 500);
    expect_mended();
  }
}

TEST_F(TwinsTest, ARecordThatWasNeverWrittenIsDamagedByASequenceNumberOnly) {
  memory_.flip_bit(entry(1, 3) + 20);
  EXPECT_TRUE(check().intact());
  memory_.flip_bit(entry(1, 3) + 20);
  memory_.flip_bit(entry(1, 3) + memory_.geometry().run_tail_offset() + offsetof(RunEntryTail, record_seq) + 4, 6);
  ASSERT_EQ(check().run_entries.size(), 1u);
  EXPECT_TRUE(check().run_entries[0].copy_damaged[1]);
  expect_mended();
}

TEST_F(TwinsTest, ACopyThatACrashLeftBehindIsNoDamageAndIsMended) {
  // The write was cut off before the second copy, within it, or with an older description still in it.
  std::memset(memory_.at(entry(1)), 0, memory_.geometry().run_entry_bytes());
  EXPECT_TRUE(check().intact());
  expect_mended();

  tail(1)->record_seq = 0;
  head(1)->run.nonzeros = 12345;
  EXPECT_TRUE(check().intact());
  expect_mended();

  RunDescription newer = head(0)->run;
  newer.nonzeros = 77;
  write_run_entry(memory_.ring(), 0, 0, newer, memory_.ring().runs()[0].catalogue, 2, memory_.persistence);
  EXPECT_TRUE(check().intact());
  EXPECT_EQ(mend_run_entries(memory_.ring(), memory_.persistence), 0);
  EXPECT_EQ(std::memcmp(memory_.at(entry(1)), memory_.at(entry(0)), memory_.geometry().run_entry_bytes()), 0);
}

TEST_F(TwinsTest, BothCopiesDamagedAreReportedAndLeftAlone) {
  for (int copy : {0, 1}) memory_.flip_bit(entry(copy) + 100 + static_cast<std::uint64_t>(copy));
  ASSERT_EQ(check().run_entries.size(), 1u);
  EXPECT_TRUE(check().run_entries[0].copy_damaged[0] && check().run_entries[0].copy_damaged[1]);
  EXPECT_EQ(mend_run_entries(memory_.ring(), memory_.persistence), 0);
  EXPECT_FALSE(check().intact());
  EXPECT_FALSE(memory_.ring().run({7, 8}).has_value());
}

TEST_F(TwinsTest, WhileOneCopyIsMendedTheOtherStaysAsItIs) {
  memory_.flip_bit(entry(0) + 100);
  memory_.persistence.observe(memory_.at(0));
  EXPECT_EQ(mend_run_entries(memory_.ring(), memory_.persistence), 0);
  const std::vector<PersistenceEvent> events = memory_.persistence.take();
  std::vector<std::uint64_t> seqs;
  bool twin_is_safe = false;
  for (const PersistenceEvent& event : events) {
    if (event.event == Event::kSync) twin_is_safe = true;
    if (event.event != Event::kStore) continue;
    EXPECT_TRUE(twin_is_safe) << "before the twin was synced";
    EXPECT_TRUE(event.offset >= entry(0) && event.offset < entry(0) + memory_.geometry().run_entry_bytes());
    if (event.offset == entry(0) + memory_.geometry().run_entry_bytes() - sizeof(std::uint64_t))
      seqs.push_back(event.value);
  }
  EXPECT_EQ(seqs, (std::vector<std::uint64_t>{0, 1})) << "invalid first, valid last";
  EXPECT_EQ(events.back().event, Event::kSync);
}

TEST_F(TwinsTest, ALostFormattedWordIsDamageToItsSuperblockAndMended) {
  for (int copy : {0, 1}) {
    memory_.flip_bit(memory_.geometry().superblock_offset[copy] + memory_.geometry().formatted_word_offset() + 3);
    EXPECT_FALSE(check().superblock_intact[copy]);
    EXPECT_TRUE(check().superblock_intact[1 - copy]);
    expect_mended();
  }
}

}  // namespace
}  // namespace ringside
