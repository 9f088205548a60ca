// Wiping a pool's journal: as the pool itself, every byte is overwritten and synced before a name goes.
#pragma once

#include <cstdint>
#include <string>

namespace ringside {

struct WipedJournal {
  int files = 0;
  std::uint64_t bytes = 0;
};

/// Overwrites and deletes the logs beside `pool`, if there are any. The caller owns the pool, so that no analyzer comes
/// to write them; one that cannot be locked is refused all the same. Throws Error (exit code 3).
WipedJournal wipe_journal(const std::string& pool);

}  // namespace ringside
