// SPDX-License-Identifier: BSD-3-Clause
// A memory with timed accesses: the only interface through which a probe accesses the memory that it examines. This
// memory can be this machine's (real_memory.hpp), the library's (library_memory.hpp), or a simulated hierarchy with a
// known geometry (simulated_memory.hpp).
#pragma once

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

  /// The first of `bytes` untouched addresses; it is a multiple of the greatest power of two up to `bytes` or 2 MiB.
  /// May invalidate the results of earlier calls.
  virtual Address fresh(std::uint64_t bytes) = 0;

  /// Makes one access and returns its cost in nanoseconds. The access begins when all earlier accesses have ended.
  virtual double touch(Address address, Access access) = 0;

  /// The smallest difference of costs that one touch can show. 0 means that one touch shows any difference.
  virtual double resolution_ns() const = 0;

  /// The most bytes that `fresh` can return.
  virtual std::uint64_t most_bytes() const = 0;

  /// The longest line to search for.
  virtual std::uint64_t longest_line() const { return 16384; }

  /// The most cache levels to search for.
  virtual int most_levels() const { return 4; }

  /// The most time that the touches of one walk may take. Beyond this limit, the walk counts as unsettled.
  virtual double patience_ns() const { return 1e9; }

  /// Whether the set of a line depends on physical pages. Lines of a walk may then collide before a level is full.
  virtual bool pages_lie_anywhere() const { return false; }

  /// Links `lines` to one closed chain, which `lap` then walks. Addresses are 8-byte aligned and at least 16 bytes
  /// apart. The chain may be stored in the memory itself: `lay` touches every line.
  virtual void lay(const std::vector<Address>& lines) { lines_ = lines; }

  /// Walks the chain once; or several times, if it is short. Each access depends on the value that the previous access
  /// read. Returns the mean cost of an access. The caller must remove the effect of disturbed laps (for example by the
  /// median of laps).
  virtual double lap(Access access) {
    double sum = 0;
    for (const Address line : lines_) sum += touch(line, access);
    return sum / static_cast<double>(lines_.size());
  }

 private:
  std::vector<Address> lines_;
};

}  // namespace ringside::probe
