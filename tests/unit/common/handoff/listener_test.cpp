// SPDX-License-Identifier: BSD-3-Clause
// The sockets that an analyzer makes beside its own socket. If an analyzer was killed, the next one removes the sockets
// that are left.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "common/handoff/peer.hpp"
#include "common/platform/unique_fd.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

void leave_a_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

TEST(ListenerTest, ACleanEndRemovesTheSocketsThatAKilledAnalyzerLeft) {
  const testing::TemporaryFolder folder;
  const std::string socket = folder.file("s");
  for (const char* suffix : {"", ".control", ".telemetry", ".steps"}) leave_a_socket(socket + suffix);
  { const Listener listener(socket); }
  for (const char* suffix : {"", ".control", ".telemetry", ".steps"}) {
    EXPECT_FALSE(fs::exists(fs::symlink_status(socket + suffix))) << suffix;
  }
}

TEST(ListenerTest, AFileThatIsNoSocketStays) {
  const testing::TemporaryFolder folder;
  folder.write("s.steps", "Dear reader,");
  { const Listener listener(folder.file("s")); }
  EXPECT_TRUE(fs::exists(folder.file("s.steps")));
}

TEST(ListenerTest, AListenerThatIsRefusedLeavesTheSocketsOfTheOneThatServes) {
  const testing::TemporaryFolder folder;
  const std::string socket = folder.file("s");
  const Listener listener(socket);
  leave_a_socket(socket + ".control");
  EXPECT_NE(failure_line([&] { const Listener second(socket); }, ExitCode::kSystem), "");
  EXPECT_TRUE(fs::exists(socket));
  EXPECT_TRUE(fs::exists(socket + ".control"));
}

}  // namespace
}  // namespace ringside
