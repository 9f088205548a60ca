// SPDX-License-Identifier: BSD-3-Clause
#include "common/ring/ring_recovery.hpp"

#include <algorithm>
#include <cstring>

namespace ringside {

Recovery recover(const RingView& ring) {
  Recovery recovery;
  for (std::uint32_t slot = 0; slot < ring.geometry().slot_count(); ++slot) {
    const SlotReading reading = ring.slot(slot);
    if (reading.state == SlotState::kCommitted) recovery.kept.push_back({slot, reading.header});
    if (reading.state == SlotState::kDamagedHeader) recovery.damaged.push_back(slot);
  }
  auto& kept = recovery.kept;
  std::stable_sort(kept.begin(), kept.end(),
                   [](const KeptSlot& a, const KeptSlot& b) { return a.header.commit_seq < b.header.commit_seq; });
  for (std::size_t i = kept.size(); i > 0; --i) {
    if (i < kept.size() && kept[i - 1].header.commit_seq + 1 != kept[i].header.commit_seq) break;
    ++recovery.contiguous;
  }
  return recovery;
}

PayloadCheck check_payload(const RingView& ring, std::uint32_t slot, const SlotHeader& header) {
  const RingGeometry& geometry = ring.geometry();
  const std::byte* payload = ring.payload(slot);
  const std::uint64_t chunks = geometry.chunk_count();
  const std::vector<std::uint64_t> expected(ring.chunk_hashes(slot).begin(), ring.chunk_hashes(slot).end());
  const StepWithScalars step = ring.step(slot);
  std::vector<char> differs(chunks, 0);

#pragma omp parallel for schedule(static)
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const PayloadParts::Part part = geometry.chunks[chunk];
    differs[chunk] = hash64(payload + part.offset, part.bytes) != expected[chunk];
  }

  PayloadCheck check;
  check.table_intact = payload_hash(expected, step, geometry.step_bytes()) == header.payload_hash;
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    if (differs[chunk]) check.damaged_chunks.push_back(chunk);
  }
  check.overwritten = !ring.still_holds(slot, header);
  return check;
}

std::optional<StepWithScalars> verified_step(const RingView& ring, const KeptSlot& kept) {
  const std::vector<std::uint64_t> chunk_hashes(ring.chunk_hashes(kept.slot).begin(),
                                                ring.chunk_hashes(kept.slot).end());
  const StepWithScalars step = ring.step(kept.slot);
  const bool confirmed = payload_hash(chunk_hashes, step, ring.geometry().step_bytes()) == kept.header.payload_hash;
  return confirmed && ring.still_holds(kept.slot, kept.header) ? std::optional(step) : std::nullopt;
}

ReadResult read_payload(const RingView& ring, std::uint32_t slot, const SlotHeader& header, void* out) {
  const RingGeometry& geometry = ring.geometry();
  const std::byte* from = ring.payload(slot);
  auto* to = static_cast<std::byte*>(out);
  const std::uint64_t chunks = geometry.chunk_count();
  const std::vector<std::uint64_t> expected(ring.chunk_hashes(slot).begin(), ring.chunk_hashes(slot).end());
  const StepWithScalars step = ring.step(slot);
  std::uint64_t first_damaged = chunks;

  // Hash the copy, not the slot, so that exactly the returned bytes are verified.
#pragma omp parallel for schedule(static) reduction(min : first_damaged)
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const PayloadParts::Part part = geometry.chunks[chunk];
    std::memcpy(to + part.offset, from + part.offset, part.bytes);
    if (hash64(to + part.offset, part.bytes) != expected[chunk] && chunk < first_damaged) first_damaged = chunk;
  }

  const bool table_intact = payload_hash(expected, step, geometry.step_bytes()) == header.payload_hash;
  if (!ring.still_holds(slot, header)) return {ReadStatus::kOverwritten, 0, {}};
  if (first_damaged < chunks) return {ReadStatus::kDamaged, first_damaged, {}};
  // Every chunk matches the table, but the table does not belong to the header: a power loss can leave an older payload
  // with its own table in a plain file. The commit of this header includes neither that payload nor that table.
  if (!table_intact) return {ReadStatus::kDamaged, 0, {}};
  return {ReadStatus::kOk, 0, step};
}

std::optional<KeptSlot> newest_intact(const RingView& ring, const Recovery& recovery, void* payload) {
  for (auto kept = recovery.kept.rbegin(); kept != recovery.kept.rend(); ++kept) {
    const bool intact = payload != nullptr
                            ? read_payload(ring, kept->slot, kept->header, payload).status == ReadStatus::kOk
                            : check_payload(ring, kept->slot, kept->header).intact();
    if (intact) return *kept;
  }
  return std::nullopt;
}

}  // namespace ringside
