// SPDX-License-Identifier: BSD-3-Clause
// POOL.freeze, the file that says that a pool's ring is frozen: nothing in it is overwritten (docs/triggers.md, which has
// the format). It outlives the analyzer that wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/kernels/hash.hpp"

namespace ringside {

inline constexpr const char* kFreezeSuffix = ".freeze";

/// Behind a pool's name: the pool to which triggers copy steps.
inline constexpr const char* kArchiveSuffix = ".archive";

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
/// The same if the file is about this pool, and about the run of the ring's newest step. run_id: empty: of any run.
std::optional<PoolFreeze> freeze_of(const std::string& pool, const Id128& pool_id, const std::optional<Id128>& run_id);

/// Returns 0 when the file is on its disk, or an errno value.
int write_freeze(const std::string& pool, const PoolFreeze& freeze);

/// Whether there was such a file. Throws Error (exit code 3).
bool remove_freeze(const std::string& pool);

}  // namespace ringside
