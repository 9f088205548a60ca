// SPDX-License-Identifier: BSD-3-Clause
// A reader with the C interface, a pool's owner in the same process, and a journal beside the pool.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/journal/journal.hpp"
#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "include/ringside.h"
#include "proto/ringside.pb.h"
#include "tests/unit/analyzer/ring/several_variables.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {

class ReaderTest : public ::testing::Test {
 protected:
  ReaderTest() {
    error_.size = sizeof(error_);
    info_.size = sizeof(info_);
    result_.size = sizeof(result_);
  }
  ~ReaderTest() override { ringside_reader_free(reader_); }

  /// Makes a pool with five variables, and opens it.
  void begin(std::uint32_t slots, std::uint64_t steps) {
    const Catalogue catalogue = catalogue_of(schema_, five_scalars());
    pool_.emplace(RingPool::create(path_, RingShape::of(schema_, catalogue), slots));
    writer_.emplace(pool_->ring(), pool_->persistence(), pool_->storage(), Durability::kProcess);
    writer_->respect(pool_->leases());
    writer_->begin_run(run_with(schema_), catalogue);
    reducer_.emplace(schema_);
    commit(steps);
    ASSERT_EQ(open(), RINGSIDE_OK) << error_.line;
  }
  ringside_status open() { return ringside_reader_open(path_.c_str(), options_, &reader_, &error_); }

  void commit(std::uint64_t steps, bool with_results = true) {
    for (; steps > 0; --steps) {
      const std::vector<std::byte> payload = payload_of(schema_, ++newest_);
      ASSERT_EQ(writer_->begin(), CommitStatus::kOk);
      writer_->copy(payload.data(), scalars_of(newest_), &*reducer_);
      ASSERT_EQ(writer_->commit(), CommitStatus::kOk);
      writer_->end_lease();
      if (with_results) writer_->store_results(reducer_->finish(writer_->payload(), 1));
    }
  }

  bool is_variable(const void* data, std::uint64_t k, std::size_t v) const {
    const std::vector<std::byte> payload = payload_of(schema_, k);
    return std::memcmp(data, payload.data() + schema_.place(v).offset, schema_.place(v).bytes) == 0;
  }
  std::vector<std::uint64_t> iterations() {
    std::size_t count = 0;
    std::vector<ringside_step_info> steps(16);
    steps[0].size = sizeof(ringside_step_info);
    EXPECT_EQ(ringside_reader_steps(reader_, steps.data(), steps.size(), &count), RINGSIDE_OK) << line();
    std::vector<std::uint64_t> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(steps[i].iteration);
    return made;
  }
  /// The results that a function of the C interface lists.
  template <class List, class... Of>
  std::vector<ringside_result> listed(const List& list, Of... of) {
    std::vector<ringside_result> made(200);
    made[0].size = sizeof(made[0]);
    std::size_t count = 0;
    const ringside_status status = list(reader_, of..., made.data(), made.size(), &count);
    EXPECT_TRUE(status == RINGSIDE_OK || status == RINGSIDE_PENDING) << status << line();
    EXPECT_LE(count, made.size());
    made.resize(count);
    return made;
  }
  static std::map<std::string, const ringside_result*> by_name(const std::vector<ringside_result>& results) {
    std::map<std::string, const ringside_result*> named;
    for (const ringside_result& result : results) named[result.name] = &result;
    return named;
  }
  std::string line() const { return ringside_reader_error(reader_)->line; }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("x.pool");
  const Schema schema_ = several_variables();
  std::optional<RingPool> pool_;
  std::optional<RingWriter> writer_;
  std::optional<StepReducer> reducer_;
  std::uint64_t newest_ = 0;
  ringside_error error_{};
  ringside_step_info info_{};
  ringside_result result_{};
  const ringside_reader_options* options_ = nullptr;
  ringside_reader* reader_ = nullptr;
};

/// Appends a record to the journal beside the pool.
inline void append(const std::string& pool, wire::Record record) {
  Journal journal = Journal::open(pool, {.kind = JournalKind::kFile}, Storage::kFile, Durability::kProcess);
  const std::uint64_t seq = journal.newest_seq() + 1;
  record.set_seq(seq);
  const std::string bytes = record.SerializeAsString();
  const EncodedRecord encoded{seq, bytes};
  ASSERT_EQ(journal.append(std::span(&encoded, 1)), 0);
}

}  // namespace ringside::testing
