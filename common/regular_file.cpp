#include "common/regular_file.hpp"

#include <cerrno>

#include "common/error.hpp"

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
  // Check first: merely opening a device may act on it (rewind a tape, arm a watchdog).
  const bool follow = (flags & O_NOFOLLOW) == 0;
  const int looked = follow ? stat(path.c_str(), &opened.status) : lstat(path.c_str(), &opened.status);
  if (looked == 0 && !S_ISREG(opened.status.st_mode)) {
    refuse(opened.status.st_mode);
    return opened;
  }
  // O_NONBLOCK: the name may lead to a pipe by now. It has no effect on a regular file.
  opened.fd.reset(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode));
  if (!opened.valid() || fstat(opened.fd.get(), &opened.status) != 0) {
    opened.error = errno;
    opened.fd.reset();
  } else if (!S_ISREG(opened.status.st_mode)) {
    refuse(opened.status.st_mode);
  }
  return opened;
}

}  // namespace ringside
