// SPDX-License-Identifier: BSD-3-Clause
// The records that a follower reads from the journal after its analyzer has ended and no other one takes over.
#include "cli/pool/decoded_journal.hpp"

#include <gtest/gtest.h>

#include "analyzer/journal/journal.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

std::int64_t told_at(std::uint64_t seq) {
  return 1'700'000'000'000'000'000 + static_cast<std::int64_t>(seq);
}

class DecodedJournalTest : public ::testing::Test {
 protected:
  Journal open() const {
    return Journal::open(pool_, {JournalKind::kFile, std::uint64_t{256} << 10}, Storage::kFile, Durability::kProcess);
  }

  static wire::Record numbered(std::uint64_t seq) {
    wire::Record record;
    record.set_seq(seq);
    record.set_unix_ns(told_at(seq));
    return record;
  }

  static void append(Journal& journal, const wire::Record& record) {
    const std::string encoded = record.SerializeAsString();
    const EncodedRecord one[] = {{record.seq(), encoded}};
    ASSERT_EQ(journal.append(one), 0);
  }

  /// Appends a run's records from `first` to `last`: the analyzer's start, the run's start, its steps, and its end
  /// unless it was interrupted.
  static void append_run(Journal& journal, const std::string& run_id, std::uint64_t first, std::uint64_t last,
                         bool has_end = true, std::size_t bytes = 1) {
    for (std::uint64_t seq = first; seq <= last; ++seq) {
      wire::Record record = numbered(seq);
      if (seq == first) {
        record.mutable_analyzer_started();
      } else if (seq == first + 1) {
        record.mutable_run_started()->set_run_id(run_id);
      } else if (seq == last && has_end) {
        record.mutable_run_ended()->set_run_id(run_id);
      } else {
        record.mutable_records_missing()->set_run_id(run_id + std::string(bytes - 1, 'x'));
      }
      append(journal, record);
    }
  }

  void write(std::uint64_t count, bool has_end = true, std::size_t bytes = 1) const {
    Journal journal = open();
    append_run(journal, "a", 1, count, has_end, bytes);
  }

  StreamEnd before(std::uint64_t next, std::uint64_t newest) const {
    return {next, next > 1 ? told_at(next - 1) : 0, newest, pool_, {}};
  }

  static void expect_numbers(const RestOfRun& rest, std::uint64_t first, std::uint64_t last) {
    ASSERT_EQ(rest.records.size(), last + 1 - first);
    for (std::size_t i = 0; i < rest.records.size(); ++i) EXPECT_EQ(rest.records[i].seq(), first + i);
  }

  testing::TemporaryFolder folder_;
  std::string pool_ = folder_.file("test.pool");
};

TEST_F(DecodedJournalTest, TheRestBeginsBehindWhatWasHandedOutAndEndsWithTheRun) {
  write(100);
  for (const std::uint64_t newest : {100u, 80u}) {  // the newest record that was announced
    const RestOfRun rest = read_rest(before(61, newest));
    expect_numbers(rest, 61, 100);
    EXPECT_EQ(rest.missing, "");
  }
}

TEST_F(DecodedJournalTest, AFollowerWithAllRecordsGetsNoRecordAndNoMessage) {
  write(100);
  const RestOfRun rest = read_rest(before(101, 100));
  EXPECT_TRUE(rest.records.empty());
  EXPECT_EQ(rest.missing, "");
  StreamEnd other = before(101, 100);
  other.last_unix_ns += 1;
  EXPECT_EQ(read_rest(other).missing, "");
  other.journal_pool += "-gone";
  EXPECT_EQ(read_rest(other).missing, "");
}

TEST_F(DecodedJournalTest, AFollowerWithoutRecordsGetsAll) {
  write(100);
  expect_numbers(read_rest({0, 0, 0, pool_, {}}), 1, 100);
  expect_numbers(read_rest({1, 0, 0, pool_, {}}), 1, 100);
  expect_numbers(read_rest({50, 0, 0, pool_, {}}), 50, 100);  // from the record on that --since requested
}

TEST_F(DecodedJournalTest, TheNextRunInTheSameJournalIsLeftOut) {
  for (const bool has_end : {true, false}) {
    SCOPED_TRACE(has_end);
    testing::TemporaryFolder folder;
    pool_ = folder.file("test.pool");
    {
      Journal journal = open();
      append_run(journal, "a", 1, 100, has_end);
      append_run(journal, "b", 101, 200);
    }
    expect_numbers(read_rest(before(61, 80)), 61, 100);
    expect_numbers(read_rest(before(61, 100)), 61, 100);
    EXPECT_TRUE(read_rest(before(101, 100)).records.empty());
    expect_numbers(read_rest(before(61, 200)), 61, 200);  // one analyzer served both runs
  }
}

TEST_F(DecodedJournalTest, RecordsOfTheNextAnalyzerOfTheSameRunAreReturned) {
  {
    Journal journal = open();
    append_run(journal, "a", 1, 100, false);
    append_run(journal, "a", 101, 200);
  }
  expect_numbers(read_rest(before(61, 80)), 61, 200);
}

TEST_F(DecodedJournalTest, AnotherJournalInItsPlaceIsNotTakenForIt) {
  write(100);
  StreamEnd end = before(61, 80);
  end.last_unix_ns += 1;
  const RestOfRun rest = read_rest(end);
  EXPECT_TRUE(rest.records.empty());
  EXPECT_EQ(rest.missing, "records 61 to 80 cannot be read: record 60 is no longer in the journal of " + pool_ +
                              ", or another record has its number");
}

TEST_F(DecodedJournalTest, WhatRotationTookIsNamed) {
  write(2000, true, 1000);
  EXPECT_TRUE(read_rest(before(11, 2000)).records.empty());  // the journal may belong to another pool
  const RestOfRun rest = read_rest({11, 0, 2000, pool_, {}});
  ASSERT_FALSE(rest.records.empty());
  const std::uint64_t first = rest.records.front().seq();
  ASSERT_GT(first, 11u);
  expect_numbers(rest, first, 2000);
  EXPECT_EQ(rest.missing, "records 11 to " + std::to_string(first - 1) + " are no longer kept");
}

TEST_F(DecodedJournalTest, WhatAJournalThatWasGivenUpLacksIsNamed) {
  write(70, false);
  const RestOfRun rest = read_rest(before(61, 80));
  expect_numbers(rest, 61, 70);
  EXPECT_EQ(rest.missing, "records 71 to 80 are no longer kept");
}

TEST_F(DecodedJournalTest, WhatCameLiveBeyondAGapIsHandedOut) {
  write(70, false);
  StreamEnd end = before(61, 80);
  end.beyond = {numbered(70), numbered(79), numbered(80)};
  const RestOfRun rest = read_rest(std::move(end));
  ASSERT_EQ(rest.records.size(), 12u);
  EXPECT_EQ(rest.records[9].seq(), 70u);
  EXPECT_EQ(rest.records[10].seq(), 79u);
  EXPECT_EQ(rest.missing, "records 71 to 78 are no longer kept");
}

TEST_F(DecodedJournalTest, WithoutAJournalWhatWasHeardOfIsNamed) {
  const RestOfRun none = read_rest({61, told_at(60), 80, "", {}});
  EXPECT_TRUE(none.records.empty());
  EXPECT_EQ(none.missing, "records 61 to 80 are no longer kept");
  EXPECT_EQ(read_rest({81, told_at(80), 80, "", {}}).missing, "");
  EXPECT_EQ(read_rest({0, 0, 0, "", {}}).missing, "");  // no record was ever announced
}

TEST_F(DecodedJournalTest, AJournalThatIsGoneIsNamed) {
  for (const std::uint64_t next : {61u, 0u}) {
    const RestOfRun rest = read_rest(before(next, 80));
    EXPECT_TRUE(rest.records.empty());
    expect_has(rest.missing, {" to 80 cannot be read: ", pool_});
  }
}

}  // namespace
}  // namespace ringside
