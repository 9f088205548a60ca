// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/pool_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/files/creation_mark.hpp"
#include "common/files/lock_holder.hpp"
#include "common/files/new_file.hpp"
#include "common/files/output_file.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

std::uint64_t available_bytes(int fd) {
  struct statvfs system {};
  if (fstatvfs(fd, &system) != 0) return 0;
  return static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize;
}

Error no_room(const std::string& name, std::uint64_t needed, std::uint64_t available, int error) {
  return system_error("{}: no room for the pool: {} bytes are needed, but {} are available ({})", name, needed,
                      available, errno_text(error));
}

void check_file_size_limit(std::uint64_t bytes, const std::string& name) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    throw system_error("{}: the pool needs {} bytes, but the limit on a file's size (ulimit -f) is {} bytes", name,
                       bytes, limit.rlim_cur);
  }
}

/// The size in bytes of the blocks that a sparse copy of a pool lacks.
std::uint64_t bytes_of_holes(const struct stat& status) noexcept {
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t has = static_cast<std::uint64_t>(status.st_blocks) * 512;  // POSIX: units of 512
  return has < bytes ? bytes - has : 0;
}

Error no_room_for_holes(int fd, std::uint64_t bytes, int error, const std::string& name) {
  return system_error(
      "{}: the pool is a sparse copy, and the disk has no room for its {} missing bytes: only {} are available ({})",
      name, bytes, available_bytes(fd), errno_text(error));
}

/// A nameless file in the folder of `path`, marked and locked; invalid if it cannot be made.
UniqueFd nameless_file_beside(const fs::path& path) {
  UniqueFd fd = make_nameless_file(path.string(), kPrivateMode);
  if (!fd.valid()) return fd;
  mark_as_being_made(fd.get());
  flock(fd.get(), LOCK_EX | LOCK_NB);  // always succeeds, because no other process has the file open
  return fd;
}

void lock(int fd, const std::string& name) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) throw in_use(name);
  throw system_error("{}: cannot be locked: {}", name, errno_text(errno));
}

}  // namespace

Look::Look(int fd, const std::string& name) : bytes_(static_cast<std::uint64_t>(status_of(fd, name).st_size)) {
  if (bytes_ == 0) throw empty_pool_file(name);
  mapped_ = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped_ == MAP_FAILED) throw system_error("{}: cannot be mapped: {}", name, errno_text(errno));
  watched_.emplace(name, fd, mapped_, bytes_);
  fetch_front(file());
}

Look::~Look() {
  munmap(mapped_, bytes_);
}

UniqueFd open_pool_file(const std::string& name, int flags) {
  UniqueFd fd(::open(name.c_str(), flags | O_CLOEXEC));
  if (!fd.valid()) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) throw usage_error("{}: {}", name, errno_text(error));
    if (error == EISDIR) throw usage_error("{}: is a directory; a pool is a file", name);
    throw system_error("{}: cannot be opened for writing: {}{}; expected a pool of this user", name, errno_text(error),
                       owner_and_mode(name));
  }
  if (!S_ISREG(status_of(fd.get(), name).st_mode)) throw usage_error("{}: not a regular file; expected a pool", name);
  return fd;
}

UniqueFd make_pool_file(const fs::path& path, const std::string& name) {
  int error = 0;
  if (UniqueFd fd = nameless_file_beside(path); fd.valid()) {
    if (give_name(fd.get(), path.string())) return fd;
    error = errno;
  }
  if (error != EEXIST) {  // this file system has no files without a name, or cannot name them
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kPrivateMode));
    error = errno;
    if (fd.valid()) {
      mark_as_being_made(fd.get());
      lock(fd.get(), name);
      return fd;
    }
  }
  if (error == EEXIST) {
    throw PoolExistsError(fmt::format("{}: exists already; --overwrite makes a new pool in its place", name));
  }
  if (error == ENOENT || error == ENOTDIR) throw usage_error("{}: {}", name, errno_text(error));
  throw system_error("{}: cannot be made: {}{}", name, errno_text(error), owner_and_mode(folder_of(path.string())));
}

fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) throw usage_error("{}: {}", path.string(), error.message());
  return real;
}

bool still_named(const fs::path& path, const struct stat& opened) {
  struct stat now {};
  return stat(path.c_str(), &now) == 0 && now.st_dev == opened.st_dev && now.st_ino == opened.st_ino;
}

void check_content(int fd, const std::string& name) {
  const Look look(fd, name);
  const RingView ring = RingView::parse(look.file(), name);
  if (ring.geometry().version != kRingVersion) throw older_pool(ring.geometry().version, name);
  fetch_headers(look.file(), ring.geometry());  // the headers are read next, through libpmemobj's mapping
  if (ring.pmdk_metadata_intact()) return;
  throw unownable(name, "libpmemobj's own data in the pool have changed");
}

void check_content_at_rest(int fd, const fs::path& path, const std::string& name) {
  try {
    return check_content(fd, name);
  } catch (const Error&) {
  }
  // Only after the lock is taken is the result of this check final.
  lock_named_or_throw(fd, path, name);
  check_content(fd, name);
  flock(fd, LOCK_UN);
}

void check_is_ring(int fd, const std::string& name) {
  const Look look(fd, name);
  RingView::parse(look.file(), name);
}

UnownablePoolError unownable(const std::string& name, const std::string& why) {
  return UnownablePoolError(
      fmt::format("{}: damaged pool: {}; its iterates can still be read (ringside verify, export); `ringside run "
                  "--overwrite` makes a new pool",
                  name, why));
}

bool holds_nothing(int fd, const std::string& name) {
  try {
    const Look look(fd, name);
    const Recovery recovery = recover(RingView::parse(look.file(), name));
    return recovery.kept.empty() && recovery.damaged.empty();
  } catch (const UnfinishedPoolError&) {
    return true;
  } catch (const Error&) {
    return false;
  }
}

void lock_or_throw(int fd, const std::string& name) {
  // This must be checked first: the creator releases the lock for a moment, for libpmemobj, and in this moment this
  // process could take the lock.
  if (is_being_made(fd)) throw in_use(name);
  lock(fd, name);
}

void lock_named_or_throw(int fd, const fs::path& path, const std::string& name) {
  lock_or_throw(fd, name);
  if (!still_named(path, status_of(fd, name))) throw in_use(name);
}

bool has_owner(const std::string& name) {
  const UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return (fd.valid() && is_being_made(fd.get())) || owner_of(name);
}

void allocate_blocks(int fd, std::uint64_t bytes, const std::string& name) {
  check_file_size_limit(bytes, name);
  if (bytes > available_bytes(fd)) throw no_room(name, bytes, available_bytes(fd), ENOSPC);
  if (const int error = posix_fallocate(fd, 0, static_cast<off_t>(bytes))) {
    throw no_room(name, bytes, available_bytes(fd), error);
  }
}

void require_room_for_holes(int fd, const std::string& name) {
  struct statfs system {};
  if (fstatfs(fd, &system) != 0 || system.f_type != TMPFS_MAGIC) return;
  const std::uint64_t missing = bytes_of_holes(status_of(fd, name));
  if (missing > available_bytes(fd)) throw no_room_for_holes(fd, missing, ENOSPC, name);
}

void allocate_holes(int fd, const std::string& name) {
  const struct stat status = status_of(fd, name);
  const std::uint64_t missing = bytes_of_holes(status);
  if (missing == 0) return;
  if (fallocate(fd, 0, 0, status.st_size) == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return;
  throw no_room_for_holes(fd, missing, errno, name);
}

Room room_for(std::uint64_t needed, int old, const std::string& name) {
  check_file_size_limit(needed, name);
  const std::uint64_t available = available_bytes(old);
  if (needed <= available) return Room::kForBoth;
  const std::uint64_t freed = static_cast<std::uint64_t>(status_of(old, name).st_blocks) * 512;  // POSIX: units of 512
  if (needed <= available + freed) return Room::kForOne;
  throw no_room(name, needed, available + freed, ENOSPC);
}

void remove_leftover(const fs::path& made) {
  if (!fs::exists(fs::symlink_status(made))) return;
  const UniqueFd fd = open_pool_file(made.string(), O_RDWR | O_NOFOLLOW);
  lock_or_throw(fd.get(), made.string());
  if (!holds_nothing(fd.get(), made.string())) {
    throw usage_error("{}: this file exists already, but a new pool is first made under its name; move the file away",
                      made.string());
  }
  if (unlink(made.c_str()) != 0) throw system_error("{}: cannot be removed: {}", made.string(), errno_text(errno));
}

void sync_folder_of(const fs::path& path, const std::string& name) {
  if (const int error = sync_folder_of(path.string())) {
    throw system_error("{}: the pool's folder could not be synced to its disk: {}", name, errno_text(error));
  }
}

UnlinkUnlessKept::~UnlinkUnlessKept() {
  if (!path_.empty() && still_named(path_, file_)) unlink(path_.c_str());
}

}  // namespace ringside
