// SPDX-License-Identifier: BSD-3-Clause
#include "common/pool_reader/pool_look.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/files/lock_holder.hpp"
#include "common/platform/names.hpp"
#include "common/text/formatted.hpp"

namespace ringside {

struct stat status_of(int fd, const std::string& name) {
  struct stat status {};
  if (fstat(fd, &status) != 0) throw system_error("{}: {}", name, errno_text(errno));
  return status;
}

void fetch_front(std::span<const std::byte> mapping) noexcept {
  constexpr std::size_t kFrontBytes = 4 << 20;
  madvise(const_cast<std::byte*>(mapping.data()), std::min(mapping.size(), kFrontBytes), MADV_WILLNEED);
}

void fetch_headers(std::span<const std::byte> mapping, const RingGeometry& geometry) noexcept {
  for (const SlotPlace& place : geometry.slots) {
    const std::uint64_t page = place.meta_offset / kPageBytes * kPageBytes;
    madvise(const_cast<std::byte*>(mapping.data() + page), kPageBytes, MADV_WILLNEED);
  }
}

std::string owner_and_mode(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  return formatted(" ({} belongs to {}, mode {:04o}; this process runs as {})", path.string(), user_name(status.st_uid),
                   status.st_mode & 07777, user_name(geteuid()));
}

std::optional<pid_t> owner_of(const std::string& name) {
  struct stat status {};
  return stat(name.c_str(), &status) == 0 ? flock_holder(status) : std::nullopt;
}

Error in_use(const std::string& name) {
  return system_error("{}: is in use by {}; only one process at a time can own a pool", name,
                      describe_holder(owner_of(name)));
}

Error being_made(const std::string& name) {
  return system_error("{}: is being made by {}; expected a complete pool: try again later", name,
                      describe_holder(owner_of(name)));
}

}  // namespace ringside
