// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/dax.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <optional>
#include <vector>

#include "analyzer/pool/pool_file.hpp"
#include "common/files/new_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/system_files.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/ring/storage.hpp"

namespace ringside {
namespace {

using Cause = DaxAnswer::Cause;

constexpr long kDaxBlockBytes = 4096;  // a page: the block size that DAX needs

UniqueFd file_to_map(const std::string& place) {
  struct stat status {};
  const bool is_file = stat(place.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  return is_file ? UniqueFd(open(place.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
                 : make_vanishing_file(pool_folder(place), ".ringside-dax");
}

/// The answer for a device such as /dev/dax0.0 or /dev/pmem0, which can hold no pool; empty for any other place.
std::optional<DaxAnswer> device_instead(const std::string& place) {
  struct stat status {};
  if (stat(place.c_str(), &status) != 0) return std::nullopt;
  if (S_ISCHR(status.st_mode)) {
    return DaxAnswer{Cause::kUnreachable, "is a character device, which has no files (a devdax namespace?)",
                     "make a file system on a namespace, as root: `ndctl list --namespaces`; `ndctl create-namespace "
                     "--force --reconfig=NAMESPACE --mode=fsdax`, which erases the namespace"};
  }
  if (S_ISBLK(status.st_mode)) {
    return DaxAnswer{Cause::kUnreachable, "is a block device, but a pool is a file in a file system on such a device",
                     fmt::format("`findmnt {}` shows where it is mounted", place)};
  }
  return std::nullopt;
}

std::string new_file_system(const PoolDevice& device, const std::string& disk) {
  return fmt::format("`{0} /dev/{1}`; `mount -o dax=always /dev/{1} {2}`", kMakeExt4, disk, device.mount->point);
}

std::string to_fsdax(const PoolDevice& device) {
  // pmem0s, the disk of a sector namespace, becomes pmem0.
  std::string disk = device.disks.front();
  if (disk.ends_with('s')) disk.pop_back();
  return fmt::format(
      "as root (this erases the file system): `umount {}`; `ndctl create-namespace --force --reconfig={} "
      "--mode=fsdax`; {}",
      device.mount->point, device.pmem->name, new_file_system(device, disk));
}

std::string anew(const PoolDevice& device) {
  return fmt::format("as root (this erases the file system): `umount {}`; {}", device.mount->point,
                     new_file_system(device, device.name));
}

DaxAnswer no_pmem(const PoolDevice& device) {
  return {Cause::kNotPmem, device.text() + " is not persistent memory",
          fmt::format("for persistent memory, as root: `{} /dev/pmemN`; `mount -o dax=always /dev/pmemN FOLDER`",
                      kMakeExt4)};
}

// For a namespace in fsdax mode with a file system that supports DAX: the property that the mount or the device lacks
// for DAX.
DaxAnswer why_not_mapped(const PoolDevice& device, long block_bytes) {
  const Mount& mount = *device.mount;
  if (device.mapped && !device.passes_dax) {
    return {Cause::kDeviceMapper, fmt::format("the device mapper's {} does not pass DAX through", device.text()),
            "put the file system on the namespace itself, or on linear or striped volumes that contain only such "
            "namespaces"};
  }
  if (block_bytes != kDaxBlockBytes) {
    return {Cause::kBlockSize,
            fmt::format("{} has blocks of {} bytes, but DAX needs blocks of {}", device.text(), block_bytes,
                        kDaxBlockBytes),
            anew(device)};
  }
  if (!device.passes_dax) {
    return {
        Cause::kDevice,
        fmt::format("/dev/{} offers no DAX (a partition that begins within a page, or a namespace without a page map)",
                    device.name),
        "put the file system on the whole namespace, and see `dmesg | grep -i dax`"};
  }
  const std::optional<std::string> dax = mount.option("dax");
  if (!dax || *dax == "never" || *dax == "inode") {
    const std::string found = !dax ? "without dax" : "with dax=" + *dax;
    const std::string flag = dax && *dax == "never" ? "" : ", and the file does not carry the dax flag";
    return {Cause::kMountOption, fmt::format("{} is mounted {}{}", device.text(), found, flag),
            fmt::format("as root: `umount {}`; `mount -o dax=always {} {}`; set the same option in the mount unit or "
                        "/etc/fstab (a remount does not change it)",
                        mount.point, mount.source, mount.point)};
  }
  if (device.pmem->flushes_by_host) {
    return {Cause::kHostFlushed,
            fmt::format("{} is virtio-pmem, which persists stores only by a request to the host", device.text()),
            "give the guest an NVDIMM instead (QEMU: `-device nvdimm`)"};
  }
  return {Cause::kUnknown,
          fmt::format("the kernel refuses MAP_SYNC on {}, though it is mounted with dax", device.text()),
          "see `dmesg | grep -i dax` (data=journal, encryption and verity exclude DAX)"};
}

DaxAnswer why_refused(int error, const PoolDevice& device, long block_bytes, const std::string& root) {
  if (error != EOPNOTSUPP && error != EINVAL) {
    return {Cause::kUnreachable, fmt::format("cannot tell ({})", errno_text(error)),
            "name a pool or a folder whose files can be mapped"};
  }
  const std::string release = first_line(root + "/proc/sys/kernel/osrelease").value_or("");
  if (!release.empty() && kernel_before(release, 4, 15)) {
    return {Cause::kKernel, fmt::format("Linux {} does not support MAP_SYNC", release),
            "Linux 4.15 or newer supports it"};
  }
  if (!device.mount) {
    return {Cause::kUnknown, "the kernel refuses MAP_SYNC, and /proc/self/mountinfo does not name the file system",
            "see `findmnt --target FOLDER`"};
  }
  if (!device.pmem) return no_pmem(device);
  const PmemNamespace& pmem = *device.pmem;
  if (pmem.mode == "sector" || pmem.mode == "raw") {
    return {pmem.mode == "raw" ? Cause::kRawMode : Cause::kSectorMode,
            fmt::format("{}: {} is in {} mode, which has no DAX", device.text(), pmem.name, pmem.mode),
            to_fsdax(device)};
  }
  if (device.mount->type != "ext4" && device.mount->type != "xfs") {
    return {Cause::kFileSystem, fmt::format("{}: {} has no DAX", device.text(), device.mount->type), anew(device)};
  }
  return why_not_mapped(device, block_bytes);
}

// "sf", synchronous page faults: the kernel's name for the effect of MAP_SYNC (Documentation/filesystems/proc.rst).
bool says_synchronous(const std::string& flags) {
  const std::vector<std::string> found = words(flags);
  return std::find(found.begin(), found.end(), "sf") != found.end();
}

}  // namespace

std::string to_string(Cause cause) {
  switch (cause) {
    case Cause::kGranted: return "granted";
    case Cause::kUnreachable: return "unreachable";
    case Cause::kKernel: return "kernel";
    case Cause::kDenied: return "denied";
    case Cause::kNotPmem: return "not_pmem";
    case Cause::kFileSystem: return "file_system";
    case Cause::kSectorMode: return "sector_mode";
    case Cause::kRawMode: return "raw_mode";
    case Cause::kDeviceMapper: return "device_mapper";
    case Cause::kBlockSize: return "block_size";
    case Cause::kMountOption: return "mount_option";
    case Cause::kHostFlushed: return "host_flushed";
    case Cause::kDevice: return "device";
    case Cause::kUnknown: break;
  }
  return "unknown";
}

DaxAnswer ask_for_dax(const std::string& place, const PoolDevice& device, const std::string& root) {
  if (const auto device_there = device_instead(place)) return *device_there;
  const UniqueFd file = file_to_map(place);
  if (!file.valid()) {
    return {Cause::kUnreachable, errno_text(errno), "name a pool or a folder that this user may use"};
  }
  const int error = map_sync_error(file.get());
  if (error == 0 && dax_denied()) {
    return {Cause::kDenied, "PMEM_IS_PMEM_FORCE=0 is set, so libpmem treats nothing as persistent memory",
            "unset PMEM_IS_PMEM_FORCE"};
  }
  if (error == 0 || forced_dax_allowed()) return {};
  struct statfs system {};
  if (fstatfs(file.get(), &system) != 0) system.f_bsize = kDaxBlockBytes;
  return why_refused(error, device, static_cast<long>(system.f_bsize), root);
}

void require_dax(const std::string& pool) {
  const DaxAnswer answer = ask_for_dax(pool, find_pool_device(pool));
  if (answer.granted()) return;
  if (answer.cause == Cause::kUnreachable) {
    throw system_error("{}: --require-dax: {}{}; expected a file in a writable folder", pool, answer.reason,
                       owner_and_mode(access(pool.c_str(), F_OK) == 0 ? pool : pool_folder(pool)));
  }
  throw system_error(
      "{}: --require-dax: stores would not persist in place: {}; expected a place on ext4 or xfs mounted with "
      "dax=always from an fsdax namespace (`ringside doctor {}` reports what to change)",
      pool, answer.reason, pool_folder(pool));
}

bool is_mapped_synchronously(const void* base, std::size_t bytes) {
  std::ifstream smaps("/proc/self/smaps");
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  return is_mapped_synchronously(smaps, begin, begin + bytes);
}

bool is_mapped_synchronously(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end) {
  // Mappings are listed by ascending address. Each mapping has a line with its range, followed by other lines, one of
  // which begins with VmFlags.
  constexpr char kFlags[] = "VmFlags:";
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
  for (std::string line; begin < end && std::getline(smaps, line);) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {
      first = from;
      last = to;
    } else if (line.starts_with(kFlags) && first <= begin && begin < last) {
      if (!says_synchronous(line.substr(sizeof kFlags - 1))) return false;
      begin = last;
    }
  }
  return begin >= end;
}

}  // namespace ringside
