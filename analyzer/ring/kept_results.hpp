// SPDX-License-Identifier: BSD-3-Clause
// The results that a ring keeps of its steps, by name: for the journal, tables and pages.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "common/records/shown_results.hpp"
#include "common/records/step_results.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

class KeptResults {
 public:
  /// ring: outlives this object.
  explicit KeptResults(const RingView& ring) : ring_(ring) {}

  /// A value is absent if it was not recorded, or if its step does not verify. Empty if the run's description is lost:
  /// then the words cannot be assigned to names.
  StepResults of(const KeptSlot& kept);

  /// The reductions of the first field (shown_of); nothing if they were not recorded.
  std::optional<ReductionScalars> shown(const KeptSlot& kept) { return shown_of(of(kept)).reductions; }

 private:
  SharedLayout layout_of(const Id128& run_id, std::uint64_t catalogue);
  SharedLayout layout_without_results(const Id128& run_id);

  const RingView& ring_;
  std::map<std::pair<Id128, std::uint64_t>, SharedLayout> layouts_;  // by run and catalogue_hash; 0: not recorded
};

}  // namespace ringside
