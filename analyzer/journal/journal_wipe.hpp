// SPDX-License-Identifier: BSD-3-Clause
// Wipes a pool's journal. As with the pool, every byte is overwritten and synced before a name is removed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/pool/foreign_file.hpp"
#include "common/files/regular_file.hpp"

namespace ringside {

struct WipedJournal {
  int files = 0;
  std::uint64_t bytes = 0;
};

class JournalWipe {
 public:
  /// Locks the logs beside `pool`, if any, and checks all of them. The caller owns the pool, so no analyzer can begin
  /// to write to these logs. A damaged file counts as a log if it holds at least one record. Throws Error and changes
  /// nothing: exit code 2 if another kind of file has a log's name, because this file would not be wiped; 3 if a log is
  /// in use, may not be written, or is not this user's own (analyzer/pool/foreign_file.hpp).
  explicit JournalWipe(const std::string& pool, Foreign foreign = Foreign::kRefused);

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
