// SPDX-License-Identifier: BSD-3-Clause
#include "common/ring/ring_check.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>

namespace ringside {
namespace {

/// Whether the copy lacks only its record_seq and otherwise equals its valid twin.
bool lost_its_sequence_number(const EntryReading& copy, const EntryReading& twin) {
  return copy.state == EntryState::kEmpty && twin.state == EntryState::kValid && copy.tail.hash == twin.tail.hash &&
         std::memcmp(&copy.run, &twin.run, sizeof(copy.run)) == 0 &&
         std::ranges::equal(std::as_bytes(std::span(copy.catalogue)), std::as_bytes(std::span(twin.catalogue)));
}

/// A copy without its number may be damaged, or its writer may be between the last two stores. Therefore this function
/// reads the copy a few times, with pauses.
TwinsCheck::DamagedEntry check_entry(const RingView& ring, std::uint32_t index) {
  constexpr int kLooks = 4;
  constexpr std::chrono::milliseconds kBetweenLooks{5};
  for (int look = 1;; ++look) {
    const EntryReading copies[2] = {ring.run_entry_copy(0, index), ring.run_entry_copy(1, index)};
    TwinsCheck::DamagedEntry entry{index, {}};
    bool lost_number = false;
    for (int copy : {0, 1}) {
      const bool lost = lost_its_sequence_number(copies[copy], copies[1 - copy]);
      entry.copy_damaged[copy] = lost || copies[copy].state == EntryState::kDamaged;
      lost_number = lost_number || lost;
    }
    if (!lost_number || look == kLooks) return entry;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace

TwinsCheck check_twins(const RingView& ring) {
  TwinsCheck check;
  for (int copy : {0, 1}) check.superblock_intact[copy] = ring.superblock_intact(copy);
  for (std::uint32_t index = 0; index < ring.geometry().run_entries(); ++index) {
    const TwinsCheck::DamagedEntry entry = check_entry(ring, index);
    if (entry.copy_damaged[0] || entry.copy_damaged[1]) check.run_entries.push_back(entry);
  }
  return check;
}

SlotCheck check_slot(const RingView& ring, const KeptSlot& kept) {
  SlotResults ignored;
  return {kept, check_payload(ring, kept.slot, kept.header), ring.results(kept.slot, kept.header, ignored)};
}

}  // namespace ringside
