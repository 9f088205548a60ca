// SPDX-License-Identifier: BSD-3-Clause
// Writes large blocks directly to the disk (O_DIRECT) if the file system supports this. The disk writes while the
// caller passes further bytes, so that a sync at the end has little left to do. Direct writes leave the content of the
// page cache in place, for instance the pool of a run that continues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/platform/unique_fd.hpp"

namespace ringside {

class DirectFile {
 public:
  static constexpr std::size_t kAlignment = 4096;
  /// The largest number of bytes that one write passes to the disk.
  static constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

  /// fd: a regular file that is open for writing; it must outlive this object.
  explicit DirectFile(int fd);

  /// Writes all bytes. If `offset` is a multiple of kAlignment, all whole blocks of kAlignment bytes go directly to the
  /// disk, and the rest goes through the page cache. If direct writes are not possible, everything goes through the
  /// page cache. After each piece, wrote(bytes) is called, which may throw. Returns 0, or an errno value.
  int write(std::uint64_t offset, std::span<const std::byte> bytes,
            const std::function<void(std::uint64_t)>& wrote = {});

 private:
  struct alignas(kAlignment) Page {
    std::byte bytes[kAlignment];
  };

  std::span<const std::byte> aligned(std::span<const std::byte> piece);

  int fd_;
  UniqueFd direct_;            // the same file, opened for direct writes; invalid if these are not possible
  std::vector<Page> staging_;  // for bytes that are not aligned in memory
};

}  // namespace ringside
