// SPDX-License-Identifier: BSD-3-Clause
// The devices under a pool: the mount, its block device, and for a pmem device the namespace and the region of the
// kernel's nd bus. Their descriptions are read from /proc/self/mountinfo and /sys. They explain why a place has no DAX,
// and show on which node, region and DIMMs the bytes of a pool are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// One line of /proc/self/mountinfo.
struct Mount {
  std::string device;             // "259:0"
  std::string point;              // the folder at which it is mounted
  std::string type;               // ext4, xfs, tmpfs, ...
  std::string source;             // /dev/pmem0
  std::string options;            // the options of the mount and of the file system, separated by commas
  std::int64_t stripe_bytes = 0;  // unit of the file system's allocation; 0: not stated

  /// The value of an option, such as "always" of "dax=always"; "" for an option without a value; empty if it is not
  /// given.
  std::optional<std::string> option(std::string_view name) const;
};

/// A namespace of persistent memory, and the region that contains it.
struct PmemNamespace {
  std::string name;              // "namespace0.0"
  std::string mode;              // ndctl's name of the mode: fsdax, devdax, sector, raw
  std::string region;            // "region0"
  std::int64_t align_bytes = 0;  // 0: not stated (raw, sector)
  bool flushes_by_host = false;  // virtio-pmem: each flush costs an exit to the host
};

struct PoolDevice {
  std::optional<Mount> mount;
  std::string name;                   // the block device: "pmem0p1", "dm-0"; "" if the file system has none
  std::vector<std::string> disks;     // the whole devices below all partitions and layers of the device mapper
  bool mapped = false;                // whether the device mapper is between the device and its disks
  std::int64_t start_bytes = 0;       // where a partition begins on its disk
  std::int64_t bytes = 0;             // the size of the device; 0: not known
  bool passes_dax = false;            // whether a file system on the device may use DAX
  std::int64_t numa_node = -1;        // -1: not stated
  std::optional<PmemNamespace> pmem;  // the namespace of the first disk that is persistent memory

  /// A text such as "/dev/pmem0 (ext4 at /mnt/pmem)".
  std::string text() const;
};

/// The device under `place`, which is a file, a folder, or the name of a future file. `root` is put before /proc and
/// /sys ("" on a real node). Never throws: unknown fields stay empty.
PoolDevice find_pool_device(const std::string& place, const std::string& root = "");

/// The folder in which a pool named `place` is, or would be made: `place` itself if it is a folder.
std::string pool_folder(const std::string& place);

/// ndctl's name of the mode that the kernel calls `kernel_mode`.
std::string ndctl_mode(std::string_view kernel_mode);

}  // namespace ringside
