// Wiping a pool's journal: as the pool itself, every byte is overwritten and synced before a name goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringside {

struct WipedJournal {
  int files = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> left;  // "PATH: WHY" of each file with a log's name that is not ours
};

/// Overwrites and deletes the logs beside `pool`, if there are any. A file with a log's name whose content is not a
/// log's is kept. The caller owns the pool, so that no analyzer starts to write the logs; a log that cannot be locked
/// is refused nevertheless. Throws Error (exit code 3).
WipedJournal wipe_journal(const std::string& pool);

}  // namespace ringside
