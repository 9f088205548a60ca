// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/regular_file.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "common/platform/error.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

class RegularFileTest : public ::testing::Test {
 protected:
  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x");
};

TEST_F(RegularFileTest, APipeThatHasNoWriterAndALinkToItAreRefusedAtOnce) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_CREAT}) {
    const RegularFile file = open_regular(path_, flags, 0600);
    EXPECT_FALSE(file.valid());
    EXPECT_EQ(file.why(), "found a named pipe");
  }
  EXPECT_EQ(open_input(path_).why(), "found a named pipe");
  std::filesystem::create_symlink("x", folder_.file("link"));
  EXPECT_EQ(open_regular(folder_.file("link"), O_RDONLY).why(), "found a named pipe");
}

TEST_F(RegularFileTest, FoldersDevicesAndSocketsAreNamed) {
  EXPECT_EQ(open_regular(folder_.path(), O_RDONLY).why(), "found a folder");
  EXPECT_EQ(open_regular("/dev/null", O_RDWR).why(), "found a device");
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path_.size(), sizeof address.sun_path);
  std::copy(path_.begin(), path_.end(), address.sun_path);
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(open_regular(path_, O_RDONLY).why(), "found a socket");
}

TEST_F(RegularFileTest, ALinkIsFollowedUnlessTheFlagsForbidIt) {
  folder_.write("target", "text");
  std::filesystem::create_symlink("target", path_);
  EXPECT_TRUE(open_regular(path_, O_RDONLY).valid());
  EXPECT_EQ(open_regular(path_, O_RDONLY | O_NOFOLLOW).why(), "found a symbolic link");
  EXPECT_EQ(open_regular(path_, O_RDWR | O_CREAT | O_NOFOLLOW, 0600).why(), "found a symbolic link");
}

TEST_F(RegularFileTest, AMissingFileHasItsOwnError) {
  const RegularFile file = open_regular(path_, O_RDONLY);
  EXPECT_EQ(file.error, ENOENT);
  EXPECT_EQ(file.why(), "No such file or directory");
  EXPECT_TRUE(open_regular(path_, O_RDWR | O_CREAT, 0600).valid());
}

TEST_F(RegularFileTest, AnOpenedFileHasItsStatus) {
  folder_.write("x", "text");
  const RegularFile file = open_regular(path_, O_RDONLY);
  ASSERT_TRUE(file.valid());
  EXPECT_EQ(file.status.st_size, 4);
  EXPECT_EQ(fcntl(file.fd.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

/// Tests with a lease on `path`, which this process holds. `take_lease` returns false if the file system has no leases.
class RegularFileLeaseTest : public RegularFileTest {
 protected:
  void SetUp() override {
    folder_.write("x", "text");
    lease_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(lease_, 0);
  }
  void TearDown() override {
    signal(SIGIO, SIG_DFL);
    close(lease_);
  }
  /// Takes the lease. The kernel sends SIGIO to the holder when another process or descriptor opens the file.
  bool take_lease(void (*when_asked)(int)) {
    signal(SIGIO, when_asked);
    return fcntl(lease_, F_SETLEASE, F_RDLCK) == 0;
  }
  static void let_go(int) { fcntl(lease_, F_SETLEASE, F_UNLCK); }

  static inline int lease_ = -1;
};

TEST_F(RegularFileLeaseTest, AFileIsOpenedOnceItsLeaseIsGivenBack) {
  if (!take_lease(let_go)) GTEST_SKIP() << "no leases on this file system: " << errno_text(errno);
  EXPECT_TRUE(open_regular(path_, O_RDWR).valid());
}

TEST_F(RegularFileLeaseTest, ALeaseThatIsKeptIsNotWaitedForWithoutEnd) {
  if (!take_lease(SIG_IGN)) GTEST_SKIP() << "no leases on this file system: " << errno_text(errno);
  const RegularFile file = open_regular(path_, O_RDWR);
  EXPECT_FALSE(file.valid());
  EXPECT_EQ(file.error, EWOULDBLOCK);
}

TEST_F(RegularFileTest, APipeOfItsOwnIsAnInput) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  ASSERT_EQ(write(writer.get(), "text", 4), 4);
  writer.reset();
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const std::string name = folder + std::to_string(reader.get());
    EXPECT_TRUE(open_input(name).valid());
    EXPECT_EQ(open_regular(name, O_RDONLY).why(), "found a named pipe");
  }
  std::filesystem::create_symlink("/dev/fd/" + std::to_string(reader.get()), path_);
  const RegularFile input = open_input(path_);
  std::array<char, 8> text{};
  EXPECT_EQ(read(input.fd.get(), text.data(), text.size()), 4);
}

}  // namespace
}  // namespace ringside
