// SPDX-License-Identifier: BSD-3-Clause
// A memory whose accesses can be timed: all that a probe knows of what it examines. Behind it lies the memory of this
// machine (real_memory.hpp), or a simulated hierarchy whose geometry is known (simulated_memory.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringside::probe {

using Address = std::uint64_t;

enum class Access { kRead, kWrite };

class TimedMemory {
 public:
  TimedMemory() = default;
  TimedMemory(const TimedMemory&) = delete;
  TimedMemory& operator=(const TimedMemory&) = delete;
  virtual ~TimedMemory() = default;

  /// Addresses that no touch ever used: the first of `bytes`, a multiple of the greatest power of two that is not
  /// above `bytes` or 2 MiB. What an earlier call returned may be invalid now.
  virtual Address fresh(std::uint64_t bytes) = 0;

  /// One access and its cost in nanoseconds. It begins when all earlier ones have ended.
  virtual double touch(Address address, Access access) = 0;

  /// The least difference of cost that one touch can show. 0: any.
  virtual double resolution_ns() const = 0;

  /// The most bytes that `fresh` gives.
  virtual std::uint64_t most_bytes() const = 0;

  /// The longest line that is looked for.
  virtual std::uint64_t longest_line() const { return 16384; }

  /// The most levels of caches that are looked for.
  virtual int most_levels() const { return 4; }

  /// What the touches of one walk may cost until it counts as one that does not settle.
  virtual double patience_ns() const { return 1e9; }

  /// Whether physical pages decide the sets of caches: those of a walk may collide before a level is full.
  virtual bool pages_lie_anywhere() const { return false; }

  /// Makes `lines` one closed chain for `lap`. Addresses are 8-byte aligned and at least 16 bytes apart. The chain may
  /// lie in the memory itself: `lay` touches every line.
  virtual void lay(const std::vector<Address>& lines) { lines_ = lines; }

  /// Walks the chain once or, if it is short, several times; each access needs the value of the one before. Returns
  /// the mean cost of an access. Laps that something else disturbed are left to the caller (a median of laps).
  virtual double lap(Access access) {
    double sum = 0;
    for (const Address line : lines_) sum += touch(line, access);
    return sum / static_cast<double>(lines_.size());
  }

 private:
  std::vector<Address> lines_;
};

}  // namespace ringside::probe
