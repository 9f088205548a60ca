// SPDX-License-Identifier: BSD-3-Clause
// Emulated far memory: a transfer takes at least as long as with an Optane module (305 ns for the first byte, then 4
// GB/s for reads and 2 GB/s for writes). The transfer waits on the thread's own core, as a copy from the module would.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/platform/clock.hpp"

namespace ringside::bench {

struct FarTiming {
  bool emulated = false;
  double latency_ns = 305;
  double read_bytes_per_ns = 4;
  double write_bytes_per_ns = 2;

  /// Waits until the emulated transfer of `bytes` that began at `begin_ns` ends.
  void wait(std::int64_t begin_ns, std::size_t bytes, bool write) const noexcept {
    if (!emulated) return;
    const double rate = write ? write_bytes_per_ns : read_bytes_per_ns;
    const std::int64_t end_ns = begin_ns + static_cast<std::int64_t>(latency_ns + static_cast<double>(bytes) / rate);
    while (now_ns() < end_ns) {
    }
  }
};

}  // namespace ringside::bench
