// SPDX-License-Identifier: BSD-3-Clause
// The journal's writer: an appended record is kept, no matter how the writer ends.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "analyzer/journal/journal_wipe.hpp"
#include "common/journal/journal_layout.hpp"
#include "tests/unit/analyzer/journal/journal_fixture.hpp"
#include "tests/unit/lowered_limit.hpp"

namespace ringside {
namespace {

class JournalWriterTest : public EachJournalTest {
 protected:
  static constexpr std::size_t kFillsALog(JournalKind kind) {
    return (kind == JournalKind::kPmemlog ? kSmallPmemlog : kSmall) / 2 / frame_bytes(200);
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, JournalWriterTest, kBothKinds, name_of_kind);

TEST_P(JournalWriterTest, ANewJournalHoldsNothingAndIsItsOwnersAlone) {
  const mode_t mask = umask(0);
  const Journal journal = open(GetParam());
  umask(mask);
  EXPECT_EQ(journal.kind(), GetParam());
  EXPECT_EQ(journal.oldest_seq(), 0u);
  EXPECT_EQ(journal.newest_seq(), 0u);
  for (const std::uint32_t number : {0u, 1u}) EXPECT_EQ(testing::mode_of(log(number)), 0600u);
  JournalReader read = reader();
  EXPECT_EQ(read.newest_seq(), 0u);
  EXPECT_FALSE(read.next(0));
  EXPECT_EQ(read.damage(), "");
}

TEST_P(JournalWriterTest, WhatIsAppendedIsReadWhileTheWriterContinuesAndByTheNextOne) {
  {
    Journal journal = open(GetParam());
    append(journal, 100);
    JournalReader beside = reader();
    EXPECT_EQ(seqs(beside), from_to(1, 100));
    append(journal, 50);
    EXPECT_EQ(beside.newest_seq(), 100u) << "a reader is a snapshot";
  }
  Journal next = open(GetParam(), Durability::kPower);
  EXPECT_EQ(next.oldest_seq(), 1u);
  EXPECT_EQ(next.newest_seq(), 150u);
  append(next, 1);
  EXPECT_EQ(next.sync(), 0);
  JournalReader read = reader();
  EXPECT_EQ(seqs(read), from_to(1, 151));
  EXPECT_EQ(read.kind(), GetParam());
  EXPECT_EQ(read.records(), 151u);
}

TEST_P(JournalWriterTest, ReadingBeginsWhereItIsAskedTo) {
  Journal journal = open(GetParam());
  append(journal, 20);
  JournalReader read = reader();
  EXPECT_EQ(read.next(7)->seq, 7u);
  EXPECT_EQ(read.next(0)->seq, 8u);
  EXPECT_EQ(read.next(20)->seq, 20u);
  EXPECT_FALSE(read.next(0));
}

TEST_P(JournalWriterTest, LogsAreWrittenInTurnAndHalfOfTheSizeIsAlwaysKept) {
  const std::size_t fills = kFillsALog(GetParam());
  Journal journal = open(GetParam());
  for (int round = 0; round < 5; ++round) {
    append(journal, fills * 3 / 4, 200, 99);
    JournalReader read = reader();
    const std::vector<std::uint64_t> all = seqs(read);
    EXPECT_EQ(all, from_to(journal.oldest_seq(), journal.newest_seq()));
    EXPECT_EQ(read.damage(), "");
    EXPECT_GE(all.size(), std::min<std::size_t>(journal.newest_seq(), fills - 100));
  }
  EXPECT_GT(journal.oldest_seq(), 1u);
  if (GetParam() == JournalKind::kFile) {
    EXPECT_LE(std::filesystem::file_size(log(0)) + std::filesystem::file_size(log(1)), kSmall);
  }
  const auto before = std::pair(journal.oldest_seq(), journal.newest_seq());
  { const Journal closed = std::move(journal); }
  const Journal again = open(GetParam());
  EXPECT_EQ(std::pair(again.oldest_seq(), again.newest_seq()), before);
}

TEST_P(JournalWriterTest, ASecondWriterIsRefused) {
  const Journal journal = open(GetParam());
  expect_refused([&] { open(GetParam()); }, "in use by another process", ExitCode::kSystem);
}

TEST_P(JournalWriterTest, NumbersThatDoNotFollowAreRefusedAndEndTheJournal) {
  Journal journal = open(GetParam());
  append(journal, 5);
  const std::string payload = payload_of(9);
  EXPECT_EQ(journal.append(std::vector<EncodedRecord>{{9, payload}}), EINVAL);
  EXPECT_EQ(journal.append(std::vector<EncodedRecord>{{6, payload}}), EINVAL) << "given up";
  JournalReader read = reader();
  EXPECT_EQ(seqs(read), from_to(1, 5));
}

TEST_P(JournalWriterTest, TheLargestRecordsAreKeptAndLargerOnesRefused) {
  Journal journal = open(GetParam());
  append(journal, 30, kMaxRecordBytes, 30);
  JournalReader read = reader();
  EXPECT_EQ(read.newest_seq(), 30u);
  EXPECT_EQ(read.next(30)->bytes.size(), kMaxRecordBytes);
  const std::string payload(kMaxRecordBytes + 1, 'x');
  EXPECT_EQ(journal.append(std::vector<EncodedRecord>{{31, payload}}), EMSGSIZE);
}

/// A child appends until it is killed, and reports through a pipe the records for which append() has returned.
TEST_P(JournalWriterTest, AKilledWriterLeavesEveryRecordThatWasAcknowledgedAndNoGap) {
  std::uint64_t before = 0;
  for (int life = 0; life < 6; ++life) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(pipe_ends[0]);
      Journal journal = open(GetParam());
      for (;;) {
        append(journal, 10, 100 + journal.newest_seq() % 3000, 10);
        const std::uint64_t acknowledged = journal.newest_seq();
        if (::write(pipe_ends[1], &acknowledged, sizeof(acknowledged)) != sizeof(acknowledged)) _exit(1);
      }
    }
    close(pipe_ends[1]);
    std::uint64_t acknowledged = 0;
    for (int i = 0; i < 5 + 17 * life; ++i) {
      ASSERT_EQ(::read(pipe_ends[0], &acknowledged, sizeof(acknowledged)), ssize_t{sizeof(acknowledged)});
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (std::uint64_t last = 0; ::read(pipe_ends[0], &last, sizeof(last)) == sizeof(last);) acknowledged = last;
    close(pipe_ends[0]);
    JournalReader read = reader();
    EXPECT_EQ(read.damage(), "");
    EXPECT_GE(read.newest_seq(), acknowledged);
    EXPECT_EQ(seqs(read), from_to(read.oldest_seq(), read.newest_seq()));
    const Journal next = open(GetParam());
    EXPECT_EQ(next.newest_seq(), read.newest_seq());
    EXPECT_GT(next.newest_seq(), before);
    before = next.newest_seq();
  }
}

TEST_P(JournalWriterTest, AReaderBesideAWriterThatEmptiesItsLogsSeesNoGapAndNoDamage) {
  Journal journal = open(GetParam());
  std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) append(journal, 40, 900, 40);
  });
  for (int i = 0; i < 60; ++i) {
    JournalReader read = reader();
    ASSERT_EQ(read.damage(), "");
    const std::uint64_t oldest = std::max<std::uint64_t>(read.oldest_seq(), 1);  // 0: nothing was written yet
    ASSERT_EQ(seqs(read), from_to(oldest, read.newest_seq()));
  }
}

TEST_P(JournalWriterTest, WhatIsNoRegularFileIsNotOpenedAsALog) {
  ASSERT_EQ(mkfifo(log(0).c_str(), 0600), 0);
  const std::string pipe = failure_line([&] { open(GetParam()); });
  EXPECT_EQ(pipe, log(0) + ": found a named pipe; expected a regular file as a journal's log");
  EXPECT_NE(failure_line([&] { reader(); }), "");
  std::filesystem::remove(log(0));
  std::filesystem::create_symlink(folder_.file("other"), log(0));
  const std::string link = failure_line([&] { open(GetParam()); });
  EXPECT_EQ(link, log(0) + ": found a symbolic link; expected a regular file as a journal's log");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("other"))) << "nothing is made behind the link";
  write(folder_.file("other"), "somebody's");
  EXPECT_NE(failure_line([&] { open(GetParam()); }), "");
  EXPECT_EQ(bytes_of(folder_.file("other")), "somebody's");
}

TEST_P(JournalWriterTest, WipeLeavesNothing) {
  append_and_close(10, GetParam());
  const WipedJournal wiped = JournalWipe(pool_).overwrite();
  EXPECT_EQ(wiped.files, 2);
  EXPECT_GT(wiped.bytes, 2000u);
  EXPECT_TRUE(journal_files_there(pool_).empty());
  EXPECT_EQ(JournalWipe(pool_).overwrite().files, 0);
}

TEST_P(JournalWriterTest, WipeIsRefusedWhileTheJournalIsWritten) {
  Journal journal = open(GetParam());
  append(journal, 10);
  EXPECT_NE(failure_line([&] { JournalWipe(pool_).overwrite(); }, ExitCode::kSystem), "");
  JournalReader read = reader();
  EXPECT_EQ(seqs(read), from_to(1, 10));
}

class JournalFileTest : public JournalFixture {};

TEST_F(JournalFileTest, AtEveryByteATornTailIsCutOffAndTheNextRecordTakesItsPlace) {
  append_and_close(3);
  const std::string whole = bytes_of(log(0));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    std::filesystem::remove(log(0));  // removed, because ext4 would flush a file that is emptied and closed
    write(log(0), whole.substr(0, bytes));
    const std::uint64_t expected =
        bytes < sizeof(JournalHeader) ? 0 : (bytes - sizeof(JournalHeader)) / frame_bytes(200);
    JournalReader torn = reader();
    ASSERT_EQ(torn.damage(), "") << bytes;
    ASSERT_EQ(torn.newest_seq(), expected) << bytes;
    const std::uint64_t whole_bytes =
        bytes < sizeof(JournalHeader) ? 0 : sizeof(JournalHeader) + expected * frame_bytes(200);
    ASSERT_EQ(torn.torn().empty(), bytes == whole_bytes) << bytes;
    const std::string where = log(0) + ": ends within a record at byte " + std::to_string(whole_bytes) + ": ";
    ASSERT_TRUE(torn.torn().empty() || torn.torn().starts_with(where)) << torn.torn();
    Journal journal = open();
    ASSERT_EQ(journal.newest_seq(), expected) << bytes;
    append(journal, 1);
    JournalReader mended = reader();
    ASSERT_EQ(seqs(mended), from_to(1, expected + 1)) << bytes;
    ASSERT_EQ(mended.damage(), "");
    ASSERT_EQ(mended.torn(), "");
  }
}

TEST_F(JournalFileTest, AFullDiskEndsTheJournalAndLeavesNoHalfRecord) {
  Journal journal = open();
  append(journal, 10);
  std::vector<std::string> payloads;
  std::vector<EncodedRecord> records;
  for (std::uint64_t seq = 11; seq <= 20; ++seq) payloads.push_back(payload_of(seq));
  for (std::uint64_t seq = 11; seq <= 20; ++seq) records.push_back({seq, payloads[seq - 11]});
  {
    // Two records and a part of one.
    const testing::LoweredLimit full(RLIMIT_FSIZE, std::filesystem::file_size(log(0)) + 1000);
    EXPECT_EQ(journal.append(records), EFBIG);
  }
  EXPECT_EQ(journal.append(records), EFBIG) << "given up, though there is room again";
  EXPECT_EQ(journal.newest_seq(), 10u);
  JournalReader read = reader();
  EXPECT_EQ(seqs(read), from_to(1, 10));
  EXPECT_EQ(read.damage(), "");
  EXPECT_EQ(std::filesystem::file_size(log(0)), sizeof(JournalHeader) + 10 * frame_bytes(200));
}

TEST_F(JournalFileTest, AJournalOthersCouldReadBecomesItsOwnersAlone) {
  append_and_close(1);
  ASSERT_EQ(chmod(log(0).c_str(), 0644), 0);
  const Journal journal = open();
  EXPECT_EQ(testing::mode_of(log(0)), 0600u);
}

TEST_F(JournalFileTest, AFolderThatIsNotThereIsNamed) {
  expect_refused(
      [&] {
        Journal::open(folder_.file("none/p"), {JournalKind::kFile, kSmall}, Storage::kFile, Durability::kProcess);
      },
      "none/p.journal-0", ExitCode::kSystem);
}

TEST_F(JournalFileTest, AutoTakesPlainFilesWithoutDaxAndWhatIsThere) {
  EXPECT_EQ(open(JournalKind::kAuto).kind(), JournalKind::kFile);
  if (!has_pmemlog()) GTEST_SKIP() << "this build has no libpmemlog";
  std::filesystem::remove(log(0));
  std::filesystem::remove(log(1));
  append_and_close(1, JournalKind::kPmemlog);
  EXPECT_EQ(open(JournalKind::kAuto).kind(), JournalKind::kPmemlog);
}

TEST_F(JournalFileTest, AnotherKindIsNamedAndLeftAlone) {
  if (!has_pmemlog()) {
    expect_refused([&] { open(JournalKind::kPmemlog); }, "this build has no libpmemlog");
    return;
  }
  append_and_close(3);
  const std::string before = bytes_of(log(0));
  expect_refused([&] { open(JournalKind::kPmemlog); }, "written with --journal file");
  EXPECT_EQ(bytes_of(log(0)), before);
}

}  // namespace
}  // namespace ringside
