// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/library_memory.hpp"

#include <algorithm>
#include <cerrno>

#include "memory/ringside_memory.h"

namespace ringside::probe {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// An access that takes less time hits the processor's caches and translations, or DRAM; all of these form one level
// here. A fault takes several times as long.
constexpr double kNoFaultNs = 500;

// At most as many bytes as in three of the largest regions are allocated, because a probe uses two regions at a time.
constexpr std::uint64_t kRegions = 3;

}  // namespace

LibraryMemory::LibraryMemory(const LibraryChoice& choice)
    : most_bytes_(std::max(8 * choice.dram_bytes, 64 * kMiB)) {
  ringside_memory_options options{};
  options.struct_bytes = sizeof options;
  options.far_folder = choice.far_folder.c_str();
  options.dram_bytes = choice.dram_bytes;
  options.far_bytes = kRegions * most_bytes_;
  options.granule_bytes = choice.granule_bytes;
  options.read_ahead = choice.read_ahead ? 0 : 1;
  if (ringside_memory_start(&options) != 0) {
    const int error = errno;
    throw LibraryRefusal(ringside_memory_error(), error == EPERM || error == ENOSYS);
  }
  // The first touches take new frames from the kernel; later touches reuse frames, which costs less.
  const std::uint64_t bytes = choice.dram_bytes + choice.dram_bytes / 2;
  const Address first = fresh(bytes);
  for (Address page = first; page < first + bytes; page += 4096) touch(page, Access::kRead);
}

LibraryMemory::~LibraryMemory() {
  (void)ringside_memory_stop();
}

/// A region has whole MiB, because the granules of a region below 256 KiB always have 4 KiB. Earlier regions leave
/// DRAM, but keep their addresses as long as there is space, because the library predicts touches from an address's
/// history.
Address LibraryMemory::fresh(std::uint64_t bytes) {
  const std::uint64_t whole = (bytes + kMiB - 1) / kMiB * kMiB;
  while (!regions_.empty() && allocated_bytes_ + whole > kRegions * most_bytes_) drop_oldest();
  if (!regions_.empty()) {
    (void)ringside_memory_advise(regions_.back().memory, regions_.back().bytes, RINGSIDE_MEMORY_DONT_NEED);
  }
  void* memory = nullptr;
  while ((memory = ringside_memory_aligned(2 * kMiB, whole)) == nullptr) {
    if (regions_.empty()) throw LibraryRefusal(ringside_memory_error(), false);
    drop_oldest();  // there is space, but it is fragmented
  }
  regions_.push_back({memory, whole});
  allocated_bytes_ += whole;
  return reinterpret_cast<Address>(memory);
}

void LibraryMemory::drop_oldest() {
  ringside_memory_free(regions_.front().memory);
  allocated_bytes_ -= regions_.front().bytes;
  regions_.pop_front();
}

double LibraryMemory::touch(Address address, Access access) {
  return std::max(kNoFaultNs, clock_.touch(address, access));
}

double LibraryMemory::resolution_ns() const {
  return std::max(kNoFaultNs / 5, clock_.resolution_ns());
}

}  // namespace ringside::probe
