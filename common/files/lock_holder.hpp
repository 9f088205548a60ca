// Who has locked a file: for the line that says it is in use. The kernel tells by device and inode in /proc/locks; no
// lock is tried, so that asking disturbs nobody.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace ringside {

/// The process that took a lock with flock on that file; nothing where there is none or the kernel does not tell
/// (another pid namespace, no /proc). `root` is put before /proc, for tests.
std::optional<pid_t> flock_holder(const struct stat& file, const std::string& root = "");

/// Whether a descriptor of this process, opened by it or inherited, holds a flock on that file: flock(1) leaves its own
/// to the command that it runs.
bool holds_flock_itself(const struct stat& file);

/// "process 4711 (ringside-analyzer)", or "another process" where it is not known.
std::string describe_holder(const std::optional<pid_t>& holder, const std::string& root = "");

}  // namespace ringside
