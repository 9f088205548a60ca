// The hand-off between two threads and between two processes: what the protocol promises, and what it refuses.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include "common/error.hpp"
#include "common/handoff_reader.hpp"
#include "common/handoff_writer.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kRows = 1000;
constexpr std::int64_t kSpinNs = 1000;
constexpr bool kMaySpin = true;

RunDescription description(std::uint64_t rows = kRows) {
  RunDescription run;
  run.run_id = {1, 2};
  run.problem_id = {3, 4};
  run.rows = rows;
  assign(run.solver, "test");
  return run;
}

/// What the solver writes for row i of step s.
double expected(std::uint64_t step, std::uint64_t row) { return static_cast<double>(step * 1'000'003 + row); }

void fill(double* buffer, std::uint64_t step) {
  for (std::uint64_t i = 0; i < kRows; ++i) buffer[i] = expected(step, i);
}

bool holds(const double* buffer, std::uint64_t step) {
  for (std::uint64_t i = 0; i < kRows; ++i) {
    if (buffer[i] != expected(step, i)) return false;
  }
  return true;
}

class HandoffTest : public ::testing::Test {
 protected:
  HandoffOptions options() {
    HandoffOptions o;
    o.socket = socket_path_;
    o.spin_ns = kSpinNs;
    return o;
  }

  /// Accepts the next producer and reads its request.
  HandoffReader accept_reader(Listener& listener) {
    std::optional<Peer> peer = listener.accept(10'000);
    if (!peer) throw std::runtime_error("nobody connected");
    return HandoffReader(std::move(*peer), 10'000);
  }

  testing::TemporaryFolder folder_;
  std::string socket_path_ = folder_.file("analyzer.socket");
};

TEST_F(HandoffTest, EveryStepArrivesInOrderAndBitEqual) {
  constexpr std::uint64_t kSteps = 500;
  Listener listener(socket_path_);
  std::thread producer([&] {
    HandoffWriter writer(options(), description());
    for (std::uint64_t s = 0; s < kSteps; ++s) {
      const Claim claim = writer.claim();
      ASSERT_EQ(claim.status, ClaimStatus::kOk);
      fill(claim.buffer, s);
      writer.publish({.iteration = s + 1, .residual_l1 = 0.5, .residual_linf = 0.25, .generate_ns = 7});
    }
    writer.detach(Outcome::kFinished);
  });

  HandoffReader reader = accept_reader(listener);
  reader.accept(1);
  PublishedStep step;
  std::uint64_t taken = 0;
  while (reader.next(step, kMaySpin, nullptr) == NextStatus::kStep) {
    ASSERT_EQ(step.descriptor.step, taken);
    ASSERT_EQ(step.descriptor.iteration, taken + 1);
    ASSERT_EQ(step.descriptor.residual_linf, 0.25);
    ASSERT_TRUE(holds(step.buffer, taken)) << "step " << taken;
    reader.release();
    ++taken;
  }
  EXPECT_EQ(taken, kSteps);
  EXPECT_EQ(reader.outcome(), Outcome::kFinished);
  reader.farewell(ExitCode::kDone, "", taken);
  producer.join();
}

TEST_F(HandoffTest, ABufferIsNotLentAgainBeforeItsRelease) {
  Listener listener(socket_path_);
  std::atomic<bool> attached{false};
  std::optional<HandoffWriter> writer;
  std::thread attach([&] { writer.emplace(options(), description()); });
  HandoffReader reader = accept_reader(listener);
  reader.accept(1);
  attach.join();

  for (std::uint64_t s = 0; s < 2; ++s) {
    ASSERT_EQ(writer->try_claim().status, ClaimStatus::kOk);
    writer->publish({.iteration = s + 1});
  }
  EXPECT_EQ(writer->try_claim().status, ClaimStatus::kFull);
  EXPECT_EQ(writer->skipped(), 1u);

  PublishedStep step;
  ASSERT_EQ(reader.next(step, kMaySpin, nullptr), NextStatus::kStep);
  EXPECT_EQ(writer->try_claim().status, ClaimStatus::kFull) << "seen, but not yet released";
  reader.release();
  EXPECT_EQ(writer->try_claim().status, ClaimStatus::kOk);
  writer->publish({.iteration = 5});
  ASSERT_EQ(reader.next(step, kMaySpin, nullptr), NextStatus::kStep);
  reader.release();
  ASSERT_EQ(reader.next(step, kMaySpin, nullptr), NextStatus::kStep);
  EXPECT_EQ(step.descriptor.skipped_before, 2u) << "skipped steps are told with the next published one";
}

TEST_F(HandoffTest, TheAnalyzersMappingOfThePayloadIsReadOnly) {
  Listener listener(socket_path_);
  std::optional<HandoffWriter> writer;
  std::thread attach([&] { writer.emplace(options(), description()); });
  HandoffReader reader = accept_reader(listener);
  reader.accept(1);
  attach.join();
  ASSERT_EQ(writer->claim().status, ClaimStatus::kOk);
  writer->publish({.iteration = 1});
  PublishedStep step;
  ASSERT_EQ(reader.next(step, kMaySpin, nullptr), NextStatus::kStep);
  auto* page = const_cast<double*>(step.buffer);  // 2 MiB-aligned, hence page-aligned
  EXPECT_EQ(mprotect(page, 4096, PROT_READ | PROT_WRITE), -1) << "the seal forbids writable mappings";
}

TEST_F(HandoffTest, ARefusalReachesTheProducerWithItsLineAndCode) {
  Listener listener(socket_path_);
  std::thread analyzer([&] {
    HandoffReader reader = accept_reader(listener);
    reader.refuse(usage_error("the pool holds another run; use --overwrite"));
  });
  try {
    HandoffWriter writer(options(), description());
    ADD_FAILURE() << "attached in spite of the refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_STREQ(error.what(), "the pool holds another run; use --overwrite");
  }
  analyzer.join();
}

TEST_F(HandoffTest, WithoutAnAnalyzerAttachingEndsWithPeerLost) {
  HandoffOptions o = options();
  o.peer_timeout_s = 0.05;
  try {
    HandoffWriter writer(o, description());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kPeerLost);
    EXPECT_NE(std::string(error.what()).find(socket_path_), std::string::npos);
  }
}

TEST_F(HandoffTest, AStepPublishedBeforeTheProducerDiedIsStillTaken) {
  Listener listener(socket_path_);
  const pid_t child = fork();
  if (child == 0) {
    HandoffWriter writer(options(), description());
    const Claim claim = writer.claim();
    fill(claim.buffer, 0);
    writer.publish({.iteration = 1});
    const Claim half_written = writer.claim();
    half_written.buffer[0] = -1;  // never published
    kill(getpid(), SIGKILL);
  }
  HandoffReader reader = accept_reader(listener);
  reader.accept(1);
  waitpid(child, nullptr, 0);  // dead before we look
  PublishedStep step;
  ASSERT_EQ(reader.next(step, kMaySpin, nullptr), NextStatus::kStep);
  EXPECT_TRUE(holds(step.buffer, 0));
  reader.release();
  EXPECT_EQ(reader.next(step, kMaySpin, nullptr), NextStatus::kProducerLost);
  EXPECT_EQ(reader.outcome(), Outcome::kFailed);
}

TEST_F(HandoffTest, AClaimEndsWhenTheAnalyzerDies) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    Listener listener(socket_path_);
    char byte = 1;
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    HandoffReader reader = accept_reader(listener);
    reader.accept(1);
    PublishedStep step;
    reader.next(step, kMaySpin, nullptr);
    kill(getpid(), SIGKILL);  // with the step taken and its buffer never released
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  HandoffWriter writer(options(), description());
  for (int s = 0; s < 2; ++s) {
    ASSERT_EQ(writer.claim().status, ClaimStatus::kOk);
    writer.publish({});
  }
  EXPECT_EQ(writer.claim().status, ClaimStatus::kAnalyzerLost);
  EXPECT_GT(writer.idle_ns(), 0);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(HandoffTest, AClaimEndsWhenTheAnalyzerMakesNoProgress) {
  Listener listener(socket_path_);
  std::optional<HandoffWriter> writer;
  HandoffOptions o = options();
  o.peer_timeout_s = 0.1;
  std::thread attach([&] { writer.emplace(o, description()); });
  HandoffReader reader = accept_reader(listener);
  reader.accept(1);
  attach.join();
  for (int s = 0; s < 2; ++s) {
    ASSERT_EQ(writer->claim().status, ClaimStatus::kOk);
    writer->publish({});
  }
  EXPECT_EQ(writer->claim().status, ClaimStatus::kAnalyzerLost);
}

TEST_F(HandoffTest, AFailedAnalyzerSaysWhy) {
  Listener listener(socket_path_);
  std::optional<HandoffWriter> writer;
  std::thread attach([&] { writer.emplace(options(), description()); });
  HandoffReader reader = accept_reader(listener);
  reader.accept(1);
  attach.join();
  for (int s = 0; s < 2; ++s) {
    ASSERT_EQ(writer->claim().status, ClaimStatus::kOk);
    writer->publish({});
  }
  std::thread claim([&] { EXPECT_EQ(writer->claim().status, ClaimStatus::kAnalyzerFailed); });
  reader.farewell(ExitCode::kSystem, "the disk is broken", 1);
  claim.join();
  const auto farewell = writer->farewell();
  ASSERT_TRUE(farewell.has_value());
  EXPECT_EQ(farewell->exit_code, static_cast<std::uint32_t>(ExitCode::kSystem));
  EXPECT_EQ(text_of(farewell->message), "the disk is broken");
}

TEST_F(HandoffTest, AFarewellIsHeardEvenIfTheGoodbyeBeforeItWasNotRead) {
  Listener listener(socket_path_);
  std::optional<HandoffWriter> writer;
  std::thread attach([&] { writer.emplace(options(), description()); });
  std::optional<HandoffReader> reader = accept_reader(listener);
  reader->accept(1);
  attach.join();
  std::thread detach([&] { EXPECT_NO_THROW(writer->detach(Outcome::kFinished)); });
  PublishedStep step;
  EXPECT_EQ(reader->next(step, kMaySpin, nullptr), NextStatus::kDetached);
  reader->farewell(ExitCode::kDone, "", 0);
  reader.reset();  // hangs up with the goodbye still unread
  detach.join();
}

TEST_F(HandoffTest, AStopRequestEndsBothWaits) {
  std::atomic<bool> stop{true};
  Listener listener(socket_path_);
  std::optional<HandoffWriter> writer;
  std::thread attach([&] { writer.emplace(options(), description()); });
  HandoffReader reader = accept_reader(listener);
  reader.accept(1);
  attach.join();
  PublishedStep step;
  EXPECT_EQ(reader.next(step, kMaySpin, &stop), NextStatus::kStopped);
  ASSERT_EQ(writer->claim().status, ClaimStatus::kOk);
  writer->publish({});
  EXPECT_EQ(reader.next(step, kMaySpin, &stop), NextStatus::kStep) << "what is published is taken even then";
}

TEST_F(HandoffTest, ASecondAnalyzerOnTheSameSocketIsRefused) {
  Listener first(socket_path_);
  try {
    Listener second(socket_path_);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kSystem);
  }
}

TEST_F(HandoffTest, TheSocketOfADeadAnalyzerIsReplaced) {
  const pid_t child = fork();
  if (child == 0) {
    Listener listener(socket_path_);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(Listener listener(socket_path_));
}

TEST_F(HandoffTest, TooFewOrTooManyBuffersAreRefused) {
  for (const std::uint32_t buffers : {0u, 1u, 65u}) {
    HandoffOptions o = options();
    o.buffers = buffers;
    EXPECT_THROW(HandoffWriter(o, description()), Error) << buffers;
  }
}

TEST(StepRhythmTest, TheNextStepIsExpectedWhenTheLastOnesSay) {
  StepRhythm rhythm;
  EXPECT_EQ(rhythm.expected_ns(), 0) << "nothing is known yet: spin at once";
  rhythm.observe(1'000'000);
  EXPECT_EQ(rhythm.expected_ns(), 0);
  for (std::int64_t step = 2; step <= 40; ++step) rhythm.observe(step * 1'000'000);
  EXPECT_EQ(rhythm.expected_ns(), 41'000'000);
  EXPECT_EQ(rhythm.margin_ns(), 225'000);
}

// --- a hostile producer ------------------------------------------------------------------------------------------

class HostileProducerTest : public HandoffTest {
 protected:
  /// Sends `request` with `fds`; the line the analyzer refuses it with.
  std::string verdict(std::span<const std::byte> request, std::span<const int> fds) {
    Listener listener(socket_path_);
    std::thread sender([&] {
      Peer peer = Peer::connect(socket_path_, 10);
      peer.send(request, fds);
      peer.receive(received_, 10'000);  // until the analyzer hangs up
    });
    std::string line = "accepted";
    try {
      accept_reader(listener);
    } catch (const Error& error) {
      line = error.what();
    }
    sender.join();
    return line;
  }

  static std::span<const std::byte> bytes_of(const AttachRequest& request) {
    return std::as_bytes(std::span(&request, 1));
  }

  static AttachRequest valid_request() {
    AttachRequest request;
    request.buffers = 2;
    request.run = description();
    return request;
  }

  /// Memory as a well-behaved producer passes it.
  struct Memory {
    SharedMapping payload;
    SharedMapping control;
    std::array<int, 2> fds() const { return {payload.fd(), control.fd()}; }
  };
  static Memory valid_memory() {
    Memory memory;
    memory.payload =
        SharedMapping::create("test", PayloadGeometry{2, kRows}.total_bytes(), PeerAccess::kReadOnly);
    memory.control = SharedMapping::create("test", sizeof(HandoffControl), PeerAccess::kReadWrite);
    auto* control = new (memory.control.data()) HandoffControl;
    control->buffers = 2;
    control->rows = kRows;
    return memory;
  }

 private:
  std::array<std::byte, 64> received_{};
};

TEST_F(HostileProducerTest, AWellFormedRequestIsAccepted) {
  const Memory memory = valid_memory();
  EXPECT_EQ(verdict(bytes_of(valid_request()), memory.fds()), "accepted");
}

TEST_F(HostileProducerTest, ShortAndLongRequestsAreRefused) {
  const Memory memory = valid_memory();
  const AttachRequest request = valid_request();
  EXPECT_NE(verdict(bytes_of(request).first(10), memory.fds()).find("10 bytes"), std::string::npos);
  std::array<std::byte, sizeof request + 1> longer{};
  std::memcpy(longer.data(), &request, sizeof request);
  EXPECT_NE(verdict(longer, memory.fds()).find("expected 1032"), std::string::npos);
}

TEST_F(HostileProducerTest, AForeignMagicAndVersionAreRefused) {
  const Memory memory = valid_memory();
  AttachRequest request = valid_request();
  request.header.magic ^= 1;
  EXPECT_NE(verdict(bytes_of(request), memory.fds()).find("not an attach request"), std::string::npos);
  request = valid_request();
  request.header.version = 99;
  EXPECT_NE(verdict(bytes_of(request), memory.fds()).find("version 99"), std::string::npos);
}

TEST_F(HostileProducerTest, RowsAndBuffersOutOfRangeAreRefused) {
  const Memory memory = valid_memory();
  AttachRequest request = valid_request();
  request.buffers = 1000;
  EXPECT_NE(verdict(bytes_of(request), memory.fds()).find("1000 buffers"), std::string::npos);
  for (const std::uint64_t rows : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 61}) {
    request = valid_request();
    request.run.rows = rows;
    EXPECT_NE(verdict(bytes_of(request), memory.fds()).find("rows"), std::string::npos) << rows;
  }
}

TEST_F(HostileProducerTest, MissingDescriptorsAreRefused) {
  EXPECT_NE(verdict(bytes_of(valid_request()), {}).find("0 file descriptors"), std::string::npos);
}

TEST_F(HostileProducerTest, MemoryOfAnotherSizeIsRefused) {
  const Memory memory = valid_memory();
  const SharedMapping small = SharedMapping::create("test", 4096, PeerAccess::kReadOnly);
  const std::array<int, 2> fds = {small.fd(), memory.control.fd()};
  EXPECT_NE(verdict(bytes_of(valid_request()), fds).find("4096 bytes"), std::string::npos);
}

TEST_F(HostileProducerTest, UnsealedMemoryIsRefused) {
  const Memory memory = valid_memory();
  const UniqueFd unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), static_cast<off_t>(memory.payload.bytes())), 0);
  const std::array<int, 2> fds = {unsealed.get(), memory.control.fd()};
  EXPECT_NE(verdict(bytes_of(valid_request()), fds).find("seals"), std::string::npos);
}

TEST_F(HostileProducerTest, ControlMemoryThatContradictsTheRequestIsRefused) {
  const Memory memory = valid_memory();
  reinterpret_cast<HandoffControl*>(memory.control.data())->rows = kRows + 1;
  EXPECT_NE(verdict(bytes_of(valid_request()), memory.fds()).find("does not match"), std::string::npos);
}

TEST_F(HostileProducerTest, APipeInsteadOfMemoryIsRefused) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::array<int, 2> fds = {ends[0], ends[1]};
  EXPECT_NE(verdict(bytes_of(valid_request()), fds).find("not shared memory"), std::string::npos);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace ringside
