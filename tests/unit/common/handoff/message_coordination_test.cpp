// SPDX-License-Identifier: BSD-3-Clause
// Which messages a side of the hand-off accepts: none from a stranger, none of another attachment, and none that the
// peer's shared counter does not confirm. In these tests, the other side is only a channel, which can send anything.
// Messages arrive in order: when the last message, a valid one, has taken effect, all earlier ones have been read.
#include "common/messages/message_coordination.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "proto/ringside.pb.h"
#include "tests/unit/common/handoff/handoff_fixture.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

using namespace testing;

constexpr Id128 kName{7, 8};
constexpr std::uint64_t kEpoch = 3;

std::string published(std::uint64_t count, std::uint64_t epoch = kEpoch) {
  wire::StepPublished message;
  message.set_epoch(epoch);
  message.set_published(count);
  return message.SerializeAsString();
}

std::string released(std::uint64_t count, std::uint64_t epoch = kEpoch) {
  wire::BufferReleased message;
  message.set_epoch(epoch);
  message.set_released(count);
  return message.SerializeAsString();
}

class MessageCoordinationTest : public ::testing::Test {
 protected:
  MessageAddress address() const { return {.socket = socket_, .name = kName, .epoch = kEpoch}; }

  MessageCoordination analyzer() { return {context_, Side::kAnalyzer, address(), released_, published_}; }
  MessageCoordination producer() { return {context_, Side::kProducer, address(), published_, released_}; }

  /// A channel to the analyzer. name: identifies the channel as a sender.
  Channel dealer(const Id128& name) {
    Channel channel(context_, ChannelKind::kDealer,
                    {.max_message_bytes = 1 << 20, .high_water_mark = 10'000, .name = to_string(name)});
    channel.connect(steps_endpoint(socket_));
    return channel;
  }

  /// Checks for messages until `count` is seen. Returns false if a larger count is seen first.
  static bool comes_to(Coordination& coordination, std::uint64_t count) {
    std::uint64_t seen = 0;
    while ((seen = coordination.seen()) < count) std::this_thread::yield();
    return seen == count;
  }

  TemporaryFolder folder_;
  std::string socket_ = folder_.file("s");
  std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint64_t> released_{0};
  ChannelContext context_;
};

TEST_F(MessageCoordinationTest, EachSideSeesWhatTheOtherAnnounced) {
  MessageCoordination a = analyzer();
  MessageCoordination p = producer();
  released_ = 1;
  p.announce();                   // a hello: nothing is published yet
  while (p.seen() < 1) a.seen();  // the analyzer answers when it checks for messages
  published_ = 2;
  p.announce();
  EXPECT_TRUE(comes_to(a, 2));
  released_ = 2;
  a.announce();
  EXPECT_TRUE(comes_to(p, 2));
}

/// An analyzer whose producer is a channel, on which the test may send anything. Five steps are published.
class AnalyzersMessagesTest : public MessageCoordinationTest {
 protected:
  AnalyzersMessagesTest() { published_ = 5; }

  MessageCoordination a_ = analyzer();
  Channel p_ = dealer(kName);
};

TEST_F(AnalyzersMessagesTest, WhatWasNotAnnouncedIsNotSeen) {
  p_.send(published(2));
  EXPECT_TRUE(comes_to(a_, 2)) << "a side that waits for messages waits for messages only";
}

TEST_F(AnalyzersMessagesTest, StaleMalformedAndUnconfirmedMessagesAreIgnored) {
  const std::string good = published(5);
  for (const std::string& bad :
       {published(5, kEpoch - 1), published(5, kEpoch + 1), std::string(), std::string("\xff\xff\xff", 3),
        std::string(200, '\x08'), good.substr(0, 3), published(6), published(~std::uint64_t{0})}) {
    p_.send(bad);
  }
  for (const std::size_t frames : {2u, 100u}) p_.send(std::vector<std::string_view>(frames, good));
  p_.send(published(1));
  EXPECT_TRUE(comes_to(a_, 1));
}

TEST_F(AnalyzersMessagesTest, ACountThatDoesNotGrowChangesNothing) {
  for (const std::uint64_t count : {2u, 1u, 2u, 3u}) p_.send(published(count));
  std::uint64_t last = 0;
  while (last < 3) {
    const std::uint64_t seen = a_.seen();
    EXPECT_GE(seen, last);
    last = seen;
  }
}

TEST_F(AnalyzersMessagesTest, MessagesOfAnUnknownSenderAreIgnoredAndNotAnswered) {
  Channel stranger = dealer({7, 9});
  Channel nameless(context_, ChannelKind::kDealer);
  nameless.connect(steps_endpoint(socket_));
  for (int i = 0; i < 100; ++i) {
    stranger.send(published(5));
    nameless.send(published(5));
  }
  p_.send(published(1));
  EXPECT_TRUE(comes_to(a_, 1));
  std::vector<std::string> frames;
  while (!p_.receive(frames)) std::this_thread::yield();
  EXPECT_FALSE(stranger.receive(frames));
  EXPECT_FALSE(nameless.receive(frames));
}

TEST_F(AnalyzersMessagesTest, AFloodDoesNotHideAValidMessage) {
  std::atomic<bool> done{false};
  std::thread flood([&] {
    Channel stranger = dealer({7, 9});
    while (!done) stranger.send(published(5));
  });
  p_.send(published(1));
  EXPECT_TRUE(comes_to(a_, 1));
  done = true;
  flood.join();
}

TEST_F(AnalyzersMessagesTest, AnOversizedMessageEndsItsSendersConnectionOnly) {
  Channel stranger = dealer({7, 9});
  p_.send(published(1));
  EXPECT_TRUE(comes_to(a_, 1));
  stranger.send(std::string(1 << 20, 'x'));
  p_.send(published(2));
  EXPECT_TRUE(comes_to(a_, 2));
}

TEST_F(MessageCoordinationTest, FalseCountsOfAnAnalyzerAreIgnored) {
  Channel a(context_, ChannelKind::kRouter);
  a.bind(steps_endpoint(socket_));
  MessageCoordination p = producer();
  p.announce();
  std::vector<std::string> hello;
  while (!a.receive(hello)) std::this_thread::yield();
  ASSERT_EQ(hello.at(0), to_string(kName));
  released_ = 1;
  for (const std::string& lie : {released(9), released(1, kEpoch + 1), std::string("\xff"), std::string()}) {
    const std::array<std::string_view, 2> frames = {hello[0], lie};
    ASSERT_TRUE(a.send(frames));
  }
  const std::string truth = released(1);
  const std::array<std::string_view, 2> frames = {hello[0], truth};
  ASSERT_TRUE(a.send(frames));
  EXPECT_TRUE(comes_to(p, 1));
}

TEST_F(MessageCoordinationTest, AWaitingSideSendsALostMessageAgain) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Peer ours{UniqueFd(ends[0])};
  const UniqueFd theirs(ends[1]);
  MessageCoordination p = producer();
  published_ = 1;
  p.announce();
  {
    ChannelContext context;  // when the context ends, the message is lost
    Channel deaf(context, ChannelKind::kRouter);
    deaf.bind(steps_endpoint(socket_));
    while (!deaf.wait(1000)) {
    }
  }
  MessageCoordination a = analyzer();
  std::thread analyzer_thread([&] {
    EXPECT_TRUE(comes_to(a, 1));
    released_ = 1;
    a.announce();
  });
  EXPECT_EQ(p.wait_until(1, ours, {.timeout_ns = kNever}), WaitResult::kReached);
  analyzer_thread.join();
}

class SocketNameTest : public HandoffFixture {
 protected:
  SocketNameTest() {
    options_.coordination = CoordinationKind::kMessages;
    // 103 characters: the name of the socket itself fits, but not with ".steps" appended.
    const std::string folder = folder_.path() + "/";
    options_.socket = socket_path_ = folder + std::string(103 - folder.size(), 's');
  }
};

TEST_F(SocketNameTest, ANameThatLeavesNoRoomForMessagesIsRefusedByTheProducer) {
  expect_refused([&] { HandoffWriter(options_, description(), x_only(), residuals()); },
                 "109 characters, expected at most 107", ExitCode::kSystem);
}

TEST_F(SocketNameTest, ANameThatLeavesNoRoomForMessagesIsRefusedByTheAnalyzer) {
  Listener listener(socket_path_);
  const Memory memory = valid_memory();
  AttachRequest request = valid_request();
  request.head.coordination = CoordinationKind::kMessages;
  Peer peer;
  std::thread producer([&] {
    peer = Peer::connect(socket_path_, 10);
    peer.send(request.encode(), memory.fds());
  });
  EXPECT_THROW(accept_reader(listener), Error);
  producer.join();
  AttachReply reply;
  const auto received = peer.receive(std::as_writable_bytes(std::span(&reply, 1)), 10'000);
  ASSERT_TRUE(received.has_value());
  ASSERT_EQ(received->bytes, sizeof reply);
  EXPECT_EQ(reply.exit_code, 3u);
  EXPECT_NE(text_of(reply.message).find("at most 107"), std::string_view::npos) << text_of(reply.message);
}

}  // namespace
}  // namespace ringside
