// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a file, mapped read-only, with the owner that keeps them valid.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace ringside {

/// Bytes and the owner that keeps them valid.
struct Text {
  std::shared_ptr<void> owner;
  std::string_view text;
};

/// Maps the bytes of a file as they are. Throws `Error` if `path` cannot be opened (exit code 3 without permission, else
/// 2), is not a regular file (2), or cannot be mapped (3). If the file is truncated while it is mapped, or its disk
/// fails, the process ends with one line (common/files/watched_mapping.hpp).
Text map_file(const std::string& path);

}  // namespace ringside
