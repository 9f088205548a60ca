// SPDX-License-Identifier: BSD-3-Clause
// The balance of savings and costs of a piece of 1 MiB's granules: one signed byte for each decision.
#pragma once

#include <stdint.h>

#include <atomic>

namespace ringside::memory {

/// If two threads add at once, one change is lost; later changes make up for it.
inline void add_to_balance(std::atomic<int8_t>& balance, int change, int most) noexcept {
  const int now = balance.load(std::memory_order_relaxed) + change;
  balance.store(static_cast<int8_t>(now < -most ? -most : now > most ? most : now), std::memory_order_relaxed);
}

}  // namespace ringside::memory
