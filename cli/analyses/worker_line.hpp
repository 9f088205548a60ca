// SPDX-License-Identifier: BSD-3-Clause
// A line that the process of a user's analyses writes (python/ringside/analyze.py, docs/use/questions.md). The user's
// functions run in that process and may write anything there, so a line is taken only if it is whole and within its
// bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/ringside.pb.h"

namespace ringside {

enum class WorkerSays {
  kHello,    // Python has the package ringside
  kReady,    // the file is imported: `analyses`
  kRefused,  // the file cannot be used: `why`
  kResult,   // `results`, of the step that they name
  kNothing,  // a function returned None
  kFailed,   // a function raised
  kStopped,  // the process ends early: `why`
  kEnd       // it has looked at every step: `all_skipped`
};

/// A function, as its file registers it.
struct NamedAnalysis {
  std::string name;
  std::uint64_t every = 1;
};

struct WorkerLine {
  WorkerSays says = WorkerSays::kHello;
  std::string why;
  std::vector<NamedAnalysis> analyses;
  std::size_t analysis = 0;       // which one of them, with kResult, kNothing, kFailed
  wire::AnalysisResults results;  // with these three; names and values with kResult only
  std::vector<std::uint64_t> all_skipped;
};

/// Nothing if this is no such line.
std::optional<WorkerLine> parse_worker_line(std::string_view line);

}  // namespace ringside
