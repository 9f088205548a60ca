// SPDX-License-Identifier: BSD-3-Clause
// Separate processes and file systems for tests that end the process, or that need far memory without free space.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <functional>
#include <initializer_list>
#include <string>

namespace ringside::testing {

/// How a process ended, and what it wrote to standard error.
struct Ending {
  int signal = 0, code = 0;  // code: valid if signal is 0
  std::string lines;
  size_t count() const;  // the number of lines
};

/// Forks; the child ends with the code that `act` returns. A child that hangs is killed, and `lines` contains a line
/// about it.
Ending in_process(const std::function<int()>& act);

inline constexpr const char* kOwnFolder = "/dev/shm";
inline constexpr const char* kOwnDiskFolder = "/mnt";

/// For a child of in_process: from now on, kOwnFolder is a tmpfs that only this process sees and that ends with the
/// process. Returns an empty text, or the reason why this is not possible.
std::string mount_own_tmpfs(uint64_t bytes);
/// Like mount_own_tmpfs, but for a disk: kOwnDiskFolder is an ext4 file system of `disk_bytes` on a loop device. The
/// device's blocks are in a tmpfs of `tmpfs_bytes` at kOwnFolder. For root only.
std::string mount_own_disk(uint64_t disk_bytes, uint64_t tmpfs_bytes);

/// From now on, these system calls fail with `error` in all threads, because of a seccomp filter. Returns false if the
/// filter is not permitted.
bool fail_calls(std::initializer_list<int> numbers, int error);

}  // namespace ringside::testing
