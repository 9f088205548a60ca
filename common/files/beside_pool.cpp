// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/beside_pool.hpp"

#include <filesystem>
#include <system_error>

namespace ringside {

namespace fs = std::filesystem;

std::string beside_pool(const std::string& pool, const std::string& ending) {
  std::error_code error;
  const fs::path beside = fs::is_symlink(pool, error) ? fs::canonical(pool, error) : fs::path(pool);
  return (error ? pool : beside.string()) + ending;
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

}  // namespace ringside
