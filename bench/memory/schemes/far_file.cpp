// SPDX-License-Identifier: BSD-3-Clause
#include "bench/memory/schemes/far_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "common/platform/error.hpp"

namespace ringside::bench {

UniqueFd far_file(const std::string& folder, int number, std::size_t bytes, int flags) {
  const std::string path = folder + "/far." + std::to_string(number);
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) throw system_error("{}: {}", path, errno_text(errno));
  const std::vector<char> zeros(1 << 20);
  for (std::size_t at = 0; at < bytes; at += zeros.size()) {
    const std::size_t part = std::min(zeros.size(), bytes - at);
    if (pwrite(file.get(), zeros.data(), part, static_cast<off_t>(at)) != static_cast<ssize_t>(part)) {
      throw system_error("{}: writing {} bytes: {}", path, bytes, errno_text(errno));
    }
  }
  // Pages that remain in the page cache are charged to their first reader. For the program, they would be hits that
  // cost nothing.
  if (fdatasync(file.get()) != 0) throw system_error("{}: {}", path, errno_text(errno));
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  if (flags == 0) return file;
  UniqueFd again(open(path.c_str(), O_RDWR | O_CLOEXEC | flags));
  if (!again.valid()) throw system_error("{}: {}", path, errno_text(errno));
  return again;
}

}  // namespace ringside::bench
