// Wiping a pool's journal: as the pool itself, every byte is overwritten and synced before a name goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/files/regular_file.hpp"

namespace ringside {

struct WipedJournal {
  int files = 0;
  std::uint64_t bytes = 0;
};

class JournalWipe {
 public:
  /// Takes the locks of the logs beside `pool`, if there are any, and looks at all of them. The caller owns the pool,
  /// so that no analyzer comes to write them. A damaged log is one as long as one record can be found in it. Throws
  /// Error, and has then changed nothing: exit code 2 if something else lies under a log's name, as it would stay; 3 if
  /// a log is in use or may not be written.
  explicit JournalWipe(const std::string& pool);

  /// Overwrites and deletes the logs. Throws Error (exit code 3).
  WipedJournal overwrite();

 private:
  struct Log {
    std::string path;
    RegularFile file;
    std::uint64_t bytes = 0;
  };
  std::string pool_;
  std::vector<Log> logs_;
};

}  // namespace ringside
