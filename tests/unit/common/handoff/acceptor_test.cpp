// SPDX-License-Identifier: BSD-3-Clause
// Peers that connect to the analyzer's socket and send nothing, too little or too much. No other peer may have to wait
// for such a peer.
#include "common/handoff/acceptor.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/unit/as_nobody.hpp"
#include "tests/unit/common/handoff/handoff_fixture.hpp"
#include "tests/unit/lowered_limit.hpp"

namespace ringside {
namespace {

using namespace testing;
using std::chrono::hours;
using std::chrono::milliseconds;

class AcceptorTest : public HandoffFixture {
 protected:
  /// Makes a connection that sends nothing. Waits for room in the kernel's queue.
  UniqueFd connect_silently() const {
    UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::copy(socket_path_.begin(), socket_path_.end(), to.sun_path);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0) << errno_text(errno);
    return fd;
  }

  /// Makes a connection and sends some bytes, valid or not.
  UniqueFd connect_and_send(const std::string& text) const {
    UniqueFd fd = connect_silently();
    EXPECT_EQ(send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    return fd;
  }

  static std::string message_of(Peer& peer) {
    std::array<std::byte, 64> buffer;
    const auto received = peer.receive(buffer, 0);
    return received ? std::string(reinterpret_cast<const char*>(buffer.data()), received->bytes) : "nothing";
  }

  /// Expects that the next accepted peer has sent `text`.
  static void expect_next(Acceptor& acceptor, const std::string& text) {
    std::optional<Peer> peer = acceptor.next(10'000);
    ASSERT_TRUE(peer.has_value());
    EXPECT_EQ(message_of(*peer), text);
  }

  /// Waits until the other side has closed the connection. Skips its answers.
  static void expect_hung_up(const UniqueFd& fd) {
    for (char byte; recv(fd.get(), &byte, 1, 0) > 0;) {
    }
  }

  static bool is_open(const UniqueFd& fd) {
    char byte;
    return recv(fd.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }
};

TEST_F(AcceptorTest, AProducerAttachesWhile200HalfOpenConnectionsAreHeld) {
  Listener listener(socket_path_);
  std::atomic<bool> attached{false};
  std::thread analyzer([&] {
    Acceptor acceptor(listener, {.first_message = hours(1)});  // the test would hang if a silent peer were waited for
    for (;;) {
      std::optional<Peer> peer = acceptor.next(10'000);
      if (!peer) continue;
      HandoffReader reader(std::move(*peer), socket_path_, 0);
      reader.accept();
      while (!attached.load()) std::this_thread::yield();
      return;
    }
  });
  std::vector<UniqueFd> half_open;
  for (int i = 0; i < 200; ++i) half_open.push_back(connect_silently());
  {
    const HandoffWriter writer(options_, description(), x_only(), residuals());
    attached.store(true);
  }
  analyzer.join();
}

TEST_F(AcceptorTest, PeersThatSpeakComeInTheirOrderPastThoseThatDoNot) {
  Listener listener(socket_path_);
  Acceptor acceptor(listener, {.first_message = hours(1)});
  const UniqueFd silent = connect_silently();
  const UniqueFd first = connect_and_send("first");
  const UniqueFd also_silent = connect_silently();
  const UniqueFd second = connect_and_send("second");
  for (const char* text : {"first", "second"}) expect_next(acceptor, text);
  EXPECT_TRUE(is_open(silent) && is_open(also_silent));
  ASSERT_EQ(send(silent.get(), "late", 4, MSG_NOSIGNAL), 4);
  expect_next(acceptor, "late");
  EXPECT_EQ(acceptor.take_turned_away(), 0u);
}

TEST_F(AcceptorTest, TheConnectionOfASilentPeerIsClosed) {
  Listener listener(socket_path_);
  Acceptor acceptor(listener, {.first_message = milliseconds(20)});
  const UniqueFd silent = connect_silently();
  std::uint64_t turned_away = 0;
  while (turned_away == 0) {
    EXPECT_FALSE(acceptor.next(10).has_value());
    turned_away = acceptor.take_turned_away();
  }
  EXPECT_EQ(turned_away, 1u);
  expect_hung_up(silent);
}

TEST_F(AcceptorTest, TheOneThatWaitsLongestMakesRoomForOneMore) {
  Listener listener(socket_path_);
  Acceptor acceptor(listener, {.waiting = 3, .first_message = hours(1)});
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 5; ++i) silent.push_back(connect_silently());
  const UniqueFd friendly = connect_and_send("hello");
  expect_next(acceptor, "hello");
  for (int i = 0; i < 3; ++i) expect_hung_up(silent[static_cast<std::size_t>(i)]);
  EXPECT_TRUE(is_open(silent[3]) && is_open(silent[4]));
  EXPECT_EQ(acceptor.take_turned_away(), 3u);
}

TEST_F(AcceptorTest, APeerThatHungUpOrSentAnEmptyMessageIsPassedOver) {
  Listener listener(socket_path_);
  Acceptor acceptor(listener, {.first_message = hours(1)});
  for (int i = 0; i < 20; ++i) connect_silently();
  const UniqueFd empty = connect_silently();
  ASSERT_EQ(send(empty.get(), "", 0, MSG_NOSIGNAL), 0);
  const UniqueFd friendly = connect_and_send("hello");
  expect_next(acceptor, "hello");
  expect_hung_up(empty);
}

TEST_F(AcceptorTest, AMessageThatIsTooLongIsTheReadersToRefuse) {
  Listener listener(socket_path_);
  Acceptor acceptor(listener);
  const UniqueFd flooding = connect_and_send(std::string(100'000, 'x'));
  std::optional<Peer> peer = acceptor.next(10'000);
  ASSERT_TRUE(peer.has_value());
  EXPECT_THROW(HandoffReader(std::move(*peer), socket_path_, 0), Error);
  expect_hung_up(flooding);
}

TEST_F(AcceptorTest, AnotherUserIsRefusedAtOnce) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const TemporaryFolder open_to_all;
  ASSERT_EQ(chmod(open_to_all.path().c_str(), 0777), 0);
  socket_path_ = open_to_all.file("s");
  Listener listener(socket_path_);
  ASSERT_EQ(chmod(socket_path_.c_str(), 0777), 0);
  Acceptor acceptor(listener, {.first_message = hours(1)});
  UniqueFd stranger;
  {
    const AsNobody nobody;
    stranger = connect_and_send("hello");
  }
  EXPECT_FALSE(acceptor.next(10).has_value());
  expect_hung_up(stranger);
  EXPECT_EQ(acceptor.take_turned_away(), 1u);
}

TEST_F(AcceptorTest, IfDescriptorsRunOutASilentPeersConnectionIsClosed) {
  Listener listener(socket_path_);
  Acceptor acceptor(listener, {.first_message = hours(1)});
  const UniqueFd silent = connect_silently();
  EXPECT_FALSE(acceptor.next(10).has_value());
  const UniqueFd friendly = connect_and_send("hello");
  // Uses all descriptors below the limit, so that none is left.
  const LoweredLimit few(RLIMIT_NOFILE, 128);
  std::vector<UniqueFd> taken;
  for (UniqueFd fd(dup(0)); fd.valid(); fd.reset(dup(0))) taken.push_back(std::move(fd));
  std::optional<Peer> peer = acceptor.next(10'000);
  EXPECT_EQ(peer ? message_of(*peer) : "nobody came", "hello");
  peer.reset();
  const UniqueFd last(dup(0));  // takes the descriptor that the served peer has freed
  EXPECT_FALSE(acceptor.next(10).has_value());
  taken.clear();
  expect_hung_up(silent);
}

}  // namespace
}  // namespace ringside
