// SPDX-License-Identifier: BSD-3-Clause
// Pages of 2 MiB for large arrays, if the kernel provides them (transparent huge pages). With pages of 4 KiB, a core's
// address translations cover 4 to 8 MiB, so each random read of a larger array also waits for a page table. Linux's
// Documentation/admin-guide/mm/transhuge.rst describes the settings that `ringside doctor` reports.
#pragma once

#include <cstddef>

namespace ringside {

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// mmap(2) without an address and with offset 0, with the same result and errno. A mapping of at least one huge page
/// begins at a multiple of kHugePageBytes. (If another thread makes a mapping at this moment, it may begin elsewhere,
/// and has fewer huge pages.) The mapping is not longer than `bytes`, so an end that does not fill a huge page has
/// small pages and takes no more memory than without this function. fd: -1 for memory without a file.
void* map_at_huge_page(std::size_t bytes, int protection, int flags, int fd = -1) noexcept;

/// Advises huge pages for memory that is not touched yet. The kernel may ignore this.
void advise_huge_pages(void* memory, std::size_t bytes) noexcept;

/// Replaces the small pages of a mapping by huge ones, wherever a huge page fits; the content stays. This also works
/// for shared memory for which the kernel's setting `shmem_enabled` is `never`. Does nothing before Linux 6.1, if the
/// kernel refuses, or if memory is short.
void collapse_to_huge_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace ringside
