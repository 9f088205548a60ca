// SPDX-License-Identifier: BSD-3-Clause
// The folder in which `ringside run` puts the sockets of its analyzer, and in which other subcommands look for them.
// Each run has its own, mode 0700, and removes it at its end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/platform/unique_fd.hpp"

namespace ringside {

/// A new folder, locked while this object lives. The constructor also removes the folders of killed runs.
class RuntimeFolder {
 public:
  /// Throws Error (exit code 3) if no folder can be made.
  RuntimeFolder();
  ~RuntimeFolder();
  RuntimeFolder(const RuntimeFolder&) = delete;
  RuntimeFolder& operator=(const RuntimeFolder&) = delete;

  std::string socket() const;  // the analyzer's

 private:
  bool try_under(const std::filesystem::path& base);

  std::string path_;
  UniqueFd lock_;
};

/// The analyzer sockets of all runs on this machine, alive or not, of any user.
std::vector<std::string> sockets_of_runs();

}  // namespace ringside
