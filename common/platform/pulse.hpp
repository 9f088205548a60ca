// SPDX-License-Identifier: BSD-3-Clause
// Receives a thread's signs of progress. The thread calls `beat` during its waits and between them, with a time that it
// has read anyway. The receiver decides how often it passes these signs on.
#pragma once

#include <cstdint>

namespace ringside {

class Pulse {
 public:
  virtual ~Pulse() = default;
  /// now_ns: a time of CLOCK_MONOTONIC. The call is cheap: usually it makes only a comparison.
  virtual void beat(std::int64_t now_ns) noexcept = 0;
};

}  // namespace ringside
