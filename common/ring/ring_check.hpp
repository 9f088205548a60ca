// SPDX-License-Identifier: BSD-3-Clause
// Checks the whole content of a ring against its hashes, which cover each bit that the format uses. `ringside verify`
// reports the results. The check of a slot describes its state at one instant, even while an analyzer writes.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

/// The result for the parts that are stored twice. If one copy is damaged, readers use the other copy, and the next
/// owner repairs the damaged one.
struct TwinsCheck {
  struct DamagedEntry {
    std::uint32_t index = 0;  // the entry's index in the run table
    bool copy_damaged[2] = {false, false};
  };

  bool superblock_intact[2] = {true, true};
  std::vector<DamagedEntry> run_entries;

  bool superblocks_intact() const noexcept { return superblock_intact[0] && superblock_intact[1]; }
  bool intact() const noexcept { return superblocks_intact() && run_entries.empty(); }
};

/// If an interrupted run has left an unfinished second copy of an entry, this is not damage: one copy is sufficient.
TwinsCheck check_twins(const RingView& ring);

struct SlotCheck {
  KeptSlot kept;
  PayloadCheck payload;
  ResultsState results = ResultsState::kNotRecorded;

  bool damaged() const noexcept { return !payload.overwritten && (!payload.intact() || results_damaged()); }
  bool results_damaged() const noexcept { return results == ResultsState::kDamaged; }
};

/// Hashes the payload and the stored results of a slot. Uses all OpenMP threads.
SlotCheck check_slot(const RingView& ring, const KeptSlot& kept);

}  // namespace ringside
