// SPDX-License-Identifier: BSD-3-Clause
// Where the matrix's arrays are (`--matrix-memory`): in DRAM, or in a file that has a bounded amount of DRAM as its
// cache (docs/inside/memory_mode.md, "The producer's matrix"). The process chooses once, before the first array. Only
// allocate_pages (producer/matrix/array.hpp) and GrowingBytes (producer/text) use this interface. Iterates, shared
// buffers and the solvers' vectors are never in far memory.
//
// Do not pass far memory to a system call: the kernel's access to a part that is not in DRAM fails with EFAULT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/options/options.hpp"

namespace ringside {

/// The folder of `--matrix-memory far:DIR`; empty for DRAM.
std::string far_folder(const SolveOptions& options);

/// Throws Error (exit code 2) if only one of the two options is given.
void check_matrix_options(const SolveOptions& options);

/// Checks the options as check_matrix_options does; also throws if the folder does not exist. Allocates nothing.
void check_matrix_memory(const SolveOptions& options);

/// Call once, in main: after catch_bus_errors, whose handler gets all faults outside the arena; and before other
/// threads start, because they inherit that SIGBUS and SIGSEGV are not blocked. Does nothing for DRAM. Throws Error:
/// exit code 2 for a wrong option, 3 if the kernel or the folder lacks what far memory needs.
void start_matrix_memory(const SolveOptions& options);

/// Whether the arena was started.
bool matrix_is_far() noexcept;

/// Whether an address is in the arena.
bool in_far_memory(const void* address) noexcept;

/// `bytes` bytes of zeroed far memory. Throws Error (exit code 3) if there is no room.
std::shared_ptr<void> allocate_far(std::size_t bytes);

/// These functions are for memory that grows; they work as realloc and free do. If `grow_far` throws (as allocate_far
/// does), `memory` stays valid.
void* grow_far(void* memory, std::size_t bytes);
void free_far(void* memory) noexcept;

/// Frees the part of an allocation after its first `bytes`. The allocation does not move.
void shrink_far(void* memory, std::size_t bytes) noexcept;

/// Announces that from now on a complete array is read from front to back. Does nothing for an array in DRAM.
void will_be_streamed(void* memory, std::size_t bytes) noexcept;

/// What far memory costs this process.
struct FarUse {
  std::uint64_t far_bytes = 0;        // the bytes allocated now
  std::uint64_t dram_peak_bytes = 0;  // the most DRAM that frames took
  std::uint64_t faults = 0;
  std::uint64_t fault_ns = 0;    // summed over all threads
  std::uint64_t read_bytes = 0;  // the bytes read from far memory
  std::uint64_t in_place_bytes = 0;  // part of far_bytes: used without a copy in DRAM (on DAX)
};

/// Empty if the matrix is in DRAM.
std::optional<FarUse> far_use() noexcept;

}  // namespace ringside
