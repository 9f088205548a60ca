// The stories whose every moment is cut off: each is played once, with the real writer, and recorded.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analyzer/ring/ring_layout.hpp"
#include "tests/crash/owner.hpp"
#include "tests/crash/trace.hpp"

namespace ringside::crash {

struct Recording {
  Setting setting;
  RingGeometry geometry;
  Trace trace;
  std::size_t first = 0;  // what comes before this event was persistent long ago
};

struct Scenario {
  std::string_view name;
  std::string_view story;
  /// seed: shape of the ring, when owners die, when syncs end, how threads interleave.
  Recording (*record)(Storage storage, Durability durability, std::uint64_t seed);
};

std::span<const Scenario> scenarios();

}  // namespace ringside::crash
