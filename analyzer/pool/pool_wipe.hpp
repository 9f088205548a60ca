// SPDX-License-Identifier: BSD-3-Clause
// Wipes a pool. Persistent memory and disks keep bytes until they are overwritten, so each byte of the file is
// overwritten and synced before its name is removed. The zeros are written from the end to the beginning: the bytes
// that identify a pool are overwritten last, so that an interrupted wipe can be repeated.
//
// The bytes are written with write(2), not through a mapping. If a file is sparse or is on bad media, a write returns
// an error in cases in which a store raises SIGBUS. Writes also clear the poison of persistent memory. Once write and
// sync have returned, the bytes are on the medium, with or without DAX.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "analyzer/pool/foreign_file.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

class PoolWipe {
 public:
  /// Takes the lock of a pool's owner, so that no process can begin to use it. A pool may be damaged, unfinished, of
  /// another version, or partly wiped. Throws Error and changes nothing: exit code 2 if the file does not exist or is
  /// no Ringside pool; 3 if it is in use, may not be written or deleted, or is not this user's own (foreign_file.hpp):
  /// a name in a folder to which all users may write can lead to any pool.
  explicit PoolWipe(const std::filesystem::path& path, Foreign foreign = Foreign::kRefused);

  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Number of other names (hard links) of the file. These names stay, and lead to the wiped file.
  std::uint64_t other_names() const noexcept { return other_names_; }

  /// First sets commit_seq of every slot to 0, so that a reader of a step in place detects the wipe before the step's
  /// bytes change. Then overwrites each byte with zero, and syncs. Calls `progress` with the number of bytes that are
  /// wiped and synced. Throws Error (exit code 3); then the bytes that are not yet overwritten, and the file's name,
  /// remain.
  void overwrite(const std::function<void(std::uint64_t bytes_done)>& progress);

  /// Deletes the file (and the symbolic link that led to it) and syncs its folder. Throws Error (exit code 3).
  void remove();

 private:
  void forget_slots();
  void write_zeros(std::uint64_t begin, std::uint64_t end);
  void sync();

  std::string name_;
  std::filesystem::path given_;
  std::filesystem::path file_;
  UniqueFd fd_;
  std::uint64_t bytes_ = 0;
  std::uint64_t other_names_ = 0;
};

}  // namespace ringside
