// SPDX-License-Identifier: BSD-3-Clause
// The memory for a program's large arrays: ordinary memory, a mapped file, or a library that keeps data in far memory
// and uses DRAM as a cache. The libraries are loaded by name (schemes/), so that the build does not need them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/json/json.hpp"

namespace ringside::bench {

inline constexpr const char* kMemorySchemes =
    "dram[:huge|committed], mmap:DIR[:normal|random|sequential], umap:DIR:PAGE:LIMIT[:direct], "
    "ringside:DIR:LIMIT[:GRANULE], michel:DIR:LIMIT[:table]";

struct MemoryChoice {
  std::string scheme = "dram";
  std::string timing = "none";
  std::string enter;  // a cgroup to enter when all arrays are reserved, so that far memory on tmpfs is not charged
};

/// Call this before the first array. Throws Error: exit code 2 for an unknown scheme, 3 if the system or the scheme's
/// library refuses.
void use_memory(const MemoryChoice& choice);

/// Returns zeros, aligned to a page and valid until end_memory(). Throws Error (exit code 3).
void* far_array(std::size_t bytes);

template <class Element>
std::span<Element> far_array_of(std::size_t count) {
  return {static_cast<Element*>(far_array(count * sizeof(Element))), count};
}

/// Call this after the last far_array, before memory is touched: the limit applies from here on.
void arrays_reserved();

/// The scheme's counters: {} if it has none.
Json memory_account();

/// Frees all arrays.
void end_memory();

}  // namespace ringside::bench
