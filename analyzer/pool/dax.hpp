// SPDX-License-Identifier: BSD-3-Clause
// Whether stores at a place persist there without a sync (DAX, with MAP_SYNC), and if not, why. Only this file decides
// it, for `--require-dax`, the analyzer's log and `ringside doctor`. Mount options are not trusted: it maps a file as
// the ring would be mapped. Mount, device and kernel supply only the reason of a refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>

#include "analyzer/pool/pool_device.hpp"

namespace ringside {

/// Makes ext4 for DAX: files in units of 2 MiB, so that 2 MiB can be mapped at a time. Append the device.
inline constexpr const char* kMakeExt4 = "mkfs.ext4 -b 4096 -E stride=512,stripe_width=512";

struct DaxAnswer {
  enum class Cause {
    kGranted,
    kUnreachable,  // no file can be opened or made there
    kKernel,       // older than MAP_SYNC
    kDenied,       // by the environment
    kNotPmem,
    kFileSystem,  // one without DAX
    kSectorMode,
    kRawMode,
    kDeviceMapper,
    kBlockSize,
    kMountOption,
    kHostFlushed,  // virtio-pmem
    kDevice,       // the device does not offer it
    kUnknown
  };
  Cause cause = Cause::kGranted;
  std::string reason;  // one clause: "/dev/vda (ext4 at /) is no persistent memory"; "" where it is granted
  std::string advice;  // what to change, with the commands between backticks

  bool granted() const noexcept { return cause == Cause::kGranted; }
};

/// The cause as a word for programs: "granted", "not_pmem", "mount_option", ...
std::string to_string(DaxAnswer::Cause cause);

/// Maps `place` if it is a file, else a nameless file in its folder. `device` is find_pool_device(place, root), `root`
/// as there.
DaxAnswer ask_for_dax(const std::string& place, const PoolDevice& device, const std::string& root = "");

/// Throws Error (exit code 3) with one line if stores at `pool` do not persist in place. Leaves no file behind.
void require_dax(const std::string& pool);

/// Whether a mapping persists in place, as the kernel reports for it: true if all of base's `bytes` bytes are mapped
/// with MAP_SYNC into this process. Stores to a mapping made without MAP_SYNC reach persistent memory, too, but the
/// file system may not find their blocks after a power cut. libpmem's pmem_is_pmem() cannot be used: it covers only the
/// mappings that libpmem made itself. For libpmemobj's it returns false, on real persistent memory as well (seen with
/// 1.12.1).
bool is_mapped_synchronously(const void* base, std::size_t bytes);

/// The same for the addresses from begin up to end, from the text of a process's /proc/PID/smaps. False if it does not
/// cover all of them.
bool is_mapped_synchronously(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end);

}  // namespace ringside
