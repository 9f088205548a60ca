// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the hand-off tests: a socket, a run, iterates whose values identify the step, and the memory and the
// request of a producer that follows the protocol.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "common/handoff/handoff_reader.hpp"
#include "common/handoff/handoff_writer.hpp"
#include "common/messages/message_coordination.hpp"
#include "common/platform/error.hpp"
#include "common/schema/schema.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {

inline constexpr std::uint64_t kRows = 1000;
inline constexpr std::int64_t kSpinNs = 1000;
inline constexpr bool kMaySpin = true;

inline RunDescription description() {
  RunDescription run;
  run.run_id = {1, 2};
  run.problem_id = {3, 4};
  assign(run.solver, "test");
  return run;
}

/// The value that the solver writes for row `row` of step `step`.
inline double expected(std::uint64_t step, std::uint64_t row) {
  return static_cast<double>(step * 1'000'003 + row);
}

inline void fill(double* buffer, std::uint64_t step) {
  for (std::uint64_t i = 0; i < kRows; ++i) buffer[i] = expected(step, i);
}

inline bool holds(const double* buffer, std::uint64_t step) {
  for (std::uint64_t i = 0; i < kRows; ++i) {
    if (buffer[i] != expected(step, i)) return false;
  }
  return true;
}

inline Schema x_only() {
  return Schema::x_only(kRows);
}

/// The scalars that the built-in solvers publish with each step.
inline std::vector<Scalar> residuals() {
  return {{.name = "residual_l1"}, {.name = "residual_linf"}};
}

inline const double* doubles(const std::byte* payload) {
  return reinterpret_cast<const double*>(payload);
}

inline AttachRequest valid_request() {
  AttachRequest request(description(), x_only(), residuals());
  request.head.buffers = 2;
  return request;
}

/// The memory that a producer which follows the protocol passes.
struct Memory {
  SharedMapping payload;
  SharedMapping control;
  std::array<int, 2> fds() const { return {payload.fd(), control.fd()}; }
};
inline Memory valid_memory() {
  Memory memory;
  memory.payload = SharedMapping::create("test", PayloadGeometry{2, kRows}.total_bytes(), PeerAccess::kReadOnly);
  memory.control = SharedMapping::create("test", sizeof(HandoffControl), PeerAccess::kReadWrite);
  auto* control = new (memory.control.data()) HandoffControl;
  control->buffers = 2;
  control->payload_bytes = kRows * sizeof(double);
  return memory;
}

class HandoffFixture : public ::testing::Test {
 protected:
  HandoffFixture() {
    options_.socket = socket_path_;
    options_.spin_ns = kSpinNs;
    options_.messages = make_messages;
  }

  /// Accepts the next producer and reads its request.
  HandoffReader accept_reader(Listener& listener) {
    std::optional<Peer> peer = listener.accept(10'000);
    if (!peer) throw std::runtime_error("nobody connected");
    return HandoffReader(std::move(*peer), socket_path_, 10'000, 30, make_messages);
  }

  /// Both ends of an attachment, the producer's and the analyzer's.
  struct Attached {
    std::unique_ptr<Listener> listener;  // the analyzer's listener, unless the test provides one
    std::optional<HandoffWriter> writer;
    std::optional<HandoffReader> reader;
  };
  Attached attach(Listener& listener, const HandoffOptions& options) {
    Attached ends;
    std::thread producer([&] { ends.writer.emplace(options, description(), x_only(), residuals()); });
    ends.reader.emplace(accept_reader(listener));
    ends.reader->accept();
    producer.join();
    return ends;
  }

  Attached attach(const HandoffOptions& options) {
    auto listener = std::make_unique<Listener>(socket_path_);
    Attached ends = attach(*listener, options);
    ends.listener = std::move(listener);
    return ends;
  }

  /// Attaches, and publishes a step in each of the two buffers.
  Attached attach_full(const HandoffOptions& options) {
    Attached ends = attach(options);
    publish_one(*ends.writer);
    publish_one(*ends.writer);
    return ends;
  }

  /// Publishes the next step, with its values, and expects a free buffer.
  void publish_one(HandoffWriter& writer) const {
    Claim claim = writer.claim();
    // With messages, a release is reported a moment later, so a claim that does not wait may come too early.
    while (options_.coordination == CoordinationKind::kMessages && claim.status == ClaimStatus::kFull) {
      std::this_thread::yield();
      claim = writer.claim();
    }
    ASSERT_EQ(claim.status, ClaimStatus::kOk);
    fill(claim.x(), writer.published());
    writer.publish({.iteration = writer.published() + 1});
  }

  /// The reader's next status. If it is a step, this step is taken but not released.
  static NextStatus next(HandoffReader& reader) {
    PublishedStep step;
    return reader.next(step, kMaySpin, nullptr);
  }

  /// Takes the next step and releases its buffer, which counts as its commit in the hand-off.
  static void take_one(HandoffReader& reader, std::uint64_t step_expected) {
    PublishedStep step;
    ASSERT_EQ(reader.next(step, kMaySpin, nullptr), NextStatus::kStep);
    EXPECT_EQ(step.step.descriptor.step, step_expected);
    EXPECT_TRUE(holds(doubles(step.payload), step_expected));
    reader.release();
  }

  /// Expects that a producer has finished and sent its goodbye, and answers it.
  static void answer_goodbye(HandoffReader& reader) {
    EXPECT_EQ(next(reader), NextStatus::kDetached);
    EXPECT_EQ(reader.outcome(), Outcome::kFinished);
    reader.farewell(ExitCode::kDone, "");
  }

  TemporaryFolder folder_;
  std::string socket_path_ = folder_.file("analyzer.socket");
  HandoffOptions options_;
};

/// The tests that must pass with both kinds of coordination.
class HandoffTest : public HandoffFixture, public ::testing::WithParamInterface<CoordinationKind> {
 protected:
  HandoffTest() { options_.coordination = GetParam(); }
};

inline const auto kBothCoordinations = ::testing::Values(CoordinationKind::kLocks, CoordinationKind::kMessages);
inline std::string name_of_coordination(const ::testing::TestParamInfo<CoordinationKind>& info) {
  return info.param == CoordinationKind::kLocks ? "locks" : "messages";
}

}  // namespace ringside::testing
