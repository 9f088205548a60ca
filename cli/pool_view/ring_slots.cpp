// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool_view/ring_slots.hpp"

#include <algorithm>

namespace ringside {

RingSlots slots_of(const RingReader& reader) {
  RingSlots found;
  found.count = reader.ring().geometry().slot_count();
  for (std::uint32_t slot = 0; slot < found.count; ++slot) {
    const SlotReading reading = reader.ring().slot(slot);
    RingSlot& one = found.slots.emplace_back(RingSlot{.slot = slot, .state = reading.state, .use = std::nullopt});
    if (reading.state != SlotState::kCommitted) continue;
    one.commit_seq = reading.header.commit_seq;
    one.iteration = reading.header.iteration;
    ++found.used;
  }
  std::stable_sort(found.slots.begin(), found.slots.end(), [](const RingSlot& a, const RingSlot& b) {
    const auto rank = [](const RingSlot& s) { return s.commit_seq == 0 ? ~std::uint64_t{0} : s.commit_seq; };
    return rank(a) < rank(b);
  });
  if (found.slots.size() > RingSlots::kMost) {
    const std::size_t too_old = found.used > RingSlots::kMost ? found.used - RingSlots::kMost : 0;
    found.slots.erase(found.slots.begin(), found.slots.begin() + static_cast<std::ptrdiff_t>(too_old));
    found.slots.resize(RingSlots::kMost);
  }
  for (RingSlot& one : found.slots) one.use = reader.use(one.slot);
  return found;
}

}  // namespace ringside
