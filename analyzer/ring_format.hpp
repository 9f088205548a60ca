// Makes a ring out of empty bytes, and a damaged superblock out of its twin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analyzer/persistence.hpp"
#include "analyzer/ring_view.hpp"

namespace ringside {

/// Bytes one slot needs wherever it may begin, and its place within an object of that many bytes at `object_offset`.
/// shape: rows and chunk_bytes.
std::uint64_t slot_object_bytes(const RingGeometry& shape) noexcept;
SlotPlace place_slot(std::uint64_t object_offset, const RingGeometry& shape) noexcept;

/// The same for the superblocks and run tables, which share one object.
std::uint64_t root_object_bytes(std::uint32_t slots) noexcept;
void place_root(std::uint64_t object_offset, std::uint32_t slots, RingGeometry& geometry) noexcept;

/// Writes an empty ring into `file`, which `geometry` describes; the formatted word last. Returns 0 or the errno value
/// of a failed sync.
int format_ring(std::span<std::byte> file, const RingGeometry& geometry, Persistence& persistence);

/// Writes a superblock that fails its hash again; the other one is intact, or there would be no view. Returns 0 or the
/// errno value of a failed sync. Done again, it changes nothing.
int mend_superblocks(std::span<std::byte> file, const RingView& view, Persistence& persistence);

}  // namespace ringside
