// SPDX-License-Identifier: BSD-3-Clause
// Shared by the parts of the interface: whether the arena is started, and the work on the granules of a range.
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/arena/regions.hpp"
#include "memory/arena/userfault.hpp"

namespace ringside::memory {

struct Core {
  UserFault userfault;
  uint32_t granule_kind = 0;
  uint64_t far_limit = 0;
  std::atomic<uint64_t> far_bytes{0}, far_peak_bytes{0};
  /// In memory that fork(2) wipes: a child has no arena.
  std::atomic<uint32_t>* started = nullptr;

  bool ready() const noexcept { return started != nullptr && started->load(std::memory_order_acquire) != 0; }
};

extern Core core;

/// 0; before start, -1, and keeps the failure "FUNCTION: the arena is not started".
int need_start(const char* function) noexcept;

enum class Expel { kForget, kClear, kKeep };
/// Takes a range of granules out of DRAM. kForget: their words become free. kClear: they read as zeros afterwards.
/// kKeep: pinned ones stay; returns false if there are any.
bool expel(uint32_t page, uint32_t pages, uint32_t kind, Expel how) noexcept;
/// Writes the changed granules of a range; they stay where they are.
void write_back(uint32_t page, uint32_t pages, uint32_t kind) noexcept;

}  // namespace ringside::memory
