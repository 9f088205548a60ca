// SPDX-License-Identifier: BSD-3-Clause
// Whether stores at a place persist there without a sync (DAX, with MAP_SYNC), and if not, why. Only this file decides
// this question, for `--require-dax`, the analyzer's log and `ringside doctor`. It does not trust mount options;
// instead it maps a file in the way in which the ring would be mapped. Mount, device and kernel are examined only to
// explain a refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>

#include "analyzer/pool/pool_device.hpp"

namespace ringside {

/// The command that makes an ext4 file system for DAX, without the device, which the caller appends. The file system
/// allocates files in units of 2 MiB, so that 2 MiB can be mapped at a time.
inline constexpr const char* kMakeExt4 = "mkfs.ext4 -b 4096 -E stride=512,stripe_width=512";

struct DaxAnswer {
  enum class Cause {
    kGranted,
    kUnreachable,  // no file can be opened or made at the place
    kKernel,       // the kernel has no MAP_SYNC yet
    kDenied,       // the environment refuses it
    kNotPmem,
    kFileSystem,  // the file system does not support DAX
    kSectorMode,
    kRawMode,
    kDeviceMapper,
    kBlockSize,
    kMountOption,
    kHostFlushed,  // virtio-pmem
    kDevice,       // the device does not offer DAX
    kUnknown
  };
  Cause cause = Cause::kGranted;
  std::string reason;  // one clause: "/dev/vda (ext4 at /) is not persistent memory"; "" if DAX is granted
  std::string advice;  // the change that would help, with the commands between backticks

  bool granted() const noexcept { return cause == Cause::kGranted; }
};

/// The cause as a word for programs: "granted", "not_pmem", "mount_option", ...
std::string to_string(DaxAnswer::Cause cause);

/// Maps `place` if it is a file, else a nameless file in its folder. device: the result of find_pool_device(place,
/// root), with the same `root`.
DaxAnswer ask_for_dax(const std::string& place, const PoolDevice& device, const std::string& root = "");

/// Throws Error (exit code 3) with one line if stores at `pool` do not persist in place. Leaves no file behind.
void require_dax(const std::string& pool);

/// Whether stores to a mapping persist in place, according to the kernel's report about this mapping: true if all of
/// base's `bytes` bytes are mapped with MAP_SYNC into this process. Stores to a mapping made without MAP_SYNC reach
/// persistent memory, too, but the file system may not find their blocks after a power cut. libpmem's pmem_is_pmem()
/// cannot be used: it covers only the mappings that libpmem made itself. For libpmemobj's mappings it returns false,
/// even on real persistent memory (seen with 1.12.1).
bool is_mapped_synchronously(const void* base, std::size_t bytes);

/// Whether the addresses from `begin` up to `end` are mapped with MAP_SYNC, according to the text of a process's
/// /proc/PID/smaps. False if that text does not cover all of these addresses.
bool is_mapped_synchronously(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end);

}  // namespace ringside
