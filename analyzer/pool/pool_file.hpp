// SPDX-License-Identifier: BSD-3-Clause
// The pool as a file, without libpmemobj: opens, checks, locks and syncs the file, allocates its blocks, and gives it
// its name. Messages begin with `name`, the name by which the user calls the pool. All Errors are errors of the set-up.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "common/files/watched_mapping.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/pool_reader/pool_look.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

/// A read-only mapping of an open file. It is used to check the file before libpmemobj trusts anything in it.
class Look {
 public:
  /// Throws Error: an UnfinishedPoolError for an empty file; exit code 3 if the system refuses.
  Look(int fd, const std::string& name);
  ~Look();
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  std::span<const std::byte> file() const noexcept { return {static_cast<const std::byte*>(mapped_), bytes_}; }

 private:
  std::uint64_t bytes_;
  void* mapped_ = nullptr;
  std::optional<WatchedMapping> watched_;
};

/// Exit code 2: a file exists where a new pool was to be made.
class PoolExistsError : public Error {
 public:
  explicit PoolExistsError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

/// Opens a regular file with `flags`. Throws Error: exit code 2 if it does not exist or is not a regular file; 3 if the
/// system refuses.
UniqueFd open_pool_file(const std::string& name, int flags);

/// Makes an empty file at `path`, mode 0600. Where the file system supports it, the file gets its owner's lock and its
/// mark (creation_mark.hpp) before its name. Throws Error: a PoolExistsError; exit code 2 if the folder does not exist;
/// 3 if the system refuses.
UniqueFd make_pool_file(const std::filesystem::path& path, const std::string& name);

/// The path of the file to which `path` leads, with all symbolic links resolved. Throws Error (exit code 2) if it does
/// not exist.
std::filesystem::path real_path(const std::filesystem::path& path);

/// True if `path` still names the file that `opened` describes.
bool still_named(const std::filesystem::path& path, const struct stat& opened);

/// Checks the ring through its own mapping, before libpmemobj trusts anything in the file. Throws Error as
/// RingView::parse does, an OlderPoolError for a ring of an older format, and an UnownablePoolError if libpmemobj's own
/// bytes have changed.
void check_content(int fd, const std::string& name);

/// Checks the content of the pool at `path` as check_content does. If another process is making or using the pool, the
/// Error reports this (exit code 3), whatever the check of the content has found.
void check_content_at_rest(int fd, const std::filesystem::path& path, const std::string& name);

/// Throws Error as RingView::parse.
void check_is_ring(int fd, const std::string& name);

/// True for a file that an interrupted creation left: a ring without iterates, or an incomplete ring.
bool holds_nothing(int fd, const std::string& name);

/// Takes the owner's lock that libpmemobj would take, but without libpmemobj. Throws Error (exit code 3) if another
/// process has the lock or is making the pool.
void lock_or_throw(int fd, const std::string& name);

/// Takes the lock as lock_or_throw does. Also throws if `path` no longer names the file of `fd`: another process may
/// have replaced the file before the lock was taken.
void lock_named_or_throw(int fd, const std::filesystem::path& path, const std::string& name);

/// The Error for a ring that libpmemobj must not or cannot open. why: the reason.
UnownablePoolError unownable(const std::string& name, const std::string& why);

/// Whether another process owns the pool or is making it, as far as this process can see.
bool has_owner(const std::string& name);

/// Allocates all blocks of the file, so that a store into the mapping never finds the disk full (which would cause
/// SIGBUS). Throws Error (exit code 3) if there is no room.
void allocate_blocks(int fd, std::uint64_t bytes, const std::string& name);

/// Gives a sparse copy of a pool the blocks that it lacks. On a file system that cannot reserve blocks, the file does
/// not change.
void allocate_holes(int fd, const std::string& name);

/// On tmpfs, even a read of a hole takes a block. So if there is no room for all holes of a sparse copy, this function
/// throws the Error of allocate_holes before any hole is read.
void require_room_for_holes(int fd, const std::string& name);

/// Whether there is room for a new pool of `needed` bytes beside `old`, or only after `old` is deleted. old: the open
/// file that the new pool will replace. Throws Error (exit code 3, with the bytes needed and available) if there is no
/// room in either case.
enum class Room { kForBoth, kForOne };
Room room_for(std::uint64_t needed, int old, const std::string& name);

/// Removes the file that an interrupted replacement left at `made`. Throws Error (exit code 2) if it is any other file.
void remove_leftover(const std::filesystem::path& made);

/// Makes a file's name survive power loss by syncing its folder. Throws Error (exit code 3).
void sync_folder_of(const std::filesystem::path& path, const std::string& name);

/// Deletes an incomplete file, unless the file is kept or its name now belongs to another file.
class UnlinkUnlessKept {
 public:
  UnlinkUnlessKept(const std::filesystem::path& path, const struct stat& file) : path_(path), file_(file) {}
  ~UnlinkUnlessKept();
  UnlinkUnlessKept(const UnlinkUnlessKept&) = delete;
  UnlinkUnlessKept& operator=(const UnlinkUnlessKept&) = delete;
  void keep() noexcept { path_.clear(); }

 private:
  std::filesystem::path path_;
  const struct stat file_;
};

}  // namespace ringside
