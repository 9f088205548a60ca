// SPDX-License-Identifier: BSD-3-Clause
// What a ring holds after any crash. The writer and the readers both use this recovery, so that they cannot disagree.
// Recovery only reads: repeated, or interrupted and repeated, it gives the same result.
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
  std::vector<KeptSlot> kept;          // slots whose header verifies, by ascending commit_seq
  std::size_t contiguous = 0;          // this many of the last ones have consecutive commit_seqs
  std::vector<std::uint32_t> damaged;  // slots whose header does not verify

  std::uint64_t newest_seq() const noexcept { return kept.empty() ? 0 : kept.back().header.commit_seq; }
  std::uint64_t newest_iteration() const noexcept { return kept.empty() ? 0 : kept.back().header.iteration; }
};

/// Reads the slots' headers, not their payloads.
Recovery recover(const RingView& ring);

/// The result of checking one payload against its hashes.
struct PayloadCheck {
  bool table_intact = true;  // chunk hashes and step descriptor are those the header was written for
  std::vector<std::uint64_t>
      damaged_chunks;        // ascending, through all variables; if the table is not intact, those that differ from it
  bool overwritten = false;  // the slot took another commit meanwhile: the rest has no meaning

  bool intact() const noexcept { return table_intact && damaged_chunks.empty() && !overwritten; }
};

/// Hashes the payload that `header`, a reading of this slot, belongs to. Uses all OpenMP threads.
PayloadCheck check_payload(const RingView& ring, std::uint32_t slot, const SlotHeader& header);

/// The step of a slot, if the header confirms it: its descriptor and scalars are as good as the header. Nothing if they
/// are damaged, or the slot took another commit meanwhile. Reads no payload.
std::optional<StepWithScalars> verified_step(const RingView& ring, const KeptSlot& kept);

enum class ReadStatus {
  kOk,
  kOverwritten,  // the slot took another commit meanwhile
  kDamaged       // the payload does not verify
};

struct ReadResult {
  ReadStatus status = ReadStatus::kOk;
  std::uint64_t damaged_chunk = 0;  // the first one, where kDamaged
  StepWithScalars step;             // where kOk: as the producer published it
};

/// Copies the payload that `header`, a reading of this slot, belongs to into `out` (payload_bytes, of which those
/// between two variables are not written), and verifies the copy. `out` is only to be used if the status is kOk. Uses
/// all OpenMP threads.
ReadResult read_payload(const RingView& ring, std::uint32_t slot, const SlotHeader& header, void* out);

/// The newest kept slot whose payload verifies. Usually it reads one payload; more after a power cut on a plain file,
/// where headers may have reached the disk before their payloads did. payload: becomes a copy of it (payload_bytes),
/// made while it is verified; may be null.
std::optional<KeptSlot> newest_intact(const RingView& ring, const Recovery& recovery, void* payload = nullptr);

}  // namespace ringside
