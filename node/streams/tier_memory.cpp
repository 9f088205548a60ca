// SPDX-License-Identifier: BSD-3-Clause
#include "node/streams/tier_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <utility>

#include "analyzer/pool/dax.hpp"
#include "analyzer/pool/pool_device.hpp"
#include "common/files/new_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/huge_pages.hpp"
#include "common/platform/system_files.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/text/printable.hpp"
#include "node/streams/cores.hpp"

namespace ringside {
namespace {

std::uint64_t rounded_up(std::uint64_t bytes) noexcept {
  return (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

std::string name_of(const Tier& tier) {
  return tier.kind == TierKind::kDram ? tier.name : printable(tier.path);
}

std::uint64_t available_dram(int numa_node) {
  std::ifstream file("/proc/meminfo");
  std::uint64_t kib = 0;
  for (std::string key; file >> key; file.ignore(1000, '\n')) {
    if (key == "MemAvailable:") file >> kib;
  }
  std::uint64_t bytes = kib * 1024;
  // A container has a limit; the kernel would kill a process that exceeds this limit.
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used) bytes = std::min(bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(*limit - *used, 0)));
  if (numa_node < 0) return bytes;
  std::ifstream of_node(fmt::format("/sys/devices/system/node/node{}/meminfo", numa_node));
  std::uint64_t free_kib = 0;
  for (std::string word; of_node >> word;) {
    std::uint64_t found = 0;
    // The kernel reclaims pages of files when programs need them.
    if ((word == "MemFree:" || word == "Inactive(file):" || word == "Active(file):") && of_node >> found) {
      free_kib += found;
    }
  }
  return free_kib == 0 ? bytes : std::min(bytes, free_kib * 1024);
}

void* map_dram(const Tier& tier, std::uint64_t bytes, Pages pages) {
  void* const base = map_at_huge_page(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  if (base == MAP_FAILED) throw system_error("{}: cannot map {} bytes: {}", tier.name, bytes, errno_text(errno));
  if (pages == Pages::kHuge) advise_huge_pages(base, bytes);
  if (tier.numa_node >= 0 && numa_nodes_with_memory().size() > 1) {
    std::array<unsigned long, 16> nodes{};  // a bit for each of 1024 nodes
    const auto node = static_cast<std::size_t>(tier.numa_node);
    constexpr std::size_t kBits = 8 * sizeof(unsigned long);
    if (node < nodes.size() * kBits) nodes[node / kBits] |= 1UL << (node % kBits);
    if (syscall(SYS_mbind, base, bytes, MPOL_BIND, nodes.data(), nodes.size() * kBits + 1, 0) != 0) {
      const int error = errno;
      munmap(base, bytes);
      throw system_error("{}: cannot place memory on NUMA node {}: {}", tier.name, tier.numa_node, errno_text(error));
    }
  }
  return base;
}

void* map_in_folder(const Tier& tier, std::uint64_t bytes) {
  const UniqueFd file = make_vanishing_file(tier.path, ".ringside-memory");
  if (!file.valid()) throw system_error("{}: cannot make a file: {}", name_of(tier), errno_text(errno));
  if (const int error = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes))) {
    throw system_error("{}: cannot get {} bytes ({} available): {}", name_of(tier), bytes, available_bytes(tier),
                       errno_text(error));
  }
  const int how = tier.kind == TierKind::kDax ? MAP_SHARED_VALIDATE | MAP_SYNC : MAP_SHARED;
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, how, file.get(), 0);
  if (base == MAP_FAILED) throw system_error("{}: cannot map {} bytes: {}", name_of(tier), bytes, errno_text(errno));
  return base;
}

}  // namespace

Tier dram_tier(int numa_node) {
  Tier tier;
  tier.name = numa_node < 0 ? "dram" : fmt::format("dram{}", numa_node);
  tier.numa_node = numa_node;
  return tier;
}

Tier folder_tier(const std::string& folder, const std::string& option) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP) {
      throw usage_error("{}: found '{}': {}; expected a folder", option, shortened(folder), errno_text(error));
    }
    throw system_error("{}: {}: {}; expected a folder that this user may write to", option, printable(folder),
                       errno_text(error));
  }
  if (!S_ISDIR(status.st_mode))
    throw usage_error("{}: found '{}', which is not a folder; expected a folder", option, shortened(folder));
  const UniqueFd file = make_vanishing_file(folder, ".ringside-memory");
  if (!file.valid()) {
    throw system_error("{}: {}: cannot make a file: {}; expected a folder that this user may write to", option,
                       printable(folder), errno_text(errno));
  }
  Tier tier;
  tier.name = folder;
  tier.path = folder;
  struct statfs system {};
  const bool known = fstatfs(file.get(), &system) == 0;
  const PoolDevice device = find_pool_device(folder);
  tier.numa_node = static_cast<int>(device.numa_node);
  if (known && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)) {
    tier.kind = TierKind::kTmpfs;
  } else {
    tier.kind = ask_for_dax(folder, device).granted() ? TierKind::kDax : TierKind::kPageCache;
  }
  return tier;
}

std::uint64_t available_bytes(const Tier& tier) {
  if (tier.kind == TierKind::kDram) return available_dram(tier.numa_node);
  struct statvfs space {};
  if (statvfs(tier.path.c_str(), &space) != 0) {
    throw system_error("{}: its free space cannot be determined: {}", name_of(tier), errno_text(errno));
  }
  const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  // A ramfs has no limit and reports 0.
  if (tier.kind == TierKind::kTmpfs)
    return space.f_blocks == 0 ? available_dram(-1) : std::min(free_bytes, available_dram(-1));
  return free_bytes;
}

void require_room(const Tier& tier, std::uint64_t bytes) {
  const std::uint64_t available = available_bytes(tier);
  if (bytes <= available) return;
  throw system_error("{}: {} bytes are needed, but {} are available; free some, or measure less", name_of(tier), bytes,
                     available);
}

TierMemory::TierMemory(const Tier& tier, std::uint64_t bytes, Pages pages) {
  require_room(tier, bytes);
  const std::uint64_t whole = rounded_up(std::max<std::uint64_t>(bytes, 1));
  base_ = tier.kind == TierKind::kDram ? map_dram(tier, whole, pages) : map_in_folder(tier, whole);
  bytes_ = whole;
}

TierMemory::~TierMemory() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

TierMemory::TierMemory(TierMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

TierMemory& TierMemory::operator=(TierMemory&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::vector<TierMemory> make_arrays(const Tier& tier, int count, std::uint64_t elements, Pages pages) {
  require_room(tier, static_cast<std::uint64_t>(count) * rounded_up(elements * sizeof(double)));
  std::vector<TierMemory> arrays;
  for (int i = 0; i < count; ++i) arrays.emplace_back(tier, elements * sizeof(double), pages);
  return arrays;
}

}  // namespace ringside
