// SPDX-License-Identifier: BSD-3-Clause
// The reading half of the C interface, beside a pool's owner in the same process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/journal/journal.hpp"
#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "common/records/described_run.hpp"
#include "common/records/results_message.hpp"
#include "library/ringside.h"
#include "tests/unit/analyzer/ring/several_variables.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

class ReaderTest : public ::testing::Test {
 protected:
  ReaderTest() { error_.size = sizeof(error_); }
  ~ReaderTest() override { ringside_reader_free(reader_); }

  /// Makes a pool of five variables and opens it.
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
  /// What a function lists of results.
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

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x.pool");
  const Schema schema_ = several_variables();
  std::optional<RingPool> pool_;
  std::optional<RingWriter> writer_;
  std::optional<StepReducer> reducer_;
  std::uint64_t newest_ = 0;
  ringside_error error_{};
  const ringside_reader_options* options_ = nullptr;
  ringside_reader* reader_ = nullptr;
};

TEST_F(ReaderTest, SaysWhatThePoolHolds) {
  begin(5, 7);
  ringside_variable variables[4] = {};
  variables[0].size = sizeof(variables[0]);
  std::size_t count = 0;
  ASSERT_EQ(ringside_reader_variables(reader_, variables, 4, &count), RINGSIDE_OK);
  ASSERT_EQ(count, 5u) << "more than there was room for";
  EXPECT_STREQ(variables[0].name, "u");
  EXPECT_STREQ(variables[1].name, "v");
  EXPECT_STREQ(variables[1].unit, "m s-1");
  EXPECT_EQ(variables[0].dims, 2u);
  EXPECT_EQ(variables[0].shape[1], 100u);
  EXPECT_EQ(variables[3].dtype, RINGSIDE_C128);
  EXPECT_EQ(variables[3].role, RINGSIDE_ROLE_STATE);
  EXPECT_EQ(iterations(), (std::vector<std::uint64_t>{3, 4, 5, 6, 7}));
  EXPECT_EQ(ringside_variable_bytes(&variables[0]), schema_.place(0).bytes);
  std::uint32_t found = 0;
  EXPECT_EQ(ringside_reader_find_variable(reader_, "w", &found), RINGSIDE_OK);
  EXPECT_EQ(schema_.variables()[found].name, "w");
  EXPECT_EQ(ringside_reader_find_variable(reader_, "nothing", &found), RINGSIDE_ABSENT);

  ringside_run run{};
  run.size = sizeof(run);
  ASSERT_EQ(ringside_reader_runs(reader_, &run, 1, &count), RINGSIDE_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(std::string(run.solver), run_with(schema_).solver);
}

TEST_F(ReaderTest, OfMoreStepsThanRoomTheNewestAreGiven) {
  begin(5, 5);
  std::size_t count = 0;
  EXPECT_EQ(ringside_reader_steps(reader_, nullptr, 0, &count), RINGSIDE_OK);
  EXPECT_EQ(count, 5u);
  ringside_step_info two[2] = {};
  two[0].size = sizeof(two[0]);
  EXPECT_EQ(ringside_reader_steps(reader_, two, 2, &count), RINGSIDE_OK);
  EXPECT_EQ(two[0].iteration, 4u);
  EXPECT_EQ(two[1].iteration, 5u);
}

TEST_F(ReaderTest, AHeldStepIsReadInPlace) {
  begin(5, 5);
  ringside_step* step = nullptr;
  ASSERT_EQ(ringside_reader_hold(reader_, 2, &step), RINGSIDE_OK) << line();
  ringside_step_info info{};
  info.size = sizeof(info);
  ASSERT_EQ(ringside_step_describe(step, &info), RINGSIDE_OK);
  EXPECT_EQ(info.iteration, 2u);
  commit(10);
  for (std::uint32_t v = 0; v < 5; ++v) {
    const void* data = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(ringside_step_view(step, v, &data, &bytes), RINGSIDE_OK);
    EXPECT_EQ(bytes, schema_.place(v).bytes);
    EXPECT_TRUE(is_variable(data, 2, v)) << v;
    EXPECT_EQ(ringside_step_verify(step, v), RINGSIDE_OK) << line();
  }
  EXPECT_EQ(ringside_step_view(step, 5, nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "variable 5: expected less than 5");
  EXPECT_EQ(ringside_step_verify(step, RINGSIDE_ALL_VARIABLES), RINGSIDE_OK);
  EXPECT_EQ(ringside_step_check(step), RINGSIDE_OK);
  EXPECT_EQ(ringside_step_release(step), RINGSIDE_OK);
  commit(2);
  EXPECT_EQ(iterations().front(), 13u) << "the slot is free again";
}

TEST_F(ReaderTest, ABrokenHoldIsReported) {
  begin(3, 3);
  ringside_step* step = nullptr;
  ASSERT_EQ(ringside_reader_hold(reader_, RINGSIDE_NEWEST, &step), RINGSIDE_OK);
  commit(3);
  EXPECT_EQ(ringside_step_check(step), RINGSIDE_OVERWRITTEN);
  EXPECT_EQ(line().substr(0, 28), "iteration 3 is no longer hel");
  EXPECT_EQ(ringside_step_verify(step, 0), RINGSIDE_OVERWRITTEN);
  EXPECT_EQ(ringside_step_release(step), RINGSIDE_OVERWRITTEN);
}

TEST_F(ReaderTest, AStepThatIsGoneCannotBeHeld) {
  begin(3, 0);
  ringside_step* step = nullptr;
  EXPECT_EQ(ringside_reader_hold(reader_, RINGSIDE_NEWEST, &step), RINGSIDE_ABSENT);
  commit(5);
  EXPECT_EQ(ringside_reader_hold(reader_, 1, &step), RINGSIDE_OVERWRITTEN);
  EXPECT_EQ(step, nullptr);
  EXPECT_EQ(line(), path_ + ": commit 1 is not kept");
}

TEST_F(ReaderTest, DamageIsFoundByVerification) {
  begin(3, 1);
  ringside_step* step = nullptr;
  ASSERT_EQ(ringside_reader_hold(reader_, RINGSIDE_NEWEST, &step), RINGSIDE_OK);
  pool_->ring().writable_payload(0)[schema_.place(2).offset + 100] ^= std::byte{1};
  EXPECT_EQ(ringside_step_verify(step, 1), RINGSIDE_OK);
  EXPECT_EQ(ringside_step_verify(step, 2), RINGSIDE_DAMAGED);
  EXPECT_EQ(ringside_step_release(step), RINGSIDE_OK) << "it is held, and what it holds is damaged";
  std::vector<std::byte> copy(schema_.place(2).bytes);
  EXPECT_EQ(ringside_reader_copy(reader_, 1, 2, copy.data(), copy.size()), RINGSIDE_DAMAGED);
}

TEST_F(ReaderTest, ACopyHasTheBytesOfTheVariableAndNoMore) {
  begin(4, 4);
  for (std::uint32_t v = 0; v < 5; ++v) {
    std::vector<std::byte> copy(schema_.place(v).bytes + 8, std::byte{0x55});
    ASSERT_EQ(ringside_reader_copy(reader_, 3, v, copy.data(), schema_.place(v).bytes), RINGSIDE_OK) << line();
    EXPECT_TRUE(is_variable(copy.data(), 3, v)) << v;
    EXPECT_EQ(copy[schema_.place(v).bytes], std::byte{0x55});
  }
  std::byte small[1];
  EXPECT_EQ(ringside_reader_copy(reader_, 3, 0, small, 1), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "variable 0: found room for 1 bytes, expected 32000");
}

TEST_F(ReaderTest, ATruncatedPoolIsAnErrorOfACopyAndNoSignal) {
  begin(4, 4);
  ringside_reader_free(std::exchange(reader_, nullptr));
  const std::string other = folder_.file("other.pool");  // no owner has it mapped
  std::filesystem::copy_file(path_, other);
  ASSERT_EQ(ringside_reader_open(other.c_str(), nullptr, &reader_, &error_), RINGSIDE_OK) << error_.line;
  std::filesystem::resize_file(other, std::filesystem::file_size(other) / 2);
  std::vector<std::byte> copy(schema_.place(0).bytes);
  EXPECT_EQ(ringside_reader_copy(reader_, 4, 0, copy.data(), copy.size()), RINGSIDE_DAMAGED);
  EXPECT_NE(line().find("truncated"), std::string::npos) << line();
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
  ringside_result result{};
  result.size = sizeof(result);
  ASSERT_EQ(ringside_reader_find_result(reader_, 1, "u.max", &result), RINGSIDE_OK) << line();
  EXPECT_EQ(result.values->f64, 1000 + 3999.0 / 4);
  EXPECT_EQ(ringside_reader_find_result(reader_, 1, "u.nothing", &result), RINGSIDE_ABSENT);
  EXPECT_EQ(ringside_reader_find_result(reader_, 1, nullptr, &result), RINGSIDE_USAGE);
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
  ringside_result result{};
  result.size = sizeof(result);
  EXPECT_EQ(ringside_reader_find_result(reader_, 2, "u.max", &result), RINGSIDE_PENDING);
  EXPECT_EQ(ringside_reader_find_result(reader_, 2, "u.nothing", &result), RINGSIDE_ABSENT);
  EXPECT_EQ(ringside_reader_find_result(reader_, 2, "solver.rho", &result), RINGSIDE_OK);
  EXPECT_EQ(ringside_reader_results(reader_, 9, nullptr, 0, &count), RINGSIDE_ABSENT) << "there is no such step yet";
  EXPECT_EQ(ringside_reader_results(reader_, RINGSIDE_NEWEST, nullptr, 0, &count), RINGSIDE_USAGE);
  commit(3);
  EXPECT_EQ(ringside_reader_results(reader_, 1, nullptr, 0, &count), RINGSIDE_OVERWRITTEN);
  EXPECT_EQ(line(), path_ + ": commit 1 is not kept");
}

TEST_F(ReaderTest, FollowsInOrderAndReportsTheEndOfItsPatience) {
  volatile int stop = 0;
  const ringside_reader_options options{sizeof(options), RINGSIDE_FOLLOW_POOL, 0, &stop};
  options_ = &options;
  begin(3, 2);
  ringside_step_info info{};
  info.size = sizeof(info);
  ASSERT_EQ(ringside_reader_next(reader_, 0, 0, &info), RINGSIDE_OK);
  EXPECT_EQ(info.commit_seq, 1u);
  ASSERT_EQ(ringside_reader_next(reader_, info.commit_seq, 0, &info), RINGSIDE_OK);
  EXPECT_EQ(info.commit_seq, 2u);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 0, &info), RINGSIDE_TIMEOUT);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 0.001, &info), RINGSIDE_TIMEOUT);
  stop = 1;
  EXPECT_EQ(ringside_reader_next(reader_, 2, -1, &info), RINGSIDE_INTERRUPTED);
  stop = 0;
  std::thread analyzer([&] { commit(1); });
  EXPECT_EQ(ringside_reader_next(reader_, 2, -1, &info), RINGSIDE_OK);
  analyzer.join();
  EXPECT_EQ(info.commit_seq, 3u);
  commit(4);
  ASSERT_EQ(ringside_reader_next(reader_, 3, 0, &info), RINGSIDE_OK);
  EXPECT_EQ(info.commit_seq, 5u) << "4 was overwritten";
}

TEST_F(ReaderTest, WhatIsNoPoolIsRefused) {
  EXPECT_EQ(open(), RINGSIDE_USAGE);
  EXPECT_EQ(error_.reason, static_cast<std::uint32_t>(RINGSIDE_REASON_NO_FILE));
  EXPECT_EQ(reader_, nullptr);
  EXPECT_EQ(error_.line, path_ + ": No such file or directory");
  std::ofstream(path_) << "no pool";
  EXPECT_EQ(open(), RINGSIDE_USAGE);
  EXPECT_EQ(error_.reason, static_cast<std::uint32_t>(RINGSIDE_REASON_NO_POOL));
  EXPECT_EQ(ringside_reader_open(nullptr, nullptr, &reader_, &error_), RINGSIDE_USAGE);
  EXPECT_EQ(error_.reason, static_cast<std::uint32_t>(RINGSIDE_REASON_ARGUMENT));
  EXPECT_EQ(ringside_reader_open(path_.c_str(), nullptr, nullptr, &error_), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_open(path_.c_str(), nullptr, &reader_, nullptr), RINGSIDE_USAGE);
  ringside_reader_options wrong{sizeof(wrong), 3, 0, nullptr};
  EXPECT_EQ(ringside_reader_open(path_.c_str(), &wrong, &reader_, &error_), RINGSIDE_USAGE);
  EXPECT_STREQ(error_.line, "follow: found 3, expected 1 to 2, or 0");
  wrong = {sizeof(wrong), 0, -1, nullptr};
  EXPECT_EQ(ringside_reader_open(path_.c_str(), &wrong, &reader_, &error_), RINGSIDE_USAGE);
}

TEST_F(ReaderTest, AChildCannotUseTheHandle) {
  begin(4, 4);
  ringside_step* step = nullptr;
  ASSERT_EQ(ringside_reader_hold(reader_, 2, &step), RINGSIDE_OK);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::size_t count = 0;
    bool right = ringside_reader_steps(reader_, nullptr, 0, &count) == RINGSIDE_USAGE;
    right = right && ringside_step_check(step) == RINGSIDE_USAGE && ringside_step_release(step) == RINGSIDE_USAGE;
    ringside_reader_free(reader_);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  commit(10);
  EXPECT_EQ(ringside_step_release(step), RINGSIDE_OK) << "the child did not end the parent's lease";
}

TEST_F(ReaderTest, AReaderIsFreedWithTheLastOfItsSteps) {
  begin(5, 5);
  ringside_step* steps[2] = {};
  ASSERT_EQ(ringside_reader_hold(reader_, 2, &steps[0]), RINGSIDE_OK);
  ASSERT_EQ(ringside_reader_hold(reader_, 3, &steps[1]), RINGSIDE_OK);
  ringside_reader_free(std::exchange(reader_, nullptr));
  commit(4);
  const void* data = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(ringside_step_view(steps[0], 0, &data, &bytes), RINGSIDE_OK);
  EXPECT_TRUE(is_variable(data, 2, 0));
  EXPECT_EQ(ringside_step_release(steps[0]), RINGSIDE_OK);
  EXPECT_EQ(ringside_step_verify(steps[1], RINGSIDE_ALL_VARIABLES), RINGSIDE_OK);
  EXPECT_EQ(ringside_step_release(steps[1]), RINGSIDE_OK);
}

TEST_F(ReaderTest, AWrongSizeIsRefusedAndNothingIsWritten) {
  begin(3, 3);
  struct {
    ringside_step_info info;
    unsigned char behind[64];
  } place;
  for (const std::uint32_t size : {0u, 4u, 44u, 45u, 1u << 20}) {
    std::memset(&place, 0x55, sizeof(place));
    place.info.size = size;
    std::size_t count = 0;
    EXPECT_EQ(ringside_reader_steps(reader_, &place.info, 1, &count), RINGSIDE_USAGE) << size;
    EXPECT_EQ(ringside_reader_next(reader_, 0, 0, &place.info), RINGSIDE_USAGE) << size;
    EXPECT_EQ(place.info.slot, 0x55555555u);
    EXPECT_EQ(place.behind[0], 0x55);
  }
}

TEST_F(ReaderTest, NoHandleAndNoPlaceAreMisuseAndNoCrash) {
  EXPECT_EQ(ringside_reader_variables(nullptr, nullptr, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_runs(nullptr, nullptr, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_steps(nullptr, nullptr, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_next(nullptr, 0, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_hold(nullptr, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_copy(nullptr, 0, 0, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_results(nullptr, 0, nullptr, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_step_describe(nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_step_view(nullptr, 0, nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_step_verify(nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_step_check(nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_step_release(nullptr), RINGSIDE_OK);
  EXPECT_STREQ(ringside_reader_error(nullptr)->line, "no handle: found NULL");
  begin(3, 1);
  EXPECT_EQ(ringside_reader_variables(reader_, nullptr, 1, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_results(reader_, 1, nullptr, 1, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_next(reader_, 0, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_hold(reader_, 0, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_reader_steps(reader_, nullptr, 1, nullptr), RINGSIDE_USAGE);
}

/// A journal beside the pool: one record after those that it has.
void append(const std::string& pool, wire::Record record) {
  Journal journal = Journal::open(pool, {.kind = JournalKind::kFile}, Storage::kFile, Durability::kProcess);
  const std::uint64_t seq = journal.newest_seq() + 1;
  record.set_seq(seq);
  const std::string bytes = record.SerializeAsString();
  const EncodedRecord encoded{seq, bytes};
  ASSERT_EQ(journal.append(std::span(&encoded, 1)), 0);
}

/// The run's description, and a record of each step.
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

TEST_F(ReaderTest, AFollowerLearnsThatTheRunHasEnded) {
  begin(3, 2);
  ringside_step_info info{};
  info.size = sizeof(info);
  wire::Record record;
  record.mutable_run_started()->set_solver("heat");
  append(path_, record);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 0.2, &info), RINGSIDE_TIMEOUT) << "its journal says that it goes on";
  record.mutable_run_ended()->set_how("stopped");
  append(path_, record);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 2, &info), RINGSIDE_TIMEOUT) << "a stopped analyzer has a successor";
  record.mutable_run_ended()->set_how("detached");
  append(path_, record);
  EXPECT_EQ(ringside_reader_next(reader_, 1, -1, &info), RINGSIDE_OK) << "every step comes before the end";
  EXPECT_EQ(ringside_reader_next(reader_, 2, -1, &info), RINGSIDE_END);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 0, &info), RINGSIDE_END) << "as long as nothing else is known";
  record.mutable_run_started()->set_solver("heat");
  append(path_, record);
  commit(1);
  EXPECT_EQ(ringside_reader_next(reader_, 2, 0, &info), RINGSIDE_OK) << "another run has begun";
  EXPECT_EQ(ringside_reader_next(reader_, 3, 0.2, &info), RINGSIDE_TIMEOUT);
}

TEST_F(ReaderTest, AFollowerOfAPoolThatWasLeftAloneLearnsIt) {
  begin(3, 2);
  writer_.reset();
  pool_.reset();
  ringside_step_info info{};
  info.size = sizeof(info);
  EXPECT_EQ(ringside_reader_next(reader_, 2, -1, &info), RINGSIDE_PEER_LOST);
  EXPECT_EQ(line().substr(0, path_.size() + 33), path_ + ": no process has owned it for 5 s");
}

TEST_F(ReaderTest, WaitsForAPoolThatDoesNotExistYet) {
  const ringside_reader_options options{sizeof(options), 0, 60, nullptr};
  const std::string path = folder_.file("later.pool");
  std::thread reader(
      [&] { EXPECT_EQ(ringside_reader_open(path.c_str(), &options, &reader_, &error_), RINGSIDE_OK) << error_.line; });
  const Catalogue catalogue = catalogue_of(schema_, five_scalars());
  const RingPool pool = RingPool::create(path, RingShape::of(schema_, catalogue), 3);
  reader.join();
  const volatile int stop = 1;
  const ringside_reader_options stopped{sizeof(stopped), 0, 60, &stop};
  ringside_reader* none = nullptr;
  EXPECT_EQ(ringside_reader_open(folder_.file("never.pool").c_str(), &stopped, &none, &error_), RINGSIDE_INTERRUPTED);
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
