// SPDX-License-Identifier: BSD-3-Clause
// What a kept iterate survives: the values of `--durability`, shared by the options and the ring.
#pragma once

#include <string_view>

namespace ringside {

enum class Durability {
  kPower,   // persisted steps survive power loss
  kProcess  // commits survive the death of any process, not power loss; nothing counts as persisted
};

constexpr std::string_view to_string(Durability durability) noexcept {
  return durability == Durability::kPower ? "power" : "process";
}

}  // namespace ringside
