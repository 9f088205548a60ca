// SPDX-License-Identifier: BSD-3-Clause
// Where the C library makes the calls whose pointers lie in structures. A filter cannot look into a structure, so such
// a call is trapped wherever it is made from; and since programs that are started later inherit the filter but not the
// handler, "wherever" is narrowed to the very instructions in this process.
#pragma once

#include <stdint.h>

namespace ringside::memory {

struct Site {
  uint32_t number;
  uint64_t address;  // behind the instruction
};

class Sites {
 public:
  /// Looks through the code of the C library, once. Finds nothing without address-space randomisation: a child's
  /// library would lie at the same address.
  void find() noexcept;
  uint32_t count() const noexcept { return count_; }
  const Site& at(uint32_t index) const noexcept { return sites_[index]; }
  bool randomised() const noexcept { return randomised_; }
  void add(uint32_t number, uint64_t address) noexcept;

 private:
  static constexpr uint32_t kMost = 192;
  Site sites_[kMost] = {};
  uint32_t count_ = 0;
  bool looked_ = false, randomised_ = false;
};

extern Sites sites;

}  // namespace ringside::memory
