// SPDX-License-Identifier: BSD-3-Clause
// Arrays in a tier of a node: DRAM, on one NUMA node if wanted, or a folder: a file without a name, mapped shared, with
// MAP_SYNC where the folder is on DAX. Nothing is left behind, however the program ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "node/model/node.hpp"

namespace ringside {

/// The tier "dram", on whichever NUMA node the touching thread runs; with a node, "dram0".
Tier dram_tier(int numa_node = -1);

/// The tier of a folder, named by it; its kind is found out by mapping a file there. Throws Error that begins with
/// `option`: exit code 2 if it is no folder, 3 if no file can be made there.
Tier folder_tier(const std::string& folder, const std::string& option);

/// Bytes that can still be allocated in the tier; for DRAM MemAvailable, for tmpfs the smaller one of both.
std::uint64_t available_bytes(const Tier& tier);

/// Throws Error (exit code 3) that names the tier, the needed and the available bytes if there is no room.
void require_room(const Tier& tier, std::uint64_t bytes);

/// Which pages DRAM is made of. Those of a folder are what its file system gives.
enum class Pages {
  kSystem,  // as a program gets them that asks for nothing, such as STREAM
  kHuge     // 2 MiB, where the kernel has them
};

/// Memory of a tier. The pages of DRAM come into being when a thread touches them first.
class TierMemory {
 public:
  TierMemory() = default;
  /// Throws Error (exit code 3) as require_room does, or if the memory cannot be mapped or its node not chosen.
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

/// `count` arrays of `elements` doubles. Room for all of them is required first.
std::vector<TierMemory> make_arrays(const Tier& tier, int count, std::uint64_t elements, Pages pages = Pages::kHuge);

}  // namespace ringside
