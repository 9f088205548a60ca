// The place a pool is kept: room, and whether stores there persist without a system call (DAX). What the mount options
// promise is not asked: a file is made and mapped as the ring would be.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/node_probes.hpp"
#include "common/error.hpp"

namespace ringside {
namespace {

constexpr double kGigabyte = 1e9;
// libpmemobj's smallest pool.
constexpr std::uint64_t kSmallestPoolBytes = std::uint64_t{8} << 20;
// Eight slots of a 4,000,000-row iterate take a quarter of it.
constexpr std::uint64_t kRoomyBytes = std::uint64_t{1} << 30;

constexpr long kXfsMagic = 0x58465342;  // not in linux/magic.h

std::string folder_of(const std::string& place) {
  struct stat status {};
  if (stat(place.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return place;
  const std::string parent = std::filesystem::path(place).parent_path().string();
  return parent.empty() ? "." : parent;
}

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
      !exists ? fmt::format("mkdir -p '{}', or name another place", folder) : "name a folder this user may write to",
      {}};
}

// A file of one huge page in `folder` that disappears with its descriptor; -1 and errno where none can be made.
int nameless_file(const std::string& folder) {
  int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    std::string name = folder + "/.ringside-doctor-XXXXXX";
    file = mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0) unlink(name.c_str());
  }
  return file;
}

// 0: stores through the mapping persist once flushed; else why the kernel refused.
int try_map_sync(int file) {
  constexpr std::size_t kBytes = std::size_t{2} << 20;
  if (const int error = posix_fallocate(file, 0, kBytes); error != 0) return error;
  void* pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, file, 0);
  if (pages == MAP_FAILED) return errno;
  munmap(pages, kBytes);
  return 0;
}

}  // namespace

Finding probe_space(const std::string& place) {
  const std::string folder = folder_of(place);
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

Finding probe_dax(const std::string& place) {
  const std::string folder = folder_of(place);
  const int file = nameless_file(folder);
  if (file < 0) return unreachable("dax", folder, errno);
  const int error = try_map_sync(file);
  close(file);
  Finding finding{"dax", Verdict::kOk, "", "", {{"folder", folder}, {"dax", error == 0}}};
  if (error == 0) {
    finding.found = fmt::format("{}: stores persist in place (MAP_SYNC)", folder);
    return finding;
  }
  finding.verdict = Verdict::kNote;
  if (error == EOPNOTSUPP || error == EINVAL) {
    finding.found = fmt::format("{}: page cache, no DAX", folder);
    finding.advice =
        "for persistent memory, as root: mkfs.ext4 -b 4096 /dev/pmemN; mount -o dax=always /dev/pmemN "
        "FOLDER";
  } else {
    finding.found = fmt::format("{}: cannot tell ({})", folder, errno_text(error));
    finding.advice = "make room for a file of 2 MiB there and ask again";
  }
  return finding;
}

}  // namespace ringside
