// SPDX-License-Identifier: BSD-3-Clause
// Parses the lines that the process of a user's analyses writes (python/ringside/analyze.py, docs/use/questions.md).
// The user's functions run in that process and may write to the same descriptor. Therefore a line is accepted only if
// it is complete and its values are within their bounds.
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
  kResult,   // a function returned `results` for a step
  kNothing,  // a function returned None
  kFailed,   // a function raised an exception
  kStopped,  // the process ends early: `why`
  kEnd       // the process has finished every step: `all_skipped`
};

/// A function that the file registered for analysis.
struct NamedAnalysis {
  std::string name;
  std::uint64_t every = 1;
};

struct WorkerLine {
  WorkerSays says = WorkerSays::kHello;
  std::string why;
  std::vector<NamedAnalysis> analyses;
  std::size_t analysis = 0;       // index of the analysis, for kResult, kNothing and kFailed
  wire::AnalysisResults results;  // for the same three kinds; has names and values only for kResult
  std::vector<std::uint64_t> all_skipped;
};

/// The content of a line; empty if `line` has another form.
std::optional<WorkerLine> parse_worker_line(std::string_view line);

}  // namespace ringside
