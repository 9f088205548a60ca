// What libpmemobj keeps in a pool file for itself: header, descriptor, lanes, heap. It believes all of it: one flipped
// bit can make pmemobj_open run into unmapped memory, loop for ever, or replay a log over somebody's payload. A ring
// allocates and frees nothing after its creation, so that these bytes are constant from then on, but for a few words; a
// hash of them in the superblock tells damage before libpmemobj meets it. Readers, who need none of this, do not ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringside {

/// hash64 of libpmemobj's constant bytes in `file`, a whole pool file whose ring begins at byte `ring_begin`
/// (docs/ring_format.md says which bytes these are). Reads nothing outside the file, whatever is in it.
std::uint64_t pmdk_metadata_hash(std::span<const std::byte> file, std::uint64_t ring_begin) noexcept;

}  // namespace ringside
