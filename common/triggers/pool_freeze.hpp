// SPDX-License-Identifier: BSD-3-Clause
// POOL.freeze, the file that says that a pool's ring is frozen: nothing in it is overwritten (docs/use/questions.md,
// which has the format). It outlives the analyzer that wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/files/new_file.hpp"
#include "common/kernels/hash.hpp"

namespace ringside {

/// Its name, and that of the pool to which triggers copy steps: beside the pool itself (a link is followed).
std::string freeze_path(const std::string& pool);
std::string archive_path(const std::string& pool);

struct PoolFreeze {
  std::string pool_id;           // as to_string(Id128) writes it
  std::string run_id;
  std::uint64_t iteration = 0;   // of the newest step in the ring
  std::uint64_t step = 0;
  std::uint64_t commit_seq = 0;
  std::string trigger;           // its name
  std::int64_t unix_ns = 0;
};

/// Nothing: the pool has no such file. Throws Error: exit code 5 if the file is not one, 3 if it cannot be read.
std::optional<PoolFreeze> read_freeze(const std::string& pool);
/// The same if the file is about this pool and this run, which is that of the ring's newest step.
std::optional<PoolFreeze> freeze_of(const std::string& pool, const Id128& pool_id, const Id128& run_id);

/// The room for the file, on its disk before anything needs to be frozen: the disk may be full by then. The file has no name
/// until it is written, and is gone with the process, where the file system can do so (NewFile).
class FreezeFile {
 public:
  explicit FreezeFile(const std::string& pool);

  /// 0, or why there is no room: an errno value.
  int error() const noexcept { return error_; }
  /// Once. Returns 0 when the file is on its disk, under its name; or an errno value.
  int write(const PoolFreeze& freeze);

 private:
  const std::string name_;
  NewFile file_;
  int error_ = 0;
};

/// Whether there was such a file. Throws Error (exit code 3).
bool remove_freeze(const std::string& pool);

}  // namespace ringside
