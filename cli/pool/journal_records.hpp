// A journal's records as messages, for what shows the past without an analyzer, or goes on when it has left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/telemetry/record_stream.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// The id of the run that a record is of; empty: of none.
const std::string& run_id_of(const wire::Record& record);

struct JournalRecords {
  std::vector<wire::Record> records;
  std::string damage;  // what could not be read, in words; empty: nothing
  std::string torn;    // where the last record ends before its time, in words; empty: it is whole
};

/// All that the journal beside `pool` holds. Throws Error (exit code 2) if there is none.
JournalRecords read_journal(const std::string& pool);

struct RestOfRun {
  std::vector<wire::Record> records;  // ascending, none of them handed out before
  std::string missing;                // which records cannot be had, and why, in words; empty: they are all here
};

/// What the analyzer that a stream followed told and the stream did not hand out, from its journal. For when that
/// analyzer is gone for good: at the end of a `ringside run` it waits for nobody. What a later run has put into the
/// same journal is left out. Throws nothing but std::bad_alloc.
RestOfRun read_rest(StreamEnd end);

}  // namespace ringside
