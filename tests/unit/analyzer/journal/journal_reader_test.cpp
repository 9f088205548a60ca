// SPDX-License-Identifier: BSD-3-Clause
// Journals in any state: cut off, changed, swapped, or of another pool. Records with right hashes are read; for other
// data, the reader reports the file and the byte.
#include <fmt/format.h>

#include <cstring>

#include "common/journal/journal_layout.hpp"
#include "common/journal/journal_log_copy.hpp"
#include "common/journal/journal_scan.hpp"
#include "tests/unit/analyzer/journal/journal_fixture.hpp"
#include "tests/unit/expect_text.hpp"

namespace ringside {
namespace {

class JournalReaderTest : public JournalFixture {
 protected:
  static constexpr std::uint64_t offset_of(std::uint64_t seq) {
    return sizeof(JournalHeader) + (seq - 1) * frame_bytes(200);
  }
  /// Writes records 1 to 40 to log 0.
  void write_forty() const { append_and_close(40); }
  /// Appends records until log 1 is written. Returns the number of the first record in log 1.
  std::uint64_t write_both() const {
    Journal journal = open();
    while (std::filesystem::file_size(log(1)) == 0) append(journal, 10);
    append(journal, 20);
    return scan_log(as_bytes(bytes_of(log(1))), 1, 0).header.first_seq;
  }
  static std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
  static std::vector<std::uint64_t> without(std::vector<std::uint64_t> all, std::uint64_t seq) {
    std::erase(all, seq);
    return all;
  }
};

TEST_F(JournalReaderTest, WithoutAJournalItSaysWhereItWasLookedFor) {
  expect_refused([&] { reader(); }, log(0));
}

TEST_F(JournalReaderTest, ADamagedRecordIsNamedAndOnlyThatOneIsLost) {
  for (const std::uint64_t within : {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{13}, std::uint64_t{17},
                                     std::uint64_t{100}, std::uint64_t{frame_bytes(200) - 1}}) {
    std::filesystem::remove(log(0));
    write_forty();
    flip(log(0), offset_of(17) + within);
    JournalReader read = reader();
    EXPECT_EQ(seqs(read), without(from_to(1, 40), 17)) << within;
    expect_has(read.damage(), {fmt::format("{}: byte {}: ", log(0), offset_of(17)), "record 18 follows"});
  }
}

TEST_F(JournalReaderTest, ADamagedLastRecordIsDamageNotATornTail) {
  write_forty();
  flip(log(0), offset_of(40) + 50);
  JournalReader read = reader();
  EXPECT_EQ(seqs(read), from_to(1, 39));
  expect_has(read.damage(), {"fails its check; the log ends there"});
}

TEST_F(JournalReaderTest, ZerosThatAPowerCutLeftAreNamedAndCutOff) {
  write_forty();
  write(log(0), bytes_of(log(0)) + std::string(4096, '\0'));
  JournalReader read = reader();
  EXPECT_EQ(read.newest_seq(), 40u);
  expect_has(read.damage(), {"no record begins here"});
  append_and_close(1);
  JournalReader mended = reader();
  EXPECT_EQ(seqs(mended), from_to(1, 41));
  EXPECT_EQ(mended.damage(), "");
}

TEST_F(JournalReaderTest, TheNextWriterKeepsWhatLiesBehindDamage) {
  write_forty();
  flip(log(0), offset_of(17) + 100);
  {
    Journal journal = open();
    EXPECT_EQ(journal.newest_seq(), 40u);
    append(journal, 5);
  }
  JournalReader read = reader();
  EXPECT_EQ(seqs(read), without(from_to(1, 45), 17));
}

TEST_F(JournalReaderTest, SeveralDamagedPlacesAreCounted) {
  write_forty();
  for (const std::uint64_t seq : {5u, 10u, 15u}) flip(log(0), offset_of(seq) + 30);
  JournalReader read = reader();
  EXPECT_EQ(read.records(), 37u);
  expect_has(read.damage(), {"and 2 more damaged places"});
}

TEST_F(JournalReaderTest, DamageInOneLogCostsNothingOfTheOther) {
  const std::uint64_t first_in_one = write_both();
  flip(log(0), 20);  // the log's header: without it, no record can be recognised
  JournalReader read = reader();
  EXPECT_EQ(read.oldest_seq(), first_in_one);
  expect_has(read.damage(), {"the header is damaged"});
  Journal journal = open();
  EXPECT_EQ(journal.newest_seq(), read.newest_seq());
  append(journal, 2000);
  JournalReader later = reader();
  EXPECT_EQ(seqs(later), from_to(later.oldest_seq(), journal.newest_seq()));
  EXPECT_EQ(later.damage(), "") << "the damaged log was emptied in its turn";
}

TEST_F(JournalReaderTest, ALogCopiedOverTheOtherIsNoticed) {
  const std::uint64_t first_in_one = write_both();
  write(log(1), bytes_of(log(0)));
  JournalReader read = reader();
  EXPECT_EQ(seqs(read), from_to(1, first_in_one - 1));
  expect_has(read.damage(), {"this is a copy of log 0 in the place of log 1"});
}

TEST_F(JournalReaderTest, SwappedLogsAreNoticed) {
  write_both();
  const std::string zero = bytes_of(log(0));
  write(log(0), bytes_of(log(1)));
  write(log(1), zero);
  JournalReader read = reader();
  EXPECT_EQ(read.records(), 0u);
  expect_has(read.damage(), {"this is a copy of log 1", "this is a copy of log 0"});
}

TEST_F(JournalReaderTest, RecordsOfAnOlderGenerationAreNotTakenForNewOnes) {
  write_forty();
  const std::string before = bytes_of(log(0));
  std::filesystem::remove(log(0));
  write_forty();  // the same records under another header
  write(log(0), bytes_of(log(0)).substr(0, offset_of(3)) + before.substr(offset_of(3)));
  JournalReader read = reader();
  EXPECT_EQ(seqs(read), from_to(1, 2));
  expect_has(read.damage(), {"fails its check"});
}

TEST_F(JournalReaderTest, ALogThatLostItsEndToTheOtherIsNamed) {
  const std::uint64_t first_in_one = write_both();
  std::filesystem::resize_file(log(0), offset_of(first_in_one - 5));
  JournalReader read = reader();
  EXPECT_EQ(read.records(), read.newest_seq() - 5);
  expect_has(read.damage(), {"the records between them are lost"});
}

TEST_F(JournalReaderTest, AFileThatIsNoJournalIsRefusedAndLeftAlone) {
  write(log(0), "some notes of mine, which are long enough to be taken for the header of a log, or so I hope");
  const std::string before = bytes_of(log(0));
  expect_refused([&] { reader(); }, "not a Ringside journal");
  expect_refused([&] { open(); }, "move it away");
  EXPECT_EQ(bytes_of(log(0)), before);
}

TEST_F(JournalReaderTest, AJournalOfANewerFormatIsRefused) {
  write_forty();
  std::string bytes = bytes_of(log(0));
  bytes[8] = 2;
  write(log(0), bytes);
  expect_refused([&] { reader(); }, "a journal of format 2");
  EXPECT_NE(failure_line([&] { open(); }), "");
  EXPECT_EQ(bytes_of(log(0)), bytes);
}

TEST_F(JournalReaderTest, TwoKindsMixedAreReadAndNotWritten) {
  if (!has_pmemlog()) GTEST_SKIP() << "this build has no libpmemlog";
  const std::uint64_t first_in_one = write_both();
  const std::string other = folder_.file("q");
  {
    Journal journal =
        Journal::open(other, {JournalKind::kPmemlog, kSmallPmemlog}, Storage::kFile, Durability::kProcess);
    append(journal, 10);
  }
  std::filesystem::copy_file(journal_log_path(other, 0), log(0), std::filesystem::copy_options::overwrite_existing);
  JournalReader read = reader();
  EXPECT_GE(read.newest_seq(), first_in_one);
  expect_refused([&] { open(JournalKind::kAuto); }, "expected the same for both");
}

TEST_F(JournalReaderTest, APmemlogPoolWhoseOffsetsLieHasNoRecords) {
  if (!has_pmemlog()) GTEST_SKIP() << "this build has no libpmemlog";
  append_and_close(10, JournalKind::kPmemlog);
  const std::string whole = bytes_of(log(0));
  for (const std::uint64_t word : {0u, 1u, 2u}) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      std::string bytes = whole;
      std::memcpy(bytes.data() + kPmemlogOffsetsAt + 8 * word, &value, sizeof(value));
      write(log(0), bytes);
      JournalReader read = reader();
      EXPECT_EQ(read.records(), 0u) << word << " " << value;
      EXPECT_NE(read.damage(), "");
      EXPECT_THROW(open(JournalKind::kPmemlog), Error);
    }
  }
}

TEST_F(JournalReaderTest, DamageInAPmemlogPoolIsNamedAndTheNextWriterContinuesBehindIt) {
  if (!has_pmemlog()) GTEST_SKIP() << "this build has no libpmemlog";
  append_and_close(10, JournalKind::kPmemlog);
  constexpr std::uint64_t kDataBegins = 8192;
  flip(log(0), kDataBegins + offset_of(10) + 100);
  {
    Journal journal = open(JournalKind::kPmemlog);
    EXPECT_EQ(journal.newest_seq(), 9u);
    append(journal, 3);
  }
  JournalReader read = reader();
  EXPECT_EQ(seqs(read), from_to(1, 12));
  expect_has(read.damage(), {fmt::format("byte {}", kDataBegins + offset_of(10))});
}

TEST_F(JournalReaderTest, AHeaderWithNumbersThatCannotBeIsDamageThoughItsHashHolds) {
  for (const std::size_t field : {offsetof(JournalHeader, first_seq), offsetof(JournalHeader, generation)}) {
    std::filesystem::remove(log(0));
    write_forty();
    std::string bytes = bytes_of(log(0));
    JournalHeader header;
    std::memset(bytes.data() + field, 0xff, 8);
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.hash = journal_header_hash(header);
    std::memcpy(bytes.data(), &header, sizeof(header));
    write(log(0), bytes);
    expect_has(reader().damage(), {"impossible numbers"});
    Journal journal = open();
    append(journal, 3);
    EXPECT_EQ(journal.newest_seq(), 3u);
  }
}

TEST_F(JournalReaderTest, BytesMadeToLookLikeRecordsDoNotKeepAReaderBusy) {
  write_forty();
  std::string bytes = bytes_of(log(0)).substr(0, offset_of(3));
  FrameHeader impostor;
  impostor.payload_bytes = kMaxRecordBytes;
  for (int i = 0; i < 200'000; ++i) {
    bytes.append(static_cast<const char*>(static_cast<const void*>(&impostor)), sizeof(impostor));
  }
  write(log(0), bytes);
  JournalReader read = reader();
  EXPECT_EQ(read.newest_seq(), 2u);
  EXPECT_NE(read.damage(), "");
}

}  // namespace
}  // namespace ringside
