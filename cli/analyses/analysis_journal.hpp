// SPDX-License-Identifier: BSD-3-Clause
// Results of analyses in the journal of a pool that nobody owns: those of kept pools, and those that come after a run's
// end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/platform/process.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// Appends the results that the journal beside `pool` does not have with these bits already, while this process owns the
/// pool; returns how many those are. Throws Error: exit code 2 if no journal is beside it, 3 if the pool or its journal is
/// in use or may not be written.
std::size_t append_to_journal(const std::string& pool, const std::vector<wire::AnalysisResults>& results);

/// What became of results that were to be appended.
struct Appending {
  std::size_t added = 0;
  std::string failure;  // empty: they are in the journal
  ExitCode code = ExitCode::kDone;  // of a run without a journal, too: it wants none
};
Appending try_to_append(const std::string& pool, const std::vector<wire::AnalysisResults>& results);

}  // namespace ringside
