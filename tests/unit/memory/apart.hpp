// SPDX-License-Identifier: BSD-3-Clause
// Processes and file systems of a test's own: what ends the process, and far memory that is really full.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <functional>
#include <initializer_list>
#include <string>

namespace ringside::testing {

/// How a process ended, and what it wrote to standard error.
struct Ending {
  int signal = 0, code = 0;  // code: if signal is 0
  std::string lines;
  size_t count() const;  // of lines
};

/// Forks; the child ends with the code that `act` returns. One that hangs is ended, and `lines` say so.
Ending in_process(const std::function<int()>& act);

inline constexpr const char* kOwnFolder = "/dev/shm";
inline constexpr const char* kOwnDiskFolder = "/mnt";

/// In a child of in_process: from now on kOwnFolder is a tmpfs of this process alone, and ends with it. Empty, or why
/// that is not possible.
std::string mount_own_tmpfs(uint64_t bytes);
/// The same for a disk: kOwnDiskFolder is ext4 of `disk_bytes` on a loop device, whose blocks are in a tmpfs of
/// `tmpfs_bytes` at kOwnFolder. For root only.
std::string mount_own_disk(uint64_t disk_bytes, uint64_t tmpfs_bytes);

/// From now on these system calls fail with `error` in all threads, as a seccomp filter does it. false: not permitted.
bool fail_calls(std::initializer_list<int> numbers, int error);

}  // namespace ringside::testing
