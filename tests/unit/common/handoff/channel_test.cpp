// SPDX-License-Identifier: BSD-3-Clause
// The rules for all channels: which processes may listen and connect, and how large a message may be. No call may wait
// for a peer that does not exist.
#include "common/messages/channel.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/child_process.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

class ChannelTest : public ::testing::Test {
 protected:
  Channel router(ChannelContext& context, const ChannelOptions& options = {}) {
    Channel channel(context, ChannelKind::kRouter, options);
    channel.bind(endpoint_);
    return channel;
  }
  Channel dealer(ChannelContext& context, const ChannelOptions& options = {}) {
    Channel channel(context, ChannelKind::kDealer, options);
    channel.connect(endpoint_);
    return channel;
  }

  static std::vector<std::string> next(Channel& channel) {
    std::vector<std::string> frames;
    while (!channel.receive(frames)) channel.wait(1000);
    return frames;
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("channel");
  std::string endpoint_ = ipc_endpoint(path_);
  ChannelContext context_;
};

TEST_F(ChannelTest, AMessageArrivesWithItsSendersNameAndItsAnswerGoesBack) {
  Channel server = router(context_);
  Channel client = dealer(context_, {.name = "me"});
  ASSERT_TRUE(client.send("question"));
  EXPECT_EQ(next(server), (std::vector<std::string>{"me", "question"}));
  const std::array<std::string_view, 2> answer = {"me", "answer"};
  ASSERT_TRUE(server.send(answer));
  EXPECT_EQ(next(client), (std::vector<std::string>{"answer"}));
}

TEST_F(ChannelTest, TheSocketIsItsOwnersAloneWhateverTheUmask) {
  for (const mode_t mask : {0000u, 0022u, 0777u}) {
    const mode_t before = umask(mask);
    ChannelContext context;
    Channel server = router(context);
    EXPECT_EQ(umask(before), mask) << "it is left as it was";
    EXPECT_EQ(testing::mode_of(path_), 0600u) << "umask " << mask;
  }
}

TEST_F(ChannelTest, AnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  int open_to_all[2];
  int ready[2];
  ASSERT_EQ(pipe(open_to_all), 0);
  ASSERT_EQ(pipe(ready), 0);
  // Forks while this process has only one thread. The child uses threads and the heap: if another thread held one of
  // their locks during the fork, this lock would never be released in the child.
  const pid_t stranger = fork();
  ASSERT_NE(stranger, -1);
  if (stranger == 0) {
    char byte = 0;
    close(open_to_all[1]);  // so that this child ends if the test fails
    if (read(open_to_all[0], &byte, 1) != 1 || setuid(65534) != 0) _exit(1);
    ChannelContext theirs;
    Channel client(theirs, ChannelKind::kDealer, {.name = "stranger"});
    client.connect(endpoint_);
    client.send("let me in");
    // The child's own server receives the messages, which shows that they were sent. If a message does not arrive at
    // the other server, it was refused, and is not only late.
    Channel own(theirs, ChannelKind::kRouter);
    own.bind(ipc_endpoint(path_ + ".own"));
    Channel to_own(theirs, ChannelKind::kDealer);
    to_own.connect(ipc_endpoint(path_ + ".own"));
    to_own.send("hello");
    next(own);
    if (write(ready[1], "", 1) != 1) _exit(1);
    pause();
  }
  close(ready[1]);  // so that the test does not hang if the stranger has failed
  ChannelContext context;
  Channel server = router(context);
  ASSERT_EQ(chmod(path_.c_str(), 0777), 0);  // first removes the protection of the socket by its mode
  ASSERT_EQ(write(open_to_all[1], "", 1), 1);
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1) << "the stranger could not send";
  Channel client = dealer(context_, {.name = "me"});
  client.send("question");
  EXPECT_EQ(next(server), (std::vector<std::string>{"me", "question"}));
  std::vector<std::string> frames;
  EXPECT_FALSE(server.receive(frames)) << "from " << frames.at(0);
  const std::array<std::string_view, 2> answer = {"stranger", "come in"};
  EXPECT_FALSE(server.send(answer)) << "it is not known";
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
  for (const int end : {open_to_all[0], open_to_all[1], ready[0]}) close(end);
}

TEST_F(ChannelTest, AMessageOverTheLimitEndsItsConnection) {
  Channel server = router(context_, {.max_message_bytes = 1000});
  Channel client = dealer(context_, {.name = "me"});
  client.send(std::string(1000, 'a'));
  EXPECT_EQ(next(server).at(1).size(), 1000u);
  client.send(std::string(1001, 'b'));
  // The client connects again, and its later messages arrive; the large message never does.
  std::vector<std::string> frames;
  while (!server.receive(frames)) {
    client.send("small");
    server.wait(10);
  }
  EXPECT_EQ(frames.at(1), "small");
}

TEST_F(ChannelTest, AMessageOfTooManyFramesIsDropped) {
  Channel server = router(context_);
  Channel client = dealer(context_);
  const std::vector<std::string_view> many(1000, "frame");
  ASSERT_TRUE(client.send(many));
  ASSERT_TRUE(client.send("the next one"));
  EXPECT_EQ(next(server).at(1), "the next one");
}

TEST_F(ChannelTest, AMessageToAnUnknownPeerIsNotSent) {
  Channel server = router(context_);
  const std::array<std::string_view, 2> frames = {"nobody", "hello"};
  EXPECT_FALSE(server.send(frames));
}

TEST_F(ChannelTest, ADealerHoldsNoMoreThanItMayAndDoesNotWait) {
  Channel client = dealer(context_, {.high_water_mark = 10});  // no process listens there
  int sent = 0;
  while (client.send("hello")) ++sent;
  EXPECT_EQ(sent, 10);
}

TEST_F(ChannelTest, APublisherDoesNotWaitForASubscriberThatDoesNotRead) {
  Channel publisher(context_, ChannelKind::kPublisher, {.high_water_mark = 10});
  publisher.bind(endpoint_);
  Channel subscriber(context_, ChannelKind::kSubscriber, {.high_water_mark = 10});
  subscriber.connect(endpoint_);
  while (!subscriber.wait(1)) publisher.send("until it has subscribed");
  const std::string text(1000, 'x');
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(publisher.send(text));
}

TEST_F(ChannelTest, TheSocketOfADeadProcessIsReplacedAndAUsersFileIsNot) {
  testing::status_of_child([&] {
    ChannelContext context;
    Channel server = router(context);
    return raise(SIGKILL);
  });
  ASSERT_TRUE(std::filesystem::is_socket(path_));
  { EXPECT_NO_THROW(router(context_)); }

  const std::string file = folder_.write("letter", "Dear reader,");
  Channel server(context_, ChannelKind::kRouter);
  EXPECT_THROW(server.bind(ipc_endpoint(file)), Error);
  EXPECT_EQ(std::filesystem::file_size(file), 12u);
}

TEST_F(ChannelTest, APathThatIsTooLongIsNamedWithWhatIsPossible) {
  EXPECT_NO_THROW(ipc_endpoint(std::string(107, 's')));
  expect_refused([] { ipc_endpoint(std::string(108, 's')); }, "108 characters, expected at most 107",
                 ExitCode::kSystem);
}

TEST_F(ChannelTest, AMissingFolderIsRefusedAtOnce) {
  Channel server(context_, ChannelKind::kRouter);
  EXPECT_THROW(server.bind(ipc_endpoint(folder_.file("missing/channel"))), Error);
}

}  // namespace
}  // namespace ringside
