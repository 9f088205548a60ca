// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/pool_device.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analyzer/pool/pool_file.hpp"
#include "common/files/new_file.hpp"
#include "common/platform/system_files.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSectorBytes = 512;  // the unit of sysfs, whatever the device's sector size
constexpr int kMaxLayers = 8;               // the most layers of the device mapper that are followed

// mountinfo encodes blanks and backslashes in names as \040, \134.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 3 >= text.size()) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(((text[i + 1] - '0') << 6) | ((text[i + 2] - '0') << 3) | (text[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

// ext4 gives the size of stripes in blocks, xfs in sectors.
std::int64_t stripe_bytes(const Mount& mount) {
  constexpr std::int64_t kBlockBytes = 4096;
  const auto number = [&mount](std::string_view name) {
    return number_of(mount.option(name).value_or("")).value_or(0);
  };
  return std::max(number("stripe") * kBlockBytes, number("sunit") * kSectorBytes);
}

// Parses a line such as "27 1 254:0 / /mnt rw,relatime shared:1 - ext4 /dev/vda rw,dax=always". The fields after the
// dash belong to the file system.
std::optional<Mount> mount_in(const std::string& line) {
  const std::vector<std::string> parts = words(line);
  const auto dash = std::find(parts.begin(), parts.end(), "-");
  if (dash - parts.begin() < 6 || parts.end() - dash < 4) return std::nullopt;
  Mount mount{.device = parts[2],
              .point = unescaped(parts[4]),
              .type = dash[1],
              .source = unescaped(dash[2]),
              .options = parts[5] + "," + dash[3]};
  mount.stripe_bytes = stripe_bytes(mount);
  return mount;
}

bool lies_in(const std::string& path, const std::string& folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// The innermost mount that contains `path`. If several mounts have the same mount point, it is the last of them,
// because this one hides the others.
std::optional<Mount> mount_of(const std::string& path, const std::string& root) {
  std::optional<Mount> best;
  std::ifstream table(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    std::optional<Mount> mount = mount_in(line);
    if (!mount || !lies_in(path, mount->point)) continue;
    if (!best || mount->point.size() >= best->point.size()) best = std::move(mount);
  }
  return best;
}

// A folder of sysfs with its links resolved; "" if it does not exist.
std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? "" : real.string();
}

// The NUMA node that the nearest folder states: `device` itself, or else a folder above it. -1 if no folder states one.
std::int64_t numa_node_above(const std::string& device, const std::string& root) {
  const std::string top = resolved(root + "/sys");
  for (fs::path folder = device; folder.string().size() > top.size(); folder = folder.parent_path()) {
    if (const auto node = number_in((folder / "numa_node").string())) return *node;
  }
  return -1;
}

// A path such as ".../ndbus0/region0/pfn0.1/block/pmem0" contains the region, and the namespace or the device that uses
// the namespace.
std::optional<PmemNamespace> namespace_of(const std::string& disk, const std::string& root) {
  PmemNamespace found;
  bool on_virtio = false;
  for (fs::path folder = disk; folder.has_relative_path(); folder = folder.parent_path()) {
    const std::string part = folder.filename().string();
    if (part.starts_with("namespace")) {
      found.name = part;
    } else if (part.starts_with("pfn") || part.starts_with("btt")) {
      found.name = first_line((folder / "namespace").string()).value_or("");
      found.mode = part.starts_with("pfn") ? "fsdax" : "sector";
      found.align_bytes = number_in((folder / "align").string()).value_or(0);
    } else if (part.starts_with("region") && found.region.empty()) {
      found.region = part;
    } else if (part.starts_with("virtio")) {
      on_virtio = true;
    }
  }
  if (found.region.empty()) return std::nullopt;
  found.flushes_by_host = on_virtio;
  if (found.mode.empty()) {
    found.mode = ndctl_mode(first_line(root + "/sys/bus/nd/devices/" + found.name + "/mode").value_or("unknown"));
  }
  return found;
}

// Finds the whole devices below `device`: the parent of a partition, the slaves of a mapped device. Stores in `found`
// the partitions and mapped devices through which it passes.
void find_disks(const std::string& device, int layer, PoolDevice& found, std::vector<std::string>& disks) {
  if (layer > kMaxLayers) return;
  if (fs::exists(device + "/partition")) {
    found.start_bytes += number_in(device + "/start").value_or(0) * kSectorBytes;
    return find_disks(fs::path(device).parent_path().string(), layer + 1, found, disks);
  }
  const std::vector<std::string> slaves = entries_of(device + "/slaves", "");
  found.mapped = found.mapped || !slaves.empty();
  for (const std::string& slave : slaves) find_disks(resolved(device + "/slaves/" + slave), layer + 1, found, disks);
  if (slaves.empty() && !device.empty()) disks.push_back(device);
}

// Whether a device supports DAX; a partition has no queue of its own, so its whole device is checked.
bool supports_dax(const std::string& device) {
  const std::string whole = fs::exists(device + "/partition") ? fs::path(device).parent_path().string() : device;
  return number_in(whole + "/queue/dax").value_or(0) == 1;
}

}  // namespace

std::optional<std::string> Mount::option(std::string_view name) const {
  std::optional<std::string> value;
  for (std::size_t begin = 0; begin <= options.size();) {
    const std::size_t end = std::min(options.find(',', begin), options.size());
    const std::string_view one = std::string_view(options).substr(begin, end - begin);
    if (one == name) value = "";
    if (one.starts_with(name) && one.substr(name.size()).starts_with('=')) value = one.substr(name.size() + 1);
    begin = end + 1;
  }
  return value;
}

std::string PoolDevice::text() const {
  if (!mount) return "an unknown file system";
  const std::string device = name.empty() ? mount->source : "/dev/" + name;
  return fmt::format("{} ({} at {})", device, mount->type, mount->point);
}

std::string pool_folder(const std::string& place) {
  struct stat status {};
  if (stat(place.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return place;
  return folder_of(place);
}

std::string ndctl_mode(std::string_view kernel_mode) {
  if (kernel_mode == "memory") return "fsdax";
  if (kernel_mode == "dax") return "devdax";
  if (kernel_mode == "safe") return "sector";
  return std::string(kernel_mode);
}

PoolDevice find_pool_device(const std::string& place, const std::string& root) {
  PoolDevice found;
  std::error_code error;
  // A pool may be a symbolic link to another file system.
  fs::path real = fs::canonical(place, error);
  if (error) real = fs::weakly_canonical(fs::absolute(pool_folder(place), error), error);
  found.mount = mount_of(real.string(), root);
  if (!found.mount) return found;
  // For btrfs and others, mountinfo contains the file system's own device. For these file systems, only the name of the
  // mount's source leads to the block device.
  std::string device = resolved(root + "/sys/dev/block/" + found.mount->device);
  if (device.empty() && found.mount->source.starts_with("/dev/")) {
    device = resolved(root + "/sys/class/block/" + fs::path(found.mount->source).filename().string());
  }
  if (device.empty()) return found;
  found.name = fs::path(device).filename().string();
  found.bytes = number_in(device + "/size").value_or(0) * kSectorBytes;
  found.passes_dax = supports_dax(device);
  std::vector<std::string> disks;
  find_disks(device, 0, found, disks);
  for (const std::string& disk : disks) {
    found.disks.push_back(fs::path(disk).filename().string());
    if (!found.pmem) found.pmem = namespace_of(disk, root);
    if (found.numa_node < 0) found.numa_node = numa_node_above(disk, root);
  }
  return found;
}

}  // namespace ringside
