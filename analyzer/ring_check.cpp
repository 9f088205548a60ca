#include "analyzer/ring_check.hpp"

#include <cstddef>
#include <cstring>

namespace ringside {
namespace {

/// A copy whose record_seq alone was lost: everything else is what its valid twin says.
bool lost_its_sequence_number(const RecordReading& copy, const RecordReading& twin) {
  return copy.state == RecordState::kEmpty && twin.state == RecordState::kValid &&
         std::memcmp(&copy.record, &twin.record, offsetof(RunRecord, record_seq)) == 0;
}

}  // namespace

TwinsCheck check_twins(const RingView& ring) {
  TwinsCheck check;
  for (int copy : {0, 1}) check.superblock_intact[copy] = ring.superblock_intact(copy);
  for (std::uint32_t index = 0; index < ring.geometry().run_records(); ++index) {
    const RecordReading copies[2] = {ring.run_record_copy(0, index), ring.run_record_copy(1, index)};
    TwinsCheck::DamagedRecord record{index, {}};
    for (int copy : {0, 1}) {
      record.copy_damaged[copy] =
          copies[copy].state == RecordState::kDamaged || lost_its_sequence_number(copies[copy], copies[1 - copy]);
    }
    if (record.copy_damaged[0] || record.copy_damaged[1]) check.run_records.push_back(record);
  }
  return check;
}

SlotCheck check_slot(const RingView& ring, const KeptSlot& kept) {
  Reductions ignored;
  return {kept, check_payload(ring, kept.slot, kept.header), ring.reductions(kept.slot, kept.header, ignored)};
}

}  // namespace ringside
