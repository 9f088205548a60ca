// SPDX-License-Identifier: BSD-3-Clause
// The slots of a ring at one moment: which iterate each keeps, and who has it. Reads the slots' headers alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/pool_reader/ring_reader.hpp"

namespace ringside {

struct RingSlot {
  std::uint32_t slot = 0;
  SlotState state = SlotState::kEmpty;
  std::uint64_t commit_seq = 0;  // this and the iteration: where kCommitted
  std::uint64_t iteration = 0;
  std::optional<SlotUse> use;  // nothing: the file system has no leases
};

struct RingSlots {
  static constexpr std::size_t kMost = 512;  // more would not be read by a person

  std::uint32_t count = 0;      // of the ring
  std::uint32_t used = 0;       // that keep an iterate
  std::vector<RingSlot> slots;  // at most kMost: by ascending commit, the newest; then those without one
};

RingSlots slots_of(const RingReader& reader);

}  // namespace ringside
