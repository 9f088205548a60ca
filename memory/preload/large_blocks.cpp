// SPDX-License-Identifier: BSD-3-Clause
#include "memory/preload/large_blocks.hpp"

#include <atomic>

#include "memory/arena/granule_table.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {
namespace {

using BitWord = std::atomic<uint64_t>;

constinit Lock one_at_a_time;
constinit std::atomic<BitWord*> bits{nullptr};

uint64_t bitmap_bytes() {
  return ((table.bytes() >> kPageShift) + 63) / 64 * sizeof(BitWord);
}
uint64_t mask_of(uint32_t page) {
  return uint64_t{1} << (page % 64);
}

/// Call it behind the gate.
BitWord* made_bits() {
  const Held held(one_at_a_time);
  BitWord* made = bits.load();
  if (made == nullptr) {
    made = static_cast<BitWord*>(map_table(bitmap_bytes()));
    bits.store(made);
  }
  return made;
}

}  // namespace

bool add_large_block(const void* memory) noexcept {
  BitWord* words = bits.load();
  if (words == nullptr) words = made_bits();
  if (words == nullptr) return false;
  const uint32_t page = table.page_of(memory);
  words[page / 64].fetch_or(mask_of(page));
  return true;
}

void remove_large_block(const void* memory) noexcept {
  BitWord* const words = bits.load();
  const uint32_t page = table.page_of(memory);
  if (words != nullptr) words[page / 64].fetch_and(~mask_of(page));
}

bool is_large_block(const void* memory) noexcept {
  if (!table.owns(memory) || (reinterpret_cast<uintptr_t>(memory) & (kPage - 1)) != 0) return false;
  const BitWord* const words = bits.load();
  const uint32_t page = table.page_of(memory);
  return words != nullptr && (words[page / 64].load() & mask_of(page)) != 0;
}

}  // namespace ringside::memory
