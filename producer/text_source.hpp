// The whole text of a file, wherever it lies: a plain file is mapped read-only, one packed by gzip or xz is unpacked
// into memory. The first bytes decide which it is, not the name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ringside {

/// Bytes and what keeps them valid.
struct Text {
  std::shared_ptr<void> owner;
  std::string_view text;
};

/// What says whether a file is still the one that was read.
struct FileStamp {
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

/// Throws `Error` (exit code 2) if `path` cannot be opened or is not a regular file.
FileStamp stamp_of(const std::string& path);

/// Maps the bytes of a file as they are. Throws `Error` (exit code 2) if there is no such file, no permission, or it is
/// not a regular file. A file that is truncated while the map lives, or whose disk fails, ends the process with
/// one line (common/watched_mapping.hpp).
Text map_file(const std::string& path);

/// True if `bytes` open like something `unpack` unpacks.
bool is_packed(std::string_view bytes);

/// Unpacks gzip (also several members) or xz (also several streams). `name` is how messages call the bytes. Throws
/// `Error` (exit code 2) where they are damaged or cut short. Memory grows with what is unpacked, not with what a
/// header says.
Text unpack(std::string_view packed, const std::string& name);

}  // namespace ringside
