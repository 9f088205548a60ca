// Wiping a pool's journal: as the pool itself, every byte is overwritten and synced before a name goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringside {

struct WipedJournal {
  int files = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> left;  // "PATH: WHY" of each file under a log's name that is none of ours
};

/// Overwrites and deletes the logs beside `pool`, if there are any. A file under a log's name that is not recognised as
/// one by its content is left as it is. The caller owns the pool, so that no analyzer comes to write them; one that
/// cannot be locked is refused all the same. Throws Error (exit code 3).
WipedJournal wipe_journal(const std::string& pool);

}  // namespace ringside
