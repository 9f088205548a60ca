// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "analyzer/pool/dax.hpp"
#include "analyzer/pool/pool_device.hpp"
#include "cli/doctor/probes.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

// The size of libpmemobj's smallest pool.
constexpr std::uint64_t kSmallestPoolBytes = std::uint64_t{8} << 20;
// Eight slots for iterates of 4,000,000 rows take a quarter of this size.
constexpr std::uint64_t kRoomyBytes = std::uint64_t{1} << 30;

constexpr long kXfsMagic = 0x58465342;  // not in linux/magic.h

std::string file_system_name(long magic) {
  switch (magic) {
    case EXT4_SUPER_MAGIC: return "ext4";
    case kXfsMagic: return "xfs";
    case BTRFS_SUPER_MAGIC: return "btrfs";
    case TMPFS_MAGIC: return "tmpfs";
    case OVERLAYFS_SUPER_MAGIC: return "overlayfs";
    case NFS_SUPER_MAGIC: return "nfs";
    default: return fmt::format("file system {:#x}", magic);
  }
}

Finding unreachable(const std::string& topic, const std::string& folder, int error) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(folder, ignored);
  return {
      topic,
      Verdict::kProblem,
      fmt::format("{}: {}", folder, errno_text(error)),
      !exists ? fmt::format("`mkdir -p '{}'`, or name another place", folder) : "name a folder this user may write to",
      {}};
}

}  // namespace

Finding probe_space(const std::string& place) {
  const std::string folder = pool_folder(place);
  struct statfs status {};
  if (statfs(folder.c_str(), &status) != 0) return unreachable("space", folder, errno);
  const std::uint64_t free_bytes = status.f_bavail * static_cast<std::uint64_t>(status.f_frsize);
  const std::string kind = file_system_name(status.f_type);
  Finding finding{"space",
                  Verdict::kOk,
                  fmt::format("{:.1f} GB free in {} ({})", static_cast<double>(free_bytes) / kGigabyte, folder, kind),
                  "",
                  {{"folder", folder}, {"file_system", kind}, {"free_bytes", static_cast<std::int64_t>(free_bytes)}}};
  if (access(folder.c_str(), W_OK) != 0) return unreachable("space", folder, errno);
  if (free_bytes < kSmallestPoolBytes) {
    finding.verdict = Verdict::kProblem;
    finding.advice = "the smallest pool takes 8 MiB: free some space, or name another place";
  } else if (free_bytes < kRoomyBytes) {
    finding.verdict = Verdict::kNote;
    finding.advice = "a pool takes slots x rows x 8 bytes: large matrices need another place, or fewer --slots";
  } else if (status.f_type == TMPFS_MAGIC) {
    finding.verdict = Verdict::kNote;
    finding.advice = "tmpfs is memory: what is kept here is lost at the next boot";
  } else if (status.f_type == NFS_SUPER_MAGIC) {
    finding.verdict = Verdict::kNote;
    finding.advice = "a mapped file on nfs is slow and another host may change it: use a local file system";
  }
  return finding;
}

Finding probe_dax(const std::string& place, const std::string& root) {
  const std::string folder = pool_folder(place);
  const PoolDevice device = find_pool_device(place, root);
  const DaxAnswer answer = ask_for_dax(place, device, root);
  Finding finding{
      "dax",
      Verdict::kOk,
      "",
      answer.advice,
      {{"folder", folder}, {"device", device.name}, {"dax", answer.granted()}, {"cause", to_string(answer.cause)}}};
  if (answer.granted()) {
    finding.found = fmt::format("{}: stores persist in place (MAP_SYNC): {}", folder, device.text());
    return finding;
  }
  if (answer.cause == DaxAnswer::Cause::kUnreachable) {
    std::error_code ignored;
    finding.verdict = Verdict::kProblem;
    finding.found = fmt::format("{}: {}", place, answer.reason);
    if (!std::filesystem::exists(folder, ignored)) {
      finding.advice = fmt::format("`mkdir -p '{}'`, or name another place", folder);
    }
    return finding;
  }
  finding.verdict = Verdict::kNote;
  finding.found = fmt::format("{}: page cache, no DAX: {}", folder, answer.reason);
  return finding;
}

}  // namespace ringside
