// SPDX-License-Identifier: BSD-3-Clause
#include "node/applications/work_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/platform/error.hpp"

namespace ringside {

WorkFolder::WorkFolder(const std::string& parent) : path_(parent + "/ringside-experiment-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) throw system_error("{}: cannot make a folder: {}", parent, errno_text(errno));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ringside
