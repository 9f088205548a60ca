// SPDX-License-Identifier: BSD-3-Clause
// Appends results of analyses to the journal of a pool that no process owns. These are results of analyses of a kept
// pool, and results that arrive after the end of a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/platform/process.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// Appends those results that the journal beside `pool` does not already contain with the same bits. Returns the number
/// of appended results. This process owns the pool during the call. Throws Error: exit code 2 if the pool has no
/// journal, 3 if the pool or its journal is in use or not writable.
std::size_t append_to_journal(const std::string& pool, const std::vector<wire::AnalysisResults>& results);

/// The outcome of an attempt to append results.
struct Appending {
  std::size_t added = 0;
  std::string failure;  // empty: the results are in the journal
  ExitCode code = ExitCode::kDone;  // kDone also if the run requested no journal
};
Appending try_to_append(const std::string& pool, const std::vector<wire::AnalysisResults>& results);

}  // namespace ringside
