// SPDX-License-Identifier: BSD-3-Clause
// The steps that a ring keeps, and their results by name. They are used for tables, for pages, and for the journal,
// which may lack some of them (journal_rebuild.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/records/shown_results.hpp"
#include "common/records/step_results.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

class KeptResults {
 public:
  /// ring: must outlive this object.
  explicit KeptResults(const RingView& ring) : ring_(ring) {}

  /// A value is absent if it was not recorded, or if its step does not verify. The result is empty if the run's
  /// description is lost, because the words can then not be assigned to names.
  StepResults of(const KeptSlot& kept);

  /// The reductions of the first field (shown_of); empty if they were not recorded.
  std::optional<ReductionScalars> shown(const KeptSlot& kept) { return shown_of(of(kept)).reductions; }

 private:
  SharedLayout layout_of(const Id128& run_id, std::uint64_t catalogue);
  SharedLayout layout_without_results(const Id128& run_id);

  const RingView& ring_;
  std::map<std::pair<Id128, std::uint64_t>, SharedLayout> layouts_;  // by run and catalogue_hash; 0: no results
};

/// A kept step's figures, with `rebuilt` set and without the analyzer's measurements. The payload is not read.
StepFigures figures_of(const RingView& ring, const KeptSlot& kept);

/// Every kept step, with `rebuilt` set, by ascending commit_seq. The payloads are not read. Requires that no process
/// writes to the ring meanwhile.
std::vector<RecordedStep> kept_steps(const RingView& ring);

}  // namespace ringside
