// SPDX-License-Identifier: BSD-3-Clause
// Receives a thread's signs of progress. The thread calls `beat` while it waits and between two waits, with an instant
// that it has read anyway. The receiver decides how often it passes them on.
#pragma once

#include <cstdint>

namespace ringside {

class Pulse {
 public:
  virtual ~Pulse() = default;
  /// now_ns: of CLOCK_MONOTONIC. Cheap: in most calls only a comparison.
  virtual void beat(std::int64_t now_ns) noexcept = 0;
};

}  // namespace ringside
