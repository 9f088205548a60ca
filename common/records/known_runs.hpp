// SPDX-License-Identifier: BSD-3-Clause
// The runs that a ring's run table describes: which results their records carry.
#pragma once

#include <vector>

#include "common/records/record_layout.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

/// What a run records of its steps.
struct KnownRun {
  Id128 run_id;
  SharedLayout layout;
};

/// Every run that the ring describes, by ascending record_seq.
std::vector<KnownRun> described_runs(const RingView& ring);

}  // namespace ringside
