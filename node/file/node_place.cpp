// SPDX-License-Identifier: BSD-3-Clause
#include "node/file/node_place.hpp"

#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

std::string cache_folder() {
  // The specification requires absolute paths: any other value must be ignored.
  const char* const cache = getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return cache;
  const char* const home = getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache";
  throw system_error(
      "the default place of the node file: found neither XDG_CACHE_HOME nor HOME, expected one of them to be a full "
      "path; --output FILE (calibrate) or --node FILE names another place");
}

/// Makes the folders from the top down, because only new folders get the mode.
void make_private_folders(const std::filesystem::path& folder) {
  struct stat status {};
  if (folder.empty() || stat(folder.c_str(), &status) == 0) return;
  make_private_folders(folder.parent_path());
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return;
  throw system_error("{}: the folder cannot be made: {}", printable(folder.string()), errno_text(errno));
}

}  // namespace

std::string default_node_file() {
  return cache_folder() + "/ringside/node.json";
}

void make_node_folder() {
  make_private_folders(std::filesystem::path(default_node_file()).parent_path());
}

}  // namespace ringside
