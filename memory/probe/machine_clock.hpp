// SPDX-License-Identifier: BSD-3-Clause
// Times single accesses to any mapped address of this machine, with the processor's time stamp counter between fences.
// Binds the calling thread to its present processor.
#pragma once

#include "memory/probe/timed_memory.hpp"

namespace ringside::probe {

class MachineClock {
 public:
  MachineClock();

  /// Makes one access and returns its time in nanoseconds, minus the time of an empty measurement.
  double touch(Address address, Access access) const;

  /// The smallest difference between the times of two empty measurements.
  double resolution_ns() const noexcept { return resolution_ns_; }
  double tick_ns() const noexcept { return tick_ns_; }

  /// The counter, read after all earlier accesses have ended.
  static std::uint64_t ticks() noexcept;
  static volatile std::uint64_t* word_at(Address address) noexcept {
    return reinterpret_cast<volatile std::uint64_t*>(address);
  }

 private:
  double tick_ns_ = 1;
  double overhead_ns_ = 0;
  double resolution_ns_ = 0;
};

}  // namespace ringside::probe
