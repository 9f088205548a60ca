// SPDX-License-Identifier: BSD-3-Clause
// Compares journal and ring: what the journal contains about each iterate that `replay` reduces again, and whether the
// recorded results match the bytes in the ring.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/pool/ring_replay.hpp"
#include "cli/pool/journal_summary.hpp"
#include "common/json/json.hpp"

namespace ringside {

class JournalComparison {
 public:
  /// kept: all iterates in the ring, even if `replay` shows only some of them.
  JournalComparison(JournaledSteps steps, const std::vector<KeptSlot>& kept);

  /// recomputed: the iterate's results (RingReplay::results), if the iterate could be read.
  void compare(const ReplayedIterate& iterate, const StepResults& recomputed);
  /// The record of the iterate that was compared last, with `agrees` and `differences`; null if the journal has no
  /// record of it.
  Json last_as_json() const;

  const JournalSummary& summary() const noexcept { return steps_.summary(); }
  /// Whether the journal is undamaged and all compared results agree.
  bool intact() const { return steps_.summary().damage.empty() && differing() == 0; }
  /// Prints a table of all compared iterates, then the journal's other steps, its gaps and its damage.
  void print() const;
  /// The content of `print` as JSON: the summary's keys, and differs, not_in_journal, outside_ring {steps,
  /// first_iteration, last_iteration}.
  Json as_json() const;

 private:
  struct Row {
    SlotHeader header;
    const RecordedStep* recorded = nullptr;  // null: the journal has no record of the iterate
    bool compared = false;                  // whether there were reductions to compare
    std::vector<ResultDifference> differences;
  };
  std::uint64_t differing() const;
  std::uint64_t absent() const;

  const JournaledSteps steps_;
  const JournaledSteps::Outside outside_;
  std::vector<Row> rows_;
};

}  // namespace ringside
