// SPDX-License-Identifier: BSD-3-Clause
// Results are appended to the journal of a pool that has no owner. These tests are about refusals; tests/analyses tests
// what is recorded.
#include "cli/analyses/analysis_journal.hpp"

#include <gtest/gtest.h>

#include "analyzer/journal/journal.hpp"
#include "analyzer/pool/ring_pool.hpp"
#include "common/platform/error.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"
#include "tests/unit/wire_text.hpp"

namespace ringside {
namespace {

std::vector<wire::AnalysisResults> some_results(double value) {
  auto results = testing::wire_message<wire::AnalysisResults>(
      R"(run_id: "0123456789abcdef" commit_seq: 1 name: "analysis.energy")");
  results.add_value(value);
  return {results};
}

class AnalysisJournalTest : public ::testing::Test {
 protected:
  RingPool made_pool() const { return RingPool::create(pool_, RingShape::x_only(10), 3); }
  void make_journal() const { Journal::open(pool_, {}, Storage::kFile, Durability::kProcess); }

  testing::TemporaryFolder folder_;
  const std::string pool_ = folder_.file("a.pool");
};

TEST_F(AnalysisJournalTest, APoolThatHasAnOwnerIsLeftAlone) {
  const RingPool owner = made_pool();
  make_journal();
  EXPECT_NE(failure_line([&] { append_to_journal(pool_, some_results(1)); }, ExitCode::kSystem), "");
}

TEST_F(AnalysisJournalTest, WithoutAJournalNoneIsMade) {
  { const RingPool made = made_pool(); }
  EXPECT_THROW(append_to_journal(pool_, some_results(1)), Error);
  EXPECT_TRUE(journal_files_there(pool_).empty());
}

TEST_F(AnalysisJournalTest, EachResultIsRecordedOnceUnlessItsBitsChange) {
  { const RingPool made = made_pool(); }
  make_journal();
  EXPECT_EQ(append_to_journal(pool_, some_results(0.0)), 1u);
  EXPECT_EQ(append_to_journal(pool_, some_results(0.0)), 0u);
  EXPECT_EQ(append_to_journal(pool_, some_results(-0.0)), 1u);
  EXPECT_EQ(append_to_journal(pool_, {}), 0u);
}

}  // namespace
}  // namespace ringside
