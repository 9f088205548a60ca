// SPDX-License-Identifier: BSD-3-Clause
// Damage of the medium: one bit of the pool has changed. Whichever bit it is, every iterate that is returned was
// published, and only the slot that holds the bit is lost.
#pragma once

#include <cstdint>
#include <optional>

#include "tests/crash/explorer.hpp"
#include "tests/crash/scenarios/scenarios.hpp"

namespace ringside::crash {

/// Flips one bit at a time in the pool that the traced scenario leaves: each bit of each slot's meta area and payload,
/// of both run tables and of both superblocks. The violation's `image` is the bit, counted from the beginning of the
/// pool.
Exploration explore_bit_flips(const TracedScenario& traced);

}  // namespace ringside::crash
