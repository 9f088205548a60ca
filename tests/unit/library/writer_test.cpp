// SPDX-License-Identifier: BSD-3-Clause
// The writing half of the C interface, with the analyzer's side of the hand-off as its peer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/library/writer_fixture.hpp"

namespace ringside {
namespace {

using namespace testing;

TEST_F(WriterTest, AStepHasAllVariablesAndScalars) {
  begin();
  EXPECT_EQ(reader_->run().solver, std::string("test"));
  EXPECT_EQ(to_text(reader_->schema()), "x f64[1000], count i32[3,2] state");
  ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK);
  static_cast<double*>(ringside_writer_buffer(writer_, 0))[7] = 2.5;
  static_cast<std::int32_t*>(ringside_writer_buffer(writer_, 1))[5] = -3;
  EXPECT_EQ(ringside_writer_buffer(writer_, 2), nullptr);
  ringside_value values[2];
  values[0].f64 = 0.5;
  values[1].i64 = -4;
  ASSERT_EQ(ringside_writer_publish(writer_, 3, values, 2), RINGSIDE_OK);
  EXPECT_EQ(ringside_writer_buffer(writer_, 0), nullptr) << "nothing is claimed";

  const PublishedStep step = next();
  EXPECT_EQ(step.step.descriptor.iteration, 3u);
  EXPECT_EQ(reinterpret_cast<const double*>(step.payload)[7], 2.5);
  const auto* count = reinterpret_cast<const std::int32_t*>(step.payload + reader_->schema().place(1).offset);
  EXPECT_EQ(count[5], -3);
  EXPECT_EQ(std::bit_cast<double>(step.step.scalar(0)), 0.5);
  EXPECT_EQ(static_cast<std::int64_t>(step.step.scalar(1)), -4);
  EXPECT_EQ(step.step.scalar(2), 0u);
  EXPECT_GE(step.step.descriptor.generate_ns, 0);
  reader_->release();

  detach(RINGSIDE_OUTCOME_DIVERGED);
  EXPECT_EQ(reader_->outcome(), Outcome::kDiverged);
  EXPECT_EQ(counts().published, 1u);
}

TEST_F(WriterTest, AResumedRunGetsVariablesAndScalars) {
  Schema schema = Schema::of({{.name = "x", .shape = {kEntries}},
                              {.name = "count", .dtype = DType::kI32, .shape = {3, 2}, .role = Role::kState}});
  const std::size_t scalars_at = kept_scalars_offset(schema.payload_bytes());
  Continuation from;
  from.last.emplace();
  from.last->descriptor.iteration = 41;
  from.resumed = Id128{8, 9};
  from.kept = SharedMapping::create("kept", scalars_at + sizeof(KeptScalars), PeerAccess::kReadOnly);
  reinterpret_cast<double*>(from.kept.data())[999] = 1.5;
  KeptScalars scalars{};
  scalars.present = 0b011;
  scalars.words[0] = std::bit_cast<std::uint64_t>(0.25);
  scalars.words[1] = 7;
  std::memcpy(from.kept.data() + scalars_at, &scalars, sizeof(scalars));
  options_.pool_use = RINGSIDE_POOL_RESUME;
  begin(from);

  std::uint64_t iteration = 0;
  ASSERT_EQ(ringside_writer_kept(writer_, &iteration), RINGSIDE_OK);
  EXPECT_EQ(iteration, 41u);
  const void* data = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(ringside_writer_kept_variable(writer_, 0, &data, &bytes), RINGSIDE_OK);
  EXPECT_EQ(bytes, kEntries * sizeof(double));
  EXPECT_EQ(static_cast<const double*>(data)[999], 1.5);
  ringside_value value{};
  ASSERT_EQ(ringside_writer_kept_scalar(writer_, 0, &value), RINGSIDE_OK);
  EXPECT_EQ(value.f64, 0.25);
  ASSERT_EQ(ringside_writer_kept_scalar(writer_, 1, &value), RINGSIDE_OK);
  EXPECT_EQ(value.i64, 7);
  EXPECT_EQ(ringside_writer_kept_scalar(writer_, 2, &value), RINGSIDE_ABSENT);
  EXPECT_EQ(ringside_writer_kept_scalar(writer_, 3, &value), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "scalar 3: expected less than 3");

  ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK);
  EXPECT_EQ(static_cast<const double*>(data)[999], 1.5) << "valid until the first publish";
  EXPECT_EQ(ringside_writer_previous(writer_, 0), data) << "the step before is the kept one";
  EXPECT_EQ(ringside_writer_publish(writer_, 41, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(line(),
            "iteration 41: the run continues from iteration 41, which the pool keeps: expected 42 or more (the kept "
            "step and the steps after it), or pool_use `overwrite` to begin the run anew");
  EXPECT_EQ(ringside_writer_publish(writer_, 42, nullptr, 0), RINGSIDE_OK);
  EXPECT_EQ(ringside_writer_kept(writer_, &iteration), RINGSIDE_ABSENT);
  EXPECT_EQ(static_cast<const double*>(data)[999], 1.5) << "unmapped by the next claim, not by the publish";
}

TEST_F(WriterTest, TheStepBeforeMayBeReadWhileTheNextOneIsMade) {
  begin();
  EXPECT_EQ(ringside_writer_previous(writer_, 0), nullptr) << "there is none";
  for (std::uint64_t k = 1; k <= 5; ++k) {
    ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK);
    auto* x = static_cast<double*>(ringside_writer_buffer(writer_, 0));
    const auto* before = static_cast<const double*>(ringside_writer_previous(writer_, 0));
    EXPECT_TRUE(k == 1 || before[kEntries - 1] == static_cast<double>(k - 1));
    x[kEntries - 1] = static_cast<double>(k);
    ASSERT_EQ(ringside_writer_publish(writer_, k, nullptr, 0), RINGSIDE_OK);
    take();
  }
  EXPECT_EQ(ringside_writer_previous(writer_, 2), nullptr) << "no variable has that number";
}

TEST_F(WriterTest, AStepIsPutInOneCall) {
  begin();
  const std::vector<double> x(kEntries, 1.25);
  const std::int32_t count[6] = {1, 2, 3, 4, 5, 6};
  const void* arrays[] = {x.data(), count};
  ASSERT_EQ(ringside_writer_put(writer_, 7, arrays, nullptr, 0), RINGSIDE_OK) << line();
  const PublishedStep step = next();
  EXPECT_EQ(step.step.descriptor.iteration, 7u);
  EXPECT_EQ(std::memcmp(step.payload, x.data(), kEntries * sizeof(double)), 0);
  EXPECT_EQ(std::memcmp(step.payload + reader_->schema().place(1).offset, count, sizeof(count)), 0);
  reader_->release();
  arrays[1] = nullptr;
  EXPECT_EQ(ringside_writer_put(writer_, 8, arrays, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "iteration 8: the array of variable 1 is NULL; expected 24 bytes");
}

TEST_F(WriterTest, ASolverMayMeasureItsStepItself) {
  begin();
  ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK);
  EXPECT_EQ(ringside_writer_publish_timed(writer_, 1, -1, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "iteration 1: generate_ns is -1; expected 0 or more");
  ASSERT_EQ(ringside_writer_publish_timed(writer_, 1, 123'456, nullptr, 0), RINGSIDE_OK);
  EXPECT_EQ(next().step.descriptor.generate_ns, 123'456);
}

std::string digits(const unsigned char (&id)[16]) {
  std::string made;
  for (const unsigned char byte : id) {
    made += "0123456789abcdef"[byte >> 4];
    made += "0123456789abcdef"[byte & 15];
  }
  return made;
}

TEST_F(WriterTest, AReplyIsReadAtTheNextClaim) {
  begin();
  double value = 7;
  std::uint64_t number = 7;
  EXPECT_EQ(ringside_writer_reply(writer_, &value, &number), RINGSIDE_ABSENT);
  EXPECT_EQ(number, 0u);
  EXPECT_EQ(value, 7);
  ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK);
  reader_->reply(0.5);
  EXPECT_EQ(ringside_writer_reply(writer_, &value, &number), RINGSIDE_ABSENT) << "it came after the claim";
  ASSERT_EQ(ringside_writer_publish(writer_, 1, nullptr, 0), RINGSIDE_OK);
  ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK);
  EXPECT_EQ(ringside_writer_reply(writer_, &value, &number), RINGSIDE_OK);
  EXPECT_EQ(value, 0.5);
  EXPECT_EQ(number, 1u);
  reader_->reply(-0.0);
  reader_->reply(-2.5);
  ASSERT_EQ(ringside_writer_publish(writer_, 2, nullptr, 0), RINGSIDE_OK);
  take();
  ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK);
  EXPECT_EQ(ringside_writer_reply(writer_, nullptr, nullptr), RINGSIDE_OK);
  EXPECT_EQ(ringside_writer_reply(writer_, &value, &number), RINGSIDE_OK);
  EXPECT_EQ(value, -2.5);
  EXPECT_EQ(number, 3u);
}

TEST_F(WriterTest, ARunThatATriggerEndsGetsNoBufferAnyMore) {
  begin();
  for (const std::uint64_t k : {1u, 2u}) publish(k);
  reader_->end_run();
  for (int step = 0; step < 2; ++step) take();
  EXPECT_EQ(ringside_writer_claim_at_once(writer_), RINGSIDE_FULL);
  EXPECT_EQ(ringside_writer_try_claim(writer_), RINGSIDE_FULL);
  reader_->farewell(ExitCode::kInterrupted, "a trigger");
  EXPECT_EQ(ringside_writer_claim_at_once(writer_), RINGSIDE_FULL);
  EXPECT_EQ(ringside_writer_claim(writer_), RINGSIDE_INTERRUPTED);
  EXPECT_EQ(line(), "a trigger");
}

TEST_F(WriterTest, TheRunIsAsTheAnalyzerKnowsIt) {
  const unsigned char id[16] = {1, 2, 3};
  options_.problem_id = id;
  options_.parameters = "dt=0.1";
  begin();
  ringside_run run{};
  run.size = sizeof(run);
  ASSERT_EQ(ringside_writer_run(writer_, &run), RINGSIDE_OK);
  EXPECT_STREQ(run.solver, "test");
  EXPECT_STREQ(run.parameters, "dt=0.1");
  // The bytes of ids are in the order of the digits that the programs print.
  EXPECT_EQ(digits(run.run_id), to_string(reader_->run().run_id));
  const Id128 own{0x0102030000000000, 0};
  EXPECT_EQ(digits(run.problem_id), to_string(problem_id_with(own, reader_->schema())));
}

TEST_F(WriterTest, AfterADetachThatFailedNoStepFollows) {
  begin();
  publish(1);
  std::thread analyzer([&] {
    next();
    reader_->farewell(ExitCode::kSystem, "the disk is full");
  });
  EXPECT_EQ(ringside_writer_detach(writer_, RINGSIDE_OUTCOME_FINISHED), RINGSIDE_SYSTEM);
  EXPECT_EQ(line(), "the disk is full");
  analyzer.join();
  EXPECT_EQ(ringside_writer_claim(writer_), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_skip(writer_), RINGSIDE_USAGE);
}

TEST_F(WriterTest, ANewRunHasNoKeptStep) {
  begin();
  EXPECT_EQ(ringside_writer_kept(writer_, nullptr), RINGSIDE_ABSENT);
  EXPECT_EQ(ringside_writer_kept_variable(writer_, 0, nullptr, nullptr), RINGSIDE_ABSENT);
  EXPECT_EQ(ringside_writer_kept_variable(writer_, 2, nullptr, nullptr), RINGSIDE_USAGE);
  ringside_value value;
  EXPECT_EQ(ringside_writer_kept_scalar(writer_, 0, &value), RINGSIDE_ABSENT);
}

TEST_F(WriterTest, ATryFindsNoBufferWhereAClaimWouldWait) {
  begin();
  for (std::uint64_t k = 1; k <= 2; ++k) {
    ASSERT_EQ(ringside_writer_try_claim(writer_), RINGSIDE_OK);
    ASSERT_EQ(ringside_writer_publish(writer_, k, nullptr, 0), RINGSIDE_OK);
  }
  EXPECT_EQ(ringside_writer_try_claim(writer_), RINGSIDE_FULL);
  EXPECT_EQ(ringside_writer_buffer(writer_, 0), nullptr);
  EXPECT_EQ(ringside_writer_try_claim(writer_), RINGSIDE_FULL);
  EXPECT_EQ(counts().skipped, 0u) << "trying again is no step";
  EXPECT_EQ(ringside_writer_skip(writer_), RINGSIDE_OK);
  EXPECT_EQ(counts().skipped, 1u);
  take();
  EXPECT_EQ(ringside_writer_try_claim(writer_), RINGSIDE_OK);
}

TEST_F(WriterTest, AClaimAtOnceTakesAFreeBufferAndNeverWaits) {
  volatile int stop = 0;
  options_.stop = &stop;
  begin();
  for (std::uint64_t k = 1; k <= 2; ++k) {
    ASSERT_EQ(ringside_writer_claim_at_once(writer_), RINGSIDE_OK);
    ASSERT_EQ(ringside_writer_publish(writer_, k, nullptr, 0), RINGSIDE_OK);
  }
  EXPECT_EQ(ringside_writer_claim_at_once(writer_), RINGSIDE_FULL);
  EXPECT_EQ(ringside_writer_buffer(writer_, 0), nullptr);
  take();
  EXPECT_EQ(ringside_writer_claim_at_once(writer_), RINGSIDE_OK);
  ASSERT_EQ(ringside_writer_publish(writer_, 3, nullptr, 0), RINGSIDE_OK);
  EXPECT_EQ(counts().skipped, 0u);
  EXPECT_EQ(counts().idle_ns, 0);
  stop = 1;
  EXPECT_EQ(ringside_writer_claim_at_once(writer_), RINGSIDE_INTERRUPTED);
  stop = 0;
  reader_.reset();  // ends the analyzer; another claim would wait for the next one
  EXPECT_EQ(ringside_writer_claim_at_once(writer_), RINGSIDE_FULL);
}

TEST_F(WriterTest, StopEndsTheWaitOfAClaim) {
  volatile int stop = 0;
  options_.stop = &stop;
  begin();
  for (const std::uint64_t k : {1u, 2u}) publish(k);
  stop = 1;
  EXPECT_EQ(ringside_writer_claim(writer_), RINGSIDE_INTERRUPTED);
  EXPECT_EQ(line(), "interrupted: `stop` is set");
  take();
  EXPECT_EQ(ringside_writer_claim_last(writer_), RINGSIDE_OK);
}

TEST_F(WriterTest, StopEndsTheWaitForAnAnalyzer) {
  volatile int stop = 1;
  options_.stop = &stop;
  EXPECT_EQ(attach(), RINGSIDE_INTERRUPTED) << error_.line;
  EXPECT_EQ(writer_, nullptr);
}

TEST_F(WriterTest, WithoutAnAnalyzerTheLineNamesTheSocket) {
  options_.peer_timeout_s = 0.01;
  EXPECT_EQ(attach(), RINGSIDE_PEER_LOST);
  EXPECT_EQ(error_.status, RINGSIDE_PEER_LOST);
  expect_has(std::string(error_.line), {socket_});
}

TEST_F(WriterTest, TheEnvironmentGivesWhatTheOptionsLeaveOut) {
  setenv("RINGSIDE_SOCKET", socket_.c_str(), 1);
  setenv("RINGSIDE_BUFFERS", "5", 1);
  setenv("RINGSIDE_POOL_USE", "overwrite", 1);
  options_.socket = nullptr;
  options_.pool_use = RINGSIDE_POOL_RESUME;  // takes precedence over the environment
  begin();
  unsetenv("RINGSIDE_SOCKET");
  unsetenv("RINGSIDE_BUFFERS");
  unsetenv("RINGSIDE_POOL_USE");
  EXPECT_EQ(reader_->buffers(), 5u);
  EXPECT_EQ(reader_->pool_use(), PoolUse::kResume);
}

TEST_F(WriterTest, TheEnvironmentLendsTheProgramsCoresUnlessTheOptionsNameOthers) {
  static const std::int32_t kOwn[] = {3};
  setenv("RINGSIDE_ELASTIC", "on", 1);
  setenv("RINGSIDE_CORES", "0,5-6", 1);
  struct Case {
    const std::int32_t* lent_cores;
    std::size_t count;
    std::vector<int> expected;
  };
  for (const Case& one : {Case{nullptr, 0, {0, 5, 6}}, Case{kOwn, 1, {3}}, Case{kOwn, 0, {}}}) {
    options_.lent_cores = one.lent_cores;
    options_.lent_core_count = one.count;
    begin();
    EXPECT_EQ(reader_->elastic(), !one.expected.empty());
    EXPECT_EQ(reader_->producer_cores().cpus(), one.expected);
    EXPECT_EQ(reader_->producer_lends_only(), !one.expected.empty()) << "a program has no threads for borrowed cores";
    ringside_writer_free(std::exchange(writer_, nullptr));
  }
  options_.lent_cores = nullptr;
  unsetenv("RINGSIDE_CORES");
  EXPECT_EQ(attach(), RINGSIDE_USAGE);
  expect_has(std::string(error_.line), {"RINGSIDE_ELASTIC: found 'on' without RINGSIDE_CORES, expected "});
  unsetenv("RINGSIDE_ELASTIC");
}

TEST_F(WriterTest, AChildCannotUseTheHandle) {
  begin();
  const auto use_in_child = [&] {
    bool right = ringside_writer_claim(writer_) == RINGSIDE_USAGE && line().find("its child") != std::string::npos;
    right = right && ringside_writer_publish(writer_, 1, nullptr, 0) == RINGSIDE_USAGE;
    right = right && ringside_writer_detach(writer_, 0) == RINGSIDE_USAGE &&
            ringside_writer_kept(writer_, nullptr) == RINGSIDE_USAGE;
    ringside_writer_free(writer_);
    _exit(right ? 0 : 1);
  };
  EXPECT_EXIT(use_in_child(), ::testing::ExitedWithCode(0), "");
  ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK) << "the parent's handle is as before";
  ASSERT_EQ(ringside_writer_publish(writer_, 1, nullptr, 0), RINGSIDE_OK);
  EXPECT_EQ(next().step.descriptor.iteration, 1u);
}

TEST_F(WriterTest, AfterADetachNothingCanBePublished) {
  begin();
  detach(RINGSIDE_OUTCOME_FINISHED);
  EXPECT_EQ(ringside_writer_claim(writer_), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "the run has ended: ringside_writer_detach was called; expected ringside_writer_free");
  EXPECT_EQ(ringside_writer_buffer(writer_, 0), nullptr);
  EXPECT_EQ(ringside_writer_publish(writer_, 1, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_writer_detach(writer_, RINGSIDE_OUTCOME_FINISHED), RINGSIDE_USAGE);
}

TEST_F(WriterTest, WithoutAnAnalyzerASolverThatIsToGoOnWritesStepsThatAreDropped) {
  options_.on_analyzer_loss = RINGSIDE_LOSS_CONTINUE;
  begin();
  reader_.reset();  // ends the analyzer
  double* before = nullptr;
  for (std::uint64_t k = 1; k <= 6; ++k) {
    ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK) << line();
    auto* x = static_cast<double*>(ringside_writer_buffer(writer_, 0));
    ASSERT_NE(x, nullptr);
    EXPECT_NE(x, before) << "x_{k-1} stays readable";
    x[kEntries - 1] = static_cast<double>(k);
    if (before != nullptr) {
      EXPECT_EQ(before[kEntries - 1], static_cast<double>(k - 1));
    }
    before = x;
    ASSERT_EQ(ringside_writer_publish(writer_, k, nullptr, 0), RINGSIDE_OK) << line();
  }
  EXPECT_EQ(counts().published + counts().skipped, 6u);
  EXPECT_GE(counts().skipped, 4u);
}

TEST_F(WriterTest, WithoutAnAnalyzerASolverWithMemoryOfItsOwnGetsNoBuffer) {
  options_.on_analyzer_loss = RINGSIDE_LOSS_SKIP;
  begin();
  reader_.reset();  // ends the analyzer
  std::uint64_t made = 0;
  std::uint64_t full = 0;
  for (; full < 3; ++made) {
    const ringside_status claimed = ringside_writer_claim(writer_);
    if (claimed == RINGSIDE_OK) {
      ASSERT_EQ(ringside_writer_publish(writer_, made + 1, nullptr, 0), RINGSIDE_OK) << line();
      continue;
    }
    ASSERT_EQ(claimed, RINGSIDE_FULL) << line();
    EXPECT_EQ(ringside_writer_buffer(writer_, 0), nullptr);
    if (++full > 1) ringside_writer_skip(writer_);
  }
  EXPECT_EQ(counts().published, made - 3);
  EXPECT_EQ(counts().skipped, 2u) << "only ringside_writer_skip counts";
}

}  // namespace
}  // namespace ringside
