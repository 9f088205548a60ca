// SPDX-License-Identifier: BSD-3-Clause
// The journal beside a pool: the summary that `info` shows, and the steps that `replay` compares with the ring.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/pool/journal_identity.hpp"
#include "common/json/json.hpp"
#include "common/records/recorded_step.hpp"
#include "common/reductions/reduction_differences.hpp"
#include "common/ring/ring_recovery.hpp"

namespace ringside {

/// What a journal has of one result of a user's analyses.
struct AnalysisInJournal {
  std::uint64_t records = 0;
  std::uint64_t iteration = 0;  // of the newest one
  double value = 0;
};

/// What a journal has of the marks of one cause and name.
struct MarksInJournal {
  std::uint64_t records = 0;
  std::uint64_t first_iteration = 0;  // of the oldest one
  std::uint64_t last_iteration = 0;   // of the newest one
};

/// A journal's kind, size and state, without its records.
struct JournalSummary {
  std::string kind;
  std::uint64_t file_bytes = 0;
  std::uint64_t records = 0;
  std::uint64_t oldest_seq = 0;
  std::uint64_t newest_seq = 0;
  std::uint64_t steps_missing = 0;            // committed steps that the journal names as missing
  std::uint64_t first_missing_iteration = 0;  // lower bound of their iterations; 0: not known
  std::uint64_t last_missing_iteration = 0;   // upper bound
  std::string damage;
  std::string torn;  // no damage: the writer is at work, or was killed
  NamedByJournal named;
  std::map<std::string, AnalysisInJournal> analyses;  // by full name
  using MarkName = std::pair<std::string, std::string>;  // of the trigger or the plug-in, else empty; the cause
  std::map<MarkName, MarksInJournal> marks;
};

/// "392 committed steps have no record, iterations 101 to 492"; empty if none is missing.
std::string missing_text(const JournalSummary& summary);

/// Nothing if there is no journal beside `pool`. If it cannot be read at all, only `damage` is set.
std::optional<JournalSummary> summarize_journal(const std::string& pool);

/// {kind, file_bytes, records, oldest_seq, newest_seq, records_missing, damage, torn, analyses, marks}
Json to_json(const JournalSummary& summary);

/// The recorded steps of a journal, by the key that names a commit.
class JournaledSteps {
 public:
  /// Nothing if there is no journal beside `pool`.
  static std::optional<JournaledSteps> read(const std::string& pool);

  /// What was recorded for the commit that `header` belongs to; null if there are none.
  const RecordedStep* find(const SlotHeader& header) const;

  /// The recorded steps that are not in `kept`: their number, and their first and last iteration.
  struct Outside {
    std::uint64_t steps = 0;
    std::uint64_t first_iteration = 0;
    std::uint64_t last_iteration = 0;
  };
  Outside outside(const std::vector<KeptSlot>& kept) const;

  const JournalSummary& summary() const noexcept { return summary_; }

 private:
  using Name = std::tuple<Id128, std::uint64_t, std::uint64_t>;  // run, iteration, commit_seq

  JournalSummary summary_;
  std::map<Name, RecordedStep> steps_;
};

/// The recorded reductions that are not bit-equal to the recomputed ones, by their full names. A change is compared
/// only if both have one, and of a record that was rebuilt from the ring what it has.
std::vector<FieldDifference> differences(const RecordedStep& journaled, const StepResults& recomputed);

}  // namespace ringside
