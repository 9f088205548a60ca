// SPDX-License-Identifier: BSD-3-Clause
// libpmemobj's own data in a pool file: header, descriptor, lanes, heap. libpmemobj relies on all of this data: a
// single flipped bit can make pmemobj_open access unmapped memory, loop endlessly, or replay a log over a payload.
// After its creation, a ring neither allocates nor frees, so these bytes stay constant, except for a few words. A hash
// of these bytes in the superblock reveals damage before libpmemobj reads them. Readers of a ring need neither these
// bytes nor this check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringside {

/// hash64 of libpmemobj's constant bytes in `file`, a whole pool file whose ring begins at byte `ring_begin`
/// (docs/formats/ring_format.md lists them). Never reads outside the file, even if its content is damaged.
std::uint64_t pmdk_metadata_hash(std::span<const std::byte> file, std::uint64_t ring_begin) noexcept;

}  // namespace ringside
