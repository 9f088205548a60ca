// SPDX-License-Identifier: BSD-3-Clause
// Structures that have two copies: which copy is damaged, which copy is only outdated, and how the next owner repairs
// them. tests/pipeline/media_damage_test.cpp tests damage to slots, bit by bit.
#include "common/ring/ring_check.hpp"

#include <gtest/gtest.h>

#include "analyzer/ring/ring_creation.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {
namespace {

class TwinsTest : public ::testing::Test {
 protected:
  std::uint64_t entry(int copy, std::uint32_t index = 0) const {
    return ring_.memory.geometry().run_table_offset[copy] + index * ring_.memory.geometry().run_entry_bytes();
  }
  RunEntryHead* head(int copy) const { return ring_.memory.ring().run_entry(copy, 0); }
  RunEntryTail* tail(int copy) const { return ring_.memory.ring().run_tail(copy, 0); }
  TwinsCheck check() const { return check_twins(ring_.memory.ring()); }

  void expect_mended() {
    EXPECT_EQ(mend_run_entries(ring_.memory.ring(), ring_.memory.persistence), 0);
    EXPECT_EQ(mend_superblocks(ring_.memory.bytes(), ring_.memory.ring(), ring_.memory.persistence), 0);
    EXPECT_TRUE(std::equal(before_.begin(), before_.end(), ring_.memory.bytes().begin()));
  }

  XOnlyRing ring_{100, 3, 1};
  const std::vector<std::byte> before_{ring_.memory.bytes().begin(), ring_.memory.bytes().end()};
};

TEST_F(TwinsTest, AnIntactRingHasNoDamageAndMendingChangesNothing) {
  EXPECT_TRUE(check().intact());
  ring_.memory.persistence.observe(ring_.memory.at(0));
  expect_mended();
  EXPECT_TRUE(ring_.memory.persistence.take().empty());
}

TEST_F(TwinsTest, EachByteOfEitherCopyOfARunTableEntryIsCoveredAndMended) {
  for (int copy : {0, 1}) {
    // The head, the used descriptions, and the tail; the bytes in between have no meaning.
    const std::uint64_t used = sizeof(RunEntryHead) + head(copy)->results * sizeof(ResultDescription);
    const std::uint64_t end = ring_.memory.geometry().run_entry_bytes();
    for (std::uint64_t byte = 0; byte < end;
         byte = byte + 1 == used ? ring_.memory.geometry().run_tail_offset() : byte + 1) {
      const int bit = static_cast<int>(byte % 8);
      ring_.memory.flip_bit(entry(copy) + byte, bit);
      const TwinsCheck found = check();
      ASSERT_EQ(found.run_entries.size(), 1u) << "copy " << copy << " byte " << byte;
      EXPECT_EQ(found.run_entries[0].index, 0u);
      EXPECT_EQ(found.run_entries[0].copy_damaged[copy], true);
      EXPECT_EQ(found.run_entries[0].copy_damaged[1 - copy], false);
      EXPECT_EQ(text_of(ring_.memory.ring().run({7, 8})->solver), "pagerank") << "the twin serves";
      ring_.memory.flip_bit(entry(copy) + byte, bit);
    }
    ring_.memory.flip_bit(entry(copy) + 500);
    expect_mended();
  }
}

TEST_F(TwinsTest, ARecordThatWasNeverWrittenIsDamagedByASequenceNumberOnly) {
  ring_.memory.flip_bit(entry(1, 3) + 20);
  EXPECT_TRUE(check().intact());
  ring_.memory.flip_bit(entry(1, 3) + 20);
  ring_.memory.flip_bit(
      entry(1, 3) + ring_.memory.geometry().run_tail_offset() + offsetof(RunEntryTail, record_seq) + 4, 6);
  ASSERT_EQ(check().run_entries.size(), 1u);
  EXPECT_TRUE(check().run_entries[0].copy_damaged[1]);
  expect_mended();
}

TEST_F(TwinsTest, ACopyThatACrashLeftBehindIsNoDamageAndIsMended) {
  // The write was cut off before the second copy or within it, or the second copy still has an older description.
  std::memset(ring_.memory.at(entry(1)), 0, ring_.memory.geometry().run_entry_bytes());
  EXPECT_TRUE(check().intact());
  expect_mended();

  tail(1)->record_seq = 0;
  head(1)->run.nonzeros = 12345;
  EXPECT_TRUE(check().intact());
  expect_mended();

  RunDescription newer = head(0)->run;
  newer.nonzeros = 77;
  write_run_entry(ring_.memory.ring(), 0, 0, newer, ring_.memory.ring().runs()[0].catalogue, 2,
                  ring_.memory.persistence);
  EXPECT_TRUE(check().intact());
  EXPECT_EQ(mend_run_entries(ring_.memory.ring(), ring_.memory.persistence), 0);
  EXPECT_EQ(
      std::memcmp(ring_.memory.at(entry(1)), ring_.memory.at(entry(0)), ring_.memory.geometry().run_entry_bytes()), 0);
}

TEST_F(TwinsTest, BothCopiesDamagedAreReportedAndLeftAlone) {
  for (int copy : {0, 1}) ring_.memory.flip_bit(entry(copy) + 100 + static_cast<std::uint64_t>(copy));
  ASSERT_EQ(check().run_entries.size(), 1u);
  EXPECT_TRUE(check().run_entries[0].copy_damaged[0] && check().run_entries[0].copy_damaged[1]);
  EXPECT_EQ(mend_run_entries(ring_.memory.ring(), ring_.memory.persistence), 0);
  EXPECT_FALSE(check().intact());
  EXPECT_FALSE(ring_.memory.ring().run({7, 8}).has_value());
}

TEST_F(TwinsTest, WhileOneCopyIsMendedTheOtherStaysAsItIs) {
  ring_.memory.flip_bit(entry(0) + 100);
  ring_.memory.persistence.observe(ring_.memory.at(0));
  EXPECT_EQ(mend_run_entries(ring_.memory.ring(), ring_.memory.persistence), 0);
  const std::vector<PersistenceEvent> events = ring_.memory.persistence.take();
  std::vector<std::uint64_t> seqs;
  bool twin_is_safe = false;
  for (const PersistenceEvent& event : events) {
    if (event.event == Event::kSync) twin_is_safe = true;
    if (event.event != Event::kStore) continue;
    EXPECT_TRUE(twin_is_safe) << "before the twin was synced";
    EXPECT_TRUE(event.offset >= entry(0) && event.offset < entry(0) + ring_.memory.geometry().run_entry_bytes());
    if (event.offset == entry(0) + ring_.memory.geometry().run_entry_bytes() - sizeof(std::uint64_t))
      seqs.push_back(event.value);
  }
  EXPECT_EQ(seqs, (std::vector<std::uint64_t>{0, 1})) << "invalid first, valid last";
  EXPECT_EQ(events.back().event, Event::kSync);
}

TEST_F(TwinsTest, ADamagedSuperblockAndALostFormattedWordAreDamageAndMended) {
  for (int copy : {0, 1}) {
    for (const std::uint64_t byte : {std::uint64_t{0}, ring_.memory.geometry().formatted_word_offset() + 3}) {
      ring_.memory.flip_bit(ring_.memory.geometry().superblock_offset[copy] + byte);
      EXPECT_FALSE(check().superblock_intact[copy]) << byte;
      EXPECT_TRUE(check().superblock_intact[1 - copy]) << byte;
      expect_mended();
    }
  }
}

}  // namespace
}  // namespace ringside
