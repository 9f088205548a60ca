// What the hashes say of everything a ring holds: each bit the format uses is covered by one of them. `verify` puts the
// answers into words; one slot's check is a slot's at one instant, whatever an analyzer does meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/ring/ring_recovery.hpp"
#include "analyzer/ring/ring_view.hpp"

namespace ringside {

/// What is kept twice. Where one copy is damaged its twin serves, and the next owner of the pool mends it.
struct TwinsCheck {
  struct DamagedRecord {
    std::uint32_t index = 0;  // in the run table
    bool copy_damaged[2] = {false, false};
  };

  bool superblock_intact[2] = {true, true};
  std::vector<DamagedRecord> run_records;

  bool superblocks_intact() const noexcept { return superblock_intact[0] && superblock_intact[1]; }
  bool intact() const noexcept { return superblocks_intact() && run_records.empty(); }
};

/// A run that was cut off while it wrote the second copy of its record is not damage: nobody needs that copy.
TwinsCheck check_twins(const RingView& ring);

struct SlotCheck {
  KeptSlot kept;
  PayloadCheck payload;
  ReductionsState reductions = ReductionsState::kNotRecorded;

  bool damaged() const noexcept { return !payload.overwritten && (!payload.intact() || reductions_damaged()); }
  bool reductions_damaged() const noexcept { return reductions == ReductionsState::kDamaged; }
};

/// Hashes a slot's payload and its reductions record. Uses all OpenMP threads.
SlotCheck check_slot(const RingView& ring, const KeptSlot& kept);

}  // namespace ringside
