// SPDX-License-Identifier: BSD-3-Clause
// A ring in a libpmemobj pool. Only this file uses libpmemobj (and only pool_persistence uses libpmem). An open pool
// holds a lock on the file, so that there is no second owner. Its allocator provides all slots at creation; afterwards
// the ring is accessed by offsets in a mapped file (ring_layout.hpp). While a pool is open, do not fork without exec:
// the child would keep it locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "analyzer/pool/foreign_file.hpp"
#include "analyzer/ring/persistence.hpp"
#include "analyzer/ring/victim_choice.hpp"
#include "common/files/watched_mapping.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/ring/ring_view.hpp"
#include "common/ring/storage.hpp"

struct pmemobjpool;

namespace ringside {

/// The present place of a pool that this process has open. The pool may have lost its name.
enum class Whereabouts {
  kNamed,     // the pool is at its path
  kDeleted,   // the pool has no name, and vanishes when its last user closes it
  kElsewhere  // the pool is at another path; its own path names another file, or none
};

/// The leases of a pool's slots, as its owner sees them (common/files/slot_lease.hpp).
class PoolLeases final : public SlotLeases {
 public:
  /// fd: the pool's file, open for writing; must outlive this object. If the file system lacks such locks, readers get
  /// no lease, and no slot counts as held.
  PoolLeases(int fd, std::uint32_t slots) noexcept;

  bool take(SlotRange slots) noexcept override;
  void give_back(SlotRange slots) noexcept override;
  bool any_held() noexcept override;

 private:
  const int fd_;
  const std::uint32_t slots_;
  const bool available_;
};

class RingPool {
 public:
  /// Makes a pool file, mode 0600, for `slots` (kMinSlots ... kMaxSlots) steps of shape `shape`. Throws Error and
  /// leaves nothing behind: exit code 2 if the file exists or the shape is impossible, 3 if the file system has no room
  /// (the message names the bytes needed and available), refuses the operation, or gives the file to another user.
  static RingPool create(const std::filesystem::path& path, const RingShape& shape, std::uint32_t slots,
                         Foreign foreign = Foreign::kRefused);

  /// Opens a pool for writing; reads no payload. Restores a damaged superblock, or a damaged copy of a run table entry,
  /// from its intact twin. Throws Error: exit code 2 if the file does not exist, is unfinished (an
  /// UnfinishedPoolError), is no Ringside pool, or has another format (an OlderPoolError if this release can read that
  /// format); 3 if another process uses it, it is another user's, or the system refuses; 5 if it is damaged (an
  /// UnownablePoolError if only libpmemobj's part is damaged, which is checked before libpmemobj reads it).
  static RingPool open(const std::filesystem::path& path, Foreign foreign = Foreign::kRefused);

  /// Replaces `old`, the pool at `path`, by a new pool. `old` stays locked until it is deleted, and it is deleted only
  /// when the new pool is known to be possible: after the new pool is made if the file system has room for both, else
  /// immediately before. Throws Error, as `create` does, and leaves the old pool unchanged; also exit code 2 if
  /// PATH.new, where the new pool is made first, is a file of another kind.
  static RingPool replace(const std::filesystem::path& path, RingPool old, const RingShape& shape, std::uint32_t slots,
                          Foreign foreign = Foreign::kRefused);

  /// Replaces a ring that libpmemobj must not or cannot open (an UnownablePoolError), or that has an older format (an
  /// OlderPoolError). Throws Error: exit code 3 if another process uses it; otherwise as `replace` does.
  static RingPool replace_unownable(const std::filesystem::path& path, const RingShape& shape, std::uint32_t slots,
                                    Foreign foreign = Foreign::kRefused);

  /// Replaces the remains of an interrupted creation. Throws Error: as `open` does if the file is anything else; exit
  /// code 3 if another process is still making the pool; otherwise as `create` does.
  static RingPool replace_unfinished(const std::filesystem::path& path, const RingShape& shape, std::uint32_t slots,
                                     Foreign foreign = Foreign::kRefused);

  /// The size of the file that `create` makes. Throws Error (exit code 2) if the shape is impossible.
  static std::uint64_t file_bytes(const RingShape& shape, std::uint32_t slots);

  std::byte* base() const noexcept;  // the mapped file
  const WritableRing& ring() const noexcept { return *ring_; }
  Storage storage() const noexcept { return storage_; }
  Persistence& persistence() const noexcept { return *persistence_; }
  /// The leases of readers, for the ring's writer.
  SlotLeases& leases() const noexcept { return *leases_; }

  /// Whether the pool's path still leads to this pool. kNamed if this cannot be determined.
  Whereabouts whereabouts() const noexcept;

  /// Causes the page faults of all payloads now, so that the first steps do not cause them; but not if this would fill
  /// more than half of the available memory. Marks every page of a plain file dirty.
  void prefault() const noexcept;

  /// From now on the process survives a page fault that the system cannot serve; persistence().store_error() reports
  /// it. Call this once decisions no longer depend on the ring's content: a lost page reads as zeros.
  void survive_faults() const noexcept { pool_.get_deleter().watched->survive_faults(); }

  /// Checks whether the file is still as long as its mapping. A truncation that no access has encountered yet is stored
  /// like a fault.
  void note_truncation() const noexcept { pool_.get_deleter().watched->intact_or_noted(); }

  /// What happened to the file, if a fault was survived or a truncation was noted.
  std::optional<Error> fault() const { return pool_.get_deleter().watched->fault(); }

  /// Whether this process has left a pool open and locked because the pool's disk failed. The process must then end.
  static bool left_one_open() noexcept;

 private:
  /// Leaves a pool open if its disk failed or its file is shorter than its mapping: to close it, libpmemobj would store
  /// to it and read the stored bytes back.
  struct Close {
    std::shared_ptr<WatchedMapping> watched;
    void operator()(pmemobjpool* pool) const noexcept;
  };

  /// Watches libpmemobj's mapping from now on.
  void watch(const std::string& name, int fd, std::uint64_t bytes);

  RingPool() = default;

  /// Makes a pool as `create` does, with `file` as the path and `name` for the messages.
  static RingPool make(const std::filesystem::path& file, const std::string& name, const RingShape& shape,
                       std::uint32_t slots, Foreign foreign);

  /// Calls `make` for a file that does not exist. If the file exists by the time it is to be made, another process has
  /// made it: throws Error (exit code 3).
  static RingPool make_alone(const std::filesystem::path& file, const std::string& name, const RingShape& shape,
                             std::uint32_t slots, Foreign foreign);

  /// `fd` is the pool at `file`; `fd` or `old` holds its lock.
  static RingPool replace_locked(const std::filesystem::path& path, const std::filesystem::path& file, UniqueFd fd,
                                 std::optional<RingPool> old, const RingShape& shape, std::uint32_t slots,
                                 Foreign foreign);

  std::filesystem::path path_;
  UniqueFd file_;
  std::unique_ptr<PoolLeases> leases_;  // the leases of the slots in file_
  Storage storage_ = Storage::kFile;
  std::unique_ptr<Persistence> persistence_;
  std::unique_ptr<pmemobjpool, Close> pool_;
  std::unique_ptr<WritableRing> ring_;
};

}  // namespace ringside
