// SPDX-License-Identifier: BSD-3-Clause
// The scenarios that are cut off at every moment. Each scenario runs once, with the real writer, and a trace records
// its stores.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/ring/ring_geometry.hpp"
#include "tests/crash/images/trace.hpp"
#include "tests/crash/scenarios/owner.hpp"

namespace ringside::crash {

struct TracedScenario {
  Setting setting;
  RingGeometry geometry;
  Trace trace;
  std::size_t first = 0;  // all events before this one are already persistent
};

struct Scenario {
  std::string_view name;
  std::string_view description;
  /// seed: decides the ring's shape, when owners die, when syncs end and how threads interleave.
  TracedScenario (*trace)(Storage storage, Durability durability, std::uint64_t seed);
};

std::span<const Scenario> scenarios();

}  // namespace ringside::crash
