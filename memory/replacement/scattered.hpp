// SPDX-License-Identifier: BSD-3-Clause
// Evicts granules without neighbours. A MOVE of each would interrupt, once a granule, all cores that run the process.
// Here they are write-protected together with the granules around them, written if they changed, and dropped with one
// call. That is one interruption for a chunk of 64 granules, and the chunk's next victims are ready.
#pragma once

#include <stdint.h>

#include "memory/arena/userfault.hpp"
#include "memory/replacement/eviction.hpp"

namespace ringside::memory {

/// Evicts granules from the batch: their content is in far memory, their words are absent, and their memory can be
/// charged again. Returns how many. The rest stays in the batch and must be moved. `clean`: changed granules may leave
/// this way, too; otherwise only those certainly unchanged.
uint32_t drop_scattered(const UserFault& userfault, Cache& cache, Batch& batch, bool clean) noexcept;

}  // namespace ringside::memory
