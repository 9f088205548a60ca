// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/ring_recovery.hpp"

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
  const std::uint64_t chunks = geometry.chunk_count();
  const auto* payload = reinterpret_cast<const std::byte*>(ring.payload(slot));
  const std::vector<std::uint64_t> expected(ring.chunk_hashes(slot), ring.chunk_hashes(slot) + chunks);
  const StepDescriptor step = ring.step(slot);
  std::vector<char> differs(chunks, 0);

#pragma omp parallel for schedule(static)
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint64_t hash = hash64(payload + chunk * geometry.chunk_bytes, geometry.chunk_size(chunk));
    differs[chunk] = hash != expected[chunk];
  }

  PayloadCheck check;
  check.table_intact = payload_hash(expected.data(), chunks, step) == header.payload_hash;
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    if (differs[chunk]) check.damaged_chunks.push_back(chunk);
  }
  check.overwritten = !ring.still_holds(slot, header);
  return check;
}

ReadResult read_payload(const RingView& ring, std::uint32_t slot, const SlotHeader& header, double* out) {
  const RingGeometry& geometry = ring.geometry();
  const std::uint64_t chunks = geometry.chunk_count();
  const auto* from = reinterpret_cast<const std::byte*>(ring.payload(slot));
  auto* to = reinterpret_cast<std::byte*>(out);
  const std::vector<std::uint64_t> expected(ring.chunk_hashes(slot), ring.chunk_hashes(slot) + chunks);
  const StepDescriptor step = ring.step(slot);
  std::uint64_t first_damaged = chunks;

  // The copy is hashed, not the slot: the bytes returned are the bytes verified.
#pragma omp parallel for schedule(static) reduction(min : first_damaged)
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint64_t offset = chunk * geometry.chunk_bytes;
    const std::uint64_t bytes = geometry.chunk_size(chunk);
    std::memcpy(to + offset, from + offset, bytes);
    if (hash64(to + offset, bytes) != expected[chunk] && chunk < first_damaged) first_damaged = chunk;
  }

  const bool table_intact = payload_hash(expected.data(), chunks, step) == header.payload_hash;
  if (!ring.still_holds(slot, header)) return {ReadStatus::kOverwritten, 0, {}};
  if (first_damaged < chunks) return {ReadStatus::kDamaged, first_damaged, {}};
  // Every chunk agrees with a table that is not the header's: an older payload with its own table, which a power cut
  // can leave in a plain file. None of it was committed under this header.
  if (!table_intact) return {ReadStatus::kDamaged, 0, {}};
  return {ReadStatus::kOk, 0, step};
}

std::optional<KeptSlot> newest_intact(const RingView& ring, const Recovery& recovery, double* payload) {
  for (auto kept = recovery.kept.rbegin(); kept != recovery.kept.rend(); ++kept) {
    const bool intact = payload != nullptr
                            ? read_payload(ring, kept->slot, kept->header, payload).status == ReadStatus::kOk
                            : check_payload(ring, kept->slot, kept->header).intact();
    if (intact) return *kept;
  }
  return std::nullopt;
}

}  // namespace ringside
