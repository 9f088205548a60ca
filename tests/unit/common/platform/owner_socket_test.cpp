// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/owner_socket.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "common/platform/unique_fd.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

TEST(OwnerSocket, IsItsOwnersWhateverTheUmaskWhichStays) {
  const testing::TemporaryFolder folder;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder.file("socket");
  std::copy(path.begin(), path.end(), address.sun_path);
  const mode_t before = umask(0);
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(bind_for_owner(fd.get(), address), 0);
  EXPECT_EQ(umask(before), 0u);
  EXPECT_EQ(testing::mode_of(path), 0600u);
  const UniqueFd second(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(bind_for_owner(second.get(), address), EADDRINUSE);
}

}  // namespace
}  // namespace ringside
