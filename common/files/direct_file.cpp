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

namespace ringside {
namespace {

/// Writes `bytes`, or fewer if a write fails. Returns the number written; if it is too small, errno has the reason.
std::size_t write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t some = pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) break;
    done += static_cast<std::size_t>(some);
  }
  return done;
}

}  // namespace

DirectFile::DirectFile(int fd) : fd_(fd) {
  struct statfs system {};
  if (fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC) return;  // its files are in memory
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
      done = write_at(direct_.get(), offset, aligned(piece.first(whole)));
      // After any failure, the page cache takes the rest, or fails for the same reason.
      if (done < whole) direct_ = UniqueFd();
    }
    done += write_at(fd_, offset + done, piece.subspan(done));
    if (done < piece.size()) return errno;
    if (wrote) wrote(done);
    offset += done;
    bytes = bytes.subspan(done);
  }
  return 0;
}

}  // namespace ringside
