// SPDX-License-Identifier: BSD-3-Clause
// This machine's memory. Regions are mapped on demand, in huge pages if the kernel provides them, and flushed from the
// caches, so that a probe's first touch finds them in memory.
#pragma once

#include <deque>

#include "memory/probe/machine_clock.hpp"

namespace ringside::probe {

class RealMemory final : public TimedMemory {
 public:
  explicit RealMemory(std::uint64_t most_bytes = std::uint64_t{1} << 28);
  ~RealMemory() override;

  Address fresh(std::uint64_t bytes) override;  // throws std::bad_alloc
  double touch(Address address, Access access) override { return clock_.touch(address, access); }
  double resolution_ns() const override { return clock_.resolution_ns(); }
  bool pages_lie_anywhere() const override { return true; }
  std::uint64_t most_bytes() const override { return most_bytes_; }
  void lay(const std::vector<Address>& lines) override;
  double lap(Access access) override;

 private:
  struct Region {
    void* mapping;
    std::size_t bytes;
  };

  void drop_oldest();

  std::uint64_t most_bytes_;
  std::deque<Region> regions_;
  std::uint64_t mapped_bytes_ = 0;
  MachineClock clock_;
  Address chain_ = 0;
  std::size_t chain_lines_ = 0;
};

}  // namespace ringside::probe
