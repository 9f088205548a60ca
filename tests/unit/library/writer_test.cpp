// SPDX-License-Identifier: BSD-3-Clause
// The writing half of the C interface, with the analyzer's side of the hand-off as its peer.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/handoff/handoff_reader.hpp"
#include "library/ringside.h"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using ::testing::Test;

constexpr std::uint64_t kEntries = 1000;

ringside_variable variable(const char* name, std::uint16_t dtype, std::vector<std::uint64_t> shape,
                           std::uint16_t role = 0) {
  ringside_variable made{};
  made.size = sizeof(made);
  made.dtype = dtype;
  made.role = role;
  made.name = name;
  made.dims = static_cast<std::uint32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), made.shape);
  return made;
}

ringside_scalar scalar(const char* name, std::uint32_t type = 0) {
  return {sizeof(ringside_scalar), type, name, nullptr};
}

class WriterTest : public Test {
 protected:
  WriterTest() {
    options_.size = sizeof(options_);
    options_.socket = socket_.c_str();
    options_.solver = "test";
    options_.peer_timeout_s = 30;
    error_.size = sizeof(error_);
  }
  ~WriterTest() override { ringside_writer_free(writer_); }

  ringside_status attach() {
    return ringside_attach(&options_, variables_.data(), variables_.size(), scalars_.data(), scalars_.size(), &writer_,
                           &error_);
  }

  /// Attaches, with an analyzer that accepts.
  void begin(const Continuation& from = {}) {
    Listener listener(socket_);
    std::thread solver([&] { ASSERT_EQ(attach(), RINGSIDE_OK) << error_.line; });
    std::optional<Peer> peer = listener.accept(10'000);
    ASSERT_TRUE(peer);
    reader_.emplace(std::move(*peer), socket_, 10'000);
    reader_->accept(from);
    solver.join();
  }

  /// The analyzer takes the next step.
  PublishedStep next() {
    PublishedStep step;
    EXPECT_EQ(reader_->next(step, false, nullptr), NextStatus::kStep);
    return step;
  }

  std::string line() const { return ringside_writer_line(writer_); }

  const testing::TemporaryFolder folder_;
  const std::string socket_ = folder_.file("analyzer.socket");
  ringside_writer_options options_{};
  ringside_error error_{};
  std::vector<ringside_variable> variables_ = {variable("x", RINGSIDE_F64, {kEntries}),
                                               variable("count", RINGSIDE_I32, {3, 2}, RINGSIDE_STATE)};
  std::vector<ringside_scalar> scalars_ = {scalar("rho"), scalar("inner", RINGSIDE_VALUE_I64), scalar("beta")};
  ringside_writer* writer_ = nullptr;
  std::optional<HandoffReader> reader_;
};

TEST_F(WriterTest, AStepHasAllVariablesAndScalars) {
  begin();
  EXPECT_EQ(reader_->run().solver, std::string("test"));
  EXPECT_EQ(to_text(reader_->schema()), "x f64[1000], count i32[3,2] state");
  ASSERT_EQ(ringside_claim(writer_), RINGSIDE_OK);
  static_cast<double*>(ringside_buffer(writer_, 0))[7] = 2.5;
  static_cast<std::int32_t*>(ringside_buffer(writer_, 1))[5] = -3;
  EXPECT_EQ(ringside_buffer(writer_, 2), nullptr);
  ringside_value values[2];
  values[0].f64 = 0.5;
  values[1].i64 = -4;
  ASSERT_EQ(ringside_publish(writer_, 3, values, 2), RINGSIDE_OK);
  EXPECT_EQ(ringside_buffer(writer_, 0), nullptr) << "nothing is claimed";

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

  std::thread analyzer([&] {
    PublishedStep none;
    EXPECT_EQ(reader_->next(none, false, nullptr), NextStatus::kDetached);
    EXPECT_EQ(reader_->outcome(), Outcome::kDiverged);
    reader_->farewell(ExitCode::kDone, "");
  });
  EXPECT_EQ(ringside_detach(writer_, RINGSIDE_DIVERGED), RINGSIDE_OK) << line();
  analyzer.join();
  ringside_counts counts{};
  counts.size = sizeof(counts);
  EXPECT_EQ(ringside_get_counts(writer_, &counts), RINGSIDE_OK);
  EXPECT_EQ(counts.published, 1u);
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
  options_.pool_use = RINGSIDE_RESUME;
  begin(from);

  std::uint64_t iteration = 0;
  ASSERT_EQ(ringside_kept(writer_, &iteration), RINGSIDE_OK);
  EXPECT_EQ(iteration, 41u);
  const void* data = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(ringside_kept_variable(writer_, 0, &data, &bytes), RINGSIDE_OK);
  EXPECT_EQ(bytes, kEntries * sizeof(double));
  EXPECT_EQ(static_cast<const double*>(data)[999], 1.5);
  ringside_value value{};
  ASSERT_EQ(ringside_kept_scalar(writer_, 0, &value), RINGSIDE_OK);
  EXPECT_EQ(value.f64, 0.25);
  ASSERT_EQ(ringside_kept_scalar(writer_, 1, &value), RINGSIDE_OK);
  EXPECT_EQ(value.i64, 7);
  EXPECT_EQ(ringside_kept_scalar(writer_, 2, &value), RINGSIDE_ABSENT);
  EXPECT_EQ(ringside_kept_scalar(writer_, 3, &value), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "scalar 3: expected less than 3");

  ASSERT_EQ(ringside_claim(writer_), RINGSIDE_OK);
  EXPECT_EQ(static_cast<const double*>(data)[999], 1.5) << "valid until the first publish";
  EXPECT_EQ(ringside_publish(writer_, 41, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "iteration 41: expected more than 41, the one before");
  EXPECT_EQ(ringside_publish(writer_, 42, nullptr, 0), RINGSIDE_OK);
  EXPECT_EQ(ringside_kept(writer_, &iteration), RINGSIDE_END);
}

TEST_F(WriterTest, ANewRunHasNoKeptStep) {
  begin();
  EXPECT_EQ(ringside_kept(writer_, nullptr), RINGSIDE_END);
  EXPECT_EQ(ringside_kept_variable(writer_, 0, nullptr, nullptr), RINGSIDE_END);
  EXPECT_EQ(ringside_kept_variable(writer_, 2, nullptr, nullptr), RINGSIDE_USAGE);
  ringside_value value;
  EXPECT_EQ(ringside_kept_scalar(writer_, 0, &value), RINGSIDE_END);
}

TEST_F(WriterTest, WhatCannotBePublishedIsRefused) {
  begin();
  EXPECT_EQ(ringside_publish(writer_, 1, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "iteration 1: no step is claimed");
  ASSERT_EQ(ringside_claim(writer_), RINGSIDE_OK);
  EXPECT_EQ(line(), "iteration 1: no step is claimed") << "the last failure's, until the next one";
  ringside_value values[4] = {};
  EXPECT_EQ(ringside_publish(writer_, 1, values, 4), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "iteration 1: found 4 scalars, expected at most 3");
  EXPECT_EQ(ringside_publish(writer_, 0, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_publish(writer_, 1, values, 3), RINGSIDE_OK);
  EXPECT_EQ(ringside_detach(writer_, 4), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "outcome: found 4, expected 0 to 3");
}

TEST_F(WriterTest, ATryFindsNoBufferWhereAClaimWouldWait) {
  begin();
  for (std::uint64_t k = 1; k <= 2; ++k) {
    ASSERT_EQ(ringside_try_claim(writer_), RINGSIDE_OK);
    ASSERT_EQ(ringside_publish(writer_, k, nullptr, 0), RINGSIDE_OK);
  }
  EXPECT_EQ(ringside_try_claim(writer_), RINGSIDE_FULL);
  EXPECT_EQ(ringside_buffer(writer_, 0), nullptr);
  next();
  reader_->release();
  EXPECT_EQ(ringside_try_claim(writer_), RINGSIDE_OK);
}

TEST_F(WriterTest, StopEndsTheWaitOfAClaim) {
  volatile int stop = 0;
  options_.stop = &stop;
  begin();
  for (std::uint64_t k = 1; k <= 2; ++k) {
    ASSERT_EQ(ringside_claim(writer_), RINGSIDE_OK);
    ASSERT_EQ(ringside_publish(writer_, k, nullptr, 0), RINGSIDE_OK);
  }
  stop = 1;
  EXPECT_EQ(ringside_claim(writer_), RINGSIDE_INTERRUPTED);
  EXPECT_EQ(line(), "interrupted: `stop` is set");
  next();
  reader_->release();
  EXPECT_EQ(ringside_claim_last(writer_), RINGSIDE_OK);
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
  EXPECT_NE(std::string(error_.line).find(socket_), std::string::npos) << error_.line;
}

TEST_F(WriterTest, AnAnalyzersRefusalHasItsLineAndCode) {
  Listener listener(socket_);
  std::thread solver([&] { EXPECT_EQ(attach(), RINGSIDE_DAMAGED); });
  std::optional<Peer> peer = listener.accept(10'000);
  ASSERT_TRUE(peer);
  reader_.emplace(std::move(*peer), socket_, 10'000);
  reader_->refuse(damage_error("the pool is damaged"));
  solver.join();
  EXPECT_STREQ(error_.line, "the pool is damaged");
}

TEST_F(WriterTest, TheEnvironmentGivesWhatTheOptionsLeaveOut) {
  setenv("RINGSIDE_SOCKET", socket_.c_str(), 1);
  setenv("RINGSIDE_BUFFERS", "5", 1);
  setenv("RINGSIDE_POOL_USE", "overwrite", 1);
  options_.socket = nullptr;
  options_.pool_use = RINGSIDE_RESUME;  // precedes the environment
  begin();
  unsetenv("RINGSIDE_SOCKET");
  unsetenv("RINGSIDE_BUFFERS");
  unsetenv("RINGSIDE_POOL_USE");
  EXPECT_EQ(reader_->buffers(), 5u);
  EXPECT_EQ(reader_->pool_use(), PoolUse::kResume);
}

TEST_F(WriterTest, AChildCannotUseTheHandle) {
  begin();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool right = ringside_claim(writer_) == RINGSIDE_USAGE && line().find("its child") != std::string::npos;
    right = right && ringside_publish(writer_, 1, nullptr, 0) == RINGSIDE_USAGE;
    right = right && ringside_detach(writer_, 0) == RINGSIDE_USAGE && ringside_kept(writer_, nullptr) == RINGSIDE_USAGE;
    ringside_writer_free(writer_);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(ringside_claim(writer_), RINGSIDE_OK) << "the parent's handle is as before";
  ASSERT_EQ(ringside_publish(writer_, 1, nullptr, 0), RINGSIDE_OK);
  EXPECT_EQ(next().step.descriptor.iteration, 1u);
}

ringside_status attach_with(const ringside_writer_options& options, const std::vector<ringside_variable>& variables,
                            const std::vector<ringside_scalar>& scalars, ringside_error& error) {
  ringside_writer* writer = nullptr;
  const ringside_status status =
      ringside_attach(&options, variables.data(), variables.size(), scalars.data(), scalars.size(), &writer, &error);
  EXPECT_EQ(writer, nullptr);
  return status;
}

/// Refused before an analyzer is searched for: there is none.
TEST_F(WriterTest, ArgumentsThatCannotBeAreRefusedInOneLine) {
  const auto expect = [&](const char* line, auto change) {
    SCOPED_TRACE(line);
    ringside_writer_options options = options_;
    std::vector<ringside_variable> variables = variables_;
    std::vector<ringside_scalar> scalars = scalars_;
    options.peer_timeout_s = 0.01;
    change(options, variables, scalars);
    ringside_error error{};
    error.size = sizeof(error);
    EXPECT_EQ(attach_with(options, variables, scalars, error), RINGSIDE_USAGE);
    EXPECT_EQ(error.status, RINGSIDE_USAGE);
    EXPECT_STREQ(error.line, line);
  };
  using Options = ringside_writer_options&;
  using Variables = std::vector<ringside_variable>&;
  using Scalars = std::vector<ringside_scalar>&;
  expect("variables: found 0 variables, expected 1 to 256", [](Options, Variables v, Scalars) { v.clear(); });
  expect("variables: found 10000 variables, expected 1 to 256",
         [](Options, Variables v, Scalars) { v.resize(10'000, v[0]); });
  expect("variables: variables 0 and 1 are both named 'x'; expected each name once",
         [](Options, Variables v, Scalars) { v[1].name = "x"; });
  expect("variables: variable 0 has no name; expected 1 to 63 of A-Z a-z 0-9 _ . -, the first a letter or _",
         [](Options, Variables v, Scalars) { v[0].name = nullptr; });
  expect("variables: variable 'x': dtype 77; expected one of f32, f64, c64, c128, i8, i16, i32, i64, u8, u16, u32, u64",
         [](Options, Variables v, Scalars) { v[0].dtype = 77; });
  expect("variables: variable 'x': role 7; expected field or state",
         [](Options, Variables v, Scalars) { v[0].role = 7; });
  expect("variables: variable 'x': 9 dimensions; expected 0 to 8",
         [](Options, Variables v, Scalars) { v[0].dims = 9; });
  expect("variables: variable 'x': shape (0): dimension 0 is 0; expected at least 1",
         [](Options, Variables v, Scalars) { v[0].shape[0] = 0; });
  expect("ringside_variable: its size is 0; expected sizeof(ringside_variable)",
         [](Options, Variables v, Scalars) { v[0].size = 0; });
  expect("variables: variable 'x': reserved is 7; expected 0",
         [](Options, Variables v, Scalars) { v[0].reserved = 7; });
  expect("ringside_variable: element 1 has size 104, the first has 96",
         [](Options, Variables v, Scalars) { v[1].size = 104; });
  expect("ringside_writer_options: its size is 7; expected sizeof(ringside_writer_options)",
         [](Options o, Variables, Scalars) { o.size = 7; });
  expect("--buffers: found 1, expected 2 to 64", [](Options o, Variables, Scalars) { o.buffers = 1; });
  expect("pool_use: found 4, expected 1 to 3, or 0", [](Options o, Variables, Scalars) { o.pool_use = 4; });
  expect("on_analyzer_loss: found 9, expected 1 to 3, or 0",
         [](Options o, Variables, Scalars) { o.on_analyzer_loss = 9; });
  expect("peer_timeout_s: found -1, expected 0.001 to 1000000, or 0",
         [](Options o, Variables, Scalars) { o.peer_timeout_s = -1; });
  expect("the solver's name: found 24 bytes, expected at most 23",
         [](Options o, Variables, Scalars) { o.solver = "123456789012345678901234"; });
  expect("found 65 scalars, expected at most 64", [](Options, Variables, Scalars s) { s.resize(65, s[0]); });
}

TEST_F(WriterTest, AStructOfALaterVersionIsAcceptedUnlessItAsksForMore) {
  struct Later {
    ringside_writer_options known;
    std::uint64_t more;
  } later{options_, 0};
  later.known.size = sizeof(later);
  later.known.peer_timeout_s = 0.01;
  ringside_writer* writer = nullptr;
  EXPECT_EQ(ringside_attach(&later.known, variables_.data(), 2, nullptr, 0, &writer, &error_), RINGSIDE_PEER_LOST);
  later.more = 1;
  EXPECT_EQ(ringside_attach(&later.known, variables_.data(), 2, nullptr, 0, &writer, &error_), RINGSIDE_USAGE);
  EXPECT_NE(std::string(error_.line).find("later interface"), std::string::npos) << error_.line;
}

TEST_F(WriterTest, AnErrorWithAWrongSizeIsNotTouched) {
  options_.peer_timeout_s = 0.01;
  for (const std::uint32_t size : {0u, 20u, 1025u, 4u << 20}) {
    error_.size = size;
    error_.line[0] = '#';
    EXPECT_EQ(attach(), RINGSIDE_PEER_LOST);
    EXPECT_EQ(error_.line[0], '#') << size;
  }
}

TEST_F(WriterTest, AfterADetachNothingCanBePublished) {
  begin();
  std::thread analyzer([&] {
    PublishedStep none;
    EXPECT_EQ(reader_->next(none, false, nullptr), NextStatus::kDetached);
    reader_->farewell(ExitCode::kDone, "");
  });
  EXPECT_EQ(ringside_detach(writer_, RINGSIDE_FINISHED), RINGSIDE_OK) << line();
  analyzer.join();
  EXPECT_EQ(ringside_claim(writer_), RINGSIDE_USAGE);
  EXPECT_EQ(line(), "the run has ended: ringside_detach was called; expected ringside_writer_free");
  EXPECT_EQ(ringside_buffer(writer_, 0), nullptr);
  EXPECT_EQ(ringside_publish(writer_, 1, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_detach(writer_, RINGSIDE_FINISHED), RINGSIDE_USAGE);
}

TEST_F(WriterTest, WithoutAnAnalyzerASolverThatIsToGoOnWritesStepsThatAreDropped) {
  options_.on_analyzer_loss = RINGSIDE_LOSS_CONTINUE;
  begin();
  reader_.reset();  // the analyzer is gone
  double* before = nullptr;
  for (std::uint64_t k = 1; k <= 6; ++k) {
    ASSERT_EQ(ringside_claim(writer_), RINGSIDE_OK) << line();
    auto* x = static_cast<double*>(ringside_buffer(writer_, 0));
    ASSERT_NE(x, nullptr);
    EXPECT_NE(x, before) << "x_{k-1} stays readable";
    x[kEntries - 1] = static_cast<double>(k);
    if (before != nullptr) {
      EXPECT_EQ(before[kEntries - 1], static_cast<double>(k - 1));
    }
    before = x;
    ASSERT_EQ(ringside_publish(writer_, k, nullptr, 0), RINGSIDE_OK) << line();
  }
  ringside_counts counts{};
  counts.size = sizeof(counts);
  ASSERT_EQ(ringside_get_counts(writer_, &counts), RINGSIDE_OK);
  EXPECT_EQ(counts.published + counts.skipped, 6u);
  EXPECT_GE(counts.skipped, 4u);
}

TEST_F(WriterTest, NoHandleIsAMisuseAndNoCrash) {
  ringside_value value;
  EXPECT_EQ(ringside_claim(nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_try_claim(nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_claim_last(nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_buffer(nullptr, 0), nullptr);
  EXPECT_EQ(ringside_publish(nullptr, 1, nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_detach(nullptr, 0), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_kept(nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_kept_variable(nullptr, 0, nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_kept_scalar(nullptr, 0, &value), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_get_counts(nullptr, nullptr), RINGSIDE_USAGE);
  EXPECT_STREQ(ringside_writer_line(nullptr), "no handle: found NULL");
  ringside_writer_free(nullptr);
}

TEST_F(WriterTest, CountsThatCannotBeAreRefusedBeforeAnythingIsRead) {
  EXPECT_EQ(ringside_attach(&options_, variables_.data(), SIZE_MAX, nullptr, 0, &writer_, &error_), RINGSIDE_USAGE);
  EXPECT_EQ(ringside_attach(&options_, nullptr, 1, nullptr, 0, &writer_, &error_), RINGSIDE_USAGE);
  EXPECT_STREQ(error_.line, "variables: found NULL, expected 1 variables");
  EXPECT_EQ(ringside_attach(&options_, variables_.data(), 2, nullptr, SIZE_MAX, &writer_, &error_), RINGSIDE_USAGE);
  options_.problem_bytes_count = 8;
  EXPECT_EQ(attach(), RINGSIDE_USAGE);
  EXPECT_STREQ(error_.line, "problem_bytes: found NULL, expected 8 bytes");
}

}  // namespace
}  // namespace ringside
