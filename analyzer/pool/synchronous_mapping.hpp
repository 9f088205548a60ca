// Whether a mapping persists in place, by the kernel's word about that very mapping: stores to one made without
// MAP_SYNC reach persistent memory, too, but the file system may not find their blocks after a power cut.
//
// libpmem's pmem_is_pmem() cannot be asked: it knows the mappings that libpmem made itself, and says no to
// libpmemobj's, on real persistent memory as well (seen with 1.12.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>

namespace ringside {

/// True if all of base's `bytes` bytes are mapped with MAP_SYNC into this process.
bool is_mapped_synchronously(const void* base, std::size_t bytes);

/// The same of the addresses from begin up to end, by what /proc/PID/smaps says of a process. False where it does not
/// speak of all of them.
bool is_mapped_synchronously(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end);

}  // namespace ringside
