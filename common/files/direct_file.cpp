// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/direct_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "common/files/regular_file.hpp"

namespace ringside {
DirectFile::DirectFile(int fd) : fd_(fd) {
  struct statfs system {};
  if (fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC) return;  // tmpfs keeps its files in memory
  direct_.reset(open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC));
}

std::span<const std::byte> DirectFile::aligned(std::span<const std::byte> piece) {
  if (reinterpret_cast<std::uintptr_t>(piece.data()) % kAlignment == 0) return piece;
  staging_.resize(kPieceBytes / kAlignment);
  std::memcpy(staging_.data(), piece.data(), piece.size());
  return {staging_.data()->bytes, piece.size()};
}

int DirectFile::write(std::uint64_t offset, std::span<const std::byte> bytes,
                      const std::function<void(std::uint64_t)>& wrote) {
  while (!bytes.empty()) {
    const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    const std::size_t whole = offset % kAlignment == 0 ? piece.size() / kAlignment * kAlignment : 0;
    std::size_t done = 0;
    if (direct_.valid() && whole > 0) {
      done = write_whole(direct_.get(), aligned(piece.first(whole)), offset);
      // After any failure, the rest goes through the page cache, which fails for the same reason if the failure
      // persists.
      if (done < whole) direct_ = UniqueFd();
    }
    done += write_whole(fd_, piece.subspan(done), offset + done);
    if (done < piece.size()) return errno;
    if (wrote) wrote(done);
    offset += done;
    bytes = bytes.subspan(done);
  }
  return 0;
}

}  // namespace ringside
