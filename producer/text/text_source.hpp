// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a file, mapped read-only, with the owner that keeps them valid.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ringside {

/// Bytes and the owner that keeps them valid.
struct Text {
  std::shared_ptr<void> owner;
  std::string_view text;
};

/// Size and time of a file, to detect that it is no longer the one that was read.
struct FileStamp {
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

/// Throws `Error` if `path` cannot be opened (exit code 3 without permission, else 2) or is not a regular file (2).
FileStamp stamp_of(const std::string& path);

/// Maps the bytes of a file as they are. Throws `Error` as `stamp_of` does, and with exit code 3 if the file cannot be
/// mapped. If the file is truncated while it is mapped, or its disk fails, the process ends with one line
/// (common/files/watched_mapping.hpp).
Text map_file(const std::string& path);

}  // namespace ringside
