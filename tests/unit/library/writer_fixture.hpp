// SPDX-License-Identifier: BSD-3-Clause
// A writer that uses the C interface, and the analyzer's side of the hand-off as its peer.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/handoff/handoff_reader.hpp"
#include "include/ringside.h"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {

inline constexpr std::uint64_t kEntries = 1000;

inline ringside_variable variable(const char* name, std::uint16_t dtype, std::vector<std::uint64_t> shape,
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

inline ringside_scalar scalar(const char* name, std::uint32_t type = 0) {
  return {sizeof(ringside_scalar), type, name, nullptr};
}

class WriterTest : public ::testing::Test {
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
    return ringside_writer_attach(&options_, variables_.data(), variables_.size(), scalars_.data(), scalars_.size(),
                                  &writer_, &error_);
  }

  /// Attaches to an analyzer that answers with `answer`. attached: the expected status of the attachment.
  template <class Answer>
  void attach_to(ringside_status attached, const Answer& answer) {
    Listener listener(socket_);
    std::thread solver([&] { ASSERT_EQ(attach(), attached) << error_.line; });
    std::optional<Peer> peer = listener.accept(10'000);
    ASSERT_TRUE(peer);
    reader_.emplace(std::move(*peer), socket_, 10'000);
    answer();
    solver.join();
  }

  /// Attaches to an analyzer that accepts.
  void begin(const Continuation& from = {}) {
    attach_to(RINGSIDE_OK, [&] { reader_->accept(from); });
  }

  /// Claims and publishes a step.
  void publish(std::uint64_t iteration) {
    ASSERT_EQ(ringside_writer_claim(writer_), RINGSIDE_OK) << line();
    ASSERT_EQ(ringside_writer_publish(writer_, iteration, nullptr, 0), RINGSIDE_OK) << line();
  }

  ringside_counts counts() {
    ringside_counts counts{};
    counts.size = sizeof(counts);
    EXPECT_EQ(ringside_writer_counts(writer_, &counts), RINGSIDE_OK);
    return counts;
  }

  /// Detaches from an analyzer that gets no further step.
  void detach(std::uint32_t outcome) {
    std::thread analyzer([&] {
      PublishedStep none;
      EXPECT_EQ(reader_->next(none, false, nullptr), NextStatus::kDetached);
      reader_->farewell(ExitCode::kDone, "");
    });
    EXPECT_EQ(ringside_writer_detach(writer_, outcome), RINGSIDE_OK) << line();
    analyzer.join();
  }

  /// The analyzer takes the next step.
  PublishedStep next() {
    PublishedStep step;
    EXPECT_EQ(reader_->next(step, false, nullptr), NextStatus::kStep);
    return step;
  }

  /// The analyzer takes the next step, and returns its buffer.
  void take() {
    next();
    reader_->release();
  }

  std::string line() const { return ringside_writer_error(writer_)->line; }

  const TemporaryFolder folder_;
  const std::string socket_ = folder_.file("analyzer.socket");
  ringside_writer_options options_{};
  ringside_error error_{};
  std::vector<ringside_variable> variables_ = {variable("x", RINGSIDE_F64, {kEntries}),
                                               variable("count", RINGSIDE_I32, {3, 2}, RINGSIDE_ROLE_STATE)};
  std::vector<ringside_scalar> scalars_ = {scalar("rho"), scalar("inner", RINGSIDE_VALUE_I64), scalar("beta")};
  ringside_writer* writer_ = nullptr;
  std::optional<HandoffReader> reader_;
};

}  // namespace ringside::testing
