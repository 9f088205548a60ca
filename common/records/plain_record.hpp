// SPDX-License-Identifier: BSD-3-Clause
// Decodes a record of the journal without Protocol Buffers. libringside decodes whole records with this code; the
// programs use it only for the description of a run's results. tests/unit/common/records compares the results with
// those of Protocol Buffers. If a record contains the same message twice (no writer makes such a record), the last one
// counts; Protocol Buffers would merge them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/records/step_results.hpp"

namespace ringside {

/// The field numbers of wire::Record.
enum class RecordKind : std::uint32_t {
  kNone = 0,
  kStep = 3,
  kRunStarted = 4,
  kRunEnded = 5,
  kAnalyzerStarted = 6,
  kRecordsMissing = 7,
  kRunDescribed = 8,
  kMark = 9,
  kAnalysisResults = 10
};

/// The fields of a step, with the names in proto/ringside.proto.
struct PlainStep {
  std::uint64_t step = 0;
  std::uint64_t iteration = 0;
  std::uint64_t commit_seq = 0;
  std::int64_t published_at_ns = 0;
  std::int64_t generate_ns = 0;
  std::int64_t producer_idle_ns = 0;
  std::int64_t analyzer_idle_ns = 0;
  std::int64_t hand_off_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t commit_ns = 0;
  std::int64_t analyze_ns = 0;
  std::int64_t record_ns = 0;
  std::uint64_t bytes_transferred = 0;
  std::uint64_t skipped_before = 0;
  bool rebuilt = false;
  bool broke_lease = false;
  StepResults results;          // without names; if recorded before results had names: older_results
  std::uint64_t catalogue = 0;  // the RecordLayout::hash of the names
};

struct PlainRecord {
  std::uint64_t seq = 0;
  std::int64_t unix_ns = 0;
  RecordKind kind = RecordKind::kNone;  // kNone: a kind that a later release added
  std::string run_id;                   // 16 bytes, or none
  PlainStep step;                       // for kStep; for kMark and kAnalysisResults, only its first three fields
  std::vector<std::string> names;       // for kAnalysisResults: the full names of results
  std::vector<std::uint64_t> values;    // for kAnalysisResults: the bits of each result, a double
  SharedLayout layout;                  // for kRunStarted and kRunDescribed; null if there is no valid layout
  std::string solver;                   // for kRunStarted, like the next two members
  std::string problem;
  std::string parameters;
  std::string how;      // for kRunEnded, like the next three members
  std::string outcome;  // "finished", "interrupted", "diverged", "failed"
  std::string text;     // also for kMark, like the next three members
  std::string cause;    // for example "trigger" or "non_finite"
  std::string name;     // the name of the trigger or the plug-in
  std::string actions;  // separated by ", "
  std::uint32_t exit_code = 0;
};

/// Returns nothing if the bytes are not a record. Unknown fields are skipped.
std::optional<PlainRecord> decode_record(std::string_view bytes);

}  // namespace ringside
