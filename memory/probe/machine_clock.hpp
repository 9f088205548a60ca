// SPDX-License-Identifier: BSD-3-Clause
// Times single accesses of this machine's memory, whatever is mapped at the address: with the processor's time stamp
// counter between fences. The calling thread is bound to the processor that it runs on.
#pragma once

#include "memory/probe/timed_memory.hpp"

namespace ringside::probe {

class MachineClock {
 public:
  MachineClock();

  /// One access and its nanoseconds, without those of an empty measurement.
  double touch(Address address, Access access) const;

  /// The steps in which an empty measurement comes.
  double resolution_ns() const noexcept { return resolution_ns_; }
  double tick_ns() const noexcept { return tick_ns_; }

  /// The counter, when all earlier accesses have ended.
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
