// SPDX-License-Identifier: BSD-3-Clause
// Makes a ring in empty bytes. Also repairs superblocks and run table entries, which are stored twice, from their
// intact twins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analyzer/ring/persistence.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

/// slot_bytes: the bytes that one slot needs at any start address. place_slot: the slot's offset within these bytes.
/// Both use the number of slots in `shape`, but not the slots' places.
std::uint64_t slot_bytes(const RingGeometry& shape) noexcept;
SlotPlace place_slot(std::uint64_t offset, const RingGeometry& shape) noexcept;
/// The number of slots that are in one object of libpmemobj, one after the other. It is the number of slots that fill
/// the smallest object whose place is predictable. Each large slot has its own object.
std::uint32_t slots_in_object(const RingGeometry& shape) noexcept;
std::uint64_t slot_object_bytes(const RingGeometry& shape) noexcept;

/// The size of the object that the superblocks and run tables share, and their places in it. geometry: only its number
/// of slots is used, not the slots' places.
std::uint64_t root_object_bytes(const RingGeometry& geometry) noexcept;
void place_root(std::uint64_t object_offset, RingGeometry& geometry) noexcept;

/// Writes an empty ring with `geometry` into `file`. The formatted words of the superblocks are written last. Returns 0
/// or the errno value of a failed sync.
int format_ring(std::span<std::byte> file, const RingGeometry& geometry, Persistence& persistence);

/// Rewrites a superblock that is damaged. The other superblock is intact, because `view` could be made. Returns 0 or
/// the errno value of a failed sync. A second call changes nothing.
int mend_superblocks(std::span<std::byte> file, const RingView& view, Persistence& persistence);

/// Writes one copy of entry `index` of the run table. The copy is marked as invalid first and as valid last, so a crash
/// can leave only this copy incomplete. catalogue: at most as many descriptions as fit into the entry.
void write_run_entry(const WritableRing& ring, int copy, std::uint32_t index, const RunDescription& run,
                     std::span<const ResultDescription> catalogue, std::uint64_t record_seq,
                     Persistence& persistence) noexcept;

/// Rewrites each copy of a run table entry that is damaged, or that a crash left unfinished, from its valid twin.
/// Returns 0 or the errno value of a failed sync. A second call changes nothing.
int mend_run_entries(const WritableRing& ring, Persistence& persistence);

}  // namespace ringside
