// Opening a file by a name that others may have made, without ever waiting: a named pipe without a writer, a device or
// a leased file would hold an ordinary open(2) for as long as its maker likes. Whatever is no regular file is refused.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "common/unique_fd.hpp"

namespace ringside {

/// What `open_regular` gave: a descriptor with its status, or why there is none.
struct RegularFile {
  UniqueFd fd;
  struct stat status {};
  int error = 0;     // an errno value where `fd` is invalid and `kind` is empty
  std::string kind;  // what was found where that is no regular file: "folder", "named pipe", "socket", "device"

  bool valid() const noexcept { return fd.valid(); }
  /// Why `fd` is invalid: "No such file or directory", "found a named pipe".
  std::string why() const;
};

/// Opens a regular file; returns at once whatever the name leads to. flags, mode: of open(2); O_CLOEXEC, O_NONBLOCK and
/// O_NOCTTY are added. Symbolic links are followed unless `flags` holds O_NOFOLLOW. Never throws but std::bad_alloc.
RegularFile open_regular(const std::string& path, int flags, mode_t mode = 0);

/// The word for what no regular file is: "folder", "named pipe", "socket", "device", "symbolic link".
const char* kind_of(mode_t mode) noexcept;

}  // namespace ringside
