// A journal's records as messages, for what shows the past without an analyzer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/ringside.pb.h"

namespace ringside {

struct JournalRecords {
  std::vector<wire::Record> records;
  std::string damage;  // what could not be read, in words; empty: nothing
  std::string torn;    // where the last record ends before its time, in words; empty: it is whole
};

/// All that the journal beside `pool` holds. Throws Error (exit code 2) if there is none.
JournalRecords read_journal(const std::string& pool);

}  // namespace ringside
