// SPDX-License-Identifier: BSD-3-Clause
// Loads the first cache lines of a slot before a step is written to it. In a ring that is larger than the caches, the
// slot was written a long time ago, so each of its lines would otherwise delay the step by an access to memory.
#pragma once

#include <cstdint>

#include "common/ring/ring_view.hpp"

namespace ringside {

/// Starts loading the slot's header, step, results and first chunk hashes, and the beginning of its payload. Does not
/// wait for them.
void prefetch_slot(const WritableRing& ring, std::uint32_t slot) noexcept;

}  // namespace ringside
