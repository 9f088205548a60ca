// SPDX-License-Identifier: BSD-3-Clause
// Makes a ring out of empty bytes, and mends superblocks and run table entries, which are stored twice, from their
// intact twins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analyzer/ring/persistence.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

/// Bytes that one slot needs wherever they begin, and its place within them. The places in `shape` are not read, the number of
/// its slots is.
std::uint64_t slot_bytes(const RingGeometry& shape) noexcept;
SlotPlace place_slot(std::uint64_t offset, const RingGeometry& shape) noexcept;
/// An object of libpmemobj holds as many slots as fill the smallest one whose place is predictable, one after the other; large
/// slots have an object each.
std::uint32_t slots_in_object(const RingGeometry& shape) noexcept;
std::uint64_t slot_object_bytes(const RingGeometry& shape) noexcept;

/// The same for the superblocks and run tables, which share one object.
/// geometry: its number of slots is read, not their places.
std::uint64_t root_object_bytes(const RingGeometry& geometry) noexcept;
void place_root(std::uint64_t object_offset, RingGeometry& geometry) noexcept;

/// Writes an empty ring, which `geometry` describes, into `file`; the formatted word last. Returns 0 or the errno
/// value of a failed sync.
int format_ring(std::span<std::byte> file, const RingGeometry& geometry, Persistence& persistence);

/// Rewrites a superblock that is not intact; the other one is intact, or there would be no view. Returns 0 or the
/// errno value of a failed sync. A second call changes nothing.
int mend_superblocks(std::span<std::byte> file, const RingView& view, Persistence& persistence);

/// Writes one copy of entry `index` of the run table: invalid first, valid last. A crash tears this copy only.
/// catalogue: at most as many descriptions as the entry has room for.
void write_run_entry(const WritableRing& ring, int copy, std::uint32_t index, const RunDescription& run,
                     std::span<const ResultDescription> catalogue, std::uint64_t record_seq,
                     Persistence& persistence) noexcept;

/// Rewrites, from its valid twin, each copy of a run table entry that is damaged or was left behind by a crash. Returns
/// 0 or the errno value of a failed sync. A second call changes nothing.
int mend_run_entries(const WritableRing& ring, Persistence& persistence);

}  // namespace ringside
