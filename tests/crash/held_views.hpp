// SPDX-License-Identifier: BSD-3-Clause
// Readers that work on steps in place (docs/publish/library.md, "Why a broken lease is never missed"), on recorded
// scenarios: at every moment of a trace, a reader that may have seen a byte of another step must fail its check.
// Nothing is cut off here; what counts is when another process sees a store.
//
// Model (x86): stores through the cache become visible in program order. A word that is copied past the cache may
// become visible as soon as the last drain before it, by its own thread or by the thread that called the copy, has
// completed: nothing orders it with the stores in between.
#pragma once

#include <cstdint>
#include <string>

#include "common/ring/ring_view.hpp"
#include "tests/crash/scenarios/scenarios.hpp"

namespace ringside::crash {

/// A reader's check of the step `held`, which it read in `slot`. True: what was read of it counts as whole.
using Check = bool (*)(const RingView& ring, std::uint32_t slot, const SlotHeader& held);

struct ViewExploration {
  std::uint64_t views = 0;   // each commit is viewed from its acknowledgement on, to the end of the trace
  std::uint64_t checks = 0;  // of views of which a byte may have been of another step
  std::string violation;     // the first one: nothing is explored after it
};

ViewExploration explore_views(const TracedScenario& traced, Check check);

/// The library's check.
bool whole_header(const RingView& ring, std::uint32_t slot, const SlotHeader& held);

}  // namespace ringside::crash
