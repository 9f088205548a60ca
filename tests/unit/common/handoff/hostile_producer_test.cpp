// SPDX-License-Identifier: BSD-3-Clause
// The requests and steps that the analyzer's side of the hand-off refuses: the analyzer checks everything that a
// producer sends or writes before it relies on it.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/common/handoff/handoff_fixture.hpp"

namespace ringside {
namespace {

using namespace testing;

class HostileProducerTest : public HandoffFixture {
 protected:
  /// Sends `request` with `fds`. Returns the line with which the analyzer refuses the request.
  std::string verdict(std::span<const std::byte> request, std::span<const int> fds) {
    Listener listener(socket_path_);
    std::thread sender([&] {
      Peer peer = Peer::connect(socket_path_, 10);
      peer.send(request, fds);
      peer.receive(received_, 10'000);  // waits until the analyzer hangs up
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

  const Memory memory_ = valid_memory();

 private:
  std::array<std::byte, 64> received_{};
};

TEST_F(HostileProducerTest, AWellFormedRequestIsAccepted) {
  EXPECT_EQ(verdict(valid_request().encode(), memory_.fds()), "accepted");
}

TEST_F(HostileProducerTest, ARequestThatCannotBeDecodedAndBuffersOutOfRangeAreRefused) {
  AttachRequest request = valid_request();
  request.head.buffers = 1000;
  EXPECT_NE(verdict(request.encode(), memory_.fds()).find("1000 buffers"), std::string::npos);
  // AttachRequestTest tests all other faults of a request.
  request = valid_request();
  request.head.header.version = 99;
  EXPECT_NE(verdict(request.encode(), memory_.fds()).find("version 99"), std::string::npos);
  EXPECT_NE(verdict(valid_request().encode(), {}).find("0 file descriptors"), std::string::npos);
}

TEST_F(HostileProducerTest, MemoryOfAnotherSizeIsRefused) {
  const SharedMapping small = SharedMapping::create("test", 4096, PeerAccess::kReadOnly);
  const std::array<int, 2> fds = {small.fd(), memory_.control.fd()};
  EXPECT_NE(verdict(valid_request().encode(), fds).find("4096 bytes"), std::string::npos);
}

TEST_F(HostileProducerTest, UnsealedMemoryIsRefused) {
  const UniqueFd unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), static_cast<off_t>(memory_.payload.bytes())), 0);
  const std::array<int, 2> fds = {unsealed.get(), memory_.control.fd()};
  EXPECT_NE(verdict(valid_request().encode(), fds).find("seals"), std::string::npos);
}

TEST_F(HostileProducerTest, ARanksFileThatMayChangeOrIsOfNoSizeIsRefused) {
  const auto with = [&](int ranks) {
    const std::array<int, 3> fds = {memory_.payload.fd(), memory_.control.fd(), ranks};
    return verdict(valid_request().encode(), fds);
  };
  const SharedMapping sealed = SharedMapping::create("test", 8, PeerAccess::kReadOnly);
  EXPECT_EQ(with(sealed.fd()), "accepted") << "what it says is checked before it is written";
  const UniqueFd unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(with(unsealed.get()), "the peer passed a ranks file of 0 bytes, expected 1 to 268435456");
  ASSERT_EQ(ftruncate(unsealed.get(), 8), 0);
  EXPECT_NE(with(unsealed.get()).find("seals"), std::string::npos);
  ASSERT_EQ(ftruncate(unsealed.get(), off_t{1} << 40), 0);  // a sparse file
  EXPECT_EQ(with(unsealed.get()), "the peer passed a ranks file of 1099511627776 bytes, expected 1 to 268435456");
}

TEST_F(HostileProducerTest, ControlMemoryThatContradictsTheRequestIsRefused) {
  reinterpret_cast<HandoffControl*>(memory_.control.data())->payload_bytes = 8 * (kRows + 1);
  EXPECT_NE(verdict(valid_request().encode(), memory_.fds()).find("does not match"), std::string::npos);
}

TEST_F(HostileProducerTest, CountersThatCannotBeAreRefused) {
  auto* control = reinterpret_cast<HandoffControl*>(memory_.control.data());
  for (const auto& [released, published] : {std::pair(3ull, 2ull), std::pair(1ull, 4ull), std::pair(~0ull, 0ull)}) {
    control->released = released;
    control->published = published;
    EXPECT_NE(verdict(valid_request().encode(), memory_.fds()).find("published steps are committed"),
              std::string::npos);
  }
}

TEST_F(HostileProducerTest, AProducerOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  Listener listener(socket_path_);
  ASSERT_EQ(chmod(socket_path_.c_str(), 0777), 0);  // first removes the protection of the socket by its mode
  const pid_t stranger = fork();
  if (stranger == 0) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path_.copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (setuid(65534) != 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) _exit(1);
    char byte = 0;
    _exit(recv(fd, &byte, 1, 0) == 0 ? 0 : 2);  // waits until the analyzer hangs up
  }
  EXPECT_FALSE(listener.accept(10'000).has_value());
  int status = 0;
  waitpid(stranger, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(HostileProducerTest, AStepThatBreaksTheProtocolIsAViolation) {
  // In each case, the producer writes two steps, and the second one is wrong in one respect.
  const std::vector<std::function<void(StepDescriptor&, HandoffControl&)>> lies = {
      [](StepDescriptor& d, HandoffControl&) { d.step = 7; },
      [](StepDescriptor& d, HandoffControl&) { d.iteration = 1; },
      [](StepDescriptor& d, HandoffControl&) { d.published_at_ns = std::numeric_limits<std::int64_t>::max(); },
      [](StepDescriptor& d, HandoffControl&) { d.published_at_ns = -1; },
      [](StepDescriptor& d, HandoffControl&) { d.generate_ns = -5; },
      [](StepDescriptor&, HandoffControl& c) { c.published = 1'000'000; },
  };
  for (std::size_t lie = 0; lie < lies.size(); ++lie) {
    Listener listener(socket_path_);
    const Memory memory = valid_memory();
    const AttachRequest request = valid_request();
    Peer peer;
    std::thread attach([&] {
      peer = Peer::connect(socket_path_, 10);
      peer.send(request.encode(), memory.fds());
    });
    HandoffReader reader = accept_reader(listener);
    attach.join();
    reader.accept();
    auto* control = reinterpret_cast<HandoffControl*>(memory.control.data());
    auto* descriptors = reinterpret_cast<StepDescriptor*>(memory.payload.data());
    descriptors[0] = {.step = 0, .iteration = 1, .published_at_ns = 10};
    descriptors[1] = {.step = 1, .iteration = 2, .published_at_ns = 20};
    control->published = 2;
    lies[lie](descriptors[1], *control);
    PublishedStep step;
    NextStatus status = reader.next(step, kMaySpin, nullptr);
    if (status == NextStatus::kStep) {
      reader.release();
      status = reader.next(step, kMaySpin, nullptr);
    }
    EXPECT_EQ(status, NextStatus::kViolation) << "lie " << lie;
  }
}

TEST_F(HostileProducerTest, APipeInsteadOfMemoryIsRefused) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::array<int, 2> fds = {ends[0], ends[1]};
  EXPECT_NE(verdict(valid_request().encode(), fds).find("not shared memory"), std::string::npos);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace ringside
