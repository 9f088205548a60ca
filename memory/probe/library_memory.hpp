// SPDX-License-Identifier: BSD-3-Clause
// Memory of libringside_memory, whose DRAM is the cache in front of far memory. The "line" is a granule, and a miss is
// a fault. The object starts the library in this process; a process can have only one such object at a time.
#pragma once

#include <deque>
#include <stdexcept>
#include <string>

#include "memory/probe/machine_clock.hpp"

namespace ringside::probe {

struct LibraryChoice {
  std::string far_folder;
  std::uint64_t dram_bytes = std::uint64_t{16} << 20;
  std::uint32_t granule_bytes = 0;  // 0: the library chooses
  bool read_ahead = true;
};

/// Thrown if the library did not start or far memory is full. Has the library's message, and whether the kernel or a
/// missing permission is the reason.
class LibraryRefusal : public std::runtime_error {
 public:
  LibraryRefusal(const std::string& line, bool not_permitted) : runtime_error(line), not_permitted_(not_permitted) {}
  bool not_permitted() const noexcept { return not_permitted_; }

 private:
  bool not_permitted_;
};

class LibraryMemory final : public TimedMemory {
 public:
  explicit LibraryMemory(const LibraryChoice& choice);  // throws LibraryRefusal
  ~LibraryMemory() override;

  Address fresh(std::uint64_t bytes) override;  // throws LibraryRefusal: far memory is full
  double touch(Address address, Access access) override;
  double resolution_ns() const override;
  std::uint64_t most_bytes() const override { return most_bytes_; }
  std::uint64_t longest_line() const override { return std::uint64_t{1} << 20; }
  int most_levels() const override { return 1; }  // a touch either faults or does not
  double patience_ns() const override { return 3e8; }

 private:
  struct Region {
    void* memory;
    std::uint64_t bytes;
  };

  void drop_oldest();

  std::uint64_t most_bytes_;
  std::deque<Region> regions_;
  std::uint64_t allocated_bytes_ = 0;
  MachineClock clock_;
};

}  // namespace ringside::probe
