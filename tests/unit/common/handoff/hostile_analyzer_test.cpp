// SPDX-License-Identifier: BSD-3-Clause
// The answers that the producer's side of the hand-off refuses: the producer checks every answer before it relies on
// the answer.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "common/handoff/futex_coordination.hpp"
#include "tests/unit/child_process.hpp"
#include "tests/unit/common/handoff/handoff_fixture.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

using namespace testing;

/// The size of the memory with the step from which the run continues.
constexpr std::size_t kKeptBytes = kept_scalars_offset(kRows * sizeof(double)) + sizeof(KeptScalars);

class HostileAnalyzerTest : public HandoffFixture {
 protected:
  /// Answers a request to resume with `answer`. Returns the line with which the producer ends. `code`: its exit code.
  std::string verdict(const std::function<void(Peer&)>& answer, ExitCode* code = nullptr) {
    Listener listener(socket_path_);
    std::thread analyzer([&] {
      std::optional<Peer> peer = listener.accept(10'000);
      ASSERT_TRUE(peer.has_value());
      std::array<std::byte, kMostRequestBytes> request;
      peer->receive(request, 10'000);
      answer(*peer);
      peer->receive(request, 10'000);  // waits until the producer closes the connection
    });
    std::string line = "accepted";
    options_.pool_use = PoolUse::kResume;
    try {
      HandoffWriter writer(options_, description(), x_only(), residuals());
    } catch (const Error& error) {
      line = error.what();
      if (code != nullptr) *code = error.code();
    }
    analyzer.join();
    return line;
  }

  static AttachReply continues() {
    AttachReply reply;
    reply.resumed = 1;
    reply.kept.iteration = 5;
    return reply;
  }
  static void send(Peer& peer, const AttachReply& reply, std::span<const int> fds = {}) {
    peer.send(std::as_bytes(std::span(&reply, 1)), fds);
  }
};

TEST_F(HostileAnalyzerTest, AWellFormedAnswerIsAccepted) {
  const SharedMapping x = SharedMapping::create("test", kKeptBytes, PeerAccess::kReadOnly);
  const int fd = x.fd();
  EXPECT_EQ(verdict([&](Peer& peer) { send(peer, continues(), std::span(&fd, 1)); }), "accepted");
}

TEST_F(HostileAnalyzerTest, AnAnswerOfAnotherKindIsRefused) {
  const auto refused = [&](const std::function<void(AttachReply&)>& change) {
    AttachReply reply;
    change(reply);
    const std::string line = verdict([&](Peer& peer) { send(peer, reply); });
    EXPECT_NE(line.find("does not answer the request"), std::string::npos) << line;
  };
  refused([](AttachReply& reply) { reply.header.magic ^= 1; });
  refused([](AttachReply& reply) { reply.header.version = 1; });
  refused([](AttachReply& reply) { reply.header.kind = MessageKind::kFarewell; });
}

TEST_F(HostileAnalyzerTest, OneThatHangsUpOnEveryRequestIsGivenUpAfterThePeersTimeOut) {
  Listener listener(socket_path_);
  std::jthread analyzer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) listener.accept(1);  // the peer is dropped at once
  });
  options_.peer_timeout_s = 0.1;
  expect_refused([&] { HandoffWriter(options_, description(), x_only(), residuals()); },
                 "closed each connection without an answer, for 0.1 s", ExitCode::kPeerLost);
}

TEST_F(HostileAnalyzerTest, AResumeWithoutAnIterateIsRefused) {
  const std::string line = verdict([&](Peer& peer) { send(peer, continues()); });
  EXPECT_NE(line.find("0 iterates"), std::string::npos) << line;
}

TEST_F(HostileAnalyzerTest, AnIterateOfAnotherSizeOrThatCanChangeIsRefused) {
  const SharedMapping small = SharedMapping::create("test", 8, PeerAccess::kReadOnly);
  const int small_fd = small.fd();
  EXPECT_NE(verdict([&](Peer& peer) { send(peer, continues(), std::span(&small_fd, 1)); }).find("8 bytes"),
            std::string::npos);

  const UniqueFd unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), kKeptBytes), 0);
  const int unsealed_fd = unsealed.get();
  EXPECT_NE(verdict([&](Peer& peer) { send(peer, continues(), std::span(&unsealed_fd, 1)); }).find("seals"),
            std::string::npos);
}

TEST_F(HostileAnalyzerTest, ALineWithoutAnEndEndsWithItsField) {
  AttachReply reply;
  reply.exit_code = static_cast<std::uint32_t>(ExitCode::kUsage);
  std::memset(reply.message, 'x', sizeof reply.message);
  EXPECT_EQ(verdict([&](Peer& peer) { send(peer, reply); }), std::string(sizeof reply.message, 'x'));
}

TEST_F(HostileAnalyzerTest, AnUndocumentedExitCodeCountsAsALostPeer) {
  for (const std::uint32_t number : {1u, 6u, 77u, 127u, 255u, 256u, 0x80000000u}) {
    AttachReply reply;
    reply.exit_code = number;
    ExitCode code = ExitCode::kDone;
    EXPECT_NE(verdict([&](Peer& peer) { send(peer, reply); }, &code), "accepted");
    EXPECT_EQ(code, ExitCode::kPeerLost) << number;
  }
}

TEST_F(HostileAnalyzerTest, AFarewellWithAnUndocumentedExitCodeCountsAsALostPeer) {
  Attached ends = attach(options_);
  ends.reader->farewell(static_cast<ExitCode>(77), "no exit code of ours");
  const Error error = ends.writer->failure(ClaimStatus::kAnalyzerFailed);
  EXPECT_EQ(error.code(), ExitCode::kPeerLost);
  EXPECT_STREQ(error.what(), "no exit code of ours");
}

TEST_F(HostileAnalyzerTest, ACounterThatGoesUpAndDownIsNoProgress) {
  std::atomic<std::uint64_t> own{0};
  std::atomic<std::uint64_t> other{1};
  std::atomic<bool> done{false};
  std::thread analyzer([&] {
    for (std::uint64_t i = 0; !done.load(); ++i) {
      other.store(1 + i % 2);
      std::this_thread::yield();
    }
  });
  FutexCoordination coordination(own, other);
  const WaitLimits limits{.timeout_ns = 1'000'000};
  EXPECT_EQ(coordination.wait_until(5, Peer(), limits), WaitResult::kTimedOut);
  done.store(true);
  analyzer.join();
}

TEST_F(HostileAnalyzerTest, AnAnalyzerOfAnotherUserIsNotTalkedTo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const testing::TemporaryFolder open_to_all;
  ASSERT_EQ(chmod(open_to_all.path().c_str(), 0777), 0);
  const std::string socket = open_to_all.file("s");
  const ChildProcess stranger([&] {
    if (setuid(65534) != 0) return false;
    static const Listener listener(socket);
    return chmod(socket.c_str(), 0777) == 0;
  });
  ASSERT_TRUE(stranger.worked()) << "it does not listen";
  options_.socket = socket;
  expect_refused([&] { HandoffWriter(options_, description(), x_only(), residuals()); }, "belongs to user 65534",
                 ExitCode::kSystem);
}

}  // namespace
}  // namespace ringside
