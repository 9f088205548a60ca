// SPDX-License-Identifier: BSD-3-Clause
// Emulated far memory, for measurements: a transfer lasts at least as long as a slower device would take, its latency
// when read and then its rate. The copying core waits, as it would for loads from the device. Off unless asked for.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ringside::memory {

struct FarTiming {
  double read_latency_ns = 0;
  double read_ns_per_byte = 0;
  double write_ns_per_byte = 0;
  bool emulated = false;

  /// Before start. "optane" in the environment's RINGSIDE_FAR_TIMING: 305 ns + 4 GB/s read, 2 GB/s write. -1 with the
  /// failure kept for another word.
  int from_environment() noexcept;

  /// What a transfer of `bytes` takes at least.
  uint64_t least_ns(size_t bytes, bool write) const noexcept {
    const double transfer = static_cast<double>(bytes) * (write ? write_ns_per_byte : read_ns_per_byte);
    return static_cast<uint64_t>((write ? 0 : read_latency_ns) + transfer);
  }
};

extern FarTiming far_timing;

/// Stands around a transfer: its end waits.
class FarTransfer {
 public:
  FarTransfer(size_t bytes, bool write) noexcept;
  ~FarTransfer();
  FarTransfer(const FarTransfer&) = delete;
  FarTransfer& operator=(const FarTransfer&) = delete;

 private:
  uint64_t until_ns_ = 0;  // 0: no emulation
};

}  // namespace ringside::memory
