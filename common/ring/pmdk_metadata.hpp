// SPDX-License-Identifier: BSD-3-Clause
// libpmemobj's own data in a pool file: header, descriptor, lanes, heap. libpmemobj trusts all of it: one flipped bit
// can make pmemobj_open run into unmapped memory, loop endlessly, or replay a log over a payload. A ring allocates
// and frees nothing after its creation, so that these bytes are constant from then on, except for a few words. A hash
// of them in the superblock reveals damage before libpmemobj meets it. Readers of a ring do not need these bytes, nor
// this check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringside {

/// hash64 of libpmemobj's constant bytes in `file`, a whole pool file whose ring begins at byte `ring_begin`
/// (docs/formats/ring_format.md lists them). Reads nothing outside the file, whatever it holds.
std::uint64_t pmdk_metadata_hash(std::span<const std::byte> file, std::uint64_t ring_begin) noexcept;

}  // namespace ringside
