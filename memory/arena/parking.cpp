// SPDX-License-Identifier: BSD-3-Clause
#include "memory/arena/parking.hpp"

#include <errno.h>

namespace ringside::memory {

constinit Parking parking;

namespace {

constexpr uint32_t kWordsLookedAt = 32;  // limits the time: the search ends after so many words if it has found a run

/// Finds the longest run of zero bits, but at most `wanted` bits: returns its length, and sets `first` to its first
/// bit.
uint32_t longest_run(uint64_t taken, uint32_t wanted, uint32_t* first) {
  uint32_t best = 0;
  for (uint32_t bit = 0; bit < 64 && best < wanted;) {
    const uint64_t rest = taken >> bit;
    const uint32_t run = rest == 0 ? 64 - bit : static_cast<uint32_t>(__builtin_ctzll(rest));
    if (run > best) {
      best = run;
      *first = bit;
    }
    bit += run;
    if (bit < 64) {
      const uint64_t inverse = ~(taken >> bit);
      bit += inverse == 0 ? 64 - bit : static_cast<uint32_t>(__builtin_ctzll(inverse));
    }
  }
  return best < wanted ? best : wanted;
}

}  // namespace

long Parking::start(const UserFault& userfault, uint64_t bytes, uint32_t partitions) noexcept {
  partitions_ = partitions;
  const uint64_t unit = uint64_t{64} * partitions << (kPageShift + kKinds - 1);  // whole words for every granule size
  bytes_ = (bytes + unit - 1) / unit * unit;
  bitmap_bytes_ = bytes_ >> kPageShift >> 3;
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    Kind& here = kinds_[kind];
    here.base = static_cast<char*>(map_table(bytes_));
    here.taken = static_cast<std::atomic<uint64_t>*>(map_table(bitmap_bytes_ >> kind));
    here.sections = static_cast<Section*>(map_table(sizeof(Section) * partitions));
    if (here.base == nullptr || here.taken == nullptr || here.sections == nullptr) return -ENOMEM;
    here.words = static_cast<uint32_t>((bytes_ >> (kPageShift + kind)) / 64 / partitions);
    for (uint32_t partition = 0; partition < partitions; ++partition) {
      here.sections[partition].used = here.words < 8 ? here.words : 8;
    }
    keep_movable(here.base, bytes_);
    divide(here.base, bytes_, bytes_ / partitions);
    if (!userfault.moves) continue;  // without MOVE, no page enters a slot
    const long result = userfault.watch(here.base, bytes_);
    if (result < 0) return result;
  }
  return 0;
}

void Parking::stop() noexcept {
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    unmap_table(kinds_[kind].base, bytes_);
    unmap_table(kinds_[kind].taken, bitmap_bytes_ >> kind);
    unmap_table(kinds_[kind].sections, sizeof(Section) * partitions_);
    kinds_[kind] = {};
  }
}

void Parking::forget() noexcept {
  for (uint32_t kind = 0; kind < kKinds; ++kind) kinds_[kind].base = nullptr;
  stop();
}

uint32_t Parking::take(uint32_t kind, uint32_t partition, uint32_t wanted, uint32_t* taken) noexcept {
  Kind& here = kinds_[kind];
  for (uint32_t offset = 0;; ++offset) {
    if (offset == partitions_) offset = 0;  // a slot will become free, because there are twice as many slots as pages
    const uint32_t which = (partition + offset) % partitions_;
    Section& section = here.sections[which];
    const Held held(section.lock);
    uint32_t best = 0, best_word = 0, best_bit = 0;
    for (uint32_t looked = 0; best < wanted; ++looked) {
      if (looked >= kWordsLookedAt && best > 0) break;
      if (looked >= section.used) {
        if (section.used == here.words) break;
        section.rover = section.used;
        const uint32_t more = section.used + section.used / 4 + 1;
        section.used = more < here.words ? more : here.words;
        looked = 0;
      }
      if (section.rover >= section.used) section.rover = 0;
      const uint32_t word = which * here.words + section.rover++;
      uint32_t bit = 0;
      const uint32_t run = longest_run(here.taken[word].load(std::memory_order_acquire), wanted, &bit);
      if (run > best) {
        best = run;
        best_word = word;
        best_bit = bit;
      }
    }
    if (best == 0) continue;
    if (section.rover > 0 && best_word == which * here.words + section.rover - 1) --section.rover;  // it may have more
    const uint64_t mask = (best == 64 ? ~uint64_t{0} : (uint64_t{1} << best) - 1) << best_bit;
    here.taken[best_word].fetch_or(mask, std::memory_order_relaxed);
    *taken = best;
    return best_word * 64 + best_bit;
  }
}

void Parking::give(uint32_t kind, uint32_t slot) noexcept {
  kinds_[kind].taken[slot / 64].fetch_and(~(uint64_t{1} << (slot % 64)), std::memory_order_release);
}

void Parking::drop_pages(uint32_t kind, uint32_t slot, uint32_t count) const noexcept {
  drop_range(address(kind, slot), static_cast<size_t>(count) << (kPageShift + kind));
}

}  // namespace ringside::memory
