// SPDX-License-Identifier: BSD-3-Clause
// POOL.freeze, the file that marks a pool's ring as frozen (format: docs/use/questions.md). While a ring is frozen, no
// analyzer overwrites a slot. The file outlives the analyzer that wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/files/new_file.hpp"
#include "common/kernels/hash.hpp"

namespace ringside {

/// The paths of this file and of the pool to which triggers copy steps, both beside the pool. If `pool` is a link, it
/// is resolved first.
std::string freeze_path(const std::string& pool);
std::string archive_path(const std::string& pool);

struct PoolFreeze {
  std::string pool_id;           // in the form of to_string(Id128)
  std::string run_id;
  std::uint64_t iteration = 0;   // the iteration of the newest step in the ring
  std::uint64_t step = 0;
  std::uint64_t commit_seq = 0;
  std::string trigger;           // the trigger's name
  std::int64_t unix_ns = 0;
};

/// Reads the file. Returns nothing if the pool has no such file. Throws Error: exit code 5 if the content is invalid, 3
/// if it cannot be read.
std::optional<PoolFreeze> read_freeze(const std::string& pool);
/// Like read_freeze, but returns nothing if the file is for another pool or run. run_id: the id of the run of the
/// ring's newest step.
std::optional<PoolFreeze> freeze_of(const std::string& pool, const Id128& pool_id, const Id128& run_id);

/// Reserves disk space for the file in advance: the disk may be full when a trigger freezes the ring. Until `write`,
/// the file has no name and disappears with the process, if the file system supports that (NewFile).
class FreezeFile {
 public:
  explicit FreezeFile(const std::string& pool);

  /// Returns 0, or an errno value if the space could not be reserved.
  int error() const noexcept { return error_; }
  /// Writes the file; call it once. Returns 0 when the file is on its disk, under its name; otherwise an errno value.
  int write(const PoolFreeze& freeze);

 private:
  const std::string name_;
  NewFile file_;
  int error_ = 0;
};

/// Removes the file and returns whether it existed. Throws Error (exit code 3).
bool remove_freeze(const std::string& pool);

}  // namespace ringside
