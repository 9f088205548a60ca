// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/lock_holder.hpp"

#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "common/platform/system_files.hpp"
#include "common/text/formatted.hpp"

namespace ringside {

// A line of /proc/locks: "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1048620 0 EOF"; a process that waits for that lock
// follows as "1: -> FLOCK ...".
std::optional<pid_t> flock_holder(const struct stat& file, const std::string& root) {
  const std::string id = formatted("{:02x}:{:02x}:{}", major(file.st_dev), minor(file.st_dev), file.st_ino);
  std::ifstream locks(root + "/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    const std::vector<std::string> parts = words(line);
    if (parts.size() < 6 || parts[1] != "FLOCK" || parts[5] != id) continue;
    const auto pid = number_of(parts[4]);
    // 0 or -1: this process cannot see the holder.
    if (pid && *pid > 0) return static_cast<pid_t>(*pid);
  }
  return std::nullopt;
}

// The kernel lists the locks of each open file in fdinfo: "lock:\t1: FLOCK  ADVISORY  WRITE 4711 fe:00:1048620 0 EOF".
bool holds_flock_itself(const struct stat& file) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    struct stat open {};
    if (stat(entry.path().c_str(), &open) != 0 || open.st_dev != file.st_dev || open.st_ino != file.st_ino) continue;
    std::ifstream info("/proc/self/fdinfo/" + entry.path().filename().string());
    for (std::string line; std::getline(info, line);) {
      const std::vector<std::string> parts = words(line);
      if (parts.size() > 2 && parts[0] == "lock:" && parts[2] == "FLOCK") return true;
    }
  }
  return false;
}

std::string describe_holder(const std::optional<pid_t>& holder, const std::string& root) {
  if (!holder) return "another process";
  // Read the name from the command line, up to the first argument, because "comm" has only the first 15 characters.
  std::optional<std::string> name = first_line(formatted("{}/proc/{}/cmdline", root, *holder));
  if (name) name = std::filesystem::path(name->substr(0, name->find('\0'))).filename().string();
  // An empty command line means that the process died after passing its descriptor on, so it is not the holder.
  return name ? formatted("process {} ({})", *holder, *name) : "another process";
}

}  // namespace ringside
