// SPDX-License-Identifier: BSD-3-Clause
// How granules without neighbours leave DRAM. A MOVE of each would interrupt all cores that run a thread of the
// process, once a granule. Here they are write-protected together with what lies around them (one interruption a chunk
// of 64 granules, and the next victims of that chunk are ready), written where they changed, and dropped with one call.
#pragma once

#include <stdint.h>

#include "memory/arena/userfault.hpp"
#include "memory/replacement/eviction.hpp"

namespace ringside::memory {

/// Takes out of the batch what leaves this way, and ends it: its content is in far memory, its words say absent, its
/// memory can be charged anew. Returns how many. What stays in the batch has to be moved. `clean`: changed granules may
/// leave this way, too; else only those that are known to be unchanged.
uint32_t drop_scattered(const UserFault& userfault, Cache& cache, Batch& batch, bool clean) noexcept;

}  // namespace ringside::memory
