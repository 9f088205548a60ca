// SPDX-License-Identifier: BSD-3-Clause
// Records which addresses of the arena are allocated. A large allocation has its own whole pieces of 1 MiB. Small
// allocations share pieces and take at least a page each. The tables are flat arrays whose pages are populated on use;
// faults never read them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "memory/system/raw.hpp"

namespace ringside::memory {

struct Region {
  uint32_t page = 0, pages = 0;  // pages: the bytes of the region as pages, rounded up
  uint64_t bytes = 0;
  bool whole_pieces = false;
  explicit operator bool() const noexcept { return pages != 0; }
};

class Regions {
 public:
  long start(uint32_t pieces) noexcept;
  void stop() noexcept;

  /// Takes addresses; returns an empty region if there are none. `alignment`: a power of two.
  Region take(uint64_t bytes, uint64_t alignment) noexcept;
  void give(const Region& region) noexcept;
  /// Resizes a region of whole pieces in place; false if the next pieces are taken.
  bool resize(Region& region, uint64_t bytes) noexcept;
  /// The region that starts at a page; the region that holds a page.
  Region starting_at(uint32_t page) noexcept;
  Region holding(uint32_t page) noexcept;

 private:
  Region found(uint32_t page) const noexcept;
  uint32_t take_pieces(uint32_t count, uint32_t step) noexcept;
  Region take_shared(uint32_t pages, uint64_t bytes) noexcept;

  Lock lock_;
  uint32_t pieces_ = 0, first_free_ = 0, shared_rover_ = 0;
  uint32_t* owner_ = nullptr;    // for each piece: 0 (free), kShared, or 1 + the first piece of its region
  uint64_t* lengths_ = nullptr;  // for each page: 1 + the bytes of the region that starts there
  struct Pages {
    uint64_t taken[4];  // one bit for each page
  };
  Pages* shared_ = nullptr;
};

extern Regions regions;

}  // namespace ringside::memory
