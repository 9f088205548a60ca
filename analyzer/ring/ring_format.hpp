// Makes a ring out of empty bytes, and what is kept twice, superblocks and run records, out of its intact twin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analyzer/ring/persistence.hpp"
#include "analyzer/ring/ring_view.hpp"

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

/// Writes a superblock that is not intact again; the other one is, or there would be no view. Returns 0 or the errno
/// value of a failed sync. Done again, it changes nothing.
int mend_superblocks(std::span<std::byte> file, const RingView& view, Persistence& persistence);

/// Writes one copy of a run record: invalid first, valid last. A crash tears this copy only.
void write_run_record(RunRecord* to, const RunRecord& record, Persistence& persistence) noexcept;

/// Writes each copy of a run record that is damaged, or was left behind by a crash, again from its valid twin. Returns
/// 0 or the errno value of a failed sync. Done again, it changes nothing.
int mend_run_records(const WritableRing& ring, Persistence& persistence);

}  // namespace ringside
