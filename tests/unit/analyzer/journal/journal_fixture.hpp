// SPDX-License-Identifier: BSD-3-Clause
// A fixture for the journal's tests: a pool's name in a separate folder, records that differ from each other, and
// functions that change the bytes of a log.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "analyzer/journal/journal.hpp"
#include "analyzer/journal/journal_storage.hpp"
#include "common/journal/journal_reader.hpp"
#include "proto/ringside.pb.h"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {

inline std::string payload_of(std::uint64_t seq, std::size_t bytes = 200) {
  std::string text = "record " + std::to_string(seq) + " ";
  while (text.size() < bytes) text += static_cast<char>('a' + (seq + text.size()) % 26);
  return text;
}

class JournalFixture : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kSmall = std::uint64_t{256} << 10;
  static constexpr std::uint64_t kSmallPmemlog = std::uint64_t{4} << 20;

  Journal open(JournalKind kind = JournalKind::kFile, Durability durability = Durability::kProcess) const {
    return Journal::open(pool_, {kind, kind == JournalKind::kPmemlog ? kSmallPmemlog : kSmall}, Storage::kFile,
                         durability);
  }
  JournalReader reader() const { return JournalReader::open(pool_); }

  /// Appends `count` records in batches.
  static void append(Journal& journal, std::uint64_t count, std::size_t bytes = 200, std::size_t batch = 7) {
    while (count > 0) {
      std::vector<std::string> payloads;
      std::vector<EncodedRecord> records;
      payloads.reserve(batch);
      for (std::uint64_t seq = journal.newest_seq() + 1; count > 0 && records.size() < batch; ++seq, --count) {
        payloads.push_back(payload_of(seq, bytes));
        records.push_back({seq, payloads.back()});
      }
      ASSERT_EQ(journal.append(records), 0);
    }
  }

  /// Appends one message, as the next record.
  static void append(Journal& journal, wire::Record& record) {
    record.set_seq(journal.newest_seq() + 1);
    const std::string bytes = record.SerializeAsString();
    ASSERT_EQ(journal.append(std::vector<EncodedRecord>{{record.seq(), bytes}}), 0);
  }
  /// Appends records with a writer that is closed afterwards.
  void append_and_close(std::uint64_t count, JournalKind kind = JournalKind::kFile, std::size_t bytes = 200) const {
    Journal journal = open(kind);
    append(journal, count, bytes);
  }

  /// Returns the numbers of all records from `from` on. Expects that every record is the one that was appended.
  static std::vector<std::uint64_t> seqs(JournalReader& reader, std::uint64_t from = 0) {
    std::vector<std::uint64_t> all;
    while (const auto record = reader.next(from)) {
      EXPECT_EQ(record->bytes, payload_of(record->seq, record->bytes.size()));
      all.push_back(record->seq);
    }
    return all;
  }
  static std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t seq = first; seq <= last; ++seq) all.push_back(seq);
    return all;
  }

  std::string log(std::uint32_t number) const { return journal_log_path(pool_, number); }
  static std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  static void flip(const std::string& path, std::uint64_t at) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 1));
  }

  testing::TemporaryFolder folder_;
  const std::string pool_ = folder_.file("p");
};

/// The tests that must pass with either kind of journal.
class EachJournalTest : public JournalFixture, public ::testing::WithParamInterface<JournalKind> {
 protected:
  void SetUp() override {
    if (GetParam() == JournalKind::kPmemlog && !has_pmemlog()) GTEST_SKIP() << "this build has no libpmemlog";
  }
};
inline const auto kBothKinds = ::testing::Values(JournalKind::kFile, JournalKind::kPmemlog);
inline std::string name_of_kind(const ::testing::TestParamInfo<JournalKind>& kind) {
  return std::string(to_string(kind.param));
}

}  // namespace ringside
