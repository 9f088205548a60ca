// SPDX-License-Identifier: BSD-3-Clause
// A new folder for the files of programs that are run to measure them; the destructor removes it with its content.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "common/platform/error.hpp"

namespace ringside {

class WorkFolder {
 public:
  /// Makes the folder ringside-PURPOSE-... in the existing folder `parent`. Throws Error (exit code 3).
  explicit WorkFolder(const std::string& parent, const std::string& purpose = "experiment")
      : path_(parent + "/ringside-" + purpose + "-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw system_error("{}: cannot make a folder: {}", parent, errno_text(errno));
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace ringside
