// SPDX-License-Identifier: BSD-3-Clause
// Arrays in a tier of a node: in DRAM, optionally on one NUMA node; or in an unnamed file in a folder, mapped shared,
// with MAP_SYNC if the folder is on DAX. No file remains, however the program ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/model/node.hpp"

namespace ringside {

/// The tier "dram", on the NUMA node of the touching thread; with numa_node 0, the tier "dram0" on that node.
Tier dram_tier(int numa_node = -1);

/// The tier of a folder, with the folder's name; its kind is found by mapping a file there. Throws Error that begins
/// with `option`: exit code 2 if it is no folder, 3 if no file can be made there.
Tier folder_tier(const std::string& folder, const std::string& option);

/// Bytes that can still be allocated in the tier: MemAvailable for DRAM; the smaller of MemAvailable and the free space
/// for tmpfs; the free space for other folders.
std::uint64_t available_bytes(const Tier& tier);

/// If there is no room, throws Error (exit code 3) that names the tier, the needed bytes and the available bytes.
void require_room(const Tier& tier, std::uint64_t bytes);

/// The kind of DRAM's pages. A folder's file system determines the pages there.
enum class Pages {
  kSystem,  // the default pages of a program such as STREAM
  kHuge     // 2 MiB, if the kernel has them
};

/// Memory of a tier. The kernel allocates pages of DRAM when a thread first touches them.
class TierMemory {
 public:
  TierMemory() = default;
  /// Throws Error (exit code 3) as require_room does, or if mapping the memory or choosing its node fails.
  TierMemory(const Tier& tier, std::uint64_t bytes, Pages pages = Pages::kHuge);
  ~TierMemory();
  TierMemory(TierMemory&& other) noexcept;
  TierMemory& operator=(TierMemory&& other) noexcept;

  /// Aligned to a page; zero until written.
  double* data() const noexcept { return static_cast<double*>(base_); }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void* base_ = nullptr;
  std::uint64_t bytes_ = 0;  // mapped
};

/// `count` arrays of `elements` doubles. Before any allocation, checks the room for all of them (require_room).
std::vector<TierMemory> make_arrays(const Tier& tier, int count, std::uint64_t elements, Pages pages = Pages::kHuge);

}  // namespace ringside
