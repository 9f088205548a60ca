// SPDX-License-Identifier: BSD-3-Clause
// The addresses where the C library makes calls whose pointers are in structures. A filter cannot read a structure, so
// it traps such a call by the address of its instruction. The trap is limited to the instructions of this process,
// because the programs that it starts inherit the filter but not the handler.
#pragma once

#include <stdint.h>

namespace ringside::memory {

struct Site {
  uint32_t number;
  uint64_t address;  // the address after the `syscall` instruction
};

class Sites {
 public:
  /// Searches the code of the C library once. Without address-space randomisation it finds nothing, because the library
  /// of a child would have the same addresses.
  void find() noexcept;
  uint32_t count() const noexcept { return count_; }
  const Site& at(uint32_t index) const noexcept { return sites_[index]; }
  void add(uint32_t number, uint64_t address) noexcept;

 private:
  static constexpr uint32_t kMost = 192;
  Site sites_[kMost] = {};
  uint32_t count_ = 0;
  bool looked_ = false, randomised_ = false;
};

extern Sites sites;

}  // namespace ringside::memory
