// Damage of the medium: one bit of the pool has changed. Whatever bit it is, what is returned is what was published,
// and only the slot it lies in is lost.
#pragma once

#include <cstdint>
#include <optional>

#include "tests/crash/explorer.hpp"
#include "tests/crash/scenarios.hpp"

namespace ringside::crash {

/// Flips each bit of each slot's meta area and payload, of both run tables and both superblocks, in the pool that the
/// recording leaves, one at a time. The violation's `image` is the bit, counted from the beginning of the pool.
Exploration explore_bit_flips(const Recording& recording);

}  // namespace ringside::crash
