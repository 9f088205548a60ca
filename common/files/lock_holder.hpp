// SPDX-License-Identifier: BSD-3-Clause
// Finds the process that has locked a file, for the message that the file is in use. /proc/locks lists locks by the
// device and inode of the file. No lock is attempted, so that the query disturbs no other process.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace ringside {

/// The process that has locked the file with flock(2); nothing if no process holds the lock, or if the holder is not
/// visible (another pid namespace, no /proc). `root` is put before /proc, for tests.
std::optional<pid_t> flock_holder(const struct stat& file, const std::string& root = "");

/// Whether a descriptor of this process, opened or inherited, has locked that file with flock. For example, flock(1)
/// passes its locked descriptor on to the command that it runs.
bool holds_flock_itself(const struct stat& file);

/// Returns a text such as "process 4711 (ringside-analyzer)", or "another process" if the holder is not known.
std::string describe_holder(const std::optional<pid_t>& holder, const std::string& root = "");

}  // namespace ringside
