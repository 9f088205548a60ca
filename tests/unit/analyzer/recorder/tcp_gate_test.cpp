// SPDX-License-Identifier: BSD-3-Clause
// The gate in front of the telemetry sockets on tcp, with a socket of the test in place of ZeroMQ's: how the gate works
// without memory, and with a client that receives nothing. In some tests, operator new fails in the gate's thread.
#include "analyzer/recorder/tcp_gate.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "common/platform/unique_fd.hpp"

namespace {

thread_local bool is_tester = false;
std::atomic<bool> no_memory{false};  // for all threads except that of the test
std::atomic<int> failed{0};          // the number of failed allocations

void* allocate(std::size_t bytes) {
  if (!is_tester && no_memory.load()) {
    ++failed;
    failed.notify_all();
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

#include "tests/unit/free_ports.hpp"
#include "tests/unit/replaced_new.hpp"  // after the function that it calls

namespace ringside {
namespace {

using std::chrono::milliseconds;

constexpr int kFailsAfterMs = 60'000;  // reached only if the gate is wrong
constexpr milliseconds kLong = std::chrono::hours(1);
constexpr std::size_t kMost = 8;

class TcpGateTest : public ::testing::Test {
 protected:
  TcpGateTest() {
    is_tester = true;
    sockaddr_un inner{};
    inner.sun_family = AF_UNIX;
    std::copy(name_.begin(), name_.end(), inner.sun_path + 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
    EXPECT_EQ(bind(inner_.get(), reinterpret_cast<const sockaddr*>(&inner), length), 0) << errno;
    EXPECT_EQ(listen(inner_.get(), 64), 0);
    port_ = static_cast<std::uint16_t>(testing::free_ports());
  }

  TcpGate::Door door() const { return {"--telemetry-tcp", "127.0.0.1", std::to_string(port_), name_}; }

  UniqueFd connect() const { return testing::connected(port_); }

  /// The gate's connection for a client; invalid if the gate makes none.
  UniqueFd accept_inside() const {
    pollfd waiting{inner_.get(), POLLIN, 0};
    if (poll(&waiting, 1, kFailsAfterMs) <= 0) return {};
    return UniqueFd(accept4(inner_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  }

 private:
  std::string name_ = "ringside-tcp-gate-test-" + std::to_string(getpid());
  UniqueFd inner_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::uint16_t port_ = 0;
};

TEST_F(TcpGateTest, AfterMemoryRanOutWithoutConnectionsItAcceptsAgain) {
  const TcpGate gate({door()}, kMost);
  no_memory = true;
  const UniqueFd first = connect();
  (void)send(first.get(), "1", 1, MSG_NOSIGNAL);
  failed.wait(0);
  no_memory = false;
  const UniqueFd second = connect();
  ASSERT_EQ(send(second.get(), "2", 1, MSG_NOSIGNAL), 1);
  // The gate may have closed the first connection because memory was missing; the second one must be passed on.
  char got = 0;
  while (got != '2') {
    const UniqueFd inside = accept_inside();
    ASSERT_TRUE(inside.valid()) << "the gate accepts nothing any more";
    pollfd waiting{inside.get(), POLLIN, 0};
    ASSERT_GT(poll(&waiting, 1, kFailsAfterMs), 0);
    (void)recv(inside.get(), &got, 1, 0);
  }
}

/// Sends until the other side accepts no more bytes. Returns true if the other side has closed the connection.
bool send_until_hung_up(const UniqueFd& to, int patience_ms, std::size_t& bytes) {
  const std::string much(1 << 16, 'x');
  for (;;) {
    const ssize_t sent = send(to.get(), much.data(), much.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes += static_cast<std::size_t>(sent);
    if (sent >= 0) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return true;
    pollfd waiting{to.get(), POLLOUT, 0};
    if (poll(&waiting, 1, patience_ms) <= 0) return false;
  }
}

TEST_F(TcpGateTest, AClientThatTakesNothingIsHungUpOnWhenTheLimitIsOver) {
  const TcpGate gate({door()}, kMost, milliseconds(1));
  const UniqueFd paused = connect();
  const UniqueFd inside = accept_inside();
  ASSERT_TRUE(inside.valid());
  std::size_t bytes = 0;
  EXPECT_TRUE(send_until_hung_up(inside, kFailsAfterMs, bytes)) << "after " << bytes << " bytes";
}

TEST_F(TcpGateTest, AClientThatReadsLateWithinTheLimitGetsEveryByte) {
  const TcpGate gate({door()}, kMost, kLong);
  const UniqueFd late = connect();
  UniqueFd inside = accept_inside();
  ASSERT_TRUE(inside.valid());
  std::size_t sent = 0;
  ASSERT_FALSE(send_until_hung_up(inside, 200, sent));
  inside.reset();
  std::size_t got = 0;
  std::string buffer(1 << 16, '\0');
  for (ssize_t n = 0; (n = recv(late.get(), buffer.data(), buffer.size(), 0)) > 0;) got += static_cast<std::size_t>(n);
  EXPECT_EQ(got, sent);
}

}  // namespace
}  // namespace ringside
