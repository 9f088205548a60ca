// SPDX-License-Identifier: BSD-3-Clause
// Resolves a fault: makes the granule of an address accessible. Any thread may do this.
#pragma once

#include <stdint.h>

#include "memory/arena/geometry.hpp"
#include "memory/arena/userfault.hpp"
#include "memory/replacement/page_supply.hpp"

namespace ringside::memory {

class Run;

class Resolve {
 public:
  /// Returns 0 or -errno.
  long start(const UserFault& userfault, bool read_ahead) noexcept;
  void stop() noexcept;

  /// Makes the page accessible for loads, and with `store` for stores. Returns false if the page is not allocated.
  bool page(uint32_t page, bool store) noexcept;
  /// Makes the page accessible, as `page` does, and adds a pin. `changes`: the kernel will store into the page. Returns
  /// 0 or -errno.
  long pin(uint32_t page, bool changes) noexcept;
  /// Pins the granules from `page` to `last`. `page` becomes the first page that is not pinned. Returns 0 or -errno.
  long pin_range(uint32_t* page, uint32_t last, bool changes) noexcept;
  /// Removes one pin from each granule. Skips pieces in which nothing was ever allocated.
  void unpin_range(uint32_t page, uint32_t last) noexcept;
  /// Finds the first page of the granule that holds a page, and the granule's kind. Returns false if the page is not
  /// allocated. Waits while the granule size changes.
  static bool granule_of(uint32_t page, uint32_t* granule, uint32_t* kind) noexcept;

 private:
  void unpin(uint32_t page) noexcept;
  void load(uint32_t granule, uint32_t kind, Word seen, bool store) noexcept;
  /// Maps neighbouring granules with their content. Returns whether they are write-protected and therefore unchanged.
  bool fill(uint32_t granule, uint32_t kind, bool zero, const Page* pages, uint32_t count, bool protect) noexcept;
  void read_blocks_ahead(uint32_t granule, const Run& run) const noexcept;
  void come_back(uint32_t granule, uint32_t kind, Word seen, bool store) noexcept;
  void allow_stores(uint32_t granule, uint32_t kind, Word seen) noexcept;
  /// Moves a slot in, write-protected. Returns whether the page is protected and therefore equals the slot's earlier
  /// content.
  bool move_in_protected(char* to, char* slot, size_t bytes) noexcept;
  char* take_bounce() noexcept;
  void give_bounce(char* buffer) noexcept;

  const UserFault* userfault_ = nullptr;
  char* zeros_ = nullptr;  // 1 MiB that stays mapped to the kernel's zero page
  char* bounces_ = nullptr;
  std::atomic<uint32_t> bounces_taken_{0};
};

extern Resolve resolve;

}  // namespace ringside::memory
