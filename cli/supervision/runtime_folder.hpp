// SPDX-License-Identifier: BSD-3-Clause
// The folder in which `ringside run` creates the sockets of its analyzer, and in which other subcommands look for them.
// Each run has its own, mode 0700, and removes it at its end. It is in XDG_RUNTIME_DIR or TMPDIR; if neither allows it,
// in /tmp or /var/tmp, and a line on standard error reports that.
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

  /// Throws Error (exit code 3) if no folder can be made.
  RuntimeFolder();
  /// The folder of that name, of kNameLetters letters, on which the processes of one job agree. Throws Error (exit code
  /// 3) also if another process has it.
  explicit RuntimeFolder(const std::string& name);
  ~RuntimeFolder();
  RuntimeFolder(const RuntimeFolder&) = delete;
  RuntimeFolder& operator=(const RuntimeFolder&) = delete;

  std::string socket() const;  // the analyzer's
  /// The path of the socket in the folder of that name, which need not exist yet.
  static std::string socket_named(const std::string& name);

 private:
  bool try_under(const std::filesystem::path& base);

  std::string path_;
  UniqueFd lock_;
};

/// kOwn: where runs with this environment have their folders. kAll: also /tmp and /var/tmp, for runs that were started
/// with another TMPDIR, or with one that allowed no folder.
enum class Reach { kOwn, kAll };

/// The analyzer sockets of the runs there, whether alive or not, of any user.
std::vector<std::string> sockets_of_runs(Reach reach);

}  // namespace ringside
