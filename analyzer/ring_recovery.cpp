#include "analyzer/ring_recovery.hpp"

#include <algorithm>

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

std::optional<KeptSlot> newest_intact(const RingView& ring, const Recovery& recovery) {
  for (auto kept = recovery.kept.rbegin(); kept != recovery.kept.rend(); ++kept) {
    if (check_payload(ring, kept->slot, kept->header).intact()) return *kept;
  }
  return std::nullopt;
}

}  // namespace ringside
