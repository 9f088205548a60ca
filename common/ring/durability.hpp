// SPDX-License-Identifier: BSD-3-Clause
// The values of `--durability`: what a kept iterate survives. The options and the ring share them.
#pragma once

#include <string_view>

namespace ringside {

enum class Durability {
  kPower,   // persisted steps survive power loss
  kProcess  // commits survive the death of any process, but not power loss; no step counts as persisted
};

constexpr std::string_view to_string(Durability durability) noexcept {
  return durability == Durability::kPower ? "power" : "process";
}

}  // namespace ringside
