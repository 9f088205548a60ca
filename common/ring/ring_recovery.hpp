// SPDX-License-Identifier: BSD-3-Clause
// Determines the content of a ring after any crash. The writer and the readers use this recovery, so their results
// agree. Recovery only reads, so that it gives the same result if it is repeated, even after an interruption.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/ring/ring_view.hpp"

namespace ringside {

struct KeptSlot {
  std::uint32_t slot = 0;
  SlotHeader header;
};

struct Recovery {
  std::vector<KeptSlot> kept;          // the slots whose header verifies, by ascending commit_seq
  std::size_t contiguous = 0;          // how many of the last kept slots have consecutive commit_seqs
  std::vector<std::uint32_t> damaged;  // the slots whose header does not verify

  std::uint64_t newest_seq() const noexcept { return kept.empty() ? 0 : kept.back().header.commit_seq; }
  std::uint64_t newest_iteration() const noexcept { return kept.empty() ? 0 : kept.back().header.iteration; }
};

/// Reads only the slots' headers, not their payloads.
Recovery recover(const RingView& ring);

/// The result of checking one payload against its hashes.
struct PayloadCheck {
  bool table_intact = true;  // whether the header confirms the chunk hashes and the step descriptor
  std::vector<std::uint64_t>
      damaged_chunks;        // chunks that differ from the table, even if it is damaged; ascending, over all variables
  bool overwritten = false;  // whether the slot received another commit: then the other members have no meaning

  bool intact() const noexcept { return table_intact && damaged_chunks.empty() && !overwritten; }
};

/// Hashes the payload that belongs to `header`, an earlier reading of this slot. Uses all OpenMP threads.
PayloadCheck check_payload(const RingView& ring, std::uint32_t slot, const SlotHeader& header);

/// The step of a slot, if the header confirms its descriptor and scalars. Returns nothing if these are damaged, or if
/// the slot received another commit meanwhile. Reads no payload.
std::optional<StepWithScalars> verified_step(const RingView& ring, const KeptSlot& kept);

enum class ReadStatus {
  kOk,
  kOverwritten,  // the slot received another commit meanwhile
  kDamaged       // the payload does not verify
};

struct ReadResult {
  ReadStatus status = ReadStatus::kOk;
  std::uint64_t damaged_chunk = 0;  // for kDamaged: the first damaged chunk
  StepWithScalars step;             // for kOk: the step as the producer published it
};

/// Copies the payload that belongs to `header`, an earlier reading of this slot, into `out`, and verifies the copy.
/// out: has room for payload_bytes; the bytes between two variables are not written. Use the copy only if the status is
/// kOk. Uses all OpenMP threads.
ReadResult read_payload(const RingView& ring, std::uint32_t slot, const SlotHeader& header, void* out);

/// The newest kept slot whose payload verifies. Usually, only one payload is read. Several payloads may be read after a
/// power loss on a plain file, where headers may reach the disk before their payloads. payload: receives the verified
/// copy (payload_bytes); may be null.
std::optional<KeptSlot> newest_intact(const RingView& ring, const Recovery& recovery, void* payload = nullptr);

}  // namespace ringside
