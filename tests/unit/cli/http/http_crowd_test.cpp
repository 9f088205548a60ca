// SPDX-License-Identifier: BSD-3-Clause
// Many connections to the HTTP server that send nothing, send only a part of a request, or do not read the answer.
// During this, normal clients must be answered. No time limit expires in these tests.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/http/http_server.hpp"
#include "cli/http/run_site.hpp"
#include "common/platform/unique_fd.hpp"
#include "tests/unit/free_ports.hpp"
#include "tests/watch/made_run.hpp"

namespace ringside {
namespace {

constexpr std::chrono::hours kLong(1);
constexpr ConnectionLimits kNoTimeOut{.first_byte_time = kLong, .request_time = kLong, .response_time = kLong};
constexpr const char* kRequest = "GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n";

class HttpCrowdTest : public ::testing::Test {
 protected:
  void start(const ConnectionLimits& limits = kNoTimeOut) {
    server_.emplace(std::make_shared<RunSite>(watched_), ListenAddress{"127.0.0.1", 0}, std::nullopt, limits);
    server_->start();
  }

  UniqueFd connect() const { return testing::connected(server_->port()); }

  UniqueFd connect_and_send(const std::string& bytes) const {
    UniqueFd fd = connect();
    EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    return fd;
  }

  /// The answer's first line; empty if the connection ends before one arrives.
  static std::string first_line(const UniqueFd& fd) {
    std::string line;
    for (char c = 0; recv(fd.get(), &c, 1, 0) == 1 && c != '\r';) line += c;
    return line;
  }

  void expect_answered() const { EXPECT_EQ(first_line(connect_and_send(kRequest)), "HTTP/1.1 200 OK"); }

  static bool is_open(const UniqueFd& fd) {
    char byte;
    return recv(fd.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
  }

  WatchedRun watched_;
  std::optional<HttpServer> server_;
};

TEST_F(HttpCrowdTest, ARequestIsAnsweredWhile64AreHalfSent) {
  start();
  std::vector<UniqueFd> slow;
  for (int i = 0; i < 64; ++i) slow.push_back(connect_and_send("GET / HTTP/1.1\r\nHost: loc"));
  expect_answered();
  for (const UniqueFd& fd : slow) {
    ASSERT_TRUE(is_open(fd)) << "there was room for all of them";
    ASSERT_EQ(send(fd.get(), "alhost\r\n\r\n", 10, MSG_NOSIGNAL), 10);
    EXPECT_EQ(first_line(fd), "HTTP/1.1 200 OK");
  }
}

TEST_F(HttpCrowdTest, ARequestIsAnsweredWhileManySendNothingHalfARequestOrTakeNoAnswer) {
  for (const auto& [count, sent] : {std::pair{500, ""}, std::pair{500, "GET / HTTP/1.1\r\nHost: loc"},
                                    std::pair{300, "GET /chart.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n"}}) {
    SCOPED_TRACE(sent);
    start();
    std::vector<UniqueFd> others;
    for (int i = 0; i < count; ++i) others.push_back(connect_and_send(sent));
    expect_answered();
  }
}

TEST_F(HttpCrowdTest, ConnectionsWithoutBytesAreClosedBeforeHalfSentRequests) {
  ConnectionLimits limits = kNoTimeOut;
  limits.connections = 3;
  limits.grace = std::chrono::milliseconds(0);
  start(limits);
  const UniqueFd slow = connect_and_send("GET / HTTP/1.1\r\nHost: loc");
  expect_answered();  // requests are read in the order of the connections, so the slow client's bytes were read
  const UniqueFd idle = connect();
  const UniqueFd also_idle = connect();
  const UniqueFd one_more = connect();
  EXPECT_EQ(first_line(idle), "") << "the first to be closed";
  ASSERT_EQ(send(slow.get(), "alhost\r\n\r\n", 10, MSG_NOSIGNAL), 10);
  EXPECT_EQ(first_line(slow), "HTTP/1.1 200 OK");
  EXPECT_TRUE(is_open(also_idle) && is_open(one_more));
}

TEST_F(HttpCrowdTest, AClientThatHasJustConnectedIsNotClosedBeforeOlderHalfSentRequests) {
  ConnectionLimits limits = kNoTimeOut;
  limits.connections = 3;
  limits.grace = kLong;
  start(limits);
  std::vector<UniqueFd> slow;
  for (int i = 0; i < 3; ++i) {
    slow.push_back(connect_and_send("GET / HTTP/1.1\r\nHost: loc"));
    if (i < 2) expect_answered();  // requests are read in the order of the connections, so the slow one's were read
  }
  const UniqueFd client = connect();
  EXPECT_EQ(first_line(slow[0]), "") << "the client has its place";
  const UniqueFd one_more = connect();
  pollfd closed[] = {{client.get(), POLLIN, 0}, {slow[1].get(), POLLIN, 0}};
  ASSERT_GT(poll(closed, 2, -1), 0);
  EXPECT_EQ(closed[0].revents, 0) << "the client gave up its place before it had the time to ask";
  ASSERT_EQ(send(client.get(), kRequest, std::strlen(kRequest), MSG_NOSIGNAL),
            static_cast<ssize_t>(std::strlen(kRequest)));
  EXPECT_EQ(first_line(client), "HTTP/1.1 200 OK");
}

TEST_F(HttpCrowdTest, AnswersThatNobodyTakesHoldNoMoreMemoryThanAllowed) {
  ConnectionLimits limits = kNoTimeOut;
  limits.answers_bytes = 1;
  start(limits);
  const std::string request = "GET /chart.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::vector<UniqueFd> deaf;
  for (int i = 0; i < 50; ++i) deaf.push_back(connect_and_send(request));
  // Each answer that a client reads must be complete.
  EXPECT_EQ(first_line(connect_and_send(request)), "HTTP/1.1 200 OK");
  expect_answered();
}

TEST_F(HttpCrowdTest, WithoutADescriptorAnIdleConnectionGivesUpItsOwn) {
  start();
  const UniqueFd idle = connect();
  expect_answered();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd asking(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const rlimit few{128, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<UniqueFd> taken;
  for (UniqueFd fd(dup(0)); fd.valid(); fd.reset(dup(0))) taken.push_back(std::move(fd));
  EXPECT_TRUE(testing::connect_to(asking.get(), server_->port()));
  const std::string request = kRequest;
  EXPECT_EQ(send(asking.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  EXPECT_EQ(first_line(asking), "HTTP/1.1 200 OK");
  taken.clear();
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace ringside
