// SPDX-License-Identifier: BSD-3-Clause
// What a piece of 1 MiB remembers of what its granules saved and cost: one signed byte for each question.
#pragma once

#include <stdint.h>

#include <atomic>

namespace ringside::memory {

/// Two threads may add at once: one of the changes is lost then, and the next ones make up for it.
inline void add_to_balance(std::atomic<int8_t>& balance, int change, int most) noexcept {
  const int now = balance.load(std::memory_order_relaxed) + change;
  balance.store(static_cast<int8_t>(now < -most ? -most : now > most ? most : now), std::memory_order_relaxed);
}

}  // namespace ringside::memory
