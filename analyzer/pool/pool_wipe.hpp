// Wiping a pool: persistent memory and disks keep what is not overwritten, so that each byte of the file is, and is
// synced, before its name goes. From the end to the beginning: what says that the file is a pool of ours goes last, and
// a wipe that was cut off can be done again.
//
// The bytes go through write(2), not through a mapping: a file that is sparse or lies on bad media gives an error there
// instead of a SIGBUS, and such writes clear the poison of persistent memory. What write and sync return for is on the
// medium, DAX or not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "common/platform/unique_fd.hpp"

namespace ringside {

class PoolWipe {
 public:
  /// Takes the lock that owners of a pool take, so that nobody comes to use it. A damaged pool, an unfinished one, one
  /// of another version and one whose wipe was cut off count as pools. Throws Error, and has then changed nothing: exit
  /// code 2 if there is no file or it is no Ringside pool; 3 if it is in use, or may not be written or deleted.
  explicit PoolWipe(const std::filesystem::path& path);

  std::uint64_t bytes() const noexcept { return bytes_; }
  /// How many other names (hard links) the file has: they stay, with nothing in it.
  std::uint64_t other_names() const noexcept { return other_names_; }

  /// Stores zeros in each byte and syncs. `progress` is told how many bytes are gone for good. Throws Error (exit code
  /// 3): what was not overwritten is still there, and the name as well.
  void overwrite(const std::function<void(std::uint64_t bytes_done)>& progress);

  /// Deletes the file (and the symbolic link that led to it) and syncs its folder. Throws Error (exit code 3).
  void remove();

 private:
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
