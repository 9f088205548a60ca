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
#include "common/records/step_results.hpp"
#include "common/results/result_values.hpp"
#include "common/ring/ring_recovery.hpp"

namespace ringside {

/// What a journal contains about one result of a user's analyses.
struct AnalysisInJournal {
  std::uint64_t records = 0;
  std::uint64_t iteration = 0;  // iteration of the newest result
  double value = 0;
};

/// What a journal contains about the marks with one cause and name.
struct MarksInJournal {
  std::uint64_t records = 0;
  std::uint64_t first_iteration = 0;  // iteration of the oldest mark
  std::uint64_t last_iteration = 0;   // iteration of the newest mark
};

/// A journal's kind, size and state, without its records.
struct JournalSummary {
  std::string kind;
  std::uint64_t file_bytes = 0;
  std::uint64_t records = 0;
  std::uint64_t oldest_seq = 0;
  std::uint64_t newest_seq = 0;
  std::uint64_t steps_missing = 0;            // the number of committed steps that the journal lists as missing
  std::uint64_t first_missing_iteration = 0;  // lower bound of the missing steps' iterations; 0: not known
  std::uint64_t last_missing_iteration = 0;   // upper bound
  std::string damage;
  std::string torn;  // how the last record is cut off. This is no damage: its writer is still writing or was killed
  NamedByJournal named;
  std::map<std::string, AnalysisInJournal> analyses;  // by full name
  using MarkName = std::pair<std::string, std::string>;  // (name of the trigger or plug-in, or empty; cause)
  std::map<MarkName, MarksInJournal> marks;
};

/// "392 committed steps have no record, iterations 101 to 492"; empty if none is missing.
std::string missing_text(const JournalSummary& summary);

/// The summary of the journal beside `pool`; empty if there is no journal. If the journal is unreadable, only `damage`
/// is set.
std::optional<JournalSummary> summarize_journal(const std::string& pool);

/// {kind, file_bytes, records, oldest_seq, newest_seq, records_missing, damage, torn, analyses, marks}
Json to_json(const JournalSummary& summary);

/// The recorded steps of a journal. Their key identifies a commit.
class JournaledSteps {
 public:
  /// Reads the journal beside `pool`. Empty if there is none.
  static std::optional<JournaledSteps> read(const std::string& pool);

  /// The journal's record of the commit of `header`; null if the journal has none.
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

/// The full names of the recorded reductions that are not bit-equal to the recomputed ones. A result that needs the
/// previous iterate is compared only if it was both recorded and recomputed. If the record was rebuilt from the ring,
/// only the reductions in the record are compared.
std::vector<ResultDifference> differences(const RecordedStep& journaled, const StepResults& recomputed);

}  // namespace ringside
