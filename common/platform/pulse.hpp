// Whoever wants to know that a thread goes on. What the thread waits in, and what it does between two waits, says so
// with an instant it has read anyway; how often that is passed on is decided here, not there.
#pragma once

#include <cstdint>

namespace ringside {

class Pulse {
 public:
  virtual ~Pulse() = default;
  /// now_ns: of CLOCK_MONOTONIC. Cheap: a comparison, and seldom more.
  virtual void beat(std::int64_t now_ns) noexcept = 0;
};

}  // namespace ringside
