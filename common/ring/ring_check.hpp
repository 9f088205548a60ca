// SPDX-License-Identifier: BSD-3-Clause
// Checks everything a ring holds against its hashes: one of them covers each bit that the format uses. `verify`
// reports the results. The check of a slot describes the slot at one instant, whatever an analyzer does meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

/// The parts that are stored twice. If one copy is damaged, its twin is used, and the next owner of the pool mends it.
struct TwinsCheck {
  struct DamagedEntry {
    std::uint32_t index = 0;  // in the run table
    bool copy_damaged[2] = {false, false};
  };

  bool superblock_intact[2] = {true, true};
  std::vector<DamagedEntry> run_entries;

  bool superblocks_intact() const noexcept { return superblock_intact[0] && superblock_intact[1]; }
  bool intact() const noexcept { return superblocks_intact() && run_entries.empty(); }
};

/// If a run was interrupted while it wrote the second copy of its entry, that is not damage: the copy is not needed.
TwinsCheck check_twins(const RingView& ring);

struct SlotCheck {
  KeptSlot kept;
  PayloadCheck payload;
  ResultsState results = ResultsState::kNotRecorded;

  bool damaged() const noexcept { return !payload.overwritten && (!payload.intact() || results_damaged()); }
  bool results_damaged() const noexcept { return results == ResultsState::kDamaged; }
};

/// Hashes a slot's payload and its stored results. Uses all OpenMP threads.
SlotCheck check_slot(const RingView& ring, const KeptSlot& kept);

}  // namespace ringside
