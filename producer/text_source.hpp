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

/// Throws `Error` if `path` cannot be opened (exit code 3 without permission, else 2) or is not a regular file (2).
FileStamp stamp_of(const std::string& path);

/// Maps the bytes of a file as they are. Throws `Error` as `stamp_of` does, and where it cannot be mapped (exit code
/// 3). A file that is truncated while the map lives, or whose disk fails, ends the process with one line
/// (common/watched_mapping.hpp).
Text map_file(const std::string& path);

/// True if `bytes` open like something `unpack` unpacks.
bool is_packed(std::string_view bytes);

/// Unpacks gzip (also several members, and zeros behind the last) or xz (also several streams, with the padding xz
/// allows). `name` is how messages call the bytes. Every byte is accounted for: throws `Error` (exit code 2) where they
/// are damaged, cut short, or followed by anything else. Memory grows with what is unpacked, not with what a header
/// says.
Text unpack(std::string_view packed, const std::string& name);

}  // namespace ringside
