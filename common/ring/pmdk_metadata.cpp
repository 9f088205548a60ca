// SPDX-License-Identifier: BSD-3-Clause
#include "common/ring/pmdk_metadata.hpp"

#include <algorithm>
#include <cstring>

#include "common/kernels/hash.hpp"

namespace ringside {
namespace {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Layout 6 of libpmemobj's pools (`struct pool_hdr`, `struct pmemobjpool`), written by its releases 1.8 to 2.1. The
// words between these ranges change while a pool is used:
constexpr Range kConstant[] = {
    {0, 4032},     // signature, features, uuids; not the shutdown state after them, which has its own checksum
    {4088, 6152},  // the header's checksum, the descriptor, the root; not run_id, which counts openings
    {6160, 6688},  // sizes and flags; not the pointers after them, which each process sets anew when it opens the pool
    {8192, ~std::uint64_t{0}}  // lanes (logs), heap, first zone: everything before the ring
};
constexpr std::uint64_t kHeapOffsetOffset = 5136;

// A zone is a header of 512 KiB and 65528 chunks of 256 KiB. The header of the first zone is before the ring.
constexpr std::uint64_t kHeapHeaderBytes = 1024;
constexpr std::uint64_t kZoneHeaderBytes = 512 << 10;
constexpr std::uint64_t kZoneBytes = kZoneHeaderBytes + (std::uint64_t{65528} << 18);

}  // namespace

std::uint64_t pmdk_metadata_hash(std::span<const std::byte> file, std::uint64_t ring_begin) noexcept {
  std::uint64_t hash = 0;
  const auto take = [&](Range range) {
    if (range.begin < range.end) hash = hash64(file.data() + range.begin, range.end - range.begin, hash);
  };
  for (const Range& range : kConstant) {
    take({range.begin, std::min({range.end, ring_begin, std::uint64_t{file.size()}})});
  }

  std::uint64_t heap_offset = 0;
  if (file.size() < kHeapOffsetOffset + sizeof(heap_offset)) return hash;
  std::memcpy(&heap_offset, file.data() + kHeapOffsetOffset, sizeof(heap_offset));
  if (heap_offset > file.size()) return hash;  // a damaged file, whose hash already differs
  for (std::uint64_t zone = heap_offset + kHeapHeaderBytes + kZoneBytes; zone < file.size(); zone += kZoneBytes) {
    take({zone, std::min(zone + kZoneHeaderBytes, std::uint64_t{file.size()})});
  }
  return hash;
}

}  // namespace ringside
