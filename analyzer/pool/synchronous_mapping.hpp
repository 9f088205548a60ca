// SPDX-License-Identifier: BSD-3-Clause
// Whether a mapping persists in place, as the kernel reports for that mapping. Stores to a mapping made without
// MAP_SYNC reach persistent memory, too, but the file system may not find their blocks after a power cut.
//
// libpmem's pmem_is_pmem() cannot be used: it covers only the mappings that libpmem made itself. For libpmemobj's it
// returns false, on real persistent memory as well (seen with 1.12.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>

namespace ringside {

/// True if all of base's `bytes` bytes are mapped with MAP_SYNC into this process.
bool is_mapped_synchronously(const void* base, std::size_t bytes);

/// The same for the addresses from begin up to end, from the text of a process's /proc/PID/smaps. False if it does not
/// cover all of them.
bool is_mapped_synchronously(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end);

}  // namespace ringside
