// SPDX-License-Identifier: BSD-3-Clause
// The results of steps in the C interface: of kept steps, and of steps that only the journal contains.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/records/record_message.hpp"
#include "tests/unit/library/reader_fixture.hpp"

namespace ringside {
namespace {

using testing::append;
using testing::ReaderTest;

/// Writes the run's description, and a record of each step.
void write_journal(const std::string& pool, const Schema& schema, std::uint64_t first, std::uint64_t steps) {
  const RecordLayout layout(schema, catalogue_of(schema, five_scalars()));
  for (std::uint64_t k = first; k < first + steps; ++k) {
    wire::Record record;
    if (k == 0) {
      record.mutable_run_started()->set_solver("heat");
      describe(*record.mutable_run_started(), layout);
    } else {
      wire::StepRecord& step = *record.mutable_step();
      step.set_iteration(k);
      step.set_transfer_ns(static_cast<std::int64_t>(100 * k));
      std::vector<std::uint64_t> words(layout.words());
      const StepWithScalars scalars = scalars_of(k);
      layout.gather({}, &scalars, words);
      fill(*step.mutable_results(), layout, words);
    }
    append(pool, record);
  }
}

TEST_F(ReaderTest, ResultsHaveTheirNames) {
  begin(3, 2);
  const std::vector<ringside_result> results = listed(ringside_reader_results, std::uint64_t{2});
  const auto named = by_name(results);
  ASSERT_TRUE(named.contains("u.max"));
  EXPECT_EQ(named.at("u.max")->type, static_cast<std::uint32_t>(RINGSIDE_VALUE_F64));
  EXPECT_EQ(named.at("u.max")->values->f64, 2000 + 3999.0 / 4);
  EXPECT_EQ(named.at("w.sum")->type, static_cast<std::uint32_t>(RINGSIDE_VALUE_I128));
  EXPECT_EQ(named.at("u.histogram")->count, 256u);
  EXPECT_EQ(named.at("solver.rho")->values->f64, 2.25);
  EXPECT_EQ(named.at("solver.inner")->values->i64, 102);
  EXPECT_FALSE(named.contains("r.l2")) << "a state is not reduced";
}

TEST_F(ReaderTest, OneResultIsFoundByItsName) {
  begin(3, 2);
  ASSERT_EQ(ringside_reader_find_result(reader_, 1, "u.max", &result_), RINGSIDE_OK) << line();
  EXPECT_EQ(result_.values->f64, 1000 + 3999.0 / 4);
  EXPECT_EQ(ringside_reader_find_result(reader_, 1, "u.nothing", &result_), RINGSIDE_ABSENT);
  EXPECT_EQ(ringside_reader_find_result(reader_, 1, nullptr, &result_), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_find_result(reader_, 1, "u.max", nullptr), RINGSIDE_USAGE);
}

TEST_F(ReaderTest, BeforeTheReductionsAreRecordedAStepHasItsScalars) {
  begin(3, 1);
  commit(1, false);
  const std::vector<ringside_result> results = listed(ringside_reader_results, std::uint64_t{2});
  const auto named = by_name(results);
  EXPECT_EQ(named.at("solver.rho")->values->f64, 2.25);
  EXPECT_EQ(named.at("u.max")->values, nullptr);
  EXPECT_NE(by_name(listed(ringside_reader_results, std::uint64_t{1})).at("u.max")->values, nullptr);
  std::size_t count = 0;
  EXPECT_EQ(ringside_reader_results(reader_, 2, nullptr, 0, &count), RINGSIDE_PENDING);
  EXPECT_EQ(ringside_reader_find_result(reader_, 2, "u.max", &result_), RINGSIDE_PENDING);
  EXPECT_EQ(ringside_reader_find_result(reader_, 2, "u.nothing", &result_), RINGSIDE_ABSENT);
  EXPECT_EQ(ringside_reader_find_result(reader_, 2, "solver.rho", &result_), RINGSIDE_OK);
  EXPECT_EQ(ringside_reader_results(reader_, 9, nullptr, 0, &count), RINGSIDE_ABSENT) << "there is no such step yet";
  EXPECT_EQ(ringside_reader_results(reader_, RINGSIDE_NEWEST, nullptr, 0, &count), RINGSIDE_USAGE);
  commit(3);
  EXPECT_EQ(ringside_reader_results(reader_, 1, nullptr, 0, &count), RINGSIDE_OVERWRITTEN);
  EXPECT_EQ(line(), path_ + ": commit 1 is not kept");
}

TEST_F(ReaderTest, RecordsHaveTheStepsThatTheRingHasOverwritten) {
  begin(3, 5);
  ringside_record record{};
  record.size = sizeof(record);
  EXPECT_EQ(ringside_reader_next_record(reader_, 0, &record), RINGSIDE_ABSENT) << "there is no journal";
  write_journal(path_, schema_, 0, 6);
  ASSERT_EQ(ringside_reader_next_record(reader_, 0, &record), RINGSIDE_OK) << line();
  EXPECT_EQ(record.kind, static_cast<std::uint32_t>(RINGSIDE_RECORD_RUN_STARTED));
  EXPECT_STREQ(record.solver, "heat");
  for (std::uint64_t k = 1; k <= 5; ++k) {
    ASSERT_EQ(ringside_reader_next_record(reader_, record.seq + 1, &record), RINGSIDE_OK) << line();
    EXPECT_EQ(record.kind, static_cast<std::uint32_t>(RINGSIDE_RECORD_STEP));
    EXPECT_EQ(record.iteration, k);
    EXPECT_EQ(record.transfer_ns, static_cast<std::int64_t>(100 * k));
    const std::vector<ringside_result> results = listed(ringside_reader_record_results);
    const auto named = by_name(results);
    EXPECT_EQ(named.at("solver.rho")->values->f64, static_cast<double>(k) + 0.25);
    EXPECT_EQ(named.at("u.l2")->values, nullptr) << "absent";
    EXPECT_STREQ(named.at("v.l2")->unit, "m s-1");
  }
  EXPECT_EQ(ringside_reader_next_record(reader_, record.seq + 1, &record), RINGSIDE_END);
  write_journal(path_, schema_, 6, 1);
  ASSERT_EQ(ringside_reader_next_record(reader_, record.seq + 1, &record), RINGSIDE_OK);
  EXPECT_EQ(record.iteration, 6u);
  record.size = 8;
  EXPECT_EQ(ringside_reader_next_record(reader_, 0, &record), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_next_record(reader_, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_record_results(reader_, nullptr, 1, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_next_record(nullptr, 0, nullptr), RINGSIDE_USAGE);
}

}  // namespace
}  // namespace ringside
