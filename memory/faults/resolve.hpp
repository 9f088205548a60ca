// SPDX-License-Identifier: BSD-3-Clause
// What happens at a fault, wherever it is resolved: the granule of an address becomes accessible.
#pragma once

#include <stdint.h>

#include "memory/arena/granule_word.hpp"
#include "memory/arena/userfault.hpp"
#include "memory/replacement/page_supply.hpp"

namespace ringside::memory {

class Run;

class Resolve {
 public:
  /// 0 or -errno.
  long start(const UserFault& userfault, bool read_ahead) noexcept;
  void stop() noexcept;
  bool reads_ahead() const noexcept { return ahead_; }

  /// Makes the page accessible for a load, or for a store too. false: it is not allocated.
  bool page(uint32_t page, bool store) noexcept;
  /// The same, and one more pin. `changes`: the kernel is going to store into it. 0 or -errno.
  long pin(uint32_t page, bool changes) noexcept;
  void unpin(uint32_t page) noexcept;
  /// The first page of the granule that holds a page, and its kind; false: there is no allocation. Waits while the
  /// granule size changes.
  static bool granule_of(uint32_t page, uint32_t* granule, uint32_t* kind) noexcept;

 private:
  void load(uint32_t granule, uint32_t kind, Word seen, bool store) noexcept;
  /// Puts neighbours in; whether they are write-protected, and so known to be unchanged.
  bool fill(uint32_t granule, uint32_t kind, bool zero, const Page* pages, uint32_t count, bool protect) noexcept;
  void read_blocks_ahead(uint32_t granule, const Run& run) const noexcept;
  void come_back(uint32_t granule, uint32_t kind, Word seen, bool store) noexcept;
  void allow_stores(uint32_t granule, uint32_t kind, Word seen) noexcept;
  /// The same, and write-protected: whether it is, and so equals what was in the slot.
  bool move_in_protected(char* to, char* slot, size_t bytes) noexcept;
  char* take_bounce() noexcept;
  void give_bounce(char* buffer) noexcept;

  const UserFault* userfault_ = nullptr;
  bool ahead_ = true;
  char* zeros_ = nullptr;  // 1 MiB that stays the kernel's zero page
  char* bounces_ = nullptr;
  std::atomic<uint32_t> bounces_taken_{0};
};

extern Resolve resolve;

}  // namespace ringside::memory
