// A ring in a libpmemobj pool: the only place that knows PMDK. The pool gives the file its lock against a second owner
// and its allocator the slots, all of them at creation; from then on the ring is offsets in a mapped file
// (ring_layout.hpp). While a pool is open, do not fork without exec: the child would keep it locked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "analyzer/persistence.hpp"
#include "analyzer/ring_view.hpp"
#include "analyzer/storage.hpp"

struct pmemobjpool;

namespace ringside {

inline constexpr char kPoolLayoutName[] = "ringside.ring";

class RingPool {
 public:
  /// Makes a pool file, mode 0600, for `slots` (kMinSlots ... kMaxSlots) iterates of `rows` doubles. Throws Error and
  /// leaves nothing behind: exit code 2 if the file exists or the shape is impossible, 3 if the file system has no
  /// room (the message names the bytes needed and available) or refuses.
  static RingPool create(const std::filesystem::path& path, std::uint64_t rows, std::uint32_t slots);

  /// Opens a pool for writing; reads no payload. A damaged superblock is written again from its twin. Throws Error:
  /// exit code 2 if there is no pool, or it is not a Ringside pool or a newer one; 3 if another process uses it or the
  /// system refuses; 5 if it is damaged.
  static RingPool open(const std::filesystem::path& path);

  /// The size of the file `create` makes. Throws Error (exit code 2) if the shape is impossible.
  static std::uint64_t file_bytes(std::uint64_t rows, std::uint32_t slots);

  const std::filesystem::path& path() const noexcept { return path_; }
  std::byte* base() const noexcept;  // the mapped file
  const WritableRing& ring() const noexcept { return *ring_; }
  Storage storage() const noexcept { return storage_; }
  Persistence& persistence() const noexcept { return *persistence_; }

  /// Takes the page faults of all payloads now instead of in the first lap, unless that would fill more than half of
  /// the memory that is available. Marks every page of a plain file dirty.
  void prefault() const noexcept;

 private:
  struct Close {
    void operator()(pmemobjpool* pool) const noexcept;
  };

  RingPool() = default;

  std::filesystem::path path_;
  Storage storage_ = Storage::kFile;
  std::unique_ptr<Persistence> persistence_;
  std::unique_ptr<pmemobjpool, Close> pool_;
  std::unique_ptr<WritableRing> ring_;
};

}  // namespace ringside
