// SPDX-License-Identifier: BSD-3-Clause
// A journal's records as messages, for commands that show earlier records without an analyzer, or that continue after
// an analyzer has ended.
#pragma once

#include <string>
#include <vector>

#include "common/records/record_layout.hpp"
#include "common/records/record_message.hpp"
#include "common/telemetry/record_stream.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

struct DecodedJournal {
  std::vector<wire::Record> records;
  std::string damage;  // the part that could not be read, in words; empty if everything was read
  std::string torn;    // the place at which the last record is cut off, in words; empty if it is whole
};

/// Reads all records of the journal beside `pool`. Throws Error (exit code 2) if there is no journal.
DecodedJournal read_journal(const std::string& pool);

struct RestOfRun {
  std::vector<wire::Record> records;  // in ascending order; the stream handed out none of them
  std::string missing;                // the unavailable records, and the reason, in words; empty if none is missing
};

/// Reads from the journal those records of the followed analyzer that the stream did not hand out. Call this function
/// if the analyzer has ended for good: at the end of a `ringside run`, an analyzer does not wait for the readers of its
/// stream. Records of a later run in the same journal are left out. Throws only std::bad_alloc.
RestOfRun read_rest(StreamEnd end);

/// The layout of each run that the pool describes; empty if the pool cannot be read.
std::vector<SharedLayout> layouts_in(const std::string& pool);

}  // namespace ringside
