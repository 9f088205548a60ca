// SPDX-License-Identifier: BSD-3-Clause
// The folder in which `ringside run` creates the sockets of its analyzer, and in which other subcommands look for them.
// Each run has its own folder, with mode 0700, and removes it at its end. This folder is in XDG_RUNTIME_DIR or TMPDIR.
// If no folder can be created there, the folder is in /tmp or /var/tmp, and a line on standard error reports this.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/platform/unique_fd.hpp"

namespace ringside {

/// A new folder, locked while this object lives. The constructor also removes the folders of killed runs.
class RuntimeFolder {
 public:
  static constexpr std::size_t kNameLetters = 6;

  /// Throws Error (exit code 3) if no folder can be created.
  RuntimeFolder();
  /// The folder with this name of kNameLetters letters, which is the same in all processes of a job. Throws Error (exit
  /// code 3) if no folder can be created, or if another process uses it.
  explicit RuntimeFolder(const std::string& name);
  ~RuntimeFolder();
  RuntimeFolder(const RuntimeFolder&) = delete;
  RuntimeFolder& operator=(const RuntimeFolder&) = delete;

  std::string socket() const;  // the path of the analyzer's socket
  /// The path of the socket in the folder with this name. The folder need not exist yet.
  static std::string socket_named(const std::string& name);

 private:
  bool try_under(const std::filesystem::path& base);

  std::string path_;
  UniqueFd lock_;
};

/// kOwn: the places where runs with this environment have their folders. kAll: also /tmp and /var/tmp, for runs with
/// another TMPDIR, or with a TMPDIR that allowed no folder.
enum class Reach { kOwn, kAll };

/// The sockets of the analyzers of all runs in these places, whether alive or not, and of any user.
std::vector<std::string> sockets_of_runs(Reach reach);

}  // namespace ringside
