// SPDX-License-Identifier: BSD-3-Clause
// What is shown of the results that a ring keeps: the reductions of the first field, in tables, pages and the journal.
#pragma once

#include <cstdint>
#include <optional>

#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"
#include "common/telemetry/first_field.hpp"

namespace ringside {

/// Consecutive slots mostly are of one run, whose catalogue is read once.
class KeptResults {
 public:
  /// ring: outlives this object.
  explicit KeptResults(const RingView& ring) : ring_(ring) {}

  /// Nothing if no results were recorded, or if it is not known which of their words are which.
  std::optional<ReductionScalars> shown(const KeptSlot& kept);

 private:
  const RingView& ring_;
  Id128 run_id_;
  std::uint64_t hash_ = 0;
  std::optional<Catalogue> catalogue_;  // of that run, with that hash
  std::optional<FirstField> first_field_;
};

}  // namespace ringside
