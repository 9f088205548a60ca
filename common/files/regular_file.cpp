// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/regular_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include "common/files/own_descriptor.hpp"
#include "common/platform/error.hpp"

namespace ringside {

const char* kind_of(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG: return "regular file";
    case S_IFDIR: return "folder";
    case S_IFIFO: return "named pipe";
    case S_IFSOCK: return "socket";
    case S_IFLNK: return "symbolic link";
    default: return "device";
  }
}

std::string RegularFile::why() const {
  return kind.empty() ? errno_text(error) : "found a " + kind;
}

RegularFile open_regular(const std::string& path, int flags, mode_t mode) {
  RegularFile opened;
  const auto refuse = [&opened](mode_t found) {
    opened.fd.reset();
    opened.kind = kind_of(found);
  };
  // Check the kind of file first: merely opening a device may act on it (rewind a tape, arm a watchdog).
  const bool follow = (flags & O_NOFOLLOW) == 0;
  const int looked = follow ? stat(path.c_str(), &opened.status) : lstat(path.c_str(), &opened.status);
  if (looked == 0 && !S_ISREG(opened.status.st_mode)) {
    refuse(opened.status.st_mode);
    return opened;
  }
  // O_NONBLOCK: the name may lead to a pipe by now. The flag has no effect on a regular file.
  opened.fd = open_without_waiting(path, flags, mode);
  if (!opened.valid() || fstat(opened.fd.get(), &opened.status) != 0) {
    opened.error = errno;
    opened.fd.reset();
  } else if (!S_ISREG(opened.status.st_mode)) {
    refuse(opened.status.st_mode);
  }
  return opened;
}

UniqueFd open_without_waiting(const std::string& path, int flags, mode_t mode) {
  // The kernel asks the holder to release its lease; until then, this call fails with EWOULDBLOCK.
  constexpr auto kPatience = std::chrono::seconds(1);
  constexpr auto kPause = std::chrono::milliseconds(10);
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    UniqueFd fd(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode));
    if (fd.valid() || errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= give_up) return fd;
    std::this_thread::sleep_for(kPause);
  }
}

RegularFile open_input(const std::string& path) {
  RegularFile opened = open_regular(path, O_RDONLY);
  if (opened.valid() || opened.kind != kind_of(S_IFIFO)) return opened;
  const std::optional<int> own = descriptor_named(path);
  if (!own || fstat(*own, &opened.status) != 0 || !S_ISFIFO(opened.status.st_mode)) return opened;
  opened.kind.clear();
  opened.fd.reset(fcntl(*own, F_DUPFD_CLOEXEC, 0));
  if (!opened.valid()) opened.error = errno;
  return opened;
}

std::size_t read_whole(int fd, std::span<std::byte> to, std::uint64_t offset) noexcept {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t some = pread(fd, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (some < 0 && errno == EINTR) continue;
    if (some == 0) errno = 0;
    if (some <= 0) break;
    done += static_cast<std::size_t>(some);
  }
  return done;
}

std::size_t write_whole(int fd, std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t some = pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (some < 0 && errno == EINTR) continue;
    if (some == 0) errno = EIO;
    if (some <= 0) break;
    done += static_cast<std::size_t>(some);
  }
  return done;
}

}  // namespace ringside
