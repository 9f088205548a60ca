// SPDX-License-Identifier: BSD-3-Clause
// A reader that follows a growing journal: it continues at its last position, and must find the same records as a new
// reader.

#include <thread>

#include "common/journal/journal_layout.hpp"
#include "tests/unit/analyzer/journal/journal_fixture.hpp"

namespace ringside {
namespace {

/// The number of bytes that this process has read up to now.
std::uint64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string key;
  std::uint64_t bytes = 0;
  io >> key >> bytes;
  EXPECT_EQ(key, "rchar:");
  return bytes;
}

class JournalFollowerTest : public EachJournalTest {
 protected:
  Journal open() const { return EachJournalTest::open(GetParam()); }

  /// The numbers of the records that `reader` finds from `from` on.
  static std::vector<std::uint64_t> seqs_from(JournalReader& reader, std::uint64_t from) {
    reader.rewind();
    return seqs(reader, from);
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, JournalFollowerTest, kBothKinds, name_of_kind);

TEST_P(JournalFollowerTest, AFollowerReadsNoMoreThanWhatWasAppended) {
  Journal journal = open();
  append(journal, 500);
  JournalReader follower = reader();
  const std::uint64_t all = follower.file_bytes();
  const std::uint64_t before = bytes_read();
  for (int polls = 0; polls < 10; ++polls) EXPECT_FALSE(follower.refresh());
  append(journal, 3);
  EXPECT_TRUE(follower.refresh());
  EXPECT_FALSE(follower.refresh());
  const std::uint64_t heads = 12 * 2 * kJournalLogs * std::uint64_t{6000};  // per log, read twice per refresh
  EXPECT_LT(bytes_read() - before, heads);
  EXPECT_LT(heads, 10 * all) << "the test would not see a follower that reads everything";
  EXPECT_EQ(seqs_from(follower, 0), from_to(1, 503));
  EXPECT_EQ(follower.newest_seq(), 503u);
}

TEST_P(JournalFollowerTest, AFollowerSeesEveryRecordOfLogsThatChangePlaces) {
  Journal journal = open();
  append(journal, 1, 10'000);
  JournalReader follower = reader();
  std::vector<std::uint64_t> followed = seqs_from(follower, 0);
  for (int round = 0; round < 240; ++round) {  // more than both logs hold, for each kind of journal
    append(journal, 3, 10'000, 2);
    EXPECT_TRUE(follower.refresh());
    for (const std::uint64_t seq : seqs_from(follower, followed.back() + 1)) followed.push_back(seq);
    if (round % 50 != 0) continue;
    JournalReader anew = reader();
    EXPECT_EQ(follower.newest_seq(), anew.newest_seq());
    EXPECT_EQ(follower.file_bytes(), anew.file_bytes());
    EXPECT_EQ(follower.damage(), "");
    EXPECT_EQ(follower.torn(), "");
  }
  EXPECT_GT(reader().oldest_seq(), 1u) << "no log was emptied";
  EXPECT_EQ(followed, from_to(1, 721));
}

TEST_P(JournalFollowerTest, AFollowerThatWasAwayForLongContinuesWithTheOldestRecord) {
  Journal journal = open();
  append(journal, 5, 10'000);
  JournalReader follower = reader();
  append(journal, 2000, 10'000);
  EXPECT_TRUE(follower.refresh());
  JournalReader anew = reader();
  EXPECT_EQ(seqs_from(follower, 0), from_to(anew.oldest_seq(), 2005));
  EXPECT_EQ(follower.oldest_seq(), anew.oldest_seq());
}

TEST_P(JournalFollowerTest, AFollowerContinuesWithTheNextWriter) {
  append_and_close(5, GetParam());
  JournalReader follower = reader();
  Journal next = open();
  append(next, 5);
  EXPECT_TRUE(follower.refresh());
  EXPECT_EQ(seqs_from(follower, 6), from_to(6, 10));
}

TEST_P(JournalFollowerTest, AFollowerThatForgetsHasOnlyTheNewRecords) {
  Journal journal = open();
  append(journal, 5);
  JournalReader follower = reader();
  follower.forget();
  EXPECT_EQ(seqs_from(follower, 0), std::vector<std::uint64_t>());
  append(journal, 2);
  EXPECT_TRUE(follower.refresh());
  EXPECT_EQ(seqs_from(follower, 0), from_to(6, 7));
  EXPECT_EQ(follower.newest_seq(), 7u);
}

TEST_P(JournalFollowerTest, AFollowerBesideAWriterThatEmptiesItsLogsSeesNoGapAndNoDamage) {
  Journal journal = open();
  append(journal, 1);
  JournalReader follower = reader();
  std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) append(journal, 40, 900, 40);
  });
  for (int i = 0; i < 200; ++i) {
    follower.refresh();
    ASSERT_EQ(follower.damage(), "");
    ASSERT_EQ(seqs_from(follower, 0), from_to(follower.oldest_seq(), follower.newest_seq()));
  }
}

class FileFollowerTest : public JournalFixture {};

TEST_F(FileFollowerTest, ARecordIsTakenOnceItIsWholeAndNotBefore) {
  Journal journal = open();
  append(journal, 4);
  const std::string four = bytes_of(log(0));
  append(journal, 1);
  const std::string five = bytes_of(log(0));
  write(log(0), four);
  JournalReader follower = reader();
  for (std::size_t end = four.size() + 1; end < five.size(); ++end) {
    write(log(0), five.substr(0, end));
    ASSERT_FALSE(follower.refresh()) << end;
    ASSERT_NE(follower.torn(), "") << end;
    ASSERT_EQ(follower.damage(), "") << end;
  }
  write(log(0), five);
  EXPECT_TRUE(follower.refresh());
  EXPECT_EQ(follower.torn(), "");
  EXPECT_EQ(follower.newest_seq(), 5u);
  EXPECT_EQ(seqs(follower), from_to(1, 5));
}

TEST_F(FileFollowerTest, ATornRecordThatTheNextWriterReplacesByOneOfTheSameLengthIsSeen) {
  append_and_close(4);
  const std::uint64_t whole = std::filesystem::file_size(log(0));
  const std::string four = bytes_of(log(0));
  append_and_close(1, JournalKind::kFile, 400);
  write(log(0), bytes_of(log(0)).substr(0, whole + frame_bytes(200)));
  JournalReader follower = reader();
  EXPECT_NE(follower.torn(), "");
  const std::uint64_t torn_bytes = std::filesystem::file_size(log(0));
  Journal next = open();
  append(next, 1);
  ASSERT_EQ(std::filesystem::file_size(log(0)), torn_bytes);
  EXPECT_TRUE(follower.refresh());
  EXPECT_EQ(seqs(follower), from_to(1, 5));
}

TEST_F(FileFollowerTest, DamageThatAppearsBehindTheFollowerIsNamedAsByANewReader) {
  Journal journal = open();
  append(journal, 40);
  JournalReader follower = reader();
  const std::uint64_t end = std::filesystem::file_size(log(0));
  append(journal, 10);
  flip(log(0), end + 30);
  EXPECT_TRUE(follower.refresh());
  EXPECT_NE(follower.damage(), "");
  EXPECT_EQ(follower.damage(), reader().damage());
  EXPECT_EQ(follower.newest_seq(), 50u);
  append(journal, 5);
  EXPECT_TRUE(follower.refresh());
  EXPECT_EQ(follower.newest_seq(), 55u);
  EXPECT_FALSE(follower.refresh());
}

TEST_F(FileFollowerTest, AnotherJournalInItsPlaceIsReadFromItsBeginning) {
  append_and_close(9);
  JournalReader follower = reader();
  for (const std::uint32_t number : {0U, 1U}) std::filesystem::remove(log(number));
  EXPECT_NE(failure_line([&] { follower.refresh(); }), "");
  append_and_close(3);
  EXPECT_TRUE(follower.refresh());
  EXPECT_EQ(seqs(follower), from_to(1, 3));
}

}  // namespace
}  // namespace ringside
