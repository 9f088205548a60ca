// Where `ringside run` puts the sockets of the analyzer it starts, and where its other commands look for them: a folder
// of its own for each run, 0700, gone when the run is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/platform/unique_fd.hpp"

namespace ringside {

/// A new one, locked while this lives. Those that runs left which were killed are removed on the way.
class RuntimeFolder {
 public:
  /// Throws Error (exit code 3) if none can be made.
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

/// The analyzers' sockets of the runs on this machine, alive or not, whoever's.
std::vector<std::string> sockets_of_runs();

}  // namespace ringside
