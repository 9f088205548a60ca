// SPDX-License-Identifier: BSD-3-Clause
// Followers that use the C interface at the journal's end: a call reads only what was appended, not the whole journal
// again.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "analyzer/journal/journal.hpp"
#include "analyzer/pool/ring_pool.hpp"
#include "include/ringside.h"
#include "proto/ringside.pb.h"
#include "tests/unit/analyzer/ring/several_variables.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

class JournalPollingTest : public ::testing::Test {
 protected:
  JournalPollingTest()
      : pool_(RingPool::create(path_, RingShape::of(several_variables(), catalogue_of(several_variables(), {})), 3)),
        journal_(Journal::open(path_, {.kind = JournalKind::kFile}, Storage::kFile, Durability::kProcess)) {
    record_steps(20'000);
    EXPECT_EQ(ringside_reader_open(path_.c_str(), nullptr, &reader_, nullptr), RINGSIDE_OK);
    record_.size = sizeof(record_);
  }
  ~JournalPollingTest() override { ringside_reader_free(reader_); }

  void record_steps(int count) {
    for (; count > 0; --count) {
      wire::Record record;
      record.set_seq(journal_.newest_seq() + 1);
      record.mutable_step()->set_iteration(record.seq());
      const std::string bytes = record.SerializeAsString();
      const EncodedRecord encoded{record.seq(), bytes};
      ASSERT_EQ(journal_.append(std::span(&encoded, 1)), 0);
    }
  }
  static std::uint64_t bytes_read() {
    std::ifstream io("/proc/self/io");
    std::string key;
    std::uint64_t bytes = 0;
    io >> key >> bytes;
    return bytes;
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x.pool");
  RingPool pool_;
  Journal journal_;
  ringside_reader* reader_ = nullptr;
  ringside_record record_{};
};

TEST_F(JournalPollingTest, AFollowerOfRecordsReadsTheJournalOnce) {
  ASSERT_EQ(ringside_reader_next_record(reader_, 20'000, &record_), RINGSIDE_OK);
  const std::uint64_t before = bytes_read();
  for (int polls = 0; polls < 10; ++polls) {
    ASSERT_EQ(ringside_reader_next_record(reader_, 20'001, &record_), RINGSIDE_END);
  }
  record_steps(1);
  ASSERT_EQ(ringside_reader_next_record(reader_, 20'001, &record_), RINGSIDE_OK);
  EXPECT_EQ(record_.iteration, 20'001u);
  EXPECT_LT(bytes_read() - before, std::filesystem::file_size(path_ + ".journal-0"));
  ASSERT_EQ(ringside_reader_next_record(reader_, 1, &record_), RINGSIDE_OK) << "earlier records can be asked for again";
  EXPECT_EQ(record_.iteration, 1u);
}

TEST_F(JournalPollingTest, AFollowerOfStepsReadsTheJournalOnce) {
  ringside_step_info info{};
  info.size = sizeof(info);
  ASSERT_EQ(ringside_reader_next(reader_, 0, 0, &info), RINGSIDE_TIMEOUT);
  const std::uint64_t before = bytes_read();
  ASSERT_EQ(ringside_reader_next(reader_, 0, 0.5, &info), RINGSIDE_TIMEOUT);  // also checks for the run's end
  EXPECT_LT(bytes_read() - before, std::filesystem::file_size(path_ + ".journal-0"));
}

}  // namespace
}  // namespace ringside
