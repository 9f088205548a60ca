// SPDX-License-Identifier: BSD-3-Clause
#include "node/file/matrix_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "producer/matrix/matrix_source.hpp"

namespace ringside {
namespace {

/// The time in nanoseconds, or 0 if it is negative, because the node file has no negative numbers.
std::int64_t nanoseconds(const timespec& time) {
  return std::max<std::int64_t>(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec, 0);
}

}  // namespace

std::optional<MatrixFile> matrix_file(const std::string& matrix, const std::string& columns) {
  const MatrixName name = matrix_name(matrix);
  if (name.is_generated()) return std::nullopt;
  std::error_code none;
  const std::filesystem::path full = std::filesystem::canonical(name.input.path, none);
  struct stat status {};
  if (none || stat(full.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return MatrixFile{.path = full.string() + (name.input.member.empty() ? "" : ":" + name.input.member) +
                            (columns.empty() ? "" : " --columns " + columns),
                    .size_bytes = static_cast<std::uint64_t>(status.st_size),
                    .mtime_ns = nanoseconds(status.st_mtim),
                    .inode = status.st_ino,
                    .ctime_ns = nanoseconds(status.st_ctim)};
}

}  // namespace ringside
