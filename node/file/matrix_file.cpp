// SPDX-License-Identifier: BSD-3-Clause
#include "node/file/matrix_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "producer/matrix/matrix_source.hpp"

namespace ringside {

std::optional<MatrixFile> matrix_file(const std::string& matrix) {
  if (announced_size(matrix)) return std::nullopt;
  std::error_code none;
  const std::filesystem::path full = std::filesystem::canonical(matrix, none);
  struct stat status {};
  if (none || stat(full.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const std::int64_t mtime_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return MatrixFile{.path = full.string(),
                    .size_bytes = static_cast<std::uint64_t>(status.st_size),
                    .mtime_ns = std::max<std::int64_t>(mtime_ns, 0)};  // the node file has no negative numbers
}

}  // namespace ringside
